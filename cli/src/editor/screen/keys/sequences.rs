//! The sequences of xterm: keys and the mouse.

use super::{Code, Input, Key, Mouse, MouseKind};
use std::str;

/// The length that no sequence with a meaning here exceeds. If a sequence becomes longer and has no end,
/// the bytes that have arrived are dropped.
pub(super) const LONGEST: usize = 32;

/// The decoding of the first bytes.
pub(super) enum First {
    /// A number of bytes, and the input that they mean, if any.
    Whole(usize, Option<Input>),
    /// The beginning of an input.
    Part,
}

/// Decodes the first bytes outside of a pasted text.
pub(super) fn key(bytes: &[u8], is_late: bool) -> First {
    match bytes {
        [0x1b, b'[', rest @ ..] => sequence(rest, is_late),
        [0x1b, b'O', rest @ ..] => match rest.first() {
            Some(last) => First::Whole(3, cursor_key(*last, 0)),
            None if is_late => First::Whole(2, Some(Input::Key(alt(Key::plain(Code::Char('O')))))),
            None => First::Part,
        },
        [0x1b, 0x1b, ..] => First::Whole(1, Some(Input::Key(Key::plain(Code::Esc)))),
        [0x1b] if !is_late => First::Part,
        [0x1b] => First::Whole(1, Some(Input::Key(Key::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match character(rest, is_late) {
            First::Whole(length, input) => First::Whole(
                length.saturating_add(1),
                input.map(|input| match input {
                    Input::Key(key) => Input::Key(alt(key)),
                    other => other,
                }),
            ),
            First::Part => First::Part,
        },
        _ => character(bytes, is_late),
    }
}

const fn alt(key: Key) -> Key {
    Key { alt: true, ..key }
}

/// Decodes a character, or the byte that a terminal sends for a key with Ctrl.
fn character(bytes: &[u8], is_late: bool) -> First {
    let key = |key: Key| First::Whole(1, Some(Input::Key(key)));
    match bytes {
        [] => First::Part,
        [0, ..] => key(Key::ctrl(' ')),
        [b'\r' | b'\n', ..] => key(Key::plain(Code::Enter)),
        [b'\t', ..] => key(Key::plain(Code::Tab)),
        [0x08 | 0x7f, ..] => key(Key::plain(Code::Backspace)),
        [byte @ 0x01..=0x1a, ..] => key(Key::ctrl(char::from(byte | 0x60))),
        [byte @ 0x1c..=0x1f, ..] => key(Key::ctrl(char::from(byte | 0x40))),
        [byte @ 0x20..=0x7e, ..] => key(Key::plain(Code::Char(char::from(*byte)))),
        _ => {
            let longest = bytes.get(..bytes.len().min(4)).unwrap_or_default();
            let valid = match str::from_utf8(longest) {
                Ok(text) => text,
                Err(error) => match (error.valid_up_to(), error.error_len()) {
                    (0, None) if !is_late => return First::Part,
                    (0, wrong) => return First::Whole(wrong.unwrap_or(longest.len()), None),
                    (length, _) => {
                        str::from_utf8(longest.get(..length).unwrap_or_default()).unwrap_or_default()
                    }
                },
            };
            match valid.chars().next() {
                Some(character) => {
                    First::Whole(character.len_utf8(), Some(Input::Key(Key::plain(Code::Char(character)))))
                }
                None => First::Part,
            }
        }
    }
}

/// Decodes the bytes after ESC and [.
fn sequence(rest: &[u8], is_late: bool) -> First {
    let Some(end) = rest.iter().position(|byte| matches!(byte, 0x40..=0x7e)) else {
        return match rest {
            // No terminal sends such a long sequence. Its end will be decoded as keys.
            _ if rest.len() > LONGEST => First::Whole(rest.len().saturating_add(2), None),
            [] if is_late => First::Whole(2, Some(Input::Key(alt(Key::plain(Code::Char('[')))))),
            _ if is_late => First::Whole(rest.len().saturating_add(2), None),
            _ => First::Part,
        };
    };
    let length = end.saturating_add(3);
    let (Some(parameters), Some(last)) = (rest.get(..end), rest.get(end)) else { return First::Part };
    let input = match (parameters, last) {
        ([b'<', parameters @ ..], b'M' | b'm') => mouse(parameters, *last == b'm'),
        ([], b'Z') => Some(Input::Key(Key { shift: true, ..Key::plain(Code::Tab) })),
        // The Linux console: ESC [ [ A to E.
        ([], b'[') => match rest.get(1) {
            Some(which @ b'A'..=b'E') => {
                let key = Key::plain(Code::F(which.saturating_sub(b'A').saturating_add(1)));
                return First::Whole(4, Some(Input::Key(key)));
            }
            None if !is_late => return First::Part,
            _ => None,
        },
        (parameters, b'~') => {
            let numbers = numbers(parameters);
            let modifiers = numbers.get(1).copied().unwrap_or_default();
            numbers.first().and_then(|number| editing_key(*number)).map(|code| modified(code, modifiers))
        }
        (parameters, last) => cursor_key(*last, numbers(parameters).get(1).copied().unwrap_or_default()),
    };
    First::Whole(length, input)
}

/// Returns the numbers between semicolons. A part that is not a number counts as 0.
fn numbers(parameters: &[u8]) -> Vec<u16> {
    let number = |digits: &[u8]| str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    parameters.split(|byte| *byte == b';').map(|digits| number(digits).unwrap_or_default()).collect()
}

fn modified(code: Code, modifiers: u16) -> Input {
    // xterm sends 1 plus the sum of Shift 1, Alt 2, Ctrl 4.
    let bits = modifiers.saturating_sub(1);
    Input::Key(Key { code, shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 })
}

fn cursor_key(last: u8, modifiers: u16) -> Option<Input> {
    let code = match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(last.saturating_sub(b'P').saturating_add(1)),
        _ => return None,
    };
    Some(modified(code, modifiers))
}

const fn editing_key(number: u16) -> Option<Code> {
    Some(match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11 => Code::F(1),
        12 => Code::F(2),
        13 => Code::F(3),
        14 => Code::F(4),
        15 => Code::F(5),
        17 => Code::F(6),
        18 => Code::F(7),
        19 => Code::F(8),
        20 => Code::F(9),
        21 => Code::F(10),
        23 => Code::F(11),
        24 => Code::F(12),
        _ => return None,
    })
}

fn mouse(parameters: &[u8], is_release: bool) -> Option<Input> {
    let numbers = numbers(parameters);
    let [buttons, column, row] = numbers.as_slice() else { return None };
    let what = match (buttons & 0b1110_0011, is_release) {
        (64, _) => MouseKind::WheelUp,
        (65, _) => MouseKind::WheelDown,
        (0, false) => MouseKind::Press,
        (0, true) => MouseKind::Release,
        (32, _) => MouseKind::Drag,
        _ => return None,
    };
    let shift = buttons & 4 != 0;
    Some(Input::Mouse(Mouse { what, column: column.checked_sub(1)?, row: row.checked_sub(1)?, shift }))
}
