//! Sorted lists. Most items are added at the end, and many are removed there, since numbers and
//! deadlines grow. A search first compares the last two items, so the length of the list hardly
//! matters.

use alloc::vec::Vec;
use core::cmp::Ordering;

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

    #[test]
    fn places_are_those_of_a_search() {
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
