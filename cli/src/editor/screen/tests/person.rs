//! The work of a user with files.

use super::Desk;
use crate::editor::screen::app::Quitting;
use crate::editor::screen::model::Focus;
use crate::editor::screen::view::palette::Ink;
use crate::support::temp::symlink;
use std::path::MAIN_SEPARATOR;

const DOWN: &str = "\x1b[B";
const F2: &str = "\x1bOQ";

#[test]
fn files_are_opened_from_the_list() {
    let mut desk = Desk::new(&[("src/main.rs", "fn main() {}\n"), ("a.txt", "alpha\n")]);
    desk.shows("No file is open");
    desk.shows("▸ src");
    desk.keys("\r");
    desk.shows("▾ src");
    desk.shows("    main.rs");
    desk.keys(&format!("{DOWN}\r"));
    desk.shows("fn main() {}");
    desk.shows(&format!(" src{MAIN_SEPARATOR}main.rs"));
    assert_eq!(desk.app.model.focus, Focus::Text);
    desk.keys(F2);
    assert_eq!(desk.app.model.focus, Focus::Files);
    desk.keys(&format!("{DOWN}\r"));
    desk.shows("alpha");
    desk.keys("\x02");
    desk.shows("fn main() {}");
    desk.keys("\x17");
    desk.shows("alpha");
    desk.keys("\x17");
    desk.shows("No file is open");
    assert_eq!(desk.app.model.focus, Focus::Files);
    desk.keys("\x1b[A\x1b[D\x1b[D");
    desk.shows("▸ src");
}

#[test]
fn failed_open_shows_its_reason() {
    let mut desk = Desk::new(&[("a.txt", "a")]);
    std::fs::write(desk.root.join("bytes"), [0xff, 0xfe]).unwrap();
    let has_link = symlink(std::env::current_exe().unwrap(), desk.root.join("out"));
    desk.wait(1000);
    desk.open("bytes");
    desk.shows("is not UTF-8");
    if has_link {
        desk.open("out");
        desk.shows("is outside");
        desk.assert_ink("out is outside", Ink::StatusBad);
    }
}

#[test]
fn file_is_edited_and_saved() {
    let mut desk = Desk::new(&[("a.txt", "alpha\nbeta\n")]);
    desk.open("a.txt");
    desk.keys(&format!("{DOWN}x"));
    desk.shows("xbeta");
    desk.shows("not saved");
    desk.shows("● a.txt");
    assert_eq!(desk.read("a.txt"), "alpha\nbeta\n");
    desk.keys("\x13");
    desk.shows("a.txt is saved");
    desk.assert_ink("a.txt is saved", Ink::StatusGood);
    assert_eq!(desk.read("a.txt"), "alpha\nxbeta\n");
    desk.wait(2000);
    assert!(!desk.screen().contains("not saved"));
    desk.keys("\x1b[200~1\r\n2\x1b[201~");
    assert_eq!(desk.app.model.document().unwrap().buffer.text().as_str(), "alpha\nx1\n2beta\n");
    desk.keys("\x1a\x1a\x1a");
    desk.shows("nothing to undo");
    desk.keys("\x01\x18\x16\x16");
    assert_eq!(desk.app.model.document().unwrap().buffer.text().as_str(), "alpha\nbeta\n".repeat(2));
}

#[test]
fn discarding_changes_needs_a_second_key() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n"), ("b.txt", "b")]);
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::Now, "nothing is lost");
    let mut desk = Desk::new(&[("a.txt", "alpha\n"), ("b.txt", "b")]);
    desk.open("a.txt");
    desk.keys("x");
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::No);
    desk.shows("^Q again ends the editor; not saved: a.txt");
    desk.keys(DOWN);
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::No, "another key came between");
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::Now);
    desk.keys("\x17");
    desk.shows("^W again discards the changes in this file");
    desk.keys("\x12");
    desk.shows("^R again discards the changes in this file");
    desk.keys("\x12");
    desk.shows("was read again from disk");
    assert_eq!(desk.app.model.document().unwrap().buffer.text().as_str(), "alpha\n");
    desk.keys("y\x17\x17");
    desk.shows("No file is open");
    assert_eq!(desk.app.farewell("SIGTERM", 2), "editor: ended by SIGTERM; 2 proposed changes rejected");
    desk.open("b.txt");
    desk.keys("x");
    assert_eq!(desk.app.farewell("SIGTERM", 0), "editor: ended by SIGTERM; not saved: b.txt");
}

#[test]
fn change_on_disk_is_reread_or_conflicts() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.write("a.txt", "of another\n");
    desk.wait(1000);
    desk.shows("of another");
    desk.shows("read again");
    desk.keys("mine ");
    desk.write("a.txt", "of another, again\n");
    desk.wait(1000);
    desk.shows("mine of another");
    desk.shows("changed here and on disk");
    desk.keys("\x13");
    desk.shows("^S again overwrites it");
    assert_eq!(desk.read("a.txt"), "of another, again\n");
    desk.keys("\x13");
    assert_eq!(desk.read("a.txt"), "mine of another\n");
    std::fs::remove_file(desk.root.join("a.txt")).unwrap();
    desk.wait(1000);
    desk.shows("deleted on disk, and its text is still here: a.txt");
    desk.keys("x\x13");
    assert_eq!(desk.read("a.txt"), "mine xof another\n");
    desk.write("new.txt", "");
    desk.wait(1000);
    desk.shows("new.txt");
}

#[test]
fn resize_during_typing_loses_no_key() {
    let mut desk = Desk::new(&[("a.txt", "")]);
    desk.open("a.txt");
    for letter in "hello".chars() {
        desk.keys(&letter.to_string());
        desk.app.resize((40, 10));
        desk.app.resize((80, 24));
    }
    assert_eq!(desk.app.model.document().unwrap().buffer.text().as_str(), "hello");
}

#[test]
fn problems_are_shown_at_their_lines() {
    let mut desk = Desk::new(&[("a.json", "{\n  \"a\": x\n}\n")]);
    desk.open("a.json");
    desk.shows("2 ●");
    desk.assert_ink("●", Ink::Problem);
    desk.shows("● 1");
    desk.keys("\x1b[19~");
    desk.shows("● expected value at line 2 column 8");
    desk.keys("\x1b[3~1");
    desk.wait(200);
    assert!(!desk.screen().contains("2 ●"), "a changed text is checked a little later");
    desk.keys("\x10");
    desk.shows("no problem is known in this file");
}

#[test]
fn mouse_points_selects_and_scrolls() {
    let text: String = (0..50).map(|line| format!("line {line}\n")).collect();
    let mut desk = Desk::new(&[("a.txt", &text)]);
    // The second row shows the first file.
    desk.keys("\x1b[<0;3;2M\x1b[<0;3;2m");
    desk.shows("line 0");
    // Column 28 is the first column of the text, after the files and the line numbers.
    desk.keys("\x1b[<0;28;3M\x1b[<32;32;4M\x1b[<0;32;4m");
    assert_eq!(desk.app.model.document().unwrap().buffer.selected(), "line 1\nline");
    desk.assert_ink("line 1", Ink::Selected);
    desk.shows("2 lines selected");
    desk.keys("\x1b[<65;40;9M\x1b[<65;40;9M");
    assert!(!desk.screen().contains("line 5\n"), "the wheel scrolls");
    assert_eq!(desk.app.model.document().unwrap().buffer.selected(), "line 1\nline", "and moves no cursor");
    desk.keys("\x1b[<0;3;2M");
    assert_eq!(desk.app.model.focus, Focus::Text);
}

#[test]
fn selecting_needs_no_shift() {
    let mut desk = Desk::new(&[("a.txt", "alpha\nbeta\n")]);
    desk.open("a.txt");
    desk.keys(&format!("\0{DOWN}\x1b[C"));
    assert_eq!(desk.app.model.document().unwrap().buffer.selected(), "alpha\nb");
    desk.shows("2 lines selected");
    // A selection that ends before the first character of a line does not include that line.
    desk.keys("\x1b[D");
    assert_eq!(desk.app.model.document().unwrap().buffer.selected(), "alpha\n");
    let screen = desk.screen();
    assert!(screen.contains("  selected   2:1") && !screen.contains("lines selected"), "{screen}");
    desk.keys(DOWN);
    desk.shows("2 lines selected   3:1");
    desk.keys("\x1b");
    assert_eq!(desk.app.model.document().unwrap().buffer.selected(), "");
    assert_eq!(desk.app.model.focus, Focus::Text, "the first ESC lets go of the selection");
    desk.keys("\x1b");
    assert_eq!(desk.app.model.focus, Focus::Files);
}
