//! Texts of every kind on screens of three sizes, wrapped and cut, with colors and without.

use super::Desk;
use crate::editor::screen::panel;
use crate::editor::screen::terminal::paint;
use crate::editor::screen::view::frame::Frame;
use crate::editor::screen::view::palette::{ColorDepth, Ink, Theme};
use crate::support::columns::{self, glyphs};
use crossterm::style::force_color_output;

pub(super) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (40, 10)];
const RIGHT: &str = "\x1b[C";
const WRAP: &str = "\x15";

fn texts() -> Vec<(&'static str, String)> {
    vec![
        ("long words", "several words in a row, ".repeat(9)),
        ("a long word", format!("    {}\nshort\n", "0123456789".repeat(20))),
        ("CJK", format!("{}\n{}", "\u{6f22}\u{5b57}".repeat(50), "a\u{6f22}".repeat(50))),
        ("tabs", format!("{}end\n\t\tindented\n", "\tab".repeat(40))),
        ("CRLF", format!("first\r\n{}\r\n\r\nlast\r\n", "words ".repeat(30))),
        ("marks and controls", "e\u{301}\u{1b}[2J\u{200b} ".repeat(40)),
    ]
}

/// Returns the first character at the cursor of the screen.
fn at_cursor(frame: &Frame) -> char {
    let (x, y) = frame.cursor.unwrap_or_else(|| panic!("no cursor:\n{}", frame.rows().join("\n")));
    // The cursor is never on the second cell of a wide character.
    assert!(x == 0 || columns::width(frame.symbol(x - 1, y)) < 2, "the cursor is within a character");
    frame.symbol(x, y).chars().next().unwrap()
}

#[test]
fn cursor_is_on_its_character() {
    for (name, text) in texts() {
        for size in SIZES {
            for wraps in [true, false] {
                let mut desk = Desk::new(&[("a.txt", &text)]);
                desk.app.resize(size);
                desk.open("a.txt");
                desk.keys(if wraps { "" } else { WRAP });
                let mut steps = 0;
                loop {
                    let frame = desk.frame();
                    let buffer = &desk.app.model.document().unwrap().buffer;
                    let (line, cursor) = (buffer.text().line_of(buffer.cursor()), buffer.cursor());
                    let range = buffer.text().range_of(line);
                    let rest = buffer.text().get(cursor..range.end);
                    let expected = glyphs(rest).next().map_or(' ', |glyph| glyph.shown);
                    assert_eq!(at_cursor(&frame), expected, "{name} {size:?} {wraps} {cursor}");
                    if cursor == buffer.text().len() {
                        break;
                    }
                    steps += 1;
                    desk.keys(RIGHT);
                }
                assert!(steps > 100, "{name}");
            }
        }
    }
}

#[test]
fn wrapped_text_is_shown_whole() {
    for (name, text) in texts() {
        for (width, _) in SIZES {
            let mut desk = Desk::new(&[("a.txt", &text)]);
            desk.app.resize((width, 100));
            desk.open("a.txt");
            // The text begins after the list of files, if there is room for it, and the line numbers.
            let from = if width < 60 { 6 } else { (width / 4).clamp(18, 30) + 7 };
            let frame = desk.frame();
            let mut shown = String::new();
            for y in 1..98 {
                let mut x = from;
                while x < width {
                    shown.push_str(frame.symbol(x, y));
                    x += u16::try_from(columns::width(frame.symbol(x, y))).unwrap().max(1);
                }
            }
            let dense =
                |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
            let expected: String = text.lines().flat_map(glyphs).map(|glyph| glyph.shown).collect();
            assert_eq!(dense(&shown), dense(&expected), "{name} {width}");
        }
    }
}

#[test]
fn screens_need_no_colors() {
    // The argument decides, not the environment variables of the user who runs the tests.
    force_color_output(true);
    let mut desk = Desk::new(&[("a.txt", "one two\ntwo\n"), (".env", "x")]);
    for size in SIZES {
        desk.app.resize(size);
        desk.open("a.txt");
        desk.keys("\x06two");
        for (colors, sequence) in
            [(ColorDepth::True, "\x1b[38;2;"), (ColorDepth::Indexed, "\x1b[38;5;"), (ColorDepth::None, "")]
        {
            let out = String::from_utf8(paint(None, &desk.app.draw(colors)).unwrap()).unwrap();
            assert!(out.contains(sequence), "{size:?} {colors:?}");
            assert_eq!(out.contains("\x1b[38;"), colors != ColorDepth::None, "{size:?} {colors:?}");
        }
        desk.keys("\x1b");
    }
    let modifiers = |ink: Ink| ink.style(ColorDepth::None, &Theme::default()).add_modifier;
    for ink in [Ink::Found, Ink::Selected, Ink::Row, Ink::StatusBad, Ink::HeaderMark] {
        assert_ne!(modifiers(ink), modifiers(Ink::Text), "{ink:?}");
    }
    assert_ne!(modifiers(Ink::Found), modifiers(Ink::Selected));
}

#[test]
fn panel_is_next_to_the_editor_at_every_size() {
    let mut desk = Desk::new(&[("a.txt", "one\ntwo\n")]);
    desk.open("a.txt");
    let (beside, writer) = panel::panel(String::new(), || {});
    desk.app.beside = Some(beside);
    let paragraphs =
        vec![(Ink::Text, "said \u{6f22}".repeat(30)), (Ink::Text, String::new()), (Ink::Key, "do it".into())];
    writer.show(panel::Panel { title: "somebody".into(), note: "note".into(), paragraphs });
    for width in [0, 1, 2, 15, 40, 79, 80, 81, 120, 400] {
        for height in [0, 1, 2, 5, 6, 10, 24, 60] {
            desk.app.resize((width, height));
            desk.turn();
            let (editor, area) = panel::divide((width, height));
            assert_eq!(desk.app.model.size, editor);
            let frame = desk.frame();
            assert_eq!(frame.size(), (width, height));
            let is_shown = area.is_some_and(|area| area.width >= 15);
            let screen = frame.rows().join("\n");
            assert_eq!(screen.contains("somebody"), is_shown, "{width} {height}:\n{screen}");
            assert_eq!(screen.contains("do it"), is_shown, "{width} {height}:\n{screen}");
        }
    }
    // Its key skips, and every other key is for the editor.
    desk.app.resize((80, 24));
    desk.keys("\x1b[17~");
    assert!(writer.is_skipped());
    desk.keys("x");
    desk.shows("not saved");
    assert!(!writer.is_skipped());
}

#[test]
fn any_keys_leave_a_valid_screen() {
    // All keys with an effect but those that end the editor or write a file.
    let keys = [
        "a",
        " ",
        "\t",
        "\u{6f22}",
        "\r",
        "\x7f",
        "\x1b",
        "\x1b[A",
        "\x1b[B",
        "\x1b[C",
        "\x1b[D",
        "\x1b[H",
        "\x1b[F",
        "\x1b[5~",
        "\x1b[6~",
        "\x1b[3~",
        "\x1b[1;2B",
        "\x1b[1;5C",
        "\x1bOP",
        "\x1bOQ",
        "\x1bOS",
        "\x1b[15~",
        "\0",
        "\x01",
        "\x02",
        "\x03",
        "\x06",
        "\x07",
        "\x0e",
        "\x15",
        "\x16",
        "\x18",
        "\x19",
        "\x1a",
        "\x1b[200~two\nlines\x1b[201~",
        "\x1b[<0;30;3M",
        "\x1b[<32;35;6M",
        "\x1b[<65;30;3M",
        "\x1b[<64;30;3M",
    ];
    let text: String = texts().into_iter().map(|(_, text)| text + "\n").collect();
    arbtest::arbtest(|u| {
        let mut desk = Desk::new(&[("a.txt", &text), ("b.txt", "")]);
        desk.open("a.txt");
        while !u.is_empty() {
            if u.ratio(1, 10)? {
                desk.app.resize(*u.choose(&[(80, 24), (120, 35), (40, 10), (7, 4), (1, 1)])?);
            }
            desk.keys(u.choose(&keys)?);
            let frame = desk.frame();
            if let Some((x, y)) = frame.cursor {
                assert!(x < frame.size().0 && y < frame.size().1);
            }
            if let Some(document) = desk.app.model.document() {
                let (text, selection) = (document.buffer.text().as_str(), document.buffer.selection());
                assert!(text.get(selection).is_some());
            }
        }
        Ok(())
    })
    .budget_ms(1_000);
}
