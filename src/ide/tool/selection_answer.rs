//! What the answers of `getCurrentSelection` and `getLatestSelection` have in common.

use super::answer::read_json;
use crate::ide::dialect::SelectionAnswerForm;
use crate::ide::kit::Range;
use crate::ide::{ContentLimits, Dialect, Selection};
use crate::mcp::{Content, ToolResult};
use alloc::format;
use serde::{Deserialize, Serialize};

pub(super) fn written(
    selection: Option<&Selection>,
    none: &str,
    dialect: Dialect,
    limits: &ContentLimits,
) -> ToolResult<'static> {
    #[derive(Serialize)]
    struct Without<'a> {
        success: bool,
        message: &'a str,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct With<'a> {
        success: bool,
        text: &'a str,
        file_path: &'a str,
        selection: crate::ide::push::RangeOut,
    }
    #[derive(Serialize)]
    struct Ranged<'a> {
        file_path: &'a str,
        text: &'a str,
        range: Range,
    }
    let Some(Selection { text, file_path, range, .. }) = selection else {
        return ToolResult::json(&Without { success: false, message: none });
    };
    let shown = crate::text::truncate(text, limits.selection);
    let missing = text.len().saturating_sub(shown.len());
    let text = shown;
    let file_path = &*dialect.path(file_path);
    let mut result = match dialect.rules().selection_answer {
        SelectionAnswerForm::Ranged => ToolResult::json(&Ranged { file_path, text, range: *range }),
        SelectionAnswerForm::WithSuccess => {
            ToolResult::json(&With { success: true, text, file_path, selection: (*range).into() })
        }
    };
    if missing > 0 {
        result.content.push(Content::text(format!("{missing} more bytes are not shown")));
    }
    result
}

pub(super) fn read(result: &ToolResult<'_>) -> Option<Option<Selection>> {
    #[derive(Deserialize)]
    struct SelectionReply {
        success: Option<bool>,
    }
    let reply: SelectionReply = read_json(result)?;
    if reply.success == Some(false) {
        return Some(None);
    }
    // Some editors leave `success` out. Then a selection without a path means that there is none.
    let selection: Selection = read_json(result)?;
    Some(Some(selection).filter(|selection| !selection.file_path.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::tool::{CurrentSelection, Shape as _};

    #[test]
    fn long_selections_are_cut_between_characters() {
        let max = ContentLimits::default().selection;
        let cases = [
            ("at the limit", "x".repeat(max), max, None),
            ("above", "x".repeat(max + 1), max, Some("1 more bytes are not shown")),
            ("within a character", "é".repeat(max / 2) + "é", max, Some("2 more bytes are not shown")),
            ("before the limit", "x".repeat(max - 1) + "é", max - 1, Some("2 more bytes are not shown")),
        ];
        for (name, text, len, note) in cases {
            let selection = CurrentSelection(Some(Selection::new("/a", Range::default(), text)));
            for dialect in Dialect::ALL {
                let result = selection.result(dialect);
                assert_eq!(result.texts().nth(1), note, "{name} {dialect:?}");
                let read = CurrentSelection::read(&result).unwrap().0.unwrap();
                assert_eq!(read.text.len(), len, "{name} {dialect:?}");
                let wider = ContentLimits { selection: usize::MAX, ..ContentLimits::default() };
                assert_eq!(selection.result_within(dialect, &wider).texts().nth(1), None, "{name}");
            }
        }
    }
}
