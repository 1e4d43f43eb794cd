//! What this editor knows of programming languages: whether JSON is JSON.

use crate::read::read;
use ide_mcp::ide::{Diagnostic, Position, Range, Severity};
use std::path::Path;

/// The problems of a file; one that is not there has none.
pub(crate) fn check(path: &Path) -> Vec<Diagnostic> {
    if path.extension().is_none_or(|extension| extension != "json") {
        return Vec::new();
    }
    let Ok(text) = read(path) else { return Vec::new() };
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            // serde_json counts both from 1, columns in bytes; 0 stands for the end of a line.
            let line = u32::try_from(error.line().saturating_sub(1)).unwrap_or(u32::MAX);
            let begin = Position::new(line, 0).byte_in(&text).unwrap_or(text.len());
            let place = Position::of_byte(&text, begin.saturating_add(error.column().saturating_sub(1)));
            let mut problem = Diagnostic::new(Severity::Error, Range::new(place, place), error.to_string());
            problem.source = Some("json".into());
            vec![problem]
        }
    }
}
