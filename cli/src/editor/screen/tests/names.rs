//! Files that are opened, begun and saved by name.

use super::Desk;
use crate::editor::screen::app::Quitting;
use crate::editor::screen::model::Focus;
use std::fs;

const OPEN: &str = "\x0e";
const SAVE_AS: &str = "\x1b[24~";

#[test]
fn files_are_opened_by_name() {
    let mut desk = Desk::new(&[("src/main.rs", "fn main() {}\n")]);
    desk.keys(&format!("{OPEN}src/main.rs"));
    desk.shows(" open or new file: src/main.rs");
    desk.keys("\r");
    desk.shows("fn main() {}");
    assert_eq!(desk.app.model.focus, Focus::Text);
    desk.app.resize((200, 24));
    for (name, answer, expected) in [
        ("outside", "../x", "is outside the open"),
        ("a folder", "src", "is not a file"),
        ("no such folder", "none/x", "the folder of"),
    ] {
        desk.keys(&format!("{OPEN}{answer}\r"));
        let screen = desk.screen();
        assert!(screen.contains(expected) && screen.contains("fn main() {}"), "{name}:\n{screen}");
    }
    desk.keys(&format!("{OPEN}\r{OPEN}\x1b"));
    assert!(desk.app.model.prompt.is_none());
}

#[test]
fn typed_name_can_end_with_a_place() {
    let text = "one\ntwo\nthree\n";
    let rows: &[(&str, &str, &str, &str, &str)] = &[
        ("a line", "a.txt:2", "a.txt", " 2:1", ""),
        ("a line and a column", "a.txt:3:4", "a.txt", " 3:4", ""),
        ("as a compiler writes it", "a.txt:2:3:", "a.txt", " 2:3", ""),
        ("beyond the end", "a.txt:99", "a.txt", " 4:1", ""),
        ("a mistyped file", "b.txt:2", "b.txt", " 1:1", "b.txt does not exist: ^S creates it"),
        ("a new file", "c.txt", "c.txt", " 1:1", "c.txt is a new file: ^S creates it"),
    ];
    // On Windows a name cannot have a colon.
    let of_posix: &[(&str, &str, &str, &str, &str)] = &[
        ("a file with a colon", "odd:7", "odd:7", " 1:1", ""),
        ("a line of that file", "odd:7:2", "odd:7", " 2:1", ""),
    ];
    let mut desk = Desk::new(&[("a.txt", text), if cfg!(unix) { ("odd:7", text) } else { ("b", "") }]);
    for (name, typed, label, place, note) in rows.iter().chain(of_posix.iter().filter(|_| cfg!(unix))) {
        desk.keys(&format!("{OPEN}{typed}\r"));
        let screen = desk.screen();
        assert_eq!(desk.app.model.document().unwrap().label, *label, "{name}");
        assert!(screen.contains(place) && screen.contains(note), "{name}:\n{screen}");
    }
}

#[test]
fn new_file_begins_with_its_first_save() {
    let mut desk = Desk::new(&[]);
    desk.keys(&format!("{OPEN}new.txt\r"));
    desk.shows("new.txt is a new file: ^S creates it");
    desk.shows("not on disk");
    assert!(!desk.root.join("new.txt").exists());
    desk.keys("text\x13");
    desk.shows("new.txt is saved");
    assert_eq!(desk.read("new.txt"), "text");
    desk.wait(1_000);
    assert!(!desk.screen().contains("not on disk"));
    // An empty file is written too.
    desk.keys(&format!("{OPEN}empty\r"));
    desk.keys("\x13");
    assert_eq!(desk.read("empty"), "");
    // A new file that is left alone is nothing to lose.
    desk.keys(&format!("{OPEN}other\r"));
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::Now);
    assert!(!desk.root.join("other").exists());
}

#[test]
fn file_is_saved_under_another_name() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n"), ("b.txt", "beta\n"), ("c.txt", "")]);
    desk.open("c.txt");
    desk.open("a.txt");
    desk.keys("x");
    desk.keys(SAVE_AS);
    desk.shows("save as: a.txt");
    desk.keys("new.json\r");
    desk.shows("saved as new.json");
    assert_eq!((desk.read("a.txt"), desk.read("new.json")), ("alpha\n".into(), "xalpha\n".into()));
    desk.shows("● 1");
    let model = &desk.app.model;
    assert!(model.prompt.is_none() && !model.document().unwrap().buffer.is_dirty());
    desk.keys("y\x13");
    assert_eq!(desk.read("new.json"), "xyalpha\n");

    // An existing file is overwritten after a second Enter, if no other key comes between.
    desk.keys(&format!("{SAVE_AS}b.txt\r"));
    desk.shows("Enter again overwrites b.txt");
    assert_eq!(desk.read("b.txt"), "beta\n");
    desk.keys("\x1b[C\r");
    desk.shows("Enter again overwrites b.txt");
    assert_eq!(desk.read("b.txt"), "beta\n");
    desk.keys("\r");
    desk.shows("saved as b.txt");
    assert_eq!(desk.read("b.txt"), "xyalpha\n");
    for (answer, expected) in [
        ("c.txt", "c.txt is open here: close it first"),
        ("none/x", "was not saved"),
        ("../x", "is outside"),
        // Its end is cut if the temporary folder has a long name.
        (".", "is a fol"),
    ] {
        desk.keys(&format!("{SAVE_AS}{answer}\r"));
        desk.shows(expected);
        desk.keys("\x1b");
    }
    assert!(fs::read_dir(&desk.root).unwrap().count() == 4);
}

#[test]
fn answers_of_any_length_are_shown() {
    for size in [(80, 24), (120, 35), (40, 10)] {
        let mut desk = Desk::new(&[("a.txt", "")]);
        desk.app.resize(size);
        desk.keys(&format!("{OPEN}{}end", "\u{6f22}long ".repeat(40)));
        desk.shows("end");
        let (x, y) = desk.frame().cursor.unwrap();
        assert!(x < size.0 && y == size.1 - 2, "{size:?}");
    }
}

#[test]
fn second_enter_overwrites_the_named_file_alone() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n"), ("b.txt", "beta\n"), ("c.txt", "gamma\n")]);
    desk.open("a.txt");
    // The answer changes while the disk is slow, and by a paste.
    desk.keys(&format!("{SAVE_AS}b.txt"));
    desk.hang();
    desk.keys("\r\x01c.txt");
    desk.recover();
    desk.shows("Enter again overwrites b.txt");
    desk.keys("\r");
    desk.shows("Enter again overwrites c.txt");
    desk.keys("\x01\x1b[200~b.txt\x1b[201~\r");
    desk.shows("Enter again overwrites b.txt");
    assert_eq!((desk.read("b.txt"), desk.read("c.txt")), ("beta\n".into(), "gamma\n".into()));
    // The question was left before the disk had answered.
    desk.hang();
    desk.keys("\x01c.txt\r\x1b");
    desk.recover();
    desk.shows("not written, because it exists: c.txt");
    assert_eq!(desk.read("c.txt"), "gamma\n");
}

#[test]
fn file_has_one_name_while_it_is_saved() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.keys("x");
    desk.hang();
    // Each of these keys would begin another write under the old name or the new one.
    desk.keys(&format!("{SAVE_AS}b.txt\r"));
    desk.keys("\r");
    desk.shows("this file is being saved: try again in a moment");
    desk.keys("\x1b");
    desk.keys("\x13");
    desk.shows("this file is being saved under another name");
    desk.recover();
    desk.shows("saved as b.txt");
    assert_eq!((desk.read("a.txt"), desk.read("b.txt")), ("alpha\n".into(), "xalpha\n".into()));
    assert!(!desk.app.is_saving());
    desk.keys("\x11");
    assert!(desk.app.quitting == Quitting::Now);
}
