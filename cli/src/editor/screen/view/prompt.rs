//! The question in the status line, with its answer and the latest note about it.

use super::frame::Frame;
use super::palette::Ink;
use super::text::{rest, right_aligned};
use crate::editor::screen::model::prompt::{Kind, Prompt};
use crate::editor::screen::model::{Model, Tone};
use crate::support::columns::{column_of, cut, width};
use ratatui::layout::Rect;

/// The number of columns that a note leaves free for the answer.
const ANSWER: usize = 10;

pub(crate) fn draw(model: &Model, prompt: &Prompt, area: Rect, frame: &mut Frame) {
    let pause = if model.is_paused { " ‖" } else { "" };
    let label = format!("{pause} {}: ", prompt.label());
    let (note, ink) = note(model, prompt);
    let room = usize::from(area.width).saturating_sub(width(&label)).saturating_sub(ANSWER);
    let note = cut(&note, room);
    right_aligned(frame, area, &note, ink);
    let used = u16::try_from(width(&note)).unwrap_or(area.width);
    let area = Rect { width: area.width.saturating_sub(used), ..area };
    let end = frame.write(area, &label, Ink::StatusDim);
    let field = rest(area, end);
    let text = prompt.answer.text().as_str();
    let cursor = column_of(text, prompt.answer.cursor());
    // The end of a long answer is shown while it is typed.
    let left = cursor.saturating_add(1).saturating_sub(field.width.into());
    let selection = prompt.answer.selection();
    let ink = |byte: usize| if selection.contains(&byte) { Ink::Selected } else { Ink::Status };
    frame.write_from(field, left, text, ink);
    let column = u16::try_from(cursor.saturating_sub(left)).unwrap_or(u16::MAX);
    if column < field.width {
        frame.cursor = Some((field.x.saturating_add(column), field.y));
    }
}

fn note(model: &Model, prompt: &Prompt) -> (String, Ink) {
    let counted = match &prompt.kind {
        Kind::Find(find) => find.counted.map(|(number, count)| format!(" {number} of {count} ")),
        Kind::Line | Kind::Question | Kind::Open | Kind::SaveAs { .. } => None,
    };
    match &model.message {
        Some(message) => {
            let ink = if message.tone == Tone::Bad { Ink::StatusBad } else { Ink::Status };
            (
                format!(
                    " {}{}",
                    message.text,
                    counted.map_or_else(|| " ".into(), |counted| format!(",{counted}"))
                ),
                ink,
            )
        }
        None => (counted.unwrap_or_default(), Ink::StatusDim),
    }
}
