//! The output of one connection in a replay: the units that have come, and the ids of its requests.

use crate::replay::ids::Ids;
use crate::support::units::{Piece, Units};
use std::collections::BTreeSet;

/// The output of a connection in the replay.
pub(crate) struct Said {
    pub(crate) units: Units,
    /// The index of the next expected unit.
    pub(crate) next: usize,
    /// The indices of later units that have come before the next one.
    pub(crate) early: BTreeSet<usize>,
    /// The indices of the units that are late, within the tolerance.
    pub(crate) late: BTreeSet<usize>,
    pub(crate) ids: Ids,
    /// The bytes of an incomplete message of the peer, while its id can have to be changed.
    pub(crate) held: Vec<u8>,
    /// True if nobody receives the output any more.
    pub(crate) is_mute: bool,
}

impl Said {
    pub(crate) fn new(masked: bool) -> Self {
        Self {
            units: Units::new(masked),
            next: 0,
            early: BTreeSet::new(),
            late: BTreeSet::new(),
            ids: Ids::default(),
            held: Vec::new(),
            is_mute: false,
        }
    }

    /// Returns true if the unit at this index has come.
    pub(crate) fn has(&self, place: usize) -> bool {
        place < self.next || self.early.contains(&place)
    }

    /// Marks a unit as said.
    pub(crate) fn mark(&mut self, place: usize) {
        self.early.insert(place);
        self.late.remove(&place);
        while self.early.remove(&self.next) {
            self.next = self.next.saturating_add(1);
        }
    }

    /// Returns the bytes to feed in place of these: a message with another id, or nothing while a
    /// message is incomplete.
    pub(crate) fn translate(&mut self, piece: &Piece, masked: bool) -> Option<Piece> {
        if !self.ids.differ() && self.held.is_empty() {
            return Some(piece.clone());
        }
        self.held.extend_from_slice(&piece.bytes);
        piece.unit.as_ref()?;
        let bytes = std::mem::take(&mut self.held);
        let answer = piece.message.as_deref().and_then(|text| self.ids.answer(text, masked));
        Some(answer.unwrap_or_else(|| Piece { bytes, ..piece.clone() }))
    }
}
