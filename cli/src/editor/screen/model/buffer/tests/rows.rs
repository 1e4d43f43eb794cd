//! The rows on the screen: scrolling, wrapping, and the bytes of a click.

use super::*;

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
fn motions_go_by_wrapped_rows() {
    // The rows are "0123", "4567", "89", "ab" and "".
    let text = "0123456789\nab\n";
    let cases: &[(&str, usize, &[Motion], usize)] = &[
        ("down within a line", 1, &[Down], 5),
        ("down to the next line", 1, &[Down, Down, Down], 12),
        ("the column is kept over a short row", 3, &[Down, Down, Up], 7),
        ("up", 9, &[Up], 5),
        ("up in the first row", 2, &[Up], 0),
        ("the cursor does not stop at the end of a row", 3, &[Right, Up], 0),
        ("the end of the line", 1, &[LineEnd], 10),
        ("the beginning of the line", 9, &[LineStart], 0),
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
fn cursor_stays_in_a_shorter_row() {
    // The rows are "aaaa bbbbb ", "ccccccc " and "dddddddddd".
    let mut buffer = Buffer::new("aaaa bbbbb ccccccc dddddddddd".into());
    buffer.fit(Some(10));
    buffer.select(9..9);
    buffer.go(Down, false, 9);
    assert_eq!(buffer.cursor(), 18, "the last character of the row, and not the first of the next");
    buffer.go(Down, false, 9);
    assert_eq!(buffer.cursor(), 28, "the column is kept");
    assert_eq!(buffer.byte_on_screen(1, 99), 18, "a click after the row is at its last character");
    assert_eq!(buffer.byte_on_screen(2, 99), 29, "a click after the end of the line");
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
    assert_eq!(buffer.shown_rows().next().unwrap().bytes.start, first, "the same text stays at the top");
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
            for glyph in crate::support::columns::glyphs(content).filter(|glyph| glyph.width > 0) {
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

#[test]
fn changed_long_lines_are_wrapped_again() {
    // From 4096 bytes on, the rows of a line are cached.
    for length in [4095, 4096, 4097] {
        let mut buffer =
            Buffer::new(format!("short\n{}\n{}", "word ".repeat(length / 5 + 1), "x".repeat(length)));
        let changes: [(&str, fn(&mut Buffer)); 7] = [
            ("a motion", |buffer| buffer.go(End, false, 9)),
            ("a typed letter", |buffer| buffer.type_text("y")),
            ("undo", |buffer| assert!(buffer.undo())),
            ("redo", |buffer| assert!(buffer.redo())),
            ("another width", |buffer| buffer.fit(Some(17))),
            ("a shorter line", |buffer| buffer.new_line()),
            ("a line before", |buffer| {
                buffer.go(Start, false, 9);
                buffer.insert("new\n");
            }),
        ];
        buffer.fit(Some(40));
        for (name, change) in changes {
            change(&mut buffer);
            let mut fresh = Buffer::new(buffer.text().as_str().to_owned());
            fresh.fit(buffer.wrap);
            buffer.scroll(isize::MIN);
            assert!(buffer.shown_rows().eq(fresh.shown_rows()), "{length}: {name}");
        }
    }
}

/// Returns the first shown line.
fn top(buffer: &Buffer) -> usize {
    buffer.shown_rows().next().unwrap().line
}
