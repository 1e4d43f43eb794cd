use super::*;
use Motion::{Down, End, Left, LineEnd, LineStart, PageDown, PageUp, Right, Start, Up, WordLeft, WordRight};

const TEXT: &str = "fn main() {\n\tlet \u{e9} = 1;\n}\nend";

#[test]
fn motions_move_the_cursor() {
    let cases: &[(&str, usize, &[Motion], usize)] = &[
        ("right over a line end", 11, &[Right], 12),
        ("left over it", 12, &[Left], 11),
        ("left of the beginning", 0, &[Left], 0),
        ("right of the end", 32, &[Right], 32),
        ("down keeps the column", 8, &[Down], 17),
        ("and returns to it over a short line", 8, &[Down, Down, Up], 17),
        ("down in the last line", 30, &[Down], 32),
        ("up in the first line", 3, &[Up], 0),
        ("words", 0, &[WordRight, WordRight], 13),
        ("words, back", 20, &[WordLeft, WordLeft], 13),
        ("to the indentation", 20, &[LineStart], 13),
        ("and to the beginning", 20, &[LineStart, LineStart], 12),
        ("to the end of the line", 12, &[LineEnd], 24),
        ("a page", 0, &[PageDown], 25),
        ("a page and back", 1, &[PageDown, PageUp], 1),
        ("the ends", 5, &[End], 32),
        ("the ends", 5, &[Start], 0),
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
        ("type", |b| b.insert("\u{e9}"), "\u{e9}ab\n"),
        ("type more, taken back with it", |b| b.insert("x"), "\u{e9}xab\n"),
        (
            "paste over",
            |b| {
                b.go(Right, true, 9);
                b.insert("1\n2");
            },
            "\u{e9}x1\n2b\n",
        ),
        ("backspace", Buffer::backspace, "\u{e9}x1\nb\n"),
        ("over a line end", Buffer::backspace, "\u{e9}x1b\n"),
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
    assert!(!buffer.is_dirty(), "what was saved is there again");
    buffer.backspace();
    buffer.go(End, false, 9);
    buffer.delete();
    assert!(!buffer.is_dirty(), "nothing to delete is no change");
}

#[test]
fn buffer_is_clean_at_saved_state() {
    let mut buffer = Buffer::new(String::new());
    buffer.insert("a");
    buffer.mark_saved(buffer.state());
    assert!(!buffer.is_dirty());
    let saved = buffer.state();
    buffer.insert("b");
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
fn text_scrolls_to_its_cursor() {
    let mut buffer = Buffer::new("0123456789".repeat(10) + &"\n".repeat(100));
    buffer.go(End, false, 9);
    buffer.reveal(10, 20);
    assert_eq!((top(&buffer), buffer.left()), (91, 0));
    buffer.go(Start, false, 9);
    buffer.go(LineEnd, false, 9);
    buffer.reveal(10, 20);
    assert_eq!((top(&buffer), buffer.left()), (0, 81));
    buffer.reveal(0, 0);
    buffer.scroll(-5);
    assert_eq!(top(&buffer), 0);
    buffer.scroll(1000);
    assert_eq!(top(&buffer), 100);
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
            assert!(text.is_char_boundary(buffer.cursor()));
            assert!(text.get(buffer.selection()).is_some());
        }
        while buffer.undo() {}
        Ok(())
    });
}

/// Returns the first shown line.
fn top(buffer: &Buffer) -> usize {
    buffer.shown_rows().next().unwrap().line
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
                1 => buffer.paste("pasted\ntext", false),
                2 => buffer.paste("and more", true),
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
    buffer.insert("x");
    buffer.mark_saved(buffer.state());
    assert!(!buffer.redo());
    assert!(buffer.undo() && buffer.is_dirty());
    assert!(buffer.redo() && !buffer.is_dirty(), "the saved text is there again");
    assert_eq!((buffer.text().as_str(), buffer.cursor()), ("xa", 1));
    assert!(buffer.undo());
    buffer.insert("y");
    assert!(!buffer.redo());
    assert_eq!(buffer.text().as_str(), "ya");
    buffer.reload("b".into());
    assert!(!buffer.redo() && !buffer.undo());
}

#[test]
fn motions_go_by_wrapped_rows() {
    // The rows are "0123", "4567", "89", "ab" and "".
    let text = "0123456789\nab\n";
    let cases: &[(&str, usize, &[Motion], usize)] = &[
        ("down within a line", 1, &[Down], 5),
        ("and to the next line", 1, &[Down, Down, Down], 12),
        ("the column is kept over a short row", 3, &[Down, Down, Up], 7),
        ("up", 9, &[Up], 5),
        ("up in the first row", 2, &[Up], 0),
        ("the end of a row is no place", 3, &[Right, Up], 0),
        ("the end of the line", 1, &[LineEnd], 10),
        ("its beginning", 9, &[LineStart], 0),
        ("a page", 0, &[PageDown], 8),
        ("a page and back", 1, &[PageDown, PageUp], 1),
        ("beyond the end", 0, &[PageDown, PageDown, PageDown], 14),
    ];
    for (name, from, motions, to) in cases {
        let mut buffer = Buffer::new(text.into());
        buffer.fit(Some(4));
        buffer.select(*from..*from);
        motions.iter().for_each(|motion| buffer.go(*motion, false, 2));
        assert_eq!(buffer.cursor(), *to, "{name}");
    }
}

#[test]
fn wrapped_text_scrolls_by_rows() {
    let mut buffer = Buffer::new(format!("{}\nlast", "0123".repeat(10)));
    buffer.fit(Some(4));
    let shown = |buffer: &Buffer| -> Vec<String> {
        buffer.shown_rows().take(2).map(|row| buffer.text().get(row.bytes).to_owned()).collect()
    };
    buffer.go(End, false, 9);
    buffer.reveal(2, 4);
    assert_eq!(shown(&buffer), ["0123", "last"]);
    buffer.scroll(-100);
    assert_eq!(top(&buffer), 0);
    buffer.scroll(9);
    assert_eq!(shown(&buffer), ["0123", "last"]);
    buffer.scroll(9);
    assert_eq!(shown(&buffer), ["last"]);
    buffer.scroll(-2);
    let first = buffer.shown_rows().next().unwrap().bytes.start;
    buffer.fit(Some(8));
    assert_eq!(buffer.shown_rows().next().unwrap().bytes.start, first, "the first text stays");
    buffer.fit(None);
    assert_eq!(top(&buffer), 0);
}

#[test]
fn clicks_find_the_drawn_bytes() {
    arbtest::arbtest(|u| {
        let mut text = String::new();
        for _ in 0..u.int_in_range(0..=40)? {
            text.push_str(u.choose(&["a", " ", "\t", "\u{6f22}", "\n", "\r\n", "e\u{301}"])?);
        }
        let mut buffer = Buffer::new(text);
        let wraps = u.arbitrary()?;
        buffer.fit(if wraps { Some(u.int_in_range(2..=9)?) } else { None });
        let rows: Vec<_> = buffer.shown_rows().collect();
        for (at, row) in rows.iter().enumerate() {
            let content = buffer.text().get(row.bytes.clone());
            for glyph in super::super::columns::glyphs(content).filter(|glyph| glyph.width > 0) {
                let byte = buffer.byte_on_screen(at.try_into().unwrap(), glyph.column);
                assert_eq!(byte, row.bytes.start + glyph.byte, "{rows:?}");
            }
        }
        let shown = rows.iter().map(|row| buffer.text().get(row.bytes.clone()).len()).sum::<usize>();
        let lines = (0..buffer.text().lines()).map(|line| buffer.text().line(line).len()).sum::<usize>();
        assert_eq!(shown, lines, "each byte of each line is in one row");
        Ok(())
    });
}
