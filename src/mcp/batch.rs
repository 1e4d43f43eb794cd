//! Batches, which only version 2025-03-26 has: a peer sends an array of messages, and gets their answers in one array.
//!
//! The array holds the answers that the session gives at once. An answer that the application gives later is sent on
//! its own, as JSON-RPC permits. We never send batches ourselves.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::rpc::{Id, NotSent};
use crate::{Outbox, To};

/// The maximum number of messages in a batch. We know of no peer that sends batches, so a larger number would be of no
/// use.
pub(super) const MOST: usize = 64;

/// Returns the messages of a batch; `None` if there are none, or too many.
pub(super) fn elements(array: &RawValue) -> Option<Vec<&RawValue>> {
    struct UpTo;

    impl<'de> Visitor<'de> for UpTo {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "up to {MOST} messages")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = array.next_element()? {
                // Stop reading here, so that a longer batch takes no more memory.
                if elements.len() == MOST {
                    return Err(de::Error::invalid_length(MOST.saturating_add(1), &self));
                }
                elements.push(element);
            }
            Ok(elements)
        }
    }

    let mut deserializer = serde_json::Deserializer::from_str(array.get());
    deserializer.deserialize_seq(UpTo).ok().filter(|elements| !elements.is_empty())
}

/// An outbox that passes messages on, or gathers them into one array. It is a single type for both, so that the code
/// that handles messages is compiled once.
pub(super) struct Gather<'o, O> {
    out: &'o mut O,
    /// The array without its end; `None` if messages are passed on.
    array: Option<Vec<u8>>,
    /// The id of the first answer.
    first: Option<Id>,
}

impl<'o, O: Outbox> Gather<'o, O> {
    pub(super) const fn passing(out: &'o mut O) -> Self {
        Self { out, array: None, first: None }
    }

    pub(super) const fn gathering(out: &'o mut O) -> Self {
        Self { out, array: Some(Vec::new()), first: None }
    }

    /// Returns the outbox itself, for messages that do not belong in the array.
    pub(super) const fn direct(&mut self) -> &mut O {
        self.out
    }

    /// Sends the array, unless it is empty.
    pub(super) fn send(self) {
        let Some(mut array) = self.array.filter(|array| !array.is_empty()) else { return };
        array.push(b']');
        let to = self.first.as_ref().map_or(To::Unsolicited, To::Answer);
        // If the outbox is closed, the answers are lost, and the session usually ends soon.
        let _ = self.out.message(to, |buf| buf.extend_from_slice(&array));
    }
}

impl<O: Outbox> Outbox for Gather<'_, O> {
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        let Some(array) = &mut self.array else { return self.out.message(to, write) };
        if let (None, To::Answer(id)) = (&self.first, to) {
            self.first = Some(id.clone());
        }
        let before = array.len();
        array.push(if before == 0 { b'[' } else { b',' });
        let begin = array.len();
        write(array);
        if array.len() == begin {
            array.truncate(before);
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.out.is_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    #[derive(Default)]
    struct One(Vec<String>, bool);

    impl Outbox for One {
        fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
            assert_eq!(to, To::Answer(&Id::from(7)), "the array is sent under its first id");
            let mut text = Vec::new();
            write(&mut text);
            self.0.push(String::from_utf8(text).unwrap());
            Ok(())
        }

        fn is_full(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn gathered_messages_are_sent_as_one_array() {
        const CASES: &[(&str, &[&str], &[&str])] = &[
            ("nothing", &[], &[]),
            ("no message", &[""], &[]),
            ("one", &["{}"], &["[{}]"]),
            ("two, and an empty one between them", &["1", "", "2"], &["[1,2]"]),
        ];
        for (name, messages, want) in CASES {
            let mut out = One::default();
            let mut gather = Gather::gathering(&mut out);
            for (id, message) in (7..).zip(*messages) {
                let answer = |buf: &mut Vec<u8>| buf.extend_from_slice(message.as_bytes());
                gather.message(To::Answer(&Id::from(id)), answer).unwrap();
            }
            gather.send();
            assert_eq!(out.0, *want, "{name}");
        }
    }

    #[test]
    fn gather_is_full_when_its_outbox_is() {
        for is_full in [false, true] {
            assert_eq!(Gather::gathering(&mut One(Vec::new(), is_full)).is_full(), is_full);
        }
    }

    #[test]
    fn the_limit_is_64_messages() {
        for (count, fits) in [(0, false), (1, true), (MOST, true), (MOST + 1, false)] {
            let text = format!("[{}]", alloc::vec!["1"; count].join(","));
            let array: &RawValue = serde_json::from_str(&text).unwrap();
            assert_eq!(elements(array).map(|all| all.len()), fits.then_some(count), "{count}");
        }
    }
}
