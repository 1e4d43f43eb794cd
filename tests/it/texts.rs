//! Positions and passages in texts of many chunks: each result must be the same as in the whole
//! text.

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use ide_mcp::ide::kit::{Encoding, Position, Range, Text};
use ide_mcp::ide::tool::OpenFile;
use ropey::Rope;
use std::cell::Cell;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// A text in these chunks.
struct Cut<'a>(&'a [String]);

impl Text for Cut<'_> {
    fn chunks(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Returns a text of few different characters, so that passages and line endings repeat, cut
/// anywhere.
fn chunks(u: &mut Unstructured<'_>) -> Result<Vec<String>> {
    let mut chunks = vec![String::new()];
    for _ in 0..u.int_in_range(0..=40)? {
        let piece = *u.choose(&["a", "b", "ab", "ü", "😀", "\n", "\r\n", "\r", "x"])?;
        for character in piece.chars() {
            if u.ratio(1, 3)? {
                chunks.push(String::new());
            }
            chunks.last_mut().unwrap().push(character);
        }
    }
    Ok(chunks)
}

#[test]
fn cuts_change_no_position() {
    arbtest(|u| {
        let chunks = chunks(u)?;
        let (cut, whole) = (&Cut(&chunks), chunks.concat());
        for offset in 0..=whole.len() + 1 {
            let position = Position::from_byte_offset(whole.as_str(), offset);
            assert_eq!(Position::from_byte_offset(cut, offset), position, "{chunks:?} at {offset}");
            let Some(before) = whole.get(..offset) else { continue };
            // Counted as std counts.
            let tail = before.rsplit('\n').next().unwrap();
            let counted = (before.matches('\n').count(), tail.encode_utf16().count());
            assert_eq!((position.line as usize, position.character as usize), counted, "{chunks:?}");
            let is_in_ending = before.ends_with('\r') && whole[offset..].starts_with('\n');
            if !is_in_ending {
                assert_eq!(position.to_byte_offset(cut), Some(offset), "{chunks:?} at {offset}");
            }
            let of_utf8 = Encoding::Utf8.column(cut, position).map(|column| column as usize);
            let of_utf32 = Encoding::Utf32.column(cut, position).map(|column| column as usize);
            if !is_in_ending {
                assert_eq!((of_utf8, of_utf32), (Some(tail.len()), Some(tail.chars().count())), "{chunks:?}");
            }
        }
        for (line, column) in (0..5).flat_map(|line| (0..9).map(move |column| (line, column))) {
            let position = Position::new(line, column);
            assert_eq!(position.to_byte_offset(cut), position.to_byte_offset(whole.as_str()), "{chunks:?}");
            for encoding in ENCODINGS {
                let of_whole = encoding.position(whole.as_str(), line, column);
                assert_eq!(encoding.position(cut, line, column), of_whole, "{encoding:?} {chunks:?}");
                assert_eq!(encoding.column(cut, position), encoding.column(&whole, position), "{chunks:?}");
            }
        }
        Ok(())
    })
    .budget_ms(2_000);
}

#[test]
fn cuts_change_no_passage() {
    arbtest(|u| {
        let chunks = chunks(u)?;
        let whole = chunks.concat();
        let mut pending = OpenFile::new("/a");
        let texts = ["", "a", "ab", "aab", "b\n", "\r\n", "😀", "üx", "abab"].map(String::from);
        pending.start_text = if u.arbitrary()? { Some(u.choose(&texts)?.clone()) } else { None };
        pending.end_text = if u.arbitrary()? { Some(u.choose(&texts)?.clone()) } else { None };
        pending.start_line = if u.arbitrary()? { Some(u.int_in_range(0..=6)?) } else { None };
        pending.end_line = if u.arbitrary()? { Some(u.int_in_range(0..=6)?) } else { None };
        pending.select_to_end_of_line = u.arbitrary()?;
        let passage = pending.passage(&Cut(&chunks));
        assert_eq!(passage, pending.passage(&whole), "{chunks:?} {pending:?}");
        assert_eq!(passage.range.copy_of(&Cut(&chunks)).as_deref(), passage.range.slice(&whole));
        Ok(())
    })
    .budget_ms(2_000);
}

/// Checks that a column of each encoding comes back from the position that it names.
#[test]
fn columns_of_all_encodings_come_back() {
    let text = "aü😀\r\n\n😀😀x";
    // The line, the columns of one place in UTF-8, UTF-16 and UTF-32.
    let rows =
        [(0, [0, 0, 0]), (0, [1, 1, 1]), (0, [3, 2, 2]), (0, [7, 4, 3]), (1, [0, 0, 0]), (2, [8, 4, 2])];
    for (line, columns) in rows {
        let position = Position::new(line, columns[1]);
        for (encoding, column) in ENCODINGS.into_iter().zip(columns) {
            assert_eq!(encoding.position(text, line, column), Some(position), "{encoding:?}, line {line}");
            assert_eq!(encoding.column(text, position), Some(column), "{encoding:?}, line {line}");
        }
    }
    assert_eq!(Encoding::Utf8.position(text, 0, 2), Some(Position::new(0, 1)), "inside a character");
    assert_eq!(Encoding::Utf32.position(text, 0, 99), Some(Position::new(0, 4)), "after the end of the line");
    assert_eq!(Encoding::Utf32.position(text, 9, 0), None, "no such line");
    for (name, encoding) in ["utf-8", "utf-16", "utf-32"].into_iter().zip(ENCODINGS) {
        assert_eq!(Encoding::from_lsp(name), Some(encoding));
    }
    assert_eq!(Encoding::from_lsp("UTF-8"), None);
    assert_eq!(Encoding::Utf8.column(text, Position::new(9, 0)), None, "no such line");
}

/// A rope that counts the chunks that are read.
struct Buffer {
    rope: Rope,
    read: Cell<usize>,
}

impl Text for Buffer {
    fn chunks(&self) -> impl Iterator<Item = &str> {
        self.rope.chunks().inspect(|_| self.read.set(self.read.get() + 1))
    }
}

#[test]
fn rope_is_read_up_to_the_place() {
    let text: String = (0..20_000).map(|line| format!("line {line} of ü😀\r\n")).collect();
    let buffer = Buffer { rope: Rope::from_str(&text), read: Cell::new(0) };
    let chunks = buffer.rope.chunks().count();
    assert!(chunks > 100, "{chunks}");
    let place = Position::new(10_000, 7);
    let offset = place.to_byte_offset(text.as_str()).unwrap();
    let mut pending = OpenFile::new("/a");
    (pending.start_text, pending.end_text) = (Some("line 10000 ".into()), Some("line 10001".into()));
    let passage = pending.passage(text.as_str());
    let range = Range::new(place, Position::new(10_001, 2));

    let reads = |name: &str, most: usize, read: &dyn Fn()| {
        buffer.read.set(0);
        read();
        assert!(buffer.read.get() <= most, "{name}: {} of {chunks} chunks", buffer.read.get());
    };
    let half = chunks / 2 + chunks / 20;
    reads("from bytes", half, &|| assert_eq!(Position::from_byte_offset(&buffer, offset), place));
    reads("to bytes", half, &|| assert_eq!(place.to_byte_offset(&buffer), Some(offset)));
    reads("copy", 3 * half, &|| assert_eq!(range.copy_of(&buffer).as_deref(), range.slice(&text)));
    // Two searches and two positions.
    reads("passage", 4 * half, &|| assert_eq!(pending.passage(&buffer), passage));
}
