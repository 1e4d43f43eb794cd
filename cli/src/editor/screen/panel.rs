//! A panel next to the editor, with a text that changes while the user works in the editor, such as the steps of the
//! demo. The editor does not know what the text is about.

use super::bindings::f;
use super::keys::Key;
use super::view::palette::Ink;
use ratatui::layout::Rect;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The keys of the panel, which skip a step. While there is a panel, they mean nothing else.
pub(crate) const SKIP: [Key; 2] = [f(6), Key::alt('n')];

/// From this number of columns on, the panel is beside the editor: 50 of them are left for a diff. With fewer, it is
/// below.
const BESIDE: u16 = 80;
/// The minimum and the maximum number of columns of a panel beside the editor, including the line between them.
const COLUMNS: (u16, u16) = (30, 46);
/// From this number of rows on, there is room for a panel below the editor.
const BELOW: u16 = 6;
/// The minimum number of rows of a panel: its title, and what to do.
const MIN_ROWS: u16 = 2;
/// The maximum number of rows of a panel below the editor: a step of the demo and the one before it.
const MAX_ROWS: u16 = 9;

/// The text of a panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Shown at the end of the title.
    pub(crate) note: String,
    /// The paragraphs with their looks. If there is no room for all, the last ones are shown.
    pub(crate) paragraphs: Vec<(Ink, String)>,
}

/// Divides a screen into the editor, which begins at the first cell, and the panel; `None` if there is no room for it.
pub(crate) fn divide((width, height): (u16, u16)) -> ((u16, u16), Option<Rect>) {
    if width >= BESIDE && height >= MIN_ROWS {
        let columns = (width / 8 * 3).clamp(COLUMNS.0, COLUMNS.1);
        let editor = width.saturating_sub(columns);
        ((editor, height), Some(Rect::new(editor, 0, columns, height)))
    } else if height >= BELOW {
        let rows = (height / 5 * 2).clamp(MIN_ROWS, MAX_ROWS);
        let editor = height.saturating_sub(rows);
        ((width, editor), Some(Rect::new(0, editor, width, rows)))
    } else {
        ((width, height), None)
    }
}

/// The editor's side of a panel.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) panel: Panel,
    /// Printed after the editor's last line.
    pub(crate) farewell: String,
    shared: Arc<Mutex<Shared>>,
}

/// The writer's side of a panel, for any thread.
pub(crate) struct PanelWriter {
    shared: Arc<Mutex<Shared>>,
    wake: Box<dyn Fn() + Send>,
}

#[derive(Debug, Default)]
struct Shared {
    /// A text that the editor has not taken yet. Only the latest one counts.
    news: Option<Panel>,
    is_skipped: bool,
}

/// Creates both sides. `wake` wakes the editor.
pub(crate) fn panel(farewell: String, wake: impl Fn() + Send + 'static) -> (Beside, PanelWriter) {
    let shared = Arc::<Mutex<Shared>>::default();
    let beside = Beside { panel: Panel::default(), farewell, shared: shared.clone() };
    (beside, PanelWriter { shared, wake: Box::new(wake) })
}

impl Beside {
    /// Takes the latest text. Returns true if there is one.
    pub(crate) fn look(&mut self) -> bool {
        let news = lock(&self.shared).news.take();
        let is_new = news.is_some();
        self.panel = news.unwrap_or_else(|| std::mem::take(&mut self.panel));
        is_new
    }

    /// Tells the writer that the user skips this step.
    pub(crate) fn skip(&self) {
        lock(&self.shared).is_skipped = true;
    }
}

impl PanelWriter {
    /// Shows a text in place of the one before.
    pub(crate) fn show(&self, panel: Panel) {
        lock(&self.shared).news = Some(panel);
        (self.wake)();
    }

    /// Returns true once after the user has skipped something.
    pub(crate) fn is_skipped(&self) -> bool {
        std::mem::take(&mut lock(&self.shared).is_skipped)
    }
}

impl fmt::Debug for PanelWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PanelWriter").finish_non_exhaustive()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // No code panics while it holds the lock.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screens_have_room_for_both() {
        let cases = [
            ("wide", (120, 35), (75, 35), Some(Rect::new(75, 0, 45, 35))),
            ("very wide", (300, 90), (254, 90), Some(Rect::new(254, 0, 46, 90))),
            ("usual", (80, 24), (50, 24), Some(Rect::new(50, 0, 30, 24))),
            ("one column less", (79, 24), (79, 16), Some(Rect::new(0, 16, 79, 8))),
            ("tall", (60, 100), (60, 91), Some(Rect::new(0, 91, 60, 9))),
            ("small", (40, 10), (40, 6), Some(Rect::new(0, 6, 40, 4))),
            ("the smallest with a panel", (40, 6), (40, 4), Some(Rect::new(0, 4, 40, 2))),
            ("too few rows", (40, 5), (40, 5), None),
            ("wide, with two rows", (80, 2), (50, 2), Some(Rect::new(50, 0, 30, 2))),
            ("wide, with one row", (80, 1), (80, 1), None),
            ("a single cell", (1, 1), (1, 1), None),
            ("nothing", (0, 0), (0, 0), None),
        ];
        for (name, screen, editor, panel) in cases {
            assert_eq!(divide(screen), (editor, panel), "{name}");
        }
    }

    #[test]
    fn latest_text_and_one_skip_arrive() {
        let (mut beside, writer) = panel(String::new(), || {});
        assert!(!beside.look() && !writer.is_skipped());
        for title in ["one", "two"] {
            writer.show(Panel { title: title.into(), ..Panel::default() });
        }
        assert!(beside.look() && !beside.look());
        assert_eq!(beside.panel.title, "two", "it stays after the look");
        beside.skip();
        beside.skip();
        assert!(writer.is_skipped() && !writer.is_skipped());
    }
}
