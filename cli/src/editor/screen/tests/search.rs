//! The search in a text, and the way to a line.

use super::Desk;
use crate::editor::screen::model::Focus;
use crate::editor::screen::view::palette::Ink;
use ide_mcp::ide::tool::GetCurrentSelection;

const FIND: &str = "\x06";
const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const TEXT: &str = "one two\nTwo three\n\u{6f22}\u{5b57} two\n";

fn desk() -> Desk {
    let mut desk = Desk::new(&[("a.txt", TEXT)]);
    desk.open("a.txt");
    desk
}

/// Returns the first byte and the text of the selection.
fn selected(desk: &Desk) -> (usize, &str) {
    let buffer = &desk.app.model.document().unwrap().buffer;
    (buffer.selection().start, buffer.selected())
}

#[test]
fn search_goes_to_matches() {
    let cases: &[(&str, &str, (usize, &str), &str)] = &[
        ("the first match at once", "two", (4, "two"), "1 of 3"),
        ("lowercase letters match capitals", "tw\x1b[B", (8, "Tw"), "2 of 3"),
        ("a capital does not match lowercase letters", "Two", (8, "Two"), "1 of 1"),
        ("the next and the one before", "two\x1b[B\x06\x1b[A", (8, "Two"), "2 of 3"),
        ("round the end", "two\x06\x06\x06", (4, "two"), "from the beginning again, 1 of 3"),
        ("round the beginning", "two\x1b[A", (25, "two"), "from the end again, 3 of 3"),
        ("nowhere", "four", (0, ""), "not found"),
        ("a shortened search finds again", "twof\x7f", (4, "two"), "1 of 3"),
        ("an empty search returns", "two\x7f\x7f\x7f", (0, ""), "find:"),
        ("wide characters", "\u{5b57}", (21, "\u{5b57}"), "1 of 1"),
        (
            "pasted text, of which only the first line counts",
            "\x1b[200~three\nmore\x1b[201~",
            (12, "three"),
            "1 of 1",
        ),
        ("a change that is taken back", "two\x1a\x19", (4, "two"), "1 of 3"),
    ];
    for (name, keys, expected, note) in cases {
        let mut desk = desk();
        desk.keys(&format!("{FIND}{keys}"));
        let screen = desk.screen();
        assert_eq!(selected(&desk), *expected, "{name}:\n{screen}");
        assert!(screen.contains(note), "{name}:\n{screen}");
        desk.keys("\x1b");
        assert_eq!(selected(&desk), (0, ""), "{name}: Esc returns");
        assert_eq!(desk.app.model.focus, Focus::Text, "{name}");
        let unmarked = desk.app.model.document().unwrap().buffer.highlight.is_none();
        assert!(unmarked && !desk.screen().contains("find:"), "{name}");
    }
}

#[test]
fn too_long_search_is_refused() {
    let longest = "a".repeat(1000);
    for (name, needle, note) in [
        ("the maximum length", longest.clone(), "1 of 1"),
        ("one character longer", format!("{longest}a"), "a search has at most 1000 characters"),
    ] {
        let mut desk = Desk::new(&[("a.txt", &format!("{longest}\n"))]);
        desk.open("a.txt");
        desk.keys(&format!("{FIND}\x1b[200~{needle}\x1b[201~"));
        let screen = desk.screen();
        assert!(screen.contains(note), "{name}:\n{screen}");
    }
}

#[test]
fn search_shows_its_matches_and_keys() {
    let mut desk = desk();
    desk.keys(&format!("{FIND}two"));
    desk.shows(" find: two");
    desk.shows("Enter stay here  Esc go back  Down next  Up previous");
    desk.assert_ink("two", Ink::Selected);
    desk.assert_ink("Two", Ink::Found);
    desk.assert_ink("three", Ink::Text);
    let cursor = desk.frame().cursor.unwrap();
    assert_eq!(cursor, (10, 22), "after the answer");
}

#[test]
fn found_text_is_the_selection_of_agents() {
    let mut desk = desk();
    let agent = desk.attach("claude-code");
    desk.keys(&format!("{FIND}two{DOWN}\r"));
    assert_eq!(selected(&desk), (8, "Two"));
    let received = desk.ask(agent, &GetCurrentSelection);
    assert!(received.contains("Two"), "{received}");
    // The next search begins with the selected text.
    desk.keys(FIND);
    desk.shows("find: Two");
    desk.keys("three\r");
    assert_eq!(selected(&desk), (12, "three"), "typing replaces it");
    desk.keys("\x1b");
    desk.keys(&format!("{UP}{FIND}"));
    desk.shows("find: three");
}

#[test]
fn search_returns_to_the_scrolled_place() {
    let text: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut desk = Desk::new(&[("a.txt", &text)]);
    desk.open("a.txt");
    desk.keys(&DOWN.repeat(50));
    desk.keys("\x1b[1;2C");
    let before = desk.screen();
    desk.keys(&format!("{FIND}line 150"));
    desk.shows(" 151  line 150");
    desk.keys("\x1b");
    assert_eq!(desk.screen(), before);
}

#[test]
fn proposal_ends_the_search_in_front() {
    let mut desk = desk();
    let agent = desk.attach("claude-code");
    desk.keys(&format!("{FIND}two"));
    let request = ide_mcp::ide::tool::OpenDiff::new(desk.path("a.txt"), "new\n", "t");
    desk.call(agent, &request);
    desk.shows("find: two");
    desk.keys("\x1b");
    desk.wait(4_000);
    desk.keys("\x0e");
    desk.wait(4_000);
    let request = ide_mcp::ide::tool::OpenDiff::new(desk.path("a.txt"), "newer\n", "u");
    desk.call(agent, &request);
    assert_eq!(desk.app.model.focus, Focus::Proposal);
    assert!(desk.app.model.prompt.is_none());
}

#[test]
fn search_works_in_an_edited_proposal() {
    let mut desk = desk();
    let agent = desk.attach("claude-code");
    let request = ide_mcp::ide::tool::OpenDiff::new(desk.path("a.txt"), "new two\nand two\n", "t");
    desk.call(agent, &request);
    desk.wait(4_000);
    desk.keys(&format!("e{FIND}two{DOWN}\r"));
    desk.keys("2\x13");
    desk.shows("and 2");
}

#[test]
fn line_is_reached_by_its_number() {
    let cases = [
        ("a line", "2", Some((1, 0))),
        ("a line and a column", "1:5", Some((0, 4))),
        ("the last one", "999", Some((3, 0))),
        ("a column after the end", "1:99", Some((0, 7))),
        ("no line 0", "0", None),
        ("not a number", "x", None),
    ];
    for (name, answer, expected) in cases {
        let mut desk = desk();
        desk.keys(&format!("\x07{answer}"));
        desk.shows(&format!(" line: {answer}"));
        desk.keys("\r");
        match expected {
            Some((line, column)) => desk.shows(&format!("  {}:{}", line + 1, column + 1)),
            None => desk.shows("type a line as 12, or with a column as 12:5"),
        }
        assert_eq!(desk.app.model.prompt.is_none(), expected.is_some(), "{name}");
        desk.keys("\x1b");
        assert!(desk.app.model.prompt.is_none(), "{name}");
    }
}

#[test]
fn search_from_the_list_goes_to_the_file() {
    let mut desk = Desk::new(&[("a.txt", TEXT)]);
    desk.keys(FIND);
    desk.shows("open a file first: ^F finds text in it");
    assert_eq!((desk.app.model.focus, desk.app.model.prompt.is_none()), (Focus::Files, true));
    desk.open("a.txt");
    for needle in ["two", "three"] {
        desk.app.model.focus = Focus::Files;
        desk.keys(&format!("{FIND}\x01{needle}\r"));
        assert_eq!(selected(&desk).1, needle);
        assert_eq!(desk.app.model.focus, Focus::Text);
    }
}
