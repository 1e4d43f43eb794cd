//! The review of a proposal: the visible change, hunk by hunk, and against the current text of the file.

use super::Desk;
use crate::editor::screen::view::palette::Ink;
use ide_mcp::ide::tool::OpenDiff;
use ide_mcp::rpc::RequestId;

/// A line whose change is far to the right.
const LONG: &str = "a line of text that is rather long and goes on to column ninety or so, and then turns";

pub(super) fn propose(desk: &mut Desk, name: &str, contents: &str) -> RequestId {
    let agent = if desk.agents.is_empty() { desk.attach("agent") } else { 0 };
    let request = OpenDiff::new(desk.path(name), contents, format!("tab {name}"));
    let id = desk.call(agent, &request);
    desk.wait(500);
    id
}

/// Returns the emphasized text with this ink, row by row.
fn emphasized(desk: &mut Desk, ink: Ink) -> String {
    let frame = desk.frame();
    let (width, height) = frame.size();
    let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    cells.filter(|(x, y)| frame.wears(*x, *y, ink)).map(|(x, y)| frame.symbol(x, y)).collect()
}

#[test]
fn change_in_long_line_is_visible() {
    for (name, size, keys) in [
        ("80 columns", (80, 24), ""),
        ("40 columns", (40, 24), ""),
        ("side by side at 100 columns", (100, 24), "v"),
        ("side by side at 120 columns", (120, 24), "v"),
    ] {
        for filler in ["", &"word ".repeat(40), &"word ".repeat(4_000), &"word".repeat(4_000)] {
            let text = |end: &str| format!("one\n{filler}{LONG} {end}, and so on\ntwo\n");
            let mut desk = Desk::new(&[("a.txt", &text("sideways"))]);
            desk.app.resize(size);
            propose(&mut desk, "a.txt", &text("anywhere"));
            desk.keys(keys);
            let found = (emphasized(&mut desk, Ink::RemovedStrong), emphasized(&mut desk, Ink::AddedStrong));
            let screen = desk.screen();
            let bytes = filler.len();
            assert_eq!(found, ("sideways".into(), "anywhere".into()), "{name}, {bytes} bytes:\n{screen}");
        }
    }
}

#[test]
fn warning_goes_when_its_reason_goes() {
    for (name, keys) in [("undone", "\x1a"), ("saved", "\x13")] {
        let mut desk = Desk::new(&[("a.txt", "one\n")]);
        desk.open("a.txt");
        desk.keys("x");
        desk.wait(3000);
        let id = propose(&mut desk, "a.txt", "new\n");
        desk.shows("unsaved changes here");
        desk.shows("- xone");
        desk.keys("\x1b");
        desk.keys(keys);
        desk.keys("\x1bOR");
        let screen = desk.screen();
        assert!(!screen.contains("unsaved changes here"), "{name}:\n{screen}");
        desk.shows(if name == "undone" { "- one" } else { "- xone" });
        assert_eq!(desk.result(id), None, "{name}");
    }
}

#[test]
fn later_edit_is_shown_before_acceptance() {
    let mut desk = Desk::new(&[("a.txt", "one\ntwo\nthree\n")]);
    desk.open("a.txt");
    let id = propose(&mut desk, "a.txt", "one\ntwo\n3\n");
    assert!(!desk.screen().contains("unsaved changes here"));
    desk.keys("\x1b");
    desk.keys("x");
    desk.keys("\x1bOR");
    desk.shows("unsaved changes here");
    desk.shows("- xone");
    desk.keys("a");
    assert_eq!(desk.result(id), None, "the first key shows the conflict");
    desk.shows("press a again");
    desk.keys("a");
    assert_eq!(desk.result(id).unwrap(), ["FILE_SAVED", "one\ntwo\n3\n"]);
}

#[test]
fn change_on_disk_is_found_at_acceptance() {
    let mut desk = Desk::new(&[("a.txt", "one\n")]);
    let id = propose(&mut desk, "a.txt", "new\n");
    desk.write("a.txt", "of another program\n");
    desk.keys("a");
    assert_eq!(desk.result(id), None, "the disk has another text");
    desk.shows("- of another program");
    desk.keys("a");
    assert!(desk.result(id).is_some());
}

/// Ten lines. The proposal changes the second and the eighth.
pub(super) const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
pub(super) const TWO_CHANGES: &str = "1\nzwei\n3\n4\n5\n6\n7\nacht\n9\n10\n";

#[test]
fn changes_are_decided_one_by_one() {
    let first = "1\nzwei\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let second = "1\n2\n3\n4\n5\n6\n7\nacht\n9\n10\n";
    let accepted = |text: &str| vec!["FILE_SAVED".to_owned(), text.to_owned()];
    let rejected = vec!["DIFF_REJECTED".to_owned(), "tab a.txt".to_owned()];
    let rows: &[(&str, &str, &str, Vec<String>, &str)] = &[
        ("each accepted", "yya", "✓ 2 ✗ 0 of 2", accepted(TWO_CHANGES), "accepted a.txt;"),
        ("the second rejected", "yxa", "✓ 1 ✗ 1 of 2", accepted(first), "accepted a.txt, 1 of 2 changes;"),
        ("the first rejected", "xa", "✓ 0 ✗ 1 of 2", accepted(second), "accepted a.txt, 1 of 2 changes;"),
        ("next and previous", "npxa", "✓ 0 ✗ 1 of 2", accepted(second), "1 of 2 changes;"),
        ("by End and Home", "\x1b[Fx\x1b[Hya", "✓ 1 ✗ 1 of 2", accepted(first), "1 of 2 changes;"),
        ("each rejected", "xxa", "✓ 0 ✗ 2 of 2", rejected.clone(), "rejected a.txt"),
        ("a verdict taken back", "xpu", "", accepted(TWO_CHANGES), "accepted a.txt;"),
        ("rejected as a whole", "xr", "✓ 0 ✗ 1 of 2", rejected.clone(), "rejected a.txt"),
        ("rejected after an acceptance", "yrr", "✓ 1 ✗ 0 of 2", rejected, "rejected a.txt"),
    ];
    for (name, keys, counts, answer, text) in rows {
        let mut desk = Desk::new(&[("a.txt", TEN)]);
        let id = propose(&mut desk, "a.txt", TWO_CHANGES);
        let last = keys.trim_end_matches(['a', 'r']);
        desk.keys(last);
        desk.shows(counts);
        assert_eq!(desk.result(id), None, "{name}");
        let deciding = keys.strip_prefix(last).unwrap();
        desk.keys(if deciding.is_empty() { "a" } else { deciding });
        assert_eq!(desk.result(id).unwrap_or_default(), *answer, "{name}");
        desk.shows(text);
    }
}

#[test]
fn rejection_of_accepted_changes_asks_again() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.keys("yr");
    desk.shows("r again rejects all: 1 of 2 changes are accepted");
    desk.keys("nr");
    assert_eq!(desk.result(id), None, "another key comes in between");
}

#[test]
fn rejected_change_is_not_in_the_edit() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.keys("xe");
    desk.shows("   2  2\n");
    desk.keys("!");
    desk.keys("\x1b");
    desk.shows("+ !acht");
    desk.keys("a");
    assert_eq!(desk.result(id).unwrap()[1], "1\n2\n3\n4\n5\n6\n7\n!acht\n9\n10\n");
}

#[test]
fn edit_without_change_keeps_verdicts() {
    for (name, keys) in [("nothing typed", ""), ("undone", "!\x1a"), ("typed back", "!\x7f")] {
        let mut desk = Desk::new(&[("a.txt", TEN)]);
        let id = propose(&mut desk, "a.txt", TWO_CHANGES);
        desk.keys(&format!("xe{keys}"));
        desk.keys("\x1b");
        let screen = desk.screen();
        assert!(screen.contains("✓ 0 ✗ 1 of 2"), "{name}:\n{screen}");
        desk.keys("a");
        desk.shows("accepted a.txt, 1 of 2 changes;");
        assert_eq!(desk.result(id).unwrap()[1], "1\n2\n3\n4\n5\n6\n7\nacht\n9\n10\n", "{name}");
    }
}

#[test]
fn verdicts_are_marked_on_the_screen() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.keys("yx");
    desk.shows("✓  2     - 2");
    desk.shows("✗  8     - 8");
    desk.assert_ink("- 2", Ink::Removed);
    desk.assert_ink("- 8", Ink::Dim);
    desk.keys("p");
    desk.assert_ink("✓  2", Ink::Row);
    desk.assert_ink("✗  8", Ink::Number);
}

#[test]
fn scrolling_takes_the_current_change_along() {
    let lines = |mark: &str| -> String {
        (0..90).map(|n| if n % 30 == 0 { format!("{mark}\n") } else { format!("{n}\n") }).collect()
    };
    let mut desk = Desk::new(&[("a.txt", &lines("old"))]);
    desk.app.resize((80, 9));
    let id = propose(&mut desk, "a.txt", &lines("new"));
    assert_eq!(desk.app.model.proposals[0].hunk, 0);
    // The last change is visible now, and the key decides about what is visible.
    desk.keys("\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~x");
    assert_eq!(desk.app.model.proposals[0].hunk, 2);
    desk.keys("a");
    let text = lines("new");
    let (before, after) = text.rsplit_once("new").unwrap();
    let expected = format!("{before}old{after}");
    assert_eq!(desk.result(id).unwrap()[1], expected);
}

#[test]
fn unsaved_text_follows_the_accepted_proposal() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    desk.open("a.txt");
    desk.keys("x");
    desk.wait(3000);
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    // The first change takes "x1" back, together with the change of the second line.
    desk.keys("aa");
    assert!(desk.result(id).is_some());
    desk.write("a.txt", TWO_CHANGES);
    desk.wait(1000);
    let document = desk.app.model.document().unwrap();
    assert_eq!((document.buffer.text().as_str(), document.conflict), (TWO_CHANGES, false));

    let mut desk = Desk::new(&[("a.txt", TEN)]);
    desk.open("a.txt");
    desk.keys("x");
    desk.wait(3000);
    propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.keys("aa");
    desk.wait(500);
    desk.keys("y");
    desk.write("a.txt", TWO_CHANGES);
    desk.wait(1000);
    assert!(desk.app.model.document().unwrap().conflict, "typed after the acceptance");

    let mut desk = Desk::new(&[("a.txt", TEN)]);
    desk.open("a.txt");
    desk.keys("x");
    desk.wait(3000);
    propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.keys("aa");
    desk.write("a.txt", "of another program\n");
    desk.wait(1000);
    assert!(desk.app.model.document().unwrap().conflict, "not the accepted text");
}

#[test]
fn acceptance_waits_for_the_disk() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.hang();
    desk.keys("aa");
    assert_eq!(desk.result(id), None);
    desk.keys("r");
    assert_eq!(desk.result(id).unwrap()[0], "DIFF_REJECTED", "a rejection needs no disk");
    desk.recover();
    desk.shows("No file is open");
}

#[test]
fn edit_during_the_look_is_not_accepted() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.hang();
    desk.keys("ae!");
    desk.recover();
    assert_eq!(desk.result(id), None);
    desk.shows("!zwei");
}

#[test]
fn change_on_disk_of_open_file_is_found_at_acceptance() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    desk.open("a.txt");
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    for text in ["another\n", "a third text\n"] {
        desk.write("a.txt", text);
        desk.keys("a");
        assert_eq!(desk.result(id), None, "{text}");
        desk.shows(format!("- {text}").trim_end());
    }
    desk.keys("a");
    assert!(desk.result(id).is_some());
}

#[test]
fn edit_begins_at_the_current_change() {
    let longer = TWO_CHANGES.replace("zwei", "zwei\nzwei");
    for (name, keys, row) in [("first", "e", 2), ("second", "ne", 9), ("second, first rejected", "xe", 8)] {
        let mut desk = Desk::new(&[("a.txt", TEN)]);
        propose(&mut desk, "a.txt", &longer);
        desk.keys(keys);
        assert_eq!(desk.frame().cursor.map(|(_, y)| y), Some(row), "{name}");
    }
}

#[test]
fn edited_away_change_is_not_current() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    let id = propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.keys("ne\x1b[3~\x1b[3~\x1b[3~\x1b[3~8\x13");
    desk.shows("+1 −1  edited");
    desk.keys("xa");
    assert_eq!(desk.result(id).unwrap()[0], "DIFF_REJECTED", "the one change left was rejected");
}

#[test]
fn new_proposal_ignores_keys_for_changes() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    let agent = desk.attach("agent");
    let request = OpenDiff::new(desk.path("a.txt"), TWO_CHANGES, "tab");
    desk.call(agent, &request);
    for key in ["y", "x", "u"] {
        desk.keys(key);
        desk.shows("look at it first");
    }
    assert_eq!(desk.app.model.proposals[0].counts(), (0, 0, 2));
}

#[test]
fn resized_diff_stays_at_its_place() {
    let lines =
        |mark: &str| -> String { (0..60).map(|n| format!("{} {n} {mark}\n", "word ".repeat(9))).collect() };
    let mut desk = Desk::new(&[("a.txt", &lines("old"))]);
    desk.app.resize((80, 12));
    propose(&mut desk, "a.txt", &lines("new"));
    desk.keys("\x1b[6~\x1b[6~");
    let top = |desk: &mut Desk| desk.frame().row(1).split_whitespace().next().unwrap().to_owned();
    let before = top(&mut desk);
    desk.app.resize((40, 12));
    assert_eq!(top(&mut desk), before);
    desk.keys("\x1b[F");
    desk.app.resize((40, 24));
    let last = desk.frame().row(24 - 3);
    assert!(last.ends_with("59 new"), "the end is at the bottom: {last}");
}

#[test]
fn folded_line_is_shown_with_its_number_once() {
    let text = |end: &str| format!("{}then it turns {end}, and so on\n", "word ".repeat(40));
    let mut desk = Desk::new(&[("a.txt", &text("sideways"))]);
    desk.app.resize((40, 14));
    propose(&mut desk, "a.txt", &text("anywhere"));
    let rows = desk.frame().rows();
    let expected = [
        " ✻ a.txt  +1 −1",
        "   1     - word word word word word word",
        "         - ⋯ 5 rows of the line",
        "         -  word word word word word the",
        "         - n it turns sideways, and so o",
        "         - n",
        "       1 + word word word word word word",
        "         + ⋯ 5 rows of the line",
        "         +  word word word word word the",
        "         + n it turns anywhere, and so o",
        "         + n",
    ];
    assert_eq!(rows[..11], expected, "{}", rows.join("\n"));
}
