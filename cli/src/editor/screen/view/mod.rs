//! Draws the model on a screen in memory.

pub(crate) mod frame;
pub(crate) mod palette;

mod bars;
mod files;
mod pages;
pub(crate) mod panel;
mod prompt;
mod proposal;
mod text;

use super::layout::{places, shown};
use super::model::{Focus, Model, PageKind};
use frame::Frame;
use palette::ColorDepth;

/// Draws the editor on a screen, which may be larger. Call [`reveal`] first, which scrolls each part to its cursor.
pub(crate) fn draw(model: &Model, screen: (u16, u16), colors: ColorDepth) -> Frame {
    let mut frame = Frame::new(screen, colors).with_theme(model.theme);
    let places = places(model);
    if let Some(area) = places.files {
        files::draw(model, area, &mut frame);
    }
    if let Some(area) = places.main {
        match (model.page, model.proposed(), model.document()) {
            (Some(page), _, _) => pages::draw(model, page, area, &mut frame),
            (None, Some(open), _) => proposal::draw(open, shown(model).wide, area, &mut frame),
            (None, None, Some(document)) => {
                let has_focus = model.focus == Focus::Text;
                let problem = |line: usize| document.problem_in(line).is_some();
                text::draw(&document.buffer, problem, has_focus, area, &mut frame);
            }
            (None, None, None) => pages::draw_nothing(model, area, &mut frame),
        }
    }
    bars::draw(model, &places, &mut frame);
    frame
}

/// Wraps the lines of the shown text at the width of its area.
pub(crate) fn fit(model: &mut Model) {
    let (area, wraps) = (places(model).main, model.wraps);
    let (Some(area), Some(buffer)) = (area, model.text_in_front()) else { return };
    let columns = text::columns(buffer, area);
    buffer.fit(wraps.then_some(columns));
}

/// Scrolls each part that has a cursor to it.
pub(crate) fn reveal(model: &mut Model) {
    fit(model);
    let places = places(model);
    if let Some(files) = places.files {
        model.tree.reveal(files.height.into());
    }
    if let (Some(main), Some(buffer)) = (places.main, model.text()) {
        let columns = text::columns(buffer, main);
        buffer.reveal(usize::from(main.height), columns);
    }
    fit_proposal(model);
    if let (Some(page), Some(main)) = (model.page, places.main) {
        let last = pages::length(model, page.kind).saturating_sub(usize::from(main.height));
        let top = match (page.kind, model.written.cursor()) {
            (PageKind::Edits, cursor) => {
                page.top.clamp(cursor.saturating_sub(usize::from(main.height).saturating_sub(1)), cursor)
            }
            (PageKind::Help | PageKind::Activity, _) => page.top,
        };
        model.page = Some(super::model::Page { top: top.min(last), ..page });
    }
}

/// Fits the shown proposal to the screen.
pub(crate) fn fit_proposal(model: &mut Model) {
    let (shown, main) = (shown(model), places(model).main);
    if let (None, Some(main), Some(open)) = (model.page, main, model.proposed_mut()) {
        let form = proposal::form(open, shown.wide, main.width);
        open.fit(form, shown.rows);
    }
}

/// Returns the byte of the shown text at a place of the screen. A place above or below the area is in the
/// nearest row that is not shown.
pub(crate) fn byte_in_text(model: &Model, column: u16, row: u16) -> Option<usize> {
    let area = places(model).main?;
    let buffer = match model.proposed() {
        Some(open) => open.editing.as_ref()?,
        None => &model.document()?.buffer,
    };
    let below = isize::try_from(row.saturating_sub(area.y)).ok()?;
    let rows = if row < area.y { -1 } else { below };
    let x = usize::from(column.saturating_sub(area.x));
    Some(buffer.byte_on_screen(rows, x.saturating_sub(text::gutter(buffer))))
}
