//! The deadlines of the connections of a server by place: finds the earliest one, and the places whose deadline has
//! passed, without a search through all places.

use crate::Time;
use alloc::vec::Vec;

/// How many places share one earliest deadline: about the square root of a thousand. With a thousand places, a change
/// takes some sixty comparisons, and so does finding a place that is due. An editor with its 16 agents has one such
/// block.
const BLOCK: usize = 32;

/// The deadline of each place; `Time::NEVER` for none.
#[derive(Debug)]
pub(super) struct Deadlines {
    /// The deadlines by place.
    pub(super) all: Vec<Time>,
    /// The earliest deadline of each [`BLOCK`] of places.
    earliest: Vec<Time>,
    /// The earliest deadline of all.
    pub(super) first: Time,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { all: Vec::new(), earliest: Vec::new(), first: Time::NEVER }
    }
}

impl Deadlines {
    pub(super) fn set(&mut self, place: usize, at: Time) {
        if self.all.len() <= place {
            self.all.resize(place.saturating_add(1), Time::NEVER);
            self.earliest.resize(self.all.len().div_ceil(BLOCK), Time::NEVER);
        }
        let Some(known) = self.all.get_mut(place) else { return };
        *known = at;
        let block = place / BLOCK;
        let (all, earliest) = (self.all.chunks(BLOCK).nth(block), self.earliest.get_mut(block));
        if let (Some(all), Some(earliest)) = (all, earliest) {
            *earliest = all.iter().copied().min().unwrap_or(Time::NEVER);
        }
        self.first = self.earliest.iter().copied().min().unwrap_or(Time::NEVER);
    }

    /// Returns the first place, from `from` on, whose deadline has passed. At `Time::NEVER` every place is due, even
    /// without a deadline.
    pub(super) fn next_due(&self, from: usize, now: Time) -> Option<usize> {
        let blocks = self.earliest.iter().zip(self.all.chunks(BLOCK)).enumerate().skip(from / BLOCK);
        for (block, (_, places)) in blocks.filter(|(_, (earliest, _))| **earliest <= now) {
            let first = block.saturating_mul(BLOCK);
            let passed = from.saturating_sub(first);
            let found = places.iter().skip(passed).position(|at| *at <= now);
            if let Some(found) = found {
                return Some(first.saturating_add(passed).saturating_add(found));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares [`Deadlines`] with a plain list.
    #[test]
    fn deadlines_match_a_plain_list() {
        arbtest::arbtest(|u| {
            let (mut deadlines, mut model) = (Deadlines::default(), [Time::NEVER; 3 * BLOCK]);
            for _ in 0..u.int_in_range(0..=30)? {
                let (place, at) = (u.choose_index(model.len())?, u.int_in_range(0..=20)?);
                let at = if u.ratio(2, 3)? { Time::from_millis(at) } else { Time::NEVER };
                deadlines.set(place, at);
                model[place] = at;
                assert_eq!(Some(&deadlines.first), model.iter().min());
            }
            let now = Time::from_millis(u.int_in_range(0..=20)?);
            for from in 0..=model.len() {
                let due = |place: &usize| model[*place] <= now;
                assert_eq!(deadlines.next_due(from, now), (from..model.len()).find(due), "{from}");
            }
            Ok(())
        })
        .budget_ms(300);
    }

    #[test]
    fn every_place_is_due_at_the_end_of_time() {
        let mut deadlines = Deadlines::default();
        deadlines.set(BLOCK, Time::from_millis(1));
        assert_eq!(deadlines.next_due(0, Time::ZERO), None);
        assert_eq!(deadlines.next_due(0, Time::NEVER), Some(0));
        assert_eq!(deadlines.next_due(BLOCK, Time::NEVER), Some(BLOCK));
        assert_eq!(deadlines.next_due(BLOCK + 1, Time::NEVER), None);
    }
}
