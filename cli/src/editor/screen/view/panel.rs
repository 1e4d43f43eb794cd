//! The view of the panel next to the editor.

use super::bars::split;
use super::frame::Frame;
use super::palette::Ink;
use crate::editor::screen::panel::Panel;
use crate::support::wrap::rows;
use ratatui::layout::Rect;

/// Draws a panel. A text that is too long loses its empty rows, and then its beginning, because its end says what to
/// do next.
pub(crate) fn draw(panel: &Panel, area: Rect, frame: &mut Frame) {
    let mut area = area;
    if area.x > 0 {
        for y in area.y..area.y.saturating_add(area.height) {
            frame.write(Rect { y, width: 1, height: 1, ..area }, "│", Ink::Rule);
        }
        area = Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(1), ..area };
    }
    frame.fill(area, Ink::Text);
    split(
        frame,
        Rect { height: area.height.min(1), ..area },
        &format!(" {}", panel.title),
        &format!("{} ", panel.note),
        Ink::Header,
        Ink::HeaderDim,
    );
    let body = Rect {
        x: area.x.saturating_add(1),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(1),
    };
    let paragraphs = panel.paragraphs.iter().flat_map(|(ink, text)| {
        rows(text, body.width.into()).into_iter().filter_map(|row| Some((*ink, text.get(row)?)))
    });
    let mut lines: Vec<(Ink, &str)> = paragraphs.collect();
    if lines.len() > body.height.into() {
        lines.retain(|(_, text)| !text.is_empty());
    }
    let hidden = lines.len().saturating_sub(body.height.into());
    for (y, (ink, text)) in (body.y..body.y.saturating_add(body.height)).zip(lines.into_iter().skip(hidden)) {
        frame.write(Rect { y, height: 1, ..body }, text, ink);
    }
}
