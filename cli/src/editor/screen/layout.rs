//! The layout of the screen, for drawing and for the mouse. Every size has one, down to a single cell.

use super::model::act::{SIDE_BY_SIDE, Shown};
use super::model::{Focus, Model};
use ratatui::layout::{Constraint, Layout, Rect};

/// From this number of columns on, the list of files is beside the text. With fewer, only one of them is shown.
const TWO_PANES: u16 = 60;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
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

pub(crate) fn places(model: &Model) -> Places {
    let (width, height) = model.size;
    let waits = !model.proposals.is_empty() && model.focus != Focus::Proposal && model.page.is_none();
    let row = |is_shown: bool| Constraint::Length(is_shown.into());
    let rows = [
        row(height >= 3),
        row(waits && height >= 4),
        Constraint::Fill(1),
        row(height >= 2),
        row(height >= 5),
    ];
    let [header, banner, body, status, help] = Layout::vertical(rows).areas(Rect::new(0, 0, width, height));

    let is_whole = model.page.is_some() || model.focus == Focus::Proposal;
    let (files, main) = if is_whole {
        (None, Some(body))
    } else if width < TWO_PANES {
        if model.focus == Focus::Files { (Some(body), None) } else { (None, Some(body)) }
    } else {
        let columns =
            [Constraint::Length((width / 4).clamp(18, 30)), Constraint::Length(1), Constraint::Fill(1)];
        // The column between them is the line between the panes.
        let [files, _, main] = Layout::horizontal(columns).areas(body);
        (Some(files), Some(main))
    };
    let shown = |area: Rect| (area.height > 0).then_some(area);
    Places {
        header: shown(header),
        banner: shown(banner),
        files,
        main,
        status: shown(status),
        help: shown(help),
    }
}

/// Returns how much of the scrolling area is visible.
pub(crate) fn shown(model: &Model) -> Shown {
    let places = places(model);
    let area = if model.focus == Focus::Files { places.files } else { places.main };
    let rows = area.or(places.main).or(places.files).map_or(0, |area| usize::from(area.height));
    let notices =
        model.proposed().filter(|open| open.editing.is_none()).map_or(0, |open| open.notices().count());
    let rows = if model.page.is_none() { rows.saturating_sub(notices) } else { rows };
    Shown { rows, wide: model.wide && model.size.0 >= SIDE_BY_SIDE }
}
