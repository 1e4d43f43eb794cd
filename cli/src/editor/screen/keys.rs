//! The user's keys: what the terminal reports, reduced to what the bindings distinguish.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Key {
    pub(crate) code: KeyCode,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    /// False for a character, since Shift makes it another one.
    pub(crate) shift: bool,
}

impl Key {
    /// Returns the key of an event. A terminal sends one byte for several keys with Ctrl; the event has
    /// the digit or the letter among them.
    pub(crate) const fn of(event: KeyEvent) -> Self {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        let key = match (event.code, ctrl) {
            (KeyCode::Char('h'), true) => Self::plain(KeyCode::Backspace),
            (KeyCode::Char('j'), true) => Self::plain(KeyCode::Enter),
            (KeyCode::Char('4'), true) => Self::ctrl('\\'),
            (KeyCode::Char('5'), true) => Self::ctrl(']'),
            (KeyCode::Char('6'), true) => Self::ctrl('^'),
            (KeyCode::Char('7'), true) => Self::ctrl('_'),
            (KeyCode::Char(character), _) => Self { ctrl, ..Self::plain(KeyCode::Char(character)) },
            (KeyCode::BackTab, _) => Self { shift: true, ctrl, ..Self::plain(KeyCode::Tab) },
            (code, _) => {
                Self { ctrl, shift: event.modifiers.contains(KeyModifiers::SHIFT), ..Self::plain(code) }
            }
        };
        Self { alt, ..key }
    }

    pub(crate) const fn plain(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    pub(crate) const fn ctrl(character: char) -> Self {
        Self { ctrl: true, ..Self::plain(KeyCode::Char(character)) }
    }

    pub(crate) const fn alt(character: char) -> Self {
        Self { alt: true, ..Self::plain(KeyCode::Char(character)) }
    }

    #[cfg(test)]
    pub(crate) const fn with(code: KeyCode, ctrl: bool, shift: bool) -> Self {
        Self { code, ctrl, alt: false, shift }
    }
}

/// The keys that have a name of more than one character, the name on the screen first.
const NAMES: [(&str, KeyCode); 18] = [
    ("Esc", KeyCode::Esc),
    ("Enter", KeyCode::Enter),
    ("Return", KeyCode::Enter),
    ("Tab", KeyCode::Tab),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PageUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("PageDown", KeyCode::PageDown),
];

impl TryFrom<String> for Key {
    type Error = String;

    /// Returns the key of a name such as `a`, `F9`, `Ctrl+S`, `^S`, `Alt+Z` or `PgDn`. Case does not matter, except for
    /// a character alone: `A` is not the same key as `a`.
    ///
    /// # Errors
    /// A message for the user about an unknown name, or a key that no terminal can send.
    fn try_from(text: String) -> Result<Self, String> {
        let (mut rest, mut ctrl, mut alt, mut shift) = (text.as_str(), false, false, false);
        loop {
            // A `^` or `+` at the end is the key itself.
            let (held, after) = match (rest.strip_prefix('^'), rest.split_once('+')) {
                (Some(after), _) if !after.is_empty() => (&mut ctrl, after),
                (_, Some((name, after))) if !name.is_empty() && !after.is_empty() => {
                    let held = match name.to_ascii_lowercase().as_str() {
                        "ctrl" => &mut ctrl,
                        "alt" => &mut alt,
                        "shift" => &mut shift,
                        _ => return Err(format!("{name:?} in {text:?} is neither Ctrl, Alt nor Shift")),
                    };
                    (held, after)
                }
                _ => break,
            };
            *held = true;
            rest = after;
        }
        let code = code(rest).ok_or_else(|| {
            format!(
                "{text:?} is not a key: write a character, F1 to F12, or a name such as Esc, Enter or PgDn"
            )
        })?;
        let code = match code {
            KeyCode::Char(character) if ctrl || alt => KeyCode::Char(character.to_ascii_lowercase()),
            code => code,
        };
        let unsendable = |why: &str| Err(format!("no terminal sends {text:?}: {why}"));
        match code {
            KeyCode::Char(_) if shift => {
                unsendable("with Shift it sends another character, such as A: write that one")
            }
            KeyCode::Char('h') if ctrl => unsendable("it sends Backspace"),
            KeyCode::Char('i') if ctrl => unsendable("it sends Tab"),
            KeyCode::Char('j' | 'm') if ctrl => unsendable("it sends Enter"),
            KeyCode::Char('[') if ctrl => unsendable("it sends Esc"),
            KeyCode::Char('[' | ']' | '^' | '_') if alt => unsendable("other sequences begin like that"),
            KeyCode::Esc if alt => unsendable("it sends Esc twice"),
            KeyCode::Enter | KeyCode::Esc | KeyCode::Backspace if ctrl || shift => {
                unsendable("it sends the key alone")
            }
            KeyCode::Tab if ctrl => unsendable("it sends Tab"),
            KeyCode::Char(character)
                if ctrl && !matches!(character, 'a'..='z' | ' ' | '\\' | ']' | '^' | '_') =>
            {
                unsendable("Ctrl goes with letters and Space")
            }
            code => Ok(Self { code, ctrl, alt, shift }),
        }
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return (!character.is_control()).then_some(KeyCode::Char(character));
    }
    let number = name.strip_prefix(['F', 'f']).and_then(|number| number.parse().ok());
    match number {
        Some(number @ 1..=12) => Some(KeyCode::F(number)),
        _ => NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, code)| *code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::screen::bindings::{BINDINGS, name};

    #[test]
    fn names_are_keys() {
        let f = |number| Key::plain(KeyCode::F(number));
        let rows = [
            ("a", Ok(Key::plain(KeyCode::Char('a')))),
            ("A", Ok(Key::plain(KeyCode::Char('A')))),
            ("+", Ok(Key::plain(KeyCode::Char('+')))),
            ("^", Ok(Key::plain(KeyCode::Char('^')))),
            ("\u{e9}", Ok(Key::plain(KeyCode::Char('\u{e9}')))),
            (" ", Ok(Key::plain(KeyCode::Char(' ')))),
            ("Ctrl+S", Ok(Key::ctrl('s'))),
            ("ctrl+s", Ok(Key::ctrl('s'))),
            ("^S", Ok(Key::ctrl('s'))),
            ("^^", Ok(Key::ctrl('^'))),
            ("Ctrl+Space", Ok(Key::ctrl(' '))),
            ("Alt+Z", Ok(Key::alt('z'))),
            ("Alt++", Ok(Key::alt('+'))),
            ("Ctrl+Alt+X", Ok(Key { alt: true, ..Key::ctrl('x') })),
            ("F1", Ok(f(1))),
            ("f12", Ok(f(12))),
            ("Shift+Tab", Ok(Key::with(KeyCode::Tab, false, true))),
            ("Ctrl+PageDown", Ok(Key::with(KeyCode::PageDown, true, false))),
            ("ESC", Ok(Key::plain(KeyCode::Esc))),
            ("", Err("\"\" is not a key: ")),
            ("F13", Err("\"F13\" is not a key: write a character, F1 to F12,")),
            ("F0", Err("\"F0\" is not a key: ")),
            ("ab", Err("\"ab\" is not a key: ")),
            ("\u{7}", Err("is not a key: ")),
            ("Meta+a", Err("\"Meta\" in \"Meta+a\" is neither Ctrl, Alt nor Shift")),
            ("Shift+a", Err("no terminal sends \"Shift+a\": with Shift it sends another character")),
            ("Ctrl+H", Err("it sends Backspace")),
            ("Ctrl+Enter", Err("it sends the key alone")),
            ("Shift+Enter", Err("it sends the key alone")),
            ("Ctrl+Esc", Err("it sends the key alone")),
            ("Ctrl+Backspace", Err("it sends the key alone")),
            ("Ctrl+Tab", Err("it sends Tab")),
            ("Alt+Esc", Err("it sends Esc twice")),
            ("Alt+_", Err("other sequences begin like that")),
            ("Alt+]", Err("other sequences begin like that")),
            ("Ctrl+I", Err("it sends Tab")),
            ("^J", Err("it sends Enter")),
            ("Ctrl+M", Err("it sends Enter")),
            ("Ctrl+[", Err("it sends Esc")),
            ("Alt+[", Err("other sequences begin like that")),
            ("Ctrl+1", Err("Ctrl goes with letters and Space")),
        ];
        for (text, expected) in rows {
            match (Key::try_from(text.to_owned()), expected) {
                (Ok(key), Ok(expected)) => assert_eq!(key, expected, "{text}"),
                (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{text}: {problem}"),
                (other, _) => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn shown_names_can_be_written() {
        for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
            for is_short in [true, false] {
                assert_eq!(Key::try_from(name(*key, is_short)), Ok(*key));
            }
        }
    }
}
