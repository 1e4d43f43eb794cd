//! A table of entries that wait to be ended. Each has a number that is never reused, ends once, and may have a
//! deadline.
//!
//! The calls of the peer are in one table, our requests in another. A new entry uses the memory of one that has ended,
//! so a session that sends and answers requests one by one allocates nothing here. Looking up is a binary search;
//! removing moves only pairs of numbers.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::Time;

/// Entries by their number.
#[derive(Debug)]
pub(super) struct Table<T> {
    next: u64,
    slots: Vec<Option<Entry<T>>>,
    free: Vec<usize>,
    /// The number and slot of every entry, in the order of the numbers.
    order: Vec<(u64, usize)>,
    /// The deadline and number of every entry that has a deadline, in the order of the deadlines.
    deadlines: Vec<(Time, u64)>,
    /// The first of the deadlines: when the next entry is due.
    pub(super) due: Time,
}

#[derive(Debug)]
struct Entry<T> {
    /// [`Time::NEVER`] without a deadline.
    deadline: Time,
    data: T,
}

impl<T> Table<T> {
    pub(super) const fn new() -> Self {
        Self {
            next: 1,
            slots: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            deadlines: Vec::new(),
            due: Time::NEVER,
        }
    }

    /// Returns the number of the next entry. All lower numbers have been used.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Adds an entry, which ends at its deadline or [never](Time::NEVER), and returns its number.
    pub(super) fn open(&mut self, deadline: Time, data: T) -> u64 {
        let serial = self.next;
        self.next = serial.saturating_add(1);
        let entry = Some(Entry { deadline, data });
        let slot = match self.free.pop() {
            Some(free) => {
                if let Some(slot) = self.slots.get_mut(free) {
                    *slot = entry;
                }
                free
            }
            None => {
                self.slots.push(entry);
                self.slots.len().saturating_sub(1)
            }
        };
        // Numbers grow, so the last place is the right one.
        self.order.push((serial, slot));
        self.await_deadline(deadline, serial);
        serial
    }

    /// Removes an entry. Returns `None` if it has already ended, or never existed.
    pub(super) fn end(&mut self, serial: u64) -> Option<T> {
        let (place, slot) = self.find(serial)?;
        self.order.remove(place);
        let entry = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        self.forget_deadline(entry.deadline, serial);
        Some(entry.data)
    }

    /// Releases the memory if there is no entry.
    pub(super) fn trim(&mut self) {
        if self.order.is_empty() {
            *self = Self { next: self.next, ..Self::new() };
        }
    }

    /// Removes and returns the entry that has been due longest at `now`.
    pub(super) fn expire(&mut self, now: Time) -> Option<(u64, T)> {
        let (_, serial) = *self.deadlines.first()?;
        if self.due.is_due(now) { Some((serial, self.end(serial)?)) } else { None }
    }

    pub(super) fn get(&self, serial: u64) -> Option<&T> {
        let (_, slot) = self.find(serial)?;
        Some(&self.slots.get(slot)?.as_ref()?.data)
    }

    pub(super) fn get_mut(&mut self, serial: u64) -> Option<&mut T> {
        let (_, slot) = self.find(serial)?;
        Some(&mut self.slots.get_mut(slot)?.as_mut()?.data)
    }

    /// Sets or removes the deadline of an entry.
    pub(super) fn set_deadline(&mut self, serial: u64, deadline: Time) {
        let Some((_, slot)) = self.find(serial) else { return };
        let Some(entry) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        let before = core::mem::replace(&mut entry.deadline, deadline);
        self.forget_deadline(before, serial);
        self.await_deadline(deadline, serial);
    }

    /// Returns the number of the oldest entry.
    pub(super) fn first(&self) -> Option<u64> {
        self.order.first().map(|(serial, _)| *serial)
    }

    /// Returns all entries, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.order
            .iter()
            .filter_map(|(serial, slot)| self.slots.get(*slot)?.as_ref().map(|entry| (*serial, &entry.data)))
    }

    fn await_deadline(&mut self, at: Time, serial: u64) {
        if at != Time::NEVER {
            insert(&mut self.deadlines, (at, serial));
            self.due = self.due.min(at);
        }
    }

    fn forget_deadline(&mut self, at: Time, serial: u64) {
        if at != Time::NEVER {
            remove(&mut self.deadlines, &(at, serial));
            self.due = self.deadlines.first().map_or(Time::NEVER, |(at, _)| *at);
        }
    }

    /// Returns the place of an entry in the order, and its slot.
    fn find(&self, serial: u64) -> Option<(usize, usize)> {
        let place = place(&self.order, &(serial, 0));
        match self.order.get(place) {
            Some((found, slot)) if *found == serial => Some((place, *slot)),
            Some(_) | None => None,
        }
    }
}

// Functions for sorted lists. Most items are added at the end, and many are removed there, because numbers and
// deadlines grow. A search compares the last two items first, so the length of the list hardly matters.

/// Returns the number of items that are less than `item`.
pub(super) fn place<T: Ord>(sorted: &[T], item: &T) -> usize {
    let Some((last, others)) = sorted.split_last() else { return 0 };
    match last.cmp(item) {
        Ordering::Less => sorted.len(),
        Ordering::Equal | Ordering::Greater if others.last().is_none_or(|other| other < item) => others.len(),
        Ordering::Equal | Ordering::Greater => others.partition_point(|other| other < item),
    }
}

/// Adds an item.
pub(super) fn insert<T: Ord>(sorted: &mut Vec<T>, item: T) {
    let place = place(sorted, &item);
    sorted.insert(place, item);
}

/// Removes one item that is equal to `item`, if there is one.
pub(super) fn remove<T: Ord>(sorted: &mut Vec<T>, item: &T) {
    let place = place(sorted, item);
    if sorted.get(place) == Some(item) {
        sorted.remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// Compares the table with a plain map from each number to its deadline and data.
    #[test]
    fn the_table_behaves_like_a_map_with_deadlines() {
        arbtest::arbtest(|u| {
            let mut table = Table::new();
            let mut model: BTreeMap<u64, (Option<u64>, u8)> = BTreeMap::new();
            for _ in 0..u.int_in_range(1..=60)? {
                let at = |millis: Option<u64>| millis.map_or(Time::NEVER, Time::from_millis);
                let serial = u.int_in_range(0..=12)?;
                let deadline = u.choose(&[None, Some(1), Some(2), Some(3), Some(3)])?;
                match u.int_in_range(0..=5)? {
                    5 => table.trim(),
                    0 | 1 => {
                        let data = u.arbitrary()?;
                        let next = table.next();
                        assert_eq!(table.open(at(*deadline), data), next);
                        assert_eq!(model.insert(next, (*deadline, data)), None, "a number is used twice");
                    }
                    2 => assert_eq!(table.end(serial), model.remove(&serial).map(|(_, data)| data)),
                    3 => {
                        table.set_deadline(serial, at(*deadline));
                        if let Some(entry) = model.get_mut(&serial) {
                            entry.0 = *deadline;
                        }
                    }
                    _ => {
                        let due = model.iter().filter_map(|(serial, (at, _))| Some(((*at)?, *serial)));
                        let first = due.filter(|(at, _)| *at <= 2).min().map(|(_, serial)| serial);
                        let want = first.map(|first| (first, model.remove(&first).unwrap().1));
                        assert_eq!(table.expire(Time::from_millis(2)), want);
                    }
                }
                assert_eq!(table.due, at(model.values().filter_map(|(at, _)| *at).min()));
                assert!(table.iter().map(|(s, d)| (s, *d)).eq(model.iter().map(|(s, (_, d))| (*s, *d))));
                assert_eq!(table.get(serial), model.get(&serial).map(|(_, data)| data));
                assert_eq!(
                    table.get_mut(serial).map(|data| *data),
                    model.get(&serial).map(|(_, data)| *data)
                );
                assert_eq!((table.len(), table.first()), (model.len(), model.keys().next().copied()));
                assert!(table.slots.len() <= 60 && table.slots.len() == table.len() + table.free.len());
            }
            Ok(())
        })
        .budget_ms(500);
    }

    #[test]
    fn places_agree_with_binary_search() {
        arbtest::arbtest(|u| {
            let mut sorted = Vec::new();
            for _ in 0..u.int_in_range(0..=12)? {
                let item = u.int_in_range(0..=9_u8)?;
                match u.arbitrary()? {
                    true => insert(&mut sorted, item),
                    false => remove(&mut sorted, &item),
                }
                assert!(sorted.is_sorted(), "{sorted:?}");
                for item in 0..=10 {
                    assert_eq!(
                        place(&sorted, &item),
                        sorted.partition_point(|other| *other < item),
                        "{sorted:?}"
                    );
                }
            }
            Ok(())
        });
    }
}
