//! The requests that wait for an answer.

use std::fmt::Debug;

/// The requests that wait, by their ids as they were written, in the order in which they came. Each is answered once, and
/// nothing else is answered.
#[derive(Debug)]
pub struct Open<E>(Vec<(String, E)>);

impl<E> Default for Open<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E: Debug> Open<E> {
    pub fn ask(&mut self, id: impl Into<String>, expected: E) {
        self.0.push((id.into(), expected));
    }

    /// Takes the first request with this id that the answer fits.
    pub fn answer(&mut self, id: &str, fits: impl Fn(&E) -> bool) -> Result<E, String> {
        match self.0.iter().position(|(open, expected)| open == id && fits(expected)) {
            Some(at) => Ok(self.0.remove(at).1),
            None => {
                let expected: Vec<_> = self.0.iter().filter(|(open, _)| open == id).collect();
                Err(match expected.is_empty() {
                    true => format!("{id} is not open: never asked, or answered already"),
                    false => format!("not the answer that is expected: {expected:?}"),
                })
            }
        }
    }

    /// Drops the requests that need no answer any more.
    pub fn retain(&mut self, waits: impl Fn(&E) -> bool) {
        self.0.retain(|(_, expected)| waits(expected));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &E)> {
        self.0.iter().map(|(id, expected)| (id.as_str(), expected))
    }

    /// Returns the requests with this id.
    pub fn of<'a>(&'a mut self, id: &'a str) -> impl Iterator<Item = &'a mut E> {
        self.0.iter_mut().filter(move |(open, _)| open == id).map(|(_, expected)| expected)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
