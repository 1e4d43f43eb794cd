//! The keys of the person: what the terminal reports, reduced to what the bindings tell apart.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) code: KeyCode,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    /// False for a character, since Shift makes it another character.
    pub(crate) shift: bool,
}

impl Key {
    /// Returns the key of an event. A terminal sends one byte for several keys with Ctrl; crossterm names the
    /// digit or the letter among them.
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
