//! The review of a proposal on screens of three sizes, in both views, with colors and without: the laws of each
//! screen, and the part of the change that is visible.

use super::Desk;
use super::review::propose;
use super::sizes::SIZES;
use crate::editor::screen::terminal::paint;
use crate::editor::screen::view::palette::ColorDepth;
use crate::support::columns::width;
use crossterm::style::force_color_output;

/// The keys of the user, and texts that the screen then has at every size.
type Step = (&'static str, &'static [&'static str]);

/// A review: its steps, and the first text of the answer; `None` if the proposal is still open.
type Flow = (&'static str, &'static [Step], Option<&'static str>);

/// The step in which another program writes the proposed file.
const WRITE: &str = "write";

const OPENED: Step = ("", &["src/a.rs  +2 −2", "old 2", "new 2", " a accept  r reject", "F1 help"]);
const MOVED: Step = ("n", &["src/a.rs  +2 −2", "old 50", "new 50", " a accept  r reject"]);

const FLOWS: [Flow; 10] = [
    ("opened", &[OPENED], None),
    ("moved to the other hunk, and back", &[OPENED, MOVED, ("p", &["old 2", "new 2", " a accept"])], None),
    ("accepted", &[OPENED, ("a", &["accepted src/a.rs"])], Some("FILE_SAVED")),
    ("refused", &[OPENED, ("r", &["rejected src/a.rs"])], Some("DIFF_REJECTED")),
    (
        "one hunk accepted, one refused",
        &[
            OPENED,
            ("y", &["✓ 1 ✗ 0 of 2", "src/a.rs", "old 50", "new 50", " a accept"]),
            ("x", &["✓ 1 ✗ 1 of 2", "src/a.rs", " a accept"]),
            ("a", &["accepted src/a.rs"]),
        ],
        Some("FILE_SAVED"),
    ),
    (
        "accepted after a conflict",
        &[
            OPENED,
            (WRITE, &[]),
            ("a", &["src/a.rs  +2 −3", "of another program", "look at it, then press a again", " a accept"]),
            ("a", &["accepted src/a.rs"]),
        ],
        Some("FILE_SAVED"),
    ),
    (
        "refused after a hunk was accepted",
        &[
            OPENED,
            ("y", &["✓ 1 ✗ 0 of 2"]),
            ("r", &["r again rejects all", " a accept"]),
            ("r", &["rejected src/a.rs"]),
        ],
        Some("DIFF_REJECTED"),
    ),
    (
        "refused after a conflict",
        &[OPENED, (WRITE, &[]), ("a", &["press a again"]), ("r", &["rejected src/a.rs"])],
        Some("DIFF_REJECTED"),
    ),
    (
        "edited",
        &[
            OPENED,
            ("e", &["src/a.rs  +2 −2", "new 2", "^S back to the diff"]),
            ("!", &["!new 2"]),
            ("\x13", &["src/a.rs  +2 −2  edited", "+ !new 2", " a accept"]),
            ("a", &["accepted src/a.rs"]),
        ],
        Some("FILE_SAVED"),
    ),
    (
        "left and shown again",
        &[OPENED, ("\x1b", &["✻ 1 proposed change wait", "F3"]), ("\x1bOR", OPENED.1)],
        None,
    ),
];

fn text(word: &str) -> String {
    (1..=60)
        .map(|n| if n == 2 || n == 50 { format!("{word} {n}\n") } else { format!("line {n}\n") })
        .collect()
}

#[test]
fn each_review_obeys_the_laws() {
    let views = SIZES.map(|size| (size, "")).into_iter().chain([((120, 35), "v")]);
    for (size, view) in views {
        for (name, steps, answer) in FLOWS {
            let mut desk = Desk::new(&[("src/a.rs", &text("old"))]);
            desk.app.resize(size);
            let id = propose(&mut desk, "src/a.rs", &text("new"));
            desk.keys(view);
            for (at, (keys, shown)) in steps.iter().enumerate() {
                let name = format!("{name}, step {at}, {size:?} {view}");
                if *keys == WRITE {
                    desk.write("src/a.rs", &format!("of another program\n{}", text("old")));
                } else {
                    desk.keys(keys);
                }
                assert_laws(&mut desk, size, &name);
                let screen = desk.screen();
                for text in *shown {
                    assert!(screen.contains(text), "{name}: {text:?} is not on the screen:\n{screen}");
                }
            }
            let found = desk.result(id);
            let found = found.as_ref().and_then(|texts| texts.first()).map(String::as_str);
            assert_eq!(found, answer, "{name} {size:?} {view}");
        }
    }
}

/// Checks the size of the screen and of the painted bytes, and that a screen without colors has none.
fn assert_laws(desk: &mut Desk, size: (u16, u16), name: &str) {
    let frame = desk.frame();
    assert_eq!(frame.size(), size, "{name}");
    assert!(frame.rows().iter().all(|row| width(row) <= size.0.into()), "{name}:\n{}", desk.screen());
    force_color_output(true);
    for colors in [ColorDepth::True, ColorDepth::Indexed, ColorDepth::None] {
        let out = paint(None, &desk.app.draw(colors)).unwrap();
        let (right, bottom, has_colors) = extent(&String::from_utf8(out).unwrap());
        assert!(right <= size.0.into() && bottom <= size.1.into(), "{name} {colors:?}: {right} × {bottom}");
        assert_eq!(has_colors, colors != ColorDepth::None, "{name} {colors:?}");
    }
}

/// Follows the cursor of a terminal through these bytes. Returns the columns and rows that it needs, and true if
/// a sequence sets a color.
fn extent(out: &str) -> (usize, usize, bool) {
    let (mut x, mut right, mut bottom, mut has_colors) = (0, 0, 0, false);
    let mut pieces = out.split('\x1b');
    assert_eq!(pieces.next(), Some(""));
    for piece in pieces {
        let sequence = piece.strip_prefix('[').unwrap();
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        let (parameters, rest) = sequence.split_at(end);
        let (kind, text) = rest.split_at(1);
        match kind {
            "H" => {
                let (row, column) = parameters.split_once(';').unwrap();
                bottom = bottom.max(row.parse().unwrap());
                x = column.parse::<usize>().unwrap() - 1;
            }
            // Attributes are below 30. 39, 49 and 59 end colors; every other number sets one.
            "m" => {
                let first = parameters.split(';').next().unwrap();
                has_colors |= !matches!(first.parse::<u32>().unwrap(), ..30 | 39 | 49 | 59);
            }
            "J" => assert_eq!(parameters, "2"),
            _ => assert!(parameters.starts_with('?'), "{sequence:?}"),
        }
        x += width(text);
        right = right.max(x);
    }
    (right, bottom, has_colors)
}
