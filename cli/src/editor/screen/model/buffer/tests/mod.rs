//! The tests of the text that is edited, by what a user does to it.

mod clusters;
mod rows;

use super::*;
use Motion::{Down, End, Left, LineEnd, LineStart, PageDown, PageUp, Right, Start, Up, WordLeft, WordRight};

const TEXT: &str = "fn main() {\n\tlet \u{e9} = 1;\n}\nend";

#[test]
fn motions_move_the_cursor() {
    let cases: &[(&str, usize, &[Motion], usize)] = &[
        ("right over a line end", 11, &[Right], 12),
        ("left over a line end", 12, &[Left], 11),
        ("left of the beginning", 0, &[Left], 0),
        ("right of the end", 32, &[Right], 32),
        ("down keeps the column", 8, &[Down], 17),
        ("a short line in between keeps the column", 8, &[Down, Down, Up], 17),
        ("down in the last line", 30, &[Down], 32),
        ("up in the first line", 3, &[Up], 0),
        ("words", 0, &[WordRight, WordRight], 13),
        ("two words back", 20, &[WordLeft, WordLeft], 13),
        ("to the indentation", 20, &[LineStart], 13),
        ("to the indentation, then to the beginning", 20, &[LineStart, LineStart], 12),
        ("to the end of the line", 12, &[LineEnd], 24),
        ("a page", 0, &[PageDown], 25),
        ("a page and back", 1, &[PageDown, PageUp], 1),
        ("to the end of the text", 5, &[End], 32),
        ("to the beginning of the text", 5, &[Start], 0),
    ];
    for (name, from, motions, to) in cases {
        let mut buffer = Buffer::new(format!("{TEXT}!!"));
        buffer.select(*from..*from);
        motions.iter().for_each(|motion| buffer.go(*motion, false, 2));
        assert_eq!(buffer.cursor(), *to, "{name}");
        assert!(buffer.selection().is_empty(), "{name}");
    }
}

#[test]
fn motions_select_with_shift_or_mark() {
    let mut buffer = Buffer::new(TEXT.into());
    buffer.go(Right, true, 9);
    buffer.go(Right, true, 9);
    assert_eq!(buffer.selected(), "fn");
    buffer.go(Left, false, 9);
    assert_eq!((buffer.selected(), buffer.cursor()), ("", 0), "to the side of the selection");
    buffer.mark();
    buffer.go(WordRight, false, 9);
    assert_eq!(buffer.selected(), "fn ");
    buffer.mark();
    assert_eq!(buffer.selected(), "");
    buffer.point(1, 4, false);
    buffer.point(0, 3, true);
    assert_eq!(buffer.selected(), "main() {\n\t");
    buffer.select_all();
    assert_eq!(buffer.selected(), TEXT);
    assert!(buffer.unselect() && !buffer.unselect());
    buffer.select(Range { start: 26, end: 25 });
    assert_eq!(buffer.selection(), 25..25);
    buffer.select(999..1000);
    assert_eq!(buffer.selection(), 30..30);
}

#[test]
fn edits_are_made_and_undone() {
    let mut buffer = Buffer::new("ab\n".into());
    let mut states = vec![buffer.state()];
    type Step = fn(&mut Buffer);
    let steps: &[(&str, Step, &str)] = &[
        ("type", |b| b.type_text("\u{e9}"), "\u{e9}ab\n"),
        ("type more, undone together with it", |b| b.type_text("x"), "\u{e9}xab\n"),
        (
            "paste over",
            |b| {
                b.go(Right, true, 9);
                b.insert("1\n2");
            },
            "\u{e9}x1\n2b\n",
        ),
        ("backspace", Buffer::backspace, "\u{e9}x1\nb\n"),
        ("backspace over a line end", Buffer::backspace, "\u{e9}x1b\n"),
        ("delete", Buffer::delete, "\u{e9}x1\n"),
        ("new line", Buffer::new_line, "\u{e9}x1\n\n"),
    ];
    for (name, step, expected) in steps {
        step(&mut buffer);
        assert_eq!(buffer.text().as_str(), *expected, "{name}");
        assert!(buffer.is_dirty() && !states.contains(&buffer.state()), "{name}");
        states.push(buffer.state());
    }
    let mut undone = Vec::new();
    while buffer.undo() {
        undone.push(buffer.text().as_str().to_owned());
    }
    assert_eq!(
        undone,
        ["\u{e9}x1\n", "\u{e9}x1b\n", "\u{e9}x1\nb\n", "\u{e9}x1\n2b\n", "\u{e9}xab\n", "ab\n"]
    );
    assert!(!buffer.is_dirty(), "the saved text is there again");
    buffer.backspace();
    buffer.go(End, false, 9);
    buffer.delete();
    assert!(!buffer.is_dirty(), "deleting nothing is not a change");
}

#[test]
fn buffer_is_clean_at_saved_state() {
    let mut buffer = Buffer::new(String::new());
    buffer.type_text("a");
    buffer.mark_saved(buffer.state());
    assert!(!buffer.is_dirty());
    let saved = buffer.state();
    buffer.type_text("b");
    buffer.mark_saved(saved);
    assert!(buffer.is_dirty());
    buffer.undo();
    assert_eq!((buffer.text().as_str(), buffer.is_dirty()), ("a", false));
    buffer.undo();
    assert_eq!((buffer.text().as_str(), buffer.is_dirty()), ("", true));
}

#[test]
fn new_lines_keep_line_ends_and_indentation() {
    let mut buffer = Buffer::new("  a\r\nb".into());
    buffer.go(LineEnd, false, 9);
    buffer.new_line();
    buffer.insert("x\ny");
    assert_eq!(buffer.text().as_str(), "  a\r\n  x\r\ny\r\nb");
    buffer.go(LineStart, false, 9);
    buffer.backspace();
    assert_eq!(buffer.text().as_str(), "  a\r\n  xy\r\nb");
}

#[test]
fn reload_keeps_line_and_column() {
    let mut buffer = Buffer::new("a\nbcd\ne".into());
    buffer.select(4..5);
    buffer.reload("0\na\nx".into());
    assert_eq!((buffer.cursor(), buffer.selected(), buffer.is_dirty()), (3, "", false));
    buffer.reload(String::new());
    assert_eq!(buffer.cursor(), 0);
}

#[test]
fn any_edits_keep_cursor_and_selection_valid() {
    arbtest::arbtest(|u| {
        let mut buffer = Buffer::new(u.arbitrary()?);
        let motions =
            [Up, Down, Left, Right, WordLeft, WordRight, LineStart, LineEnd, PageUp, PageDown, Start, End];
        while !u.is_empty() {
            match u.int_in_range(0..=8)? {
                0 => buffer.insert(u.arbitrary()?),
                1 => buffer.backspace(),
                2 => buffer.delete(),
                3 => buffer.new_line(),
                4 => drop(buffer.undo()),
                5 => buffer.mark(),
                6 => buffer.point(u.int_in_range(0..=20)?, u.int_in_range(0..=20)?, u.arbitrary()?),
                _ => buffer.go(*u.choose(&motions)?, u.arbitrary()?, 3),
            }
            buffer.reveal(3, 5);
            let text = buffer.text().as_str();
            assert_eq!(buffer.text().stop_before(buffer.cursor()), buffer.cursor());
            assert!(text.get(buffer.selection()).is_some());
        }
        while buffer.undo() {}
        Ok(())
    });
}

#[test]
fn undo_and_redo_reach_every_state() {
    arbtest::arbtest(|u| {
        let original: String =
            u.choose(&["", "one\ntwo\n", "one\r\ntwo\r\n", "\u{6f22}\t\u{e9}"])?.to_string();
        let mut buffer = Buffer::new(original.clone());
        while !u.is_empty() {
            match u.int_in_range(0..=7)? {
                0 => buffer.insert(u.choose(&["x", "\n", "\u{6f22}", "several\nlines"])?),
                1 => buffer.insert("pasted\ntext"),
                2 => buffer.insert("and more"),
                3 => buffer.backspace(),
                4 => buffer.delete(),
                5 => buffer.new_line(),
                6 => buffer.go(*u.choose(&[Left, Right, Up, Down, WordLeft, End])?, u.arbitrary()?, 2),
                _ => buffer.mark_saved(buffer.state()),
            }
        }
        let (last, state) = (buffer.text().as_str().to_owned(), buffer.state());
        let mut texts = vec![last.clone()];
        while buffer.undo() {
            texts.push(buffer.text().as_str().to_owned());
        }
        assert_eq!(buffer.text().as_str(), original);
        assert_eq!(buffer.state(), 0, "the first state");
        for text in texts.iter().rev().skip(1) {
            assert!(buffer.redo());
            assert_eq!(buffer.text().as_str(), text);
        }
        assert!(!buffer.redo());
        assert_eq!((buffer.text().as_str(), buffer.state()), (last.as_str(), state));
        Ok(())
    });
}

#[test]
fn edit_after_undo_ends_redo() {
    let mut buffer = Buffer::new("a".into());
    buffer.type_text("x");
    buffer.mark_saved(buffer.state());
    assert!(!buffer.redo());
    assert!(buffer.undo() && buffer.is_dirty());
    assert!(buffer.redo() && !buffer.is_dirty(), "the saved text is there again");
    assert_eq!((buffer.text().as_str(), buffer.cursor()), ("xa", 1));
    assert!(buffer.undo());
    buffer.type_text("y");
    assert!(!buffer.redo());
    assert_eq!(buffer.text().as_str(), "ya");
    buffer.reload("b".into());
    assert!(!buffer.redo() && !buffer.undo());
}
