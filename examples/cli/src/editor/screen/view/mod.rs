//! The drawing of the model on a screen in memory.

pub(crate) mod canvas;

mod bars;
mod files;
mod pages;
mod proposal;
mod text;

use super::layout::layout;
use super::model::{Focus, Model, PageKind};
use canvas::Canvas;

/// Draws everything. Before, [`reveal`] has to scroll each part to its cursor.
pub(crate) fn draw(model: &Model) -> Canvas {
    let mut canvas = Canvas::new(model.size);
    let layout = layout(model);
    if let Some(area) = layout.files {
        files::draw(model, area, &mut canvas);
    }
    if let Some(area) = layout.main {
        match (model.page, model.proposed(), model.document()) {
            (Some(page), _, _) => pages::draw(model, page, area, &mut canvas),
            (None, Some(open), _) => {
                proposal::draw(open, super::layout::shown(model).wide, area, &mut canvas)
            }
            (None, None, Some(document)) => {
                let has_focus = model.focus == Focus::Text;
                let problem = |line: usize| document.problem_in(line).is_some();
                text::draw(&document.buffer, problem, has_focus, area, &mut canvas);
            }
            (None, None, None) => pages::draw_nothing(area, &mut canvas),
        }
    }
    bars::draw(model, &layout, &mut canvas);
    canvas
}

/// Scrolls each part that has a cursor to it.
pub(crate) fn reveal(model: &mut Model) {
    let layout = layout(model);
    if let Some(files) = layout.files {
        model.tree.reveal(files.rows());
    }
    if let (Some(main), Some(buffer)) = (layout.main, model.buffer()) {
        let columns = usize::from(main.width).saturating_sub(text::gutter(buffer));
        buffer.reveal(main.rows(), columns.saturating_sub(1).max(1));
    }
    if let (Some(page), Some(main)) = (model.page, layout.main) {
        let last = pages::length(model, page.kind).saturating_sub(main.rows());
        let top = match (page.kind, model.written.cursor()) {
            (PageKind::Edits, cursor) => {
                page.top.clamp(cursor.saturating_sub(main.rows().saturating_sub(1)), cursor)
            }
            (PageKind::Help | PageKind::Activity, _) => page.top,
        };
        model.page = Some(super::model::Page { top: top.min(last), ..page });
    }
}

/// Returns the line and column of the shown text at a place of the screen.
pub(crate) fn place_in_text(model: &Model, column: u16, row: u16) -> Option<(usize, usize)> {
    let area = layout(model).main?;
    let buffer = match model.proposed() {
        Some(open) => open.editing.as_ref()?,
        None => &model.document()?.buffer,
    };
    let line = buffer.top.saturating_add(row.saturating_sub(area.y).into());
    let x = usize::from(column.saturating_sub(area.x));
    Some((line, x.saturating_sub(text::gutter(buffer)).saturating_add(buffer.left)))
}
