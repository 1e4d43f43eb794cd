//! Keys that the configuration file has changed: what they do, and that every text names them.

use super::Desk;
use super::review::propose;
use crate::editor::screen::app::Quitting;
use crate::editor::screen::bindings::Keymap;
use crate::editor::screen::keys::Key;
use crate::editor::screen::model::act::Action;

const OLD: &str = "one\ntwo\n";

/// Returns a desk whose keys are changed.
fn desk(changed: &[(Action, &[&str])]) -> Desk {
    let mut desk = Desk::new(&[("a.txt", OLD), ("b.txt", "b")]);
    let key = |name: &&str| Key::try_from(String::from(*name)).unwrap();
    let changed = changed.iter().map(|(action, names)| (*action, names.iter().map(key).collect()));
    desk.app.model.keys = Keymap::new(changed.collect()).unwrap();
    desk
}

const CHANGED: &[(Action, &[&str])] = &[
    (Action::Accept, &["Z", "F9"]),
    (Action::Reject, &["-"]),
    (Action::Quit, &["Alt+Q"]),
    (Action::ShowProposal, &["Alt+P"]),
    (Action::Pause, &[]),
    (Action::Help, &["F2", "Alt+H"]),
    (Action::SwitchPane, &["Ctrl+E"]),
    (Action::Save, &["Alt+S"]),
    (Action::SaveAs, &[]),
];

#[test]
fn changed_keys_decide_about_proposals() {
    let rows = [
        ("accept", "Z", Some("FILE_SAVED")),
        ("the second key of accept", "\x1b[20~", Some("FILE_SAVED")),
        ("the default key of accept", "a", None),
        ("reject", "-", Some("DIFF_REJECTED")),
        ("the default key of reject", "r", None),
    ];
    for (name, keys, answer) in rows {
        let mut desk = desk(CHANGED);
        let id = propose(&mut desk, "a.txt", "one\n2\n");
        desk.shows(" Z accept  - reject  e edit");
        desk.keys(keys);
        let found = desk.result(id);
        assert_eq!(found.as_ref().and_then(|texts| texts.first()).map(String::as_str), answer, "{name}");
        if answer.is_none() {
            desk.shows("Alt+Q ends the editor, F2 lists keys");
        }
    }
}

#[test]
fn changed_keys_end_the_editor() {
    let mut desk = desk(CHANGED);
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::No, "Ctrl+Q has no meaning any more");
    desk.open("a.txt");
    desk.keys("x");
    desk.keys("\x1bq");
    desk.shows("Alt+Q again ends the editor; not saved: a.txt");
    desk.keys("\x1bs");
    desk.shows("a.txt is saved");
    desk.keys("\x1bq");
    assert!(desk.app.quitting == Quitting::Now);
}

#[test]
fn editor_ends_by_each_of_its_keys_and_names_it() {
    for (key, name) in [("\x11", "Ctrl+Q"), ("\x1b[24~", "F12")] {
        let mut desk = desk(&[(Action::Quit, &["Ctrl+Q", "F12"]), (Action::SaveAs, &[])]);
        desk.keys(key);
        assert!(desk.app.quitting == Quitting::Now, "{name}");
        assert_eq!(desk.app.quit_key(), name);
    }
}

#[test]
fn every_text_names_the_changed_keys() {
    let mut desk = desk(CHANGED);
    let bar = desk.frame().row(23);
    assert!(bar.ends_with(" F2 help") && bar.contains("^E files"), "{bar}");
    desk.keys("\x1bOQ");
    for text in ["Z, F9 ", "   - ", "Alt+Q ", "F2, Alt+H ", "no key "] {
        desk.shows(text);
    }
    desk.app.resize((80, 140));
    for text in ["Alt+S ", "   Ctrl+E ", "Alt+P "] {
        desk.shows(text);
    }
    assert!(!desk.screen().contains("Ctrl+Q"), "{}", desk.screen());
    desk.app.resize((80, 24));
    desk.keys("\x1b");
    // The banner of a waiting proposal, and the line of a pause.
    desk.open("a.txt");
    desk.keys("x");
    let agent = desk.attach("claude-code");
    let request = ide_mcp::ide::tool::OpenDiff::new(desk.path("b.txt"), "c", "t");
    desk.keys("x");
    desk.call(agent, &request);
    desk.shows("Alt+P shows it");
    desk.app.model.is_paused = true;
    desk.keys("\x1b[D");
    desk.shows("paused: agents receive nothing (no key)");
    desk.keys("\x1bp");
    desk.wait(500);
    desk.shows(" Z accept  - reject");
    // The questions that ask for a key again.
    let mut desk = self::desk(CHANGED);
    propose(&mut desk, "a.txt", "1\ntwo\n3\n");
    desk.keys("y-");
    desk.shows("- again rejects all: 1 of 2 changes are accepted");
    let mut desk = self::desk(CHANGED);
    propose(&mut desk, "a.txt", "1\ntwo\n");
    desk.write("a.txt", "zero\none\ntwo\n");
    desk.keys("Z");
    desk.shows("look at it, then press Z again");
}

#[test]
fn page_of_keys_names_the_file() {
    use crate::editor::config::Source;
    for (is_read, state) in [(true, "was read at the start"), (false, "does not exist")] {
        let mut desk = desk(&[]);
        desk.app.model.config = Some(Source { path: "/h/ide-mcp/config.toml".into(), is_read });
        desk.app.resize((80, 140));
        desk.keys("\x1bOP");
        desk.shows(&format!("/h/ide-mcp/config.toml  {state}"));
    }
}
