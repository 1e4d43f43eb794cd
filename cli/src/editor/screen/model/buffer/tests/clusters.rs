//! Grapheme clusters: what a reader takes for one character is one stop of the cursor.

use super::*;

/// Clusters between an `a` and a `b`: their name, the text, and their columns. A terminal that does not know a joined
/// emoji shows its parts, so we count the columns of the parts.
const CLUSTERS: &[(&str, &str, usize)] = &[
    ("a letter", "x", 1),
    ("a letter outside of ASCII", "\u{e9}", 1),
    ("a letter with a combining mark", "e\u{301}", 1),
    ("a letter with several combining marks", "a\u{323}\u{302}\u{301}", 1),
    ("a wide character", "\u{6f22}", 2),
    ("an emoji", "\u{1f980}", 2),
    ("a family", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}", 8),
    ("a skin tone", "\u{1f44d}\u{1f3fd}", 4),
    ("a flag", "\u{1f1e9}\u{1f1ea}", 2),
    ("a flag of a region", "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}", 5),
    ("an emoji by a variation selector", "\u{2764}\u{fe0f}", 1),
    ("a key cap", "1\u{fe0f}\u{20e3}", 1),
    ("Hangul in parts", "\u{1112}\u{1161}\u{11ab}", 2),
    ("a syllable of Devanagari", "\u{915}\u{94d}\u{937}\u{93f}", 3),
    ("a syllable of Thai", "\u{e01}\u{e33}", 2),
    ("a Windows line end", "\r\n", 0),
];

fn around(cluster: &str) -> (Buffer, usize, usize) {
    (Buffer::new(format!("a{cluster}b")), 1, 1 + cluster.len())
}

#[test]
fn cluster_is_one_stop_of_motions() {
    for (name, cluster, _) in CLUSTERS {
        let (mut buffer, start, end) = around(cluster);
        let stops: Vec<usize> = (0..4)
            .map(|_| {
                buffer.go(Right, false, 9);
                buffer.cursor()
            })
            .collect();
        assert_eq!(stops, [start, end, end + 1, end + 1], "{name}");
        let back: Vec<usize> = (0..4)
            .map(|_| {
                buffer.go(Left, false, 9);
                buffer.cursor()
            })
            .collect();
        assert_eq!(back, [end, start, 0, 0], "{name}");
    }
}

#[test]
fn cluster_is_deleted_and_selected_whole() {
    for (name, cluster, _) in CLUSTERS {
        let (mut buffer, start, end) = around(cluster);
        buffer.select(end..end);
        buffer.backspace();
        assert_eq!(buffer.text().as_str(), "ab", "{name}");
        assert!(buffer.undo());
        buffer.select(start..start);
        buffer.delete();
        assert_eq!(buffer.text().as_str(), "ab", "{name}");
        assert!(buffer.undo());
        buffer.select(start..start);
        buffer.go(Right, true, 9);
        assert_eq!(buffer.selected(), *cluster, "{name}");
        // Part of a cluster cannot be selected, and no place is within it.
        for inside in start + 1..end {
            buffer.select(start..inside);
            assert_eq!(buffer.selected(), *cluster, "{name} {inside}");
            buffer.select(inside..end);
            assert_eq!(buffer.selected(), *cluster, "{name} {inside}");
            buffer.select(inside..inside);
            assert_eq!(buffer.selection(), start..start, "{name} {inside}");
            buffer.point_at(inside, false);
            assert_eq!(buffer.cursor(), start, "{name} {inside}");
        }
    }
}

#[test]
fn columns_of_cluster_lead_to_its_beginning() {
    for (name, cluster, columns) in CLUSTERS.iter().filter(|(_, _, columns)| *columns > 0) {
        let (mut buffer, start, end) = around(cluster);
        assert_eq!(column_of(buffer.text().line(0), end), 1 + columns, "{name}");
        for column in 0..=*columns {
            assert_eq!(
                buffer.byte_on_screen(0, 1 + column),
                if column < *columns { start } else { end },
                "{name}"
            );
            buffer.point(0, 1 + column, false);
            assert_eq!(buffer.cursor(), if column < *columns { start } else { end }, "{name}");
        }
        // No row ends within a cluster.
        let mut buffer = Buffer::new(format!("{cluster}{cluster}"));
        buffer.fit(Some(*columns));
        let rows: Vec<_> = buffer.shown_rows().map(|row| row.bytes).collect();
        assert!(rows.iter().all(|row| row.start % cluster.len() == 0), "{name}: {rows:?}");
    }
}

#[test]
fn typed_parts_join_before_the_cursor() {
    for (name, cluster, _) in CLUSTERS.iter().filter(|(_, cluster, _)| *cluster != "\r\n") {
        let mut buffer = Buffer::new("ab".into());
        buffer.select(1..1);
        for part in cluster.chars() {
            buffer.insert(part.encode_utf8(&mut [0; 4]));
        }
        let end = 1 + cluster.len();
        assert_eq!(
            (buffer.text().as_str(), buffer.cursor()),
            (format!("a{cluster}b").as_str(), end),
            "{name}"
        );
    }
    // What is typed joins with what follows it, and the cursor is after both.
    let mut buffer = Buffer::new("\u{301}b".into());
    buffer.type_text("e");
    assert_eq!(buffer.cursor(), 3);
}
