//! `call NAME JSON`: one call, and the texts of its result.

use super::{Verdict, print};
use crate::session::{Failure, Session};
use ide_mcp::ide::ToolRequest;
use ide_mcp::ide::display_safe_lines;
use ide_mcp::mcp::ToolResult;
use std::io::{self, IsTerminal as _};

pub(crate) fn call(session: &mut Session, request: &ToolRequest) -> Result<Verdict, Failure> {
    let asked = session.call(request).map_err(|error| error.to_string())?;
    let raw = session.result_of(asked)?;
    let result = ToolResult::read(&raw).ok_or("the result of the tool has no content")?;
    let is_shown = io::stdout().is_terminal();
    for text in result.texts() {
        // A program that reads them gets them as they are.
        let goes_on = if is_shown { print(&display_safe_lines(text))? } else { print(text)? };
        if !goes_on {
            break;
        }
    }
    let verdict = if result.is_error { Verdict::Bad } else { Verdict::Good };
    Ok(verdict)
}
