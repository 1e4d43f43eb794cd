//! The contents of the screen at every size.

use super::Desk;
use ide_mcp::ide::tool::OpenDiff;

const OLD: &str = "fn main() {\n    let a = 1;\n    print(a);\n}\n";
const NEW: &str = "fn main() {\n    let a = 2;\n    print(a);\n    done();\n}\n";

fn desk() -> Desk {
    Desk::new(&[("src/main.rs", OLD), ("notes.txt", "some\n"), ("a.json", "{")])
}

fn propose(desk: &mut Desk) {
    let agent = desk.attach("claude-code");
    let request = OpenDiff::new(desk.path("src/main.rs"), NEW, "t");
    desk.call(agent, &request);
    desk.wait(500);
}

fn assert_screen(desk: &mut Desk, name: &str, expected: &[&str]) {
    let rows = desk.frame().rows();
    assert_eq!(rows, expected, "{name}:\n{}", rows.join("\n"));
}

#[test]
fn text_is_shown_beside_the_files() {
    let mut desk = desk();
    desk.app.resize((72, 10));
    desk.open("a.json");
    assert_screen(
        &mut desk,
        "two panes",
        &[
            " project            a.json",
            " ▸ src            │   1 ●{",
            "   a.json         │",
            "   notes.txt      │",
            "                  │",
            "                  │",
            "                  │",
            "                  │",
            " ○ nobody attached                                             ● 1  1:1",
            " ● EOF while parsing an object at line 1 column 1",
        ],
    );
    assert_eq!(desk.frame().cursor, Some((25, 1)));
    desk.app.resize((40, 10));
    assert_screen(
        &mut desk,
        "one pane",
        &[
            " a.json · project",
            "   1 ●{",
            "",
            "",
            "",
            "",
            "",
            "",
            " ○ nobody attached             ● 1  1:1",
            " ● EOF while parsing an object at line …",
        ],
    );
    desk.keys("\x1bOQ");
    assert_screen(
        &mut desk,
        "the other pane",
        &[
            " project",
            " ▸ src",
            "   a.json",
            "   notes.txt",
            "",
            "",
            "",
            "",
            " ○ nobody attached             ● 1  1:1",
            " Enter open  F2 files  ^S save  F1 help",
        ],
    );
}

#[test]
fn proposal_is_shown_in_both_views() {
    let mut desk = desk();
    propose(&mut desk);
    desk.app.resize((64, 10));
    assert_screen(
        &mut desk,
        "unified",
        &[
            " ✻ claude-code 2.1 proposes src/main.rs  +2 −1",
            "   1   1   fn main() {",
            "   2     -     let a = 1;",
            "       2 +     let a = 2;",
            "   3   3       print(a);",
            "       4 +     done();",
            "   4   5   }",
            "",
            " openDiff src/main.rs · ● claude-code 2.1",
            " a accept  r reject  e edit  y keep  x drop  n next     F1 help",
        ],
    );
    desk.keys("v");
    desk.shows("side by side needs a screen of 100 columns");
    desk.app.resize((100, 9));
    desk.keys("v");
    assert_screen(
        &mut desk,
        "side by side",
        &[
            " ✻ claude-code 2.1 proposes src/main.rs  +2 −1",
            "   1   fn main() {                               │   1   fn main() {",
            "   2 -     let a = 1;                            │   2 +     let a = 2;",
            "   3       print(a);                             │   3       print(a);",
            "                                                 │   4 +     done();",
            "   4   }                                         │   5   }",
            "",
            " openDiff src/main.rs · ● claude-code 2.1",
            " a accept  r reject  e edit  y keep  x drop  v view  n next  p prev  Esc later  ^Q quit     F1 help",
        ],
    );
    desk.app.resize((40, 10));
    assert_screen(
        &mut desk,
        "too narrow for side by side",
        &[
            " ✻ src/main.rs  +2 −1",
            "   1   1   fn main() {",
            "   2     -     let a = 1;",
            "       2 +     let a = 2;",
            "   3   3       print(a);",
            "       4 +     done();",
            "   4   5   }",
            "",
            " openDiff src/main.rs · ● claude-code 2…",
            " a accept  r reject  e edit     F1 help",
        ],
    );
    desk.keys("\x1b");
    desk.open("notes.txt");
    assert_screen(
        &mut desk,
        "a proposal that waits",
        &[
            " notes.txt · project",
            " ✻ 1 proposed change waits… F3 shows it",
            "   1  some",
            "   2",
            "",
            "",
            "",
            "",
            " openDiff src/main.rs · ● claude-…  1:1",
            " F3 proposals  F2 files         F1 help",
        ],
    );
}

#[test]
fn every_screen_size_can_be_drawn() {
    for shown in
        ["nothing", "text", "cut", "find", "line", "name", "proposal", "wide", "editing", "help", "activity"]
    {
        let mut desk = desk();
        match shown {
            "nothing" => {}
            "text" | "cut" | "find" | "line" | "name" => {
                desk.open("src");
                desk.open("src/main.rs");
                desk.keys(match shown {
                    "cut" => "\x15\x1b[B\x1b[F",
                    "find" => "\x06a",
                    "line" => "\x0712",
                    "name" => "\x0ea name that is longer than many screens are wide",
                    _ => "\x1b[B\x1b[B\x1b[F\x01",
                });
            }
            "help" => desk.keys("\x1bOP"),
            "activity" => desk.keys("\x1bOS"),
            _ => {
                propose(&mut desk);
                desk.app.resize((200, 50));
                desk.keys(if shown == "editing" { "e" } else { "" });
                desk.keys(if shown == "wide" { "v" } else { "" });
            }
        }
        for width in [0, 1, 2, 3, 5, 10, 17, 39, 40, 59, 60, 80, 99, 100, 120, 500] {
            for height in [0, 1, 2, 3, 4, 5, 6, 10, 24, 100] {
                desk.app.resize((width, height));
                let frame = desk.frame();
                assert_eq!(frame.size(), (width, height));
                if let Some((x, y)) = frame.cursor {
                    assert!(x < width && y < height, "{shown} {width}×{height}");
                }
                for keys in ["\x1b[B", "\x1b[6~", "\x1b[A", "\x1b[<65;1;1M", "\x1b[<0;1;1M"] {
                    desk.keys(keys);
                    desk.frame();
                }
            }
        }
    }
}

#[test]
fn help_page_has_every_key() {
    let mut desk = desk();
    desk.app.resize((80, 140));
    desk.keys("\x1bOP");
    for binding in crate::editor::screen::bindings::BINDINGS {
        for key in binding.keys {
            let name = crate::editor::screen::bindings::name(*key, false);
            desk.shows(&name);
        }
        desk.shows(binding.help);
    }
    let screen = desk.screen();
    assert!(!screen.contains('…') && !screen.contains("PgDn shows more"), "{screen}");
    desk.app.resize((100, 10));
    desk.shows("PgDn shows more");
    desk.keys(&"\x1b[6~".repeat(20));
    desk.shows("close this page");
    assert!(!desk.screen().contains("PgDn shows more"), "{}", desk.screen());
    desk.keys("\x1b");
    desk.shows("No file is open");
}

#[test]
fn first_screen_of_help_has_the_keys_that_matter() {
    let mut desk = desk();
    desk.keys("\x1bOP");
    for keys in ["F3, Ctrl+D", "a, F9", "r, F10", "   e ", "   y ", "   x ", "F2, Ctrl+E", "Ctrl+S", "Ctrl+Q"]
    {
        desk.shows(keys);
    }
    assert!(desk.frame().row(1).contains("The keys that matter most"), "{}", desk.screen());
    // The marks are in a section of their own, and in no other.
    desk.app.resize((80, 140));
    let rows = desk.frame().rows();
    let part = rows.iter().skip_while(|row| *row != " The marks").skip(1).take_while(|row| !row.is_empty());
    let marks = |row: &&String| row.contains(['‖', '✻', '●', '✓', '›']);
    assert_eq!(rows.iter().filter(marks).count(), part.filter(marks).count());
}

#[test]
fn keys_for_one_change_stand_before_those_of_the_view() {
    let text = |from: &str, to: &str| (0..30).map(|n| format!("{n}\n").replace(from, to)).collect::<String>();
    let mut desk = Desk::new(&[("a.txt", &text("", ""))]);
    let agent = desk.attach("claude-code");
    let request = OpenDiff::new(desk.path("a.txt"), text("5\n", "five\n"), "t");
    desk.call(agent, &request);
    desk.wait(500);
    let bar = " a accept  r reject  e edit  y keep  x drop  n next  p prev  Esc later  F1 help";
    assert_eq!(desk.frame().row(23), bar);
    desk.app.resize((99, 24));
    assert!(!desk.frame().row(23).contains("view"));
    desk.app.resize((100, 24));
    assert!(desk.frame().row(23).contains("x drop  v view"));
}

#[test]
fn key_without_a_meaning_shows_the_way_out() {
    for keys in ["\x03", "j", ":q", "\x1b[24~"] {
        let mut desk = desk();
        desk.keys(keys);
        for size in [(80, 24), (40, 10)] {
            desk.app.resize(size);
            desk.shows("Ctrl+Q ends the editor, F1 lists keys");
        }
        desk.wait(9_000);
        assert!(!desk.screen().contains("Ctrl+Q ends"), "{keys:?} leaves");
    }
    let mut desk = desk();
    desk.keys("\x1bOR");
    desk.keys("j");
    desk.shows("Ctrl+Q ends the editor");
    // It does not hide a question, and does not answer one.
    propose(&mut desk);
    desk.keys("\x11");
    desk.shows("^Q again ends the editor");
    desk.keys("z");
    desk.shows("^Q again ends the editor");
}

#[test]
fn long_texts_scroll_to_the_cursor() {
    let text = format!("{}end\n", "0123456789".repeat(30)) + &"line\n".repeat(200);
    let mut desk = Desk::new(&[("a.txt", &text)]);
    desk.open("a.txt");
    desk.keys("\x1b[F");
    desk.shows("6789end");
    assert!(desk.frame().cursor.is_some());
    desk.keys("\x1b[1;5F");
    desk.shows(" 202\n");
    assert!(desk.frame().cursor.is_some());
    desk.keys("\x1b[1;5H");
    desk.shows("   1  0123");
    for row in desk.frame().rows() {
        assert!(row.chars().count() <= 80, "{row}");
    }
}

#[test]
fn folder_name_needs_room_in_the_title() {
    let long = format!("{}.txt", "long".repeat(6));
    let rows = [
        ("above the files", "a.json", (80, 10), " project             ", true),
        ("after the name", "a.json", (40, 10), " a.json · project", true),
        ("no room", long.as_str(), (32, 10), " longlong", false),
        ("tiny", "a.json", (12, 10), " a.json", false),
    ];
    for (name, file, size, begin, is_shown) in rows {
        let mut desk = Desk::new(&[(file, "{}")]);
        desk.app.resize(size);
        desk.open(file);
        let title = desk.frame().row(0);
        assert!(title.starts_with(begin), "{name}: {title}");
        assert_eq!(title.contains("project"), is_shown, "{name}: {title}");
    }
}

#[test]
fn line_ends_of_windows_are_shown() {
    let rows = [
        ("Unix line ends", "a\nb\n", ""),
        ("Windows line ends", "a\r\nb\r\n", "CRLF  1:1"),
        ("both", "a\r\nb\n", "mixed CRLF  1:1"),
    ];
    for (name, text, expected) in rows {
        for size in [(80, 24), (40, 10)] {
            let mut desk = Desk::new(&[("a.txt", text)]);
            desk.app.resize(size);
            desk.open("a.txt");
            let screen = desk.screen();
            assert!(screen.contains(expected), "{name} {size:?}:\n{screen}");
            assert_eq!(screen.contains("CRLF"), !expected.is_empty(), "{name} {size:?}:\n{screen}");
            desk.keys("\x01x");
            assert!(!desk.screen().contains("CRLF"), "{name}: no line end is left");
        }
    }
}
