//! The key bindings, in one table, which also feeds the line of help and the page of help. The configuration file
//! rebinds keys, one action at a time.

use super::keys::Key;
use super::model::act::{Action, Context};
use super::model::buffer::Motion;
use crossterm::event::KeyCode as Code;

#[derive(Debug)]
pub(crate) struct Binding {
    /// The keys, unless the configuration file has others: see [`Keymap::keys`].
    pub(crate) keys: &'static [Key],
    pub(crate) within: &'static [Context],
    pub(crate) action: Action,
    /// What the line of help shows; empty if the binding is not there.
    pub(crate) short: &'static str,
    pub(crate) help: &'static str,
}

use Context::{Editing, Edits, Files, Find, Page, Prompt, Proposal, Text};

/// The sections of the page of help, in order. A section has a title, and lists the bindings of its contexts.
pub(crate) const SECTIONS: &[(&str, &[Context])] = &[
    ("Everywhere", ALL),
    ("A proposed change", &[Proposal]),
    ("While it is edited", &[Editing]),
    ("Any text", TEXTS),
    ("Wherever text is typed", TYPED),
    ("A search", &[Find]),
    ("A question in the status line", &[Prompt]),
    ("A file", &[Text]),
    ("The files", &[Files]),
    ("Files and text", MAIN),
    ("What agents wrote", &[Edits]),
    ("These pages", PAGES),
];

const ALL: &[Context] = &[Files, Text, Proposal, Editing, Find, Prompt, Page, Edits];
const PAGES: &[Context] = &[Page, Edits];
const MAIN: &[Context] = &[Files, Text];
const TEXTS: &[Context] = &[Text, Editing];
const TYPED: &[Context] = &[Text, Editing, Find, Prompt];

const fn char(character: char) -> Key {
    Key::plain(Code::Char(character))
}

pub(super) const fn f(number: u8) -> Key {
    Key::plain(Code::F(number))
}

const fn plain(code: Code) -> Key {
    Key::plain(code)
}

const fn bind(
    within: &'static [Context],
    keys: &'static [Key],
    action: Action,
    short: &'static str,
    help: &'static str,
) -> Binding {
    Binding { keys, within, action, short, help }
}

/// The bindings, in the order of the help. The first match counts.
pub(crate) const BINDINGS: &[Binding] = &[
    bind(
        &[Proposal],
        &[char('a'), f(9)],
        Action::Accept,
        "accept",
        "accept all but the rejected changes; the agent writes",
    ),
    bind(&[Proposal], &[char('r'), f(10)], Action::Reject, "reject", "reject the proposal"),
    bind(&[Proposal], &[char('e')], Action::EditProposal, "edit", "edit the proposal before accepting it"),
    bind(&[Proposal], &[char('y')], Action::AcceptChange, "keep", "accept this change, and go to the next"),
    bind(&[Proposal], &[char('x')], Action::RejectChange, "drop", "reject this change, and go to the next"),
    bind(
        &[Proposal],
        &[char('v')],
        Action::SideBySide,
        "view",
        "side by side, where there are 100 columns, or unified",
    ),
    bind(&[Proposal], &[char('n')], Action::NextChange, "next", "to the next change of the proposal"),
    bind(&[Proposal], &[char('p')], Action::PreviousChange, "prev", "to the change before"),
    bind(&[Proposal], &[char('u')], Action::UndecideChange, "", "leave this change without a verdict"),
    bind(&[Proposal], &[plain(Code::Tab)], Action::NextProposal, "other", "to the next proposal that waits"),
    bind(&[Proposal], &[plain(Code::Esc), f(3)], Action::Later, "later", "leave the proposal open and go on"),
    bind(
        &[Editing],
        &[Key::ctrl('s'), plain(Code::Esc)],
        Action::StopEditing,
        "back to the diff",
        "back to the diff, with the proposal as it is now",
    ),
    bind(
        &[Files],
        &[plain(Code::Enter), plain(Code::Right)],
        Action::Open,
        "open",
        "open the file, unfold the folder",
    ),
    bind(&[Files], &[plain(Code::Left)], Action::Fold, "", "fold the folder"),
    bind(MAIN, &[f(3), Key::ctrl('d')], Action::ShowProposal, "proposals", "to the proposed changes"),
    bind(MAIN, &[f(2), Key::ctrl('e')], Action::SwitchPane, "files", "between the files and the text"),
    bind(MAIN, &[Key::ctrl('s')], Action::Save, "save", "save the file"),
    bind(TEXTS, &[Key::ctrl('f')], Action::Find, "find", "find text; lowercase matches any case"),
    bind(&[Files], &[Key::ctrl('f')], Action::Find, "", "find text in the file that is shown"),
    bind(
        &[Find],
        &[plain(Code::Enter)],
        Action::Answer,
        "stay here",
        "stay at what was found; agents see it selected",
    ),
    bind(&[Find], &[plain(Code::Esc)], Action::LeavePrompt, "go back", "back to the place before"),
    bind(&[Find], &[plain(Code::Down), Key::ctrl('f')], Action::FindNext, "next", "to the next match"),
    bind(&[Find], &[plain(Code::Up)], Action::FindPrevious, "previous", "to the match before"),
    bind(&[Prompt], &[plain(Code::Enter)], Action::Answer, "answer", "answer with what is typed"),
    bind(&[Prompt], &[plain(Code::Esc)], Action::LeavePrompt, "leave", "leave the question"),
    bind(
        MAIN,
        &[Key::ctrl('k')],
        Action::Mention,
        "mention",
        "mention the selected lines, or the file, to the agent",
    ),
    bind(TEXTS, &[Key::ctrl(' '), f(7)], Action::Mark, "mark", "begin to select by moving, without Shift"),
    bind(TEXTS, &[Key::ctrl('g')], Action::GoToLine, "line", "to a line, as 12 or 12:5"),
    bind(TYPED, &[Key::ctrl('a')], Action::SelectAll, "", "select everything"),
    bind(TYPED, &[Key::ctrl('z')], Action::Undo, "", "undo the last change"),
    bind(TYPED, &[Key::ctrl('y')], Action::Redo, "", "redo the change that was undone"),
    bind(TEXTS, &[Key::alt('z'), Key::ctrl('u')], Action::Wrap, "", "wrap long lines, or cut them"),
    bind(TYPED, &[Key::ctrl('c')], Action::Copy, "", "copy what is selected"),
    bind(TYPED, &[Key::ctrl('x')], Action::Cut, "", "cut what is selected"),
    bind(TYPED, &[Key::ctrl('v')], Action::Paste, "", "paste what was copied or cut here"),
    bind(&[Text], &[f(8), Key::ctrl('p')], Action::NextProblem, "", "to the next problem in the file"),
    bind(&[Text], &[f(6), Key::ctrl('b')], Action::NextFile, "", "to the next open file"),
    bind(MAIN, &[Key::alt('a')], Action::AskAgent, "", "ask the user at the agent, by a form"),
    bind(
        MAIN,
        &[Key::ctrl('n')],
        Action::OpenNamed,
        "",
        "open FILE or FILE:LINE:COLUMN, or begin a new file",
    ),
    bind(&[Text], &[f(12), Key::alt('s')], Action::SaveAs, "", "save the file under another name"),
    bind(&[Text], &[Key::ctrl('r')], Action::Reload, "", "read the file again"),
    bind(&[Text], &[Key::ctrl('w')], Action::Close, "", "close the file"),
    bind(&[Text], &[plain(Code::Esc)], Action::Leave, "", "select nothing; then to the files"),
    bind(
        &[Edits],
        &[char('u')],
        Action::UndoEdit,
        "undo",
        "write the file as it was before the agent wrote it",
    ),
    bind(&[Edits], &[plain(Code::Enter)], Action::OpenEdit, "open", "open the file"),
    bind(
        PAGES,
        &[plain(Code::Esc), char('q'), f(1), f(4), f(11)],
        Action::ClosePage,
        "back",
        "close this page",
    ),
    bind(ALL, &[f(5), Key::ctrl('o')], Action::Pause, "", "show agents nothing, until this key again"),
    bind(ALL, &[f(4), Key::ctrl('t')], Action::Activity, "", "what the agents did"),
    bind(ALL, &[f(11), Key::alt('w')], Action::Edits, "", "the files that agents wrote, with undo"),
    bind(ALL, &[Key::ctrl('l')], Action::Redraw, "", "draw the screen again"),
    bind(ALL, &[f(1), Key::ctrl('_')], Action::Help, "help", "the page of all keys"),
    bind(ALL, &[Key::ctrl('q')], Action::Quit, "quit", "end the editor"),
];

/// The keys that move the cursor. With Shift they select.
pub(crate) const MOTIONS: &[(Code, bool, Motion)] = &[
    (Code::Up, false, Motion::Up),
    (Code::Down, false, Motion::Down),
    (Code::Left, false, Motion::Left),
    (Code::Right, false, Motion::Right),
    (Code::Left, true, Motion::WordLeft),
    (Code::Right, true, Motion::WordRight),
    (Code::Home, false, Motion::LineStart),
    (Code::End, false, Motion::LineEnd),
    (Code::PageUp, false, Motion::PageUp),
    (Code::PageDown, false, Motion::PageDown),
    (Code::Home, true, Motion::Start),
    (Code::End, true, Motion::End),
];

/// The actions at the beginning of the page of help.
pub(crate) const FIRST: &[Action] = &[
    Action::ShowProposal,
    Action::Accept,
    Action::Reject,
    Action::EditProposal,
    Action::AcceptChange,
    Action::RejectChange,
    Action::Later,
    Action::SwitchPane,
    Action::Open,
    Action::Save,
    Action::Mention,
    Action::Pause,
    Action::Activity,
    Action::Help,
    Action::Quit,
];

/// What the page of help shows beyond the tables.
pub(crate) const BESIDES: &[(&str, &str)] = &[
    ("arrows, PgUp, PgDn", "move; with Ctrl by words"),
    ("Home, End", "to the ends of the line or diff; with Ctrl of the text"),
    ("Shift with these", "select"),
    ("Enter", "a new line with the indentation of the line before"),
    ("mouse", "points, selects, scrolls; with Shift as elsewhere"),
];

/// The marks on the screen.
pub(crate) const MARKS: &[(&str, &str)] = &[
    ("●, ○", "an agent is attached, or none is"),
    ("‖", "a file that agents do not receive, or a pause"),
    ("✻", "a change that an agent proposes"),
    ("✓, ✗", "a change that you accepted or rejected"),
    ("● before a file", "changes that are not saved"),
    ("● before a line", "a problem"),
    ("›, ⋯", "a line that continues, or lines that are left out"),
];

/// Without these actions the user could not get out of a context, or of the editor.
const NEEDED: &[Action] =
    &[Action::Quit, Action::Later, Action::StopEditing, Action::LeavePrompt, Action::ClosePage];

/// Stands for the keys of an action that has none.
pub(crate) const NO_KEY: &str = "no key";

/// The keys of the actions: those of the table, and those that the configuration file has in their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keymap(Vec<(Action, Vec<Key>)>);

/// What is wrong with changed keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The actions at fault: one, or two with the same key.
    pub(crate) of: [Action; 2],
    pub(crate) message: String,
}

impl Keymap {
    /// Gives these actions other keys.
    ///
    /// # Errors
    /// The first fault, in the order of the table. The fault of one action comes before a key of two actions.
    pub(crate) fn new(changed: Vec<(Action, Vec<Key>)>) -> Result<Self, Fault> {
        let map = Self(changed);
        let own = BINDINGS.iter().find_map(|binding| map.own_fault(binding));
        match own.or_else(|| BINDINGS.iter().find_map(|binding| map.clash(binding))) {
            Some(fault) => Err(fault),
            None => Ok(map),
        }
    }

    /// Returns the keys of a binding.
    pub(crate) fn keys<'a>(&'a self, binding: &'a Binding) -> &'a [Key] {
        let changed = self.0.iter().find(|(action, _)| *action == binding.action);
        changed.map_or(binding.keys, |(_, keys)| keys)
    }

    /// Returns the action of a key, or `None` if it has none.
    pub(crate) fn action(&self, context: Context, key: Key) -> Option<Action> {
        let bound = BINDINGS
            .iter()
            .find(|binding| binding.within.contains(&context) && self.keys(binding).contains(&key));
        match bound {
            Some(binding) => Some(binding.action),
            None => unbound(context, key),
        }
    }

    /// Returns the entries of the line of help: the first key of a binding in its short form, and its
    /// action.
    pub(crate) fn short(&self, context: Context) -> impl Iterator<Item = (String, Action, &'static str)> {
        let shown = BINDINGS
            .iter()
            .filter(move |binding| binding.within.contains(&context) && !binding.short.is_empty());
        shown.filter_map(|binding| {
            self.keys(binding).first().map(|key| (name(*key, true), binding.action, binding.short))
        })
    }

    /// Returns the name of the first key of an action, for a message.
    pub(crate) fn key(&self, action: Action, is_short: bool) -> String {
        let binding = BINDINGS.iter().find(|binding| binding.action == action);
        let key = binding.and_then(|binding| self.keys(binding).first());
        key.map_or_else(|| NO_KEY.into(), |key| name(*key, is_short))
    }

    /// Returns what is wrong with an action by itself.
    fn own_fault(&self, binding: &Binding) -> Option<Fault> {
        let (_, keys) = self.0.iter().find(|(action, _)| *action == binding.action)?;
        let of = [binding.action; 2];
        if keys.is_empty() && NEEDED.contains(&binding.action) {
            let message = format!("{} needs a key: without one, you cannot get out", named(binding.action));
            return Some(Fault { of, message });
        }
        let is_taken = |key: &&Key| binding.within.iter().any(|context| is_for_text(*context, **key));
        let key = keys.iter().find(is_taken)?;
        let message = format!(
            "{} types or moves in a text, so {} needs another key: one with Ctrl or Alt, or F1 to F12",
            name(*key, false),
            named(binding.action),
        );
        Some(Fault { of, message })
    }

    /// Returns the fault of an action that shares a key with another.
    fn clash(&self, binding: &Binding) -> Option<Fault> {
        self.keys(binding).iter().find_map(|key| self.clash_of(binding, *key))
    }

    fn clash_of(&self, binding: &Binding, key: Key) -> Option<Fault> {
        let has_it = |other: &&Binding| {
            other.action != binding.action
                && other.within.iter().any(|context| binding.within.contains(context))
                && self.keys(other).contains(&key)
        };
        // The key that opens a page also closes it.
        let closes = |other: &Binding| {
            let opens = |action| matches!(action, Action::Help | Action::Activity | Action::Edits);
            let pair = [binding.action, other.action];
            pair.contains(&Action::ClosePage) && pair.into_iter().any(opens)
        };
        let other = BINDINGS.iter().filter(has_it).find(|other| !closes(other))?;
        Some(Fault {
            of: [binding.action, other.action],
            message: format!(
                "{} is the key for {} and for {} at the same time: give one of them another key",
                name(key, false),
                named(binding.action),
                named(other.action)
            ),
        })
    }
}

fn named(action: Action) -> String {
    format!("`{}`", action.name().unwrap_or_default())
}

/// Returns true if this key types or moves where text is typed.
fn is_for_text(context: Context, key: Key) -> bool {
    if !TYPED.contains(&context) || key.alt {
        return false;
    }
    // A question has one line, and these keys move a search up and down.
    let is_line = !TEXTS.contains(&context);
    match key.code {
        Code::Esc | Code::F(_) | Code::Insert => false,
        Code::Tab if key.shift => false,
        Code::Enter | Code::Tab | Code::Up | Code::Down if is_line => false,
        _ => !key.ctrl || MOTIONS.iter().any(|(code, _, _)| *code == key.code),
    }
}

/// Returns the action of a key that is in no binding.
fn unbound(context: Context, key: Key) -> Option<Action> {
    let motion = MOTIONS.iter().find(|(code, ctrl, _)| *code == key.code && *ctrl == key.ctrl && !key.alt);
    if let Some((_, _, motion)) = motion {
        return Some(Action::Go(*motion, key.shift));
    }
    let types = TYPED.contains(&context) && !key.ctrl && !key.alt;
    match key.code {
        Code::Char(character) if types => Some(Action::Type(character)),
        Code::Tab if types && TEXTS.contains(&context) && !key.shift => Some(Action::Type('\t')),
        Code::Enter if types => Some(Action::NewLine),
        Code::Backspace if types => Some(Action::Backspace),
        Code::Delete if types => Some(Action::Delete),
        // Outside of texts, the usual letters are commands.
        Code::Char('?') if !types => Some(Action::Help),
        Code::Char(' ') if matches!(context, Page | Edits | Proposal) => {
            Some(Action::Go(Motion::PageDown, false))
        }
        _ => None,
    }
}

/// Returns the name of a key.
pub(crate) fn name(key: Key, is_short: bool) -> String {
    let code = match key.code {
        Code::Char(' ') => "Space".to_owned(),
        Code::Char(character) if key.ctrl => character.to_uppercase().collect(),
        Code::Char(character) => character.to_string(),
        Code::F(number) => format!("F{number}"),
        Code::PageUp => "PgUp".into(),
        Code::PageDown => "PgDn".into(),
        other => format!("{other:?}"),
    };
    let code = match key.code {
        Code::Char(_) if key.alt => code.to_uppercase(),
        _ => code,
    };
    let ctrl = match (key.ctrl, is_short) {
        (false, _) => "",
        (true, true) => "^",
        (true, false) => "Ctrl+",
    };
    let [alt, shift] =
        [(key.alt, "Alt+"), (key.shift, "Shift+")].map(|(holds, name)| if holds { name } else { "" });
    // As in `^Alt+X`, the sign of Ctrl stands before the other keys.
    format!("{ctrl}{alt}{shift}{code}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(context: Context, key: Key) -> Option<Action> {
        Keymap::default().action(context, key)
    }

    #[test]
    fn key_has_one_action_in_each_context() {
        for context in ALL {
            let mut seen: Vec<(Key, Action)> = Vec::new();
            for binding in BINDINGS.iter().filter(|binding| binding.within.contains(context)) {
                assert!(!binding.keys.is_empty() && !binding.help.is_empty());
                for key in binding.keys {
                    let clash = seen.iter().find(|(other, _)| other == key);
                    // The key that opens a page also closes it.
                    let closes = matches!(clash, Some((_, Action::ClosePage)));
                    assert!(clash.is_none() || closes, "{context:?}: {key:?} {clash:?}");
                    seen.push((*key, binding.action));
                }
            }
        }
    }

    #[test]
    fn every_binding_has_a_help_section() {
        for binding in BINDINGS {
            assert!(SECTIONS.iter().any(|(_, within)| *within == binding.within), "{binding:?}");
        }
    }

    #[test]
    fn typed_letters_are_not_commands() {
        for context in TYPED.iter().copied() {
            for letter in (' '..='~').chain(['\u{e9}', '\u{1f980}']) {
                assert_eq!(action(context, char(letter)), Some(Action::Type(letter)));
            }
        }
        assert_eq!(action(Files, char('a')), None);
        assert_eq!(action(Files, char('?')), Some(Action::Help));
        assert_eq!(action(Proposal, char('a')), Some(Action::Accept));
    }

    #[test]
    fn motions_are_equal_in_all_contexts() {
        for context in ALL {
            let key = Key::with(Code::Left, false, true);
            assert_eq!(action(*context, key), Some(Action::Go(Motion::Left, true)));
        }
    }

    #[test]
    fn keys_have_names() {
        let names: Vec<String> = [Key::ctrl('s'), f(1), char('a'), Key::alt('z'), plain(Code::Esc)]
            .iter()
            .flat_map(|key| [name(*key, true), name(*key, false)])
            .collect();
        assert_eq!(names, ["^S", "Ctrl+S", "F1", "F1", "a", "a", "Alt+Z", "Alt+Z", "Esc", "Esc"]);
    }
}
