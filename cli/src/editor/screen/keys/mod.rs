//! A decoder for the input from a terminal: keys, mouse and pasted text.
//!
//! The caller passes the bytes with the time, as for every machine of this crate, so nothing here ever
//! waits. The reader of crossterm, in contrast, waits until a sequence is complete, and loops forever if
//! the terminal is gone. The sequences are those of xterm (ctlseqs: "PC-Style Function Keys", "Mouse
//! Tracking", mode 1006 for the mouse, 2004 for pasted text), which all current terminals send.
//!
//! ```text
//!            ESC [ 2 0 0 ~
//!   keys  ─────────────────▶  pasting
//!     ▲                          │ ESC [ 2 0 1 ~
//!     └──────────────────────────┘
//! ```
//! Time matters only for incomplete input. If the missing bytes do not arrive within [`ESCAPE`], the
//! decoder takes the bytes as they are: a lone ESC is the key.

mod sequences;
#[cfg(test)]
mod tests;

use ide_mcp::Time;
use sequences::{First, key};
use std::str;
use std::time::Duration;

/// The time limit for the missing bytes of a sequence. A terminal writes a sequence in one piece, but a
/// slow line can cut it.
const ESCAPE: Duration = Duration::from_millis(50);
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    Mouse(Mouse),
    /// A piece of pasted text. Its lines end with `\n`.
    Paste {
        text: String,
        /// True if the piece before belongs to the same paste.
        continues: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) code: Code,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    /// False for a character, since Shift makes it another character.
    pub(crate) shift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Insert,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mouse {
    pub(crate) what: MouseKind,
    /// The column, from 0.
    pub(crate) column: u16,
    /// The row, from 0.
    pub(crate) row: u16,
    pub(crate) shift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseKind {
    Press,
    Drag,
    Release,
    WheelUp,
    WheelDown,
}

impl Key {
    pub(crate) const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    pub(crate) const fn ctrl(character: char) -> Self {
        Self { ctrl: true, ..Self::plain(Code::Char(character)) }
    }

    pub(crate) const fn alt(character: char) -> Self {
        Self { alt: true, ..Self::plain(Code::Char(character)) }
    }

    #[cfg(test)]
    pub(crate) const fn with(code: Code, ctrl: bool, shift: bool) -> Self {
        Self { code, ctrl, alt: false, shift }
    }
}

/// A decoder, with the bytes that it has not decoded yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    pasting: bool,
    /// True if a piece of the paste was returned.
    continues: bool,
    /// True if the last byte of a pasted text was `\r`: a `\n` after the `\r` is a part of its line end.
    after_return: bool,
    /// The time of the last bytes.
    fed: Time,
}

impl Decoder {
    pub(crate) fn feed(&mut self, now: Time, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.bytes.extend_from_slice(bytes);
            self.fed = now;
        }
    }

    /// Returns the next input of the person.
    pub(crate) fn next(&mut self, now: Time) -> Option<Input> {
        while !self.bytes.is_empty() {
            if !self.pasting && self.bytes.starts_with(PASTE_BEGIN) {
                self.bytes.drain(..PASTE_BEGIN.len());
                (self.pasting, self.continues) = (true, false);
                continue;
            }
            let is_late = self.fed.saturating_add(ESCAPE) <= now;
            let first = if self.pasting { self.pasted(is_late) } else { key(&self.bytes, is_late) };
            let First::Whole(length, input) = first else { return None };
            self.bytes.drain(..length.min(self.bytes.len()));
            if input.is_some() {
                return input;
            }
        }
        None
    }

    /// Returns the time at which incomplete input is taken as it is.
    pub(crate) fn deadline(&self) -> Option<Time> {
        (!self.bytes.is_empty()).then(|| self.fed.saturating_add(ESCAPE))
    }

    fn pasted(&mut self, is_late: bool) -> First {
        let bytes = self.bytes.as_slice();
        let end = bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        let text = match end {
            Some(0) => {
                self.pasting = false;
                self.after_return = false;
                return First::Whole(PASTE_END.len(), None);
            }
            Some(length) => bytes.get(..length).unwrap_or_default(),
            // The end of the paste has possibly begun.
            None => {
                let begun = (1..PASTE_END.len())
                    .rev()
                    .find(|length| PASTE_END.get(..*length).is_some_and(|begin| bytes.ends_with(begin)));
                let length = bytes.len().saturating_sub(begun.filter(|_| !is_late).unwrap_or_default());
                bytes.get(..length).unwrap_or_default()
            }
        };
        let (text, length) = match str::from_utf8(text) {
            Ok(text) => (text.to_owned(), text.len()),
            // An incomplete character waits for its missing bytes.
            Err(error) if error.error_len().is_none() && !is_late && end.is_none() => {
                let valid = text.get(..error.valid_up_to()).unwrap_or_default();
                (String::from_utf8_lossy(valid).into_owned(), valid.len())
            }
            Err(_) => (String::from_utf8_lossy(text).into_owned(), text.len()),
        };
        if length == 0 {
            return First::Part;
        }
        let starts_in_line_end = self.after_return && text.starts_with('\n');
        self.after_return = text.ends_with('\r');
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if starts_in_line_end { text.get(1..).unwrap_or_default().to_owned() } else { text };
        let continues = self.continues;
        self.continues |= !text.is_empty();
        First::Whole(length, (!text.is_empty()).then_some(Input::Paste { text, continues }))
    }
}
