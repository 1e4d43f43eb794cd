//! A proposal whose files change before the verdict, and the question that follows.

use super::Desk;
use super::review::{TEN, TWO_CHANGES, propose};
use ide_mcp::ide::tool::OpenDiff;
use ide_mcp::rpc::RequestId;

#[test]
fn conflict_question_concerns_the_shown_proposal() {
    let rows =
        [("another proposal", "\t"), ("the file", "\x1b"), ("a page", "\x1bOP"), ("a second key", "a")];
    for (name, away) in rows {
        let mut desk = Desk::new(&[("a.txt", TEN), ("b.txt", TEN)]);
        desk.open("b.txt");
        let id = [propose(&mut desk, "a.txt", TWO_CHANGES), propose(&mut desk, "b.txt", TWO_CHANGES)];
        desk.wait(500);
        desk.hang();
        desk.write("a.txt", "of another program\n");
        desk.keys("a");
        desk.keys(away);
        desk.recover();
        assert_eq!(id.map(|id| desk.result(id)), [None, None], "{name}");
        if name == "a second key" {
            desk.shows("look at it, then press a again: a.txt has changed");
            desk.shows("- of another program");
            continue;
        }
        desk.shows("not accepted, look at it again: a.txt has changed");
        if name == "another proposal" {
            desk.keys("a");
            assert_eq!(id.map(|id| desk.result(id).is_some()), [false, true], "the shown one");
            desk.wait(500);
        } else {
            desk.keys(if name == "a page" { "\x1b" } else { "\x1bOR" });
        }
        desk.wait(500);
        desk.keys("a");
        desk.shows("look at it, then press a again: a.txt has changed");
        assert_eq!(desk.result(id[0]), None, "{name}: the first key");
        desk.keys("a");
        assert!(desk.result(id[0]).is_some(), "{name}: the second key");
    }
}

#[test]
fn notes_follow_the_file_on_disk() {
    let rows: [(&str, &[u8], &str); 2] = [
        ("a text", b"of another program\n", "this is its text now"),
        ("not UTF-8", b"\xff\xfe", "n.txt is not UTF-8; all of the proposal is shown as new"),
    ];
    for (name, bytes, note) in rows {
        let mut desk = Desk::new(&[]);
        desk.app.resize((200, 24));
        let path = desk.path("n.txt");
        let id = propose(&mut desk, "n.txt", "new\n");
        desk.shows("a new file");
        for file in [Some(bytes), None, Some(bytes)] {
            match file {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            desk.wait(1000);
            let screen = desk.screen();
            assert_eq!(screen.contains("a new file"), file.is_none(), "{name}:\n{screen}");
            assert_eq!(screen.contains(note), file.is_some(), "{name}:\n{screen}");
        }
        desk.keys("a");
        assert_eq!(desk.result(id), None, "{name}");
        desk.shows("look at it, then press a again: n.txt has changed");
        desk.keys("a");
        assert!(desk.result(id).is_some(), "{name}");
    }
}

#[test]
fn change_of_proposed_file_draws_the_screen() {
    let mut desk = Desk::new(&[("a.txt", TEN)]);
    propose(&mut desk, "a.txt", TWO_CHANGES);
    desk.wait(1000);
    for (name, text) in [("no change", None), ("a change", Some("of another program\n"))] {
        desk.screen();
        text.into_iter().for_each(|text| desk.write("a.txt", text));
        desk.wait(1000);
        assert_eq!(desk.app.stale, text.is_some(), "{name}");
    }
}

#[test]
fn proposed_file_that_becomes_binary_is_a_conflict() {
    for (name, before) in [("no file", None), ("an empty file", Some("")), ("a text", Some("one\n"))] {
        let files: Vec<_> = before.iter().map(|text| ("a.txt", *text)).collect();
        let mut desk = Desk::new(&files);
        let id = propose(&mut desk, "a.txt", "new\n");
        std::fs::write(desk.path("a.txt"), b"\xff\xfe").unwrap();
        desk.keys("a");
        assert_eq!(desk.result(id), None, "{name}");
        desk.shows("press a again");
        desk.keys("a");
        assert_eq!(desk.result(id).unwrap(), ["FILE_SAVED", "new\n"], "{name}");
    }
    let mut desk = Desk::new(&[]);
    std::fs::write(desk.path("a.txt"), b"\xff\xfe").unwrap();
    let id = propose(&mut desk, "a.txt", "new\n");
    desk.keys("a");
    assert!(desk.result(id).is_some(), "the reason was shown from the start");
}

/// Proposes the text of `a.txt` for `b.txt`.
fn propose_move(desk: &mut Desk) -> RequestId {
    let agent = desk.attach("agent");
    let mut request = OpenDiff::new(desk.path("b.txt"), "new\n", "tab");
    request.old_file_path = desk.path("a.txt");
    let id = desk.call(agent, &request);
    desk.wait(500);
    id
}

#[test]
fn file_at_new_path_is_not_overwritten_unseen() {
    let rows: [(&str, Option<&[u8]>, &str); 4] = [
        ("unsaved", None, "the file at the new path has unsaved changes here; accepting overwrites them"),
        ("a text", Some(b"other\n"), "the new path has a file; accepting overwrites it"),
        ("not UTF-8", Some(b"\xff\xfe"), "b.txt is not UTF-8"),
        ("an empty file", Some(b""), ""),
    ];
    for (name, bytes, note) in rows {
        let files = [("a.txt", "one\n"), ("b.txt", "precious\n")];
        let mut desk = Desk::new(if bytes.is_none() { &files } else { &files[..1] });
        desk.app.resize((200, 24));
        if bytes.is_none() {
            desk.open("b.txt");
            desk.keys("x");
            desk.wait(3000);
        }
        let id = propose_move(&mut desk);
        if let Some(bytes) = bytes {
            desk.shows("the old path of the file is ");
            assert!(!desk.screen().contains("the new path"), "{name}");
            std::fs::write(desk.path("b.txt"), bytes).unwrap();
            desk.wait(1000);
        }
        desk.shows(note);
        desk.shows(if note.is_empty() { "" } else { "accepting overwrites " });
        desk.keys("a");
        assert_eq!(desk.result(id).is_some(), note.is_empty(), "{name}");
        if !note.is_empty() {
            desk.shows("look at it, then press a again: b.txt has changed");
            desk.keys("a");
            assert_eq!(desk.result(id).unwrap(), ["FILE_SAVED", "new\n"], "{name}");
        }
        // The unsaved text gives way to the accepted one.
        desk.write("b.txt", "new\n");
        desk.wait(1000);
        assert!(desk.app.model.documents.iter().all(|document| !document.conflict), "{name}");
    }
}

#[test]
fn known_file_at_new_path_is_accepted() {
    let mut desk = Desk::new(&[("a.txt", "one\n"), ("b.txt", "other\n")]);
    let id = propose_move(&mut desk);
    desk.shows("the new path has a file; accepting overwrites it");
    desk.keys("a");
    assert!(desk.result(id).is_some(), "the note was there from the start");
}
