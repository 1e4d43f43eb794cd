//! Random texts, and a model of texts with hunks.

use crate::editor::screen::review::Hunk;

/// Pieces of texts: each line end, no line end, repeated lines, and characters of several bytes.
const PIECES: &[&str] = &[
    "a\n",
    "b\n",
    "b\n",
    "a b c\n",
    "a x c\n",
    "\n",
    "\r\n",
    "a\r\n",
    "\r",
    "a\rb\n",
    "\u{e9}\u{301} \u{1f980}\n",
    "end",
];

/// A source of numbers: xorshift64*, so that a seed means the same texts everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % bound
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(crate) fn text(&mut self) -> String {
        (0..self.below(16)).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    /// Returns a text with some changes, or another text.
    pub(crate) fn changed(&mut self, text: &str) -> String {
        if self.below(8) == 0 {
            return self.text();
        }
        let mut lines: Vec<&str> = lines(text);
        for _ in 0..self.below(5) {
            let at = self.below(lines.len() + 1);
            match self.below(3) {
                0 => lines.insert(at, PIECES[self.below(PIECES.len())]),
                1 if at < lines.len() => drop(lines.remove(at)),
                _ if at < lines.len() => lines[at] = PIECES[self.below(PIECES.len())],
                _ => {}
            }
        }
        lines.concat()
    }
}

/// Returns the lines of a text with their ends, byte by byte.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let (mut lines, mut start) = (Vec::new(), 0);
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' || at + 1 == text.len() {
            lines.extend(text.get(start..=at));
            start = at + 1;
        }
    }
    lines
}

/// Returns the base with the chosen hunks: from the last hunk to the first, so that no place moves.
pub(crate) fn applied(base: &str, target: &str, hunks: &[Hunk], chosen: &[bool]) -> String {
    let (mut result, target) = (lines(base), lines(target));
    for (hunk, _) in hunks.iter().zip(chosen).rev().filter(|(_, chosen)| **chosen) {
        result.splice(hunk.base.clone(), target[hunk.target.clone()].iter().copied());
    }
    result.concat()
}
