//! `call NAME JSON`: makes one call, and prints the texts of its result.

use super::{Verdict, print, print_json};
use crate::agent::events::{End, Said};
use crate::agent::session::{Failure, Session};
use ide_mcp::ide::OtherTool;
use ide_mcp::ide::display_safe_lines;
use ide_mcp::mcp::{Outcome, ToolResult};
use std::io::{self, IsTerminal as _};

pub(crate) fn call(session: &mut Session, request: &OtherTool, json: bool) -> Result<Verdict, Failure> {
    let asked = session.call(request).map_err(|error| error.to_string())?;
    let what = format!("the result of {:?}", request.name);
    if json {
        return match session.outcome_of(asked, &what)? {
            Outcome::Closed => Err(format!("the editor ended before it answered ({})", session.end())),
            outcome => {
                let said = Said::outcome(None, request.name.to_string(), End::of(outcome));
                print_json(&said)?;
                Ok(if said.is_good() { Verdict::Good } else { Verdict::Bad })
            }
        };
    }
    let raw = session.result_of(asked, &what)?;
    let result = ToolResult::read(&raw).ok_or("the result of the tool has no content")?;
    let is_shown = io::stdout().is_terminal();
    for text in result.texts() {
        // A program that reads standard output gets the texts unchanged.
        let goes_on = if is_shown { print(&display_safe_lines(text))? } else { print(text)? };
        if !goes_on {
            break;
        }
    }
    let verdict = if result.is_error { Verdict::Bad } else { Verdict::Good };
    Ok(verdict)
}
