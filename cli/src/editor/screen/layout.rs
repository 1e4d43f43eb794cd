//! The layout of the screen, for drawing and for the mouse. Every size has one, down to one cell.

use super::model::act::{SIDE_BY_SIDE, Shown};
use super::model::{Focus, Model};

/// The number of columns from which the list of files is beside the text. With fewer columns, only
/// one of them is shown.
const TWO_PANES: u16 = 60;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Rect {
    pub(crate) fn contains(self, column: u16, row: u16) -> bool {
        let within = |from: u16, length: u16, at: u16| at >= from && at.saturating_sub(from) < length;
        within(self.x, self.width, column) && within(self.y, self.height, row)
    }

    pub(crate) fn rows(self) -> usize {
        self.height.into()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The row with the titles of the panes.
    pub(crate) header: Option<Rect>,
    /// The row that announces waiting proposals.
    pub(crate) banner: Option<Rect>,
    pub(crate) files: Option<Rect>,
    /// A text, a proposal or a page.
    pub(crate) main: Option<Rect>,
    pub(crate) status: Option<Rect>,
    pub(crate) help: Option<Rect>,
}

pub(crate) fn layout(model: &Model) -> Layout {
    let (width, height) = model.size;
    let row = |y: u16| Rect { x: 0, y, width, height: 1 };
    let has_header = height >= 3;
    let has_status = height >= 2;
    let has_help = height >= 5;
    let waits = !model.proposals.is_empty() && model.focus != Focus::Proposal && model.page.is_none();
    let has_banner = waits && height >= 4;
    let top = u16::from(has_header).saturating_add(u16::from(has_banner));
    let bottom = u16::from(has_status).saturating_add(u16::from(has_help));
    let body = Rect { x: 0, y: top, width, height: height.saturating_sub(top).saturating_sub(bottom) };

    let is_whole = model.page.is_some() || model.focus == Focus::Proposal;
    let (files, main) = if is_whole {
        (None, Some(body))
    } else if width < TWO_PANES {
        if model.focus == Focus::Files { (Some(body), None) } else { (None, Some(body)) }
    } else {
        let files = (width / 4).clamp(18, 30);
        // One column is the line between the panes.
        let x = files.saturating_add(1);
        let main = Rect { x, width: width.saturating_sub(x), ..body };
        (Some(Rect { width: files, ..body }), Some(main))
    };
    Layout {
        header: has_header.then(|| row(0)),
        banner: has_banner.then(|| row(1)),
        files,
        main,
        status: has_status.then(|| row(height.saturating_sub(bottom))),
        help: has_help.then(|| row(height.saturating_sub(1))),
    }
}

/// Returns the visible extent of the area that scrolls.
pub(crate) fn shown(model: &Model) -> Shown {
    let layout = layout(model);
    let area = if model.focus == Focus::Files { layout.files } else { layout.main };
    let rows = area.or(layout.main).or(layout.files).map_or(0, Rect::rows);
    let notices =
        model.proposed().filter(|open| open.editing.is_none()).map_or(0, |open| open.notices().count());
    let rows = if model.page.is_none() { rows.saturating_sub(notices) } else { rows };
    Shown { rows, wide: model.wide && model.size.0 >= SIDE_BY_SIDE }
}
