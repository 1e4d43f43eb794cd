//! The visible state of privacy: hidden files, and a pause.

use super::Desk;
use crate::editor::screen::view::palette::Ink;
use crate::support::temp::symlink;

const PAUSE: &str = "\x1b[15~";

#[test]
fn hidden_files_have_a_mark() {
    for size in [(80, 24), (120, 35), (40, 10)] {
        let mut desk = Desk::new(&[
            ("a.txt", "of a"),
            (".env", "SECRET=1"),
            ("b.log", "of b"),
            (".gitignore", "*.log\ntarget/\n"),
            ("target/x", ""),
            ("a name that is longer than the list of files of every size.log", ""),
        ]);
        // Where this user may not make a link, the file itself takes its place.
        let link = if symlink("b.log", desk.root.join("link")) { "link" } else { "b.log" };
        desk.app.resize(size);
        desk.wait(1_000);
        for (shown, is_hidden) in [
            ("▸ target", true),
            ("a.txt", false),
            (".env", true),
            ("b.log", true),
            (link, true),
            ("a name", true),
        ] {
            let screen = desk.screen();
            let row = screen.lines().find(|row| row.contains(shown)).unwrap();
            let row = row.split('│').next().unwrap();
            assert_eq!(row.contains('‖'), is_hidden, "{size:?} {shown}:\n{screen}");
        }
        for (name, is_hidden) in [("a.txt", false), (".env", true), ("b.log", true), (link, true)] {
            desk.open(name);
            let title = desk.frame().row(0);
            assert_eq!(title.contains("‖ hidden"), is_hidden, "{size:?} {name}: {title}");
        }
        desk.keys("x");
        let title = desk.frame().row(0);
        assert!(title.contains("‖ hidden not saved"), "{size:?}: {title}");
        // The editor applies a changed rule when it next reads the disk.
        desk.write(".gitignore", "*.txt\n");
        desk.wait(1_000);
        let title = desk.frame().row(0);
        assert!(!title.contains('‖'), "{title}");
        desk.keys("\x1bOQ");
        let screen = desk.screen();
        assert!(screen.contains("a.txt ‖") && !screen.contains("b.log ‖"), "{screen}");
    }
}

#[test]
fn pause_is_visible_beside_every_message() {
    for size in [(80, 24), (120, 35), (40, 10)] {
        let mut desk = Desk::new(&[("a.txt", "text")]);
        desk.app.resize(size);
        desk.open("a.txt");
        desk.keys(PAUSE);
        desk.shows("‖ paused");
        desk.assert_ink("‖", Ink::StatusBad);
        desk.keys("\x1bOR");
        desk.shows("no change is proposed");
        desk.shows("‖ paused");
        desk.attach("claude-code");
        desk.shows("‖ paused");
        desk.keys("\x06text");
        desk.shows("‖ find: text");
        desk.keys(&format!("\x1b{PAUSE}"));
        assert!(!desk.screen().contains('‖'), "{}", desk.screen());
    }
}
