//! What one connection has sent in a replay, compared with the script: the units so far, and the ids of its requests.

use crate::replay::ids::Ids;
use crate::support::units::{Piece, Units};
use std::collections::BTreeSet;

/// The output of one connection.
pub(crate) struct ConnOutput {
    pub(crate) units: Units,
    /// The index of the next expected unit.
    pub(crate) next: usize,
    /// The indices of later units that came before the next one.
    pub(crate) early: BTreeSet<usize>,
    /// The indices of the units that are late, but still within the tolerance.
    pub(crate) late: BTreeSet<usize>,
    pub(crate) ids: Ids,
    /// The bytes of an incomplete message of the peer, held back because its id may have to change.
    pub(crate) held: Vec<u8>,
    /// True once nobody receives the output any more.
    pub(crate) is_mute: bool,
}

impl ConnOutput {
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

    /// Returns true if the unit at this index was sent already.
    pub(crate) fn has(&self, place: usize) -> bool {
        place < self.next || self.early.contains(&place)
    }

    /// Marks a unit as sent.
    pub(crate) fn mark(&mut self, place: usize) {
        self.early.insert(place);
        self.late.remove(&place);
        while self.early.remove(&self.next) {
            self.next = self.next.saturating_add(1);
        }
    }

    /// Returns the bytes to feed instead of these: a message with the id of the replay, or nothing while a message
    /// is incomplete.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::units::frame;

    #[test]
    fn units_come_in_any_order() {
        let mut output = ConnOutput::new(false);
        for (place, next) in [(1, 0), (3, 0), (0, 2), (2, 4)] {
            output.late.insert(place);
            output.mark(place);
            assert!(output.has(place) && output.late.is_empty(), "{place}");
            assert_eq!(output.next, next, "after {place}");
        }
        assert!(!output.has(4) && output.early.is_empty());
    }

    #[test]
    fn cut_answer_gets_new_id() {
        let text = r#"{"id":9001,"result":1}"#;
        for size in [5, 1000] {
            let mut output = ConnOutput::new(false);
            let mut peer = Units::new(true);
            peer.push(b"GET / HTTP/1.1\r\n\r\n");
            let bytes = frame(text, true);
            let pieces: Vec<Piece> = bytes.chunks(size).flat_map(|chunk| peer.push(chunk)).collect();
            let fed = |output: &mut ConnOutput| -> Vec<u8> {
                pieces
                    .iter()
                    .filter_map(|piece| output.translate(piece, true))
                    .flat_map(|piece| piece.bytes)
                    .collect()
            };
            assert_eq!(fed(&mut output), bytes, "no id differs, pieces of {size}");
            output.ids.learn(r#"{"id":9001,"method":"m"}"#, r#"{"id":1,"method":"m"}"#);
            output.ids.learn(r#"{"id":9002,"method":"m"}"#, r#"{"id":2,"method":"m"}"#);
            assert_eq!(fed(&mut output), frame(r#"{"id":1,"result":1}"#, true), "pieces of {size}");
            assert_eq!(fed(&mut output), bytes, "answered already, pieces of {size}");
            assert!(output.held.is_empty());
        }
    }
}
