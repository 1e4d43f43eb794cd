//! `call NAME JSON`: makes one call, and prints its result.

use super::{Verdict, print_blocks, print_outcome, print_texts};
use crate::agent::block::structured;
use crate::agent::events::Of;
use crate::agent::session::{Failure, Session};
use crate::support::complain;
use ide_mcp::ide::tool::OtherTool;
use ide_mcp::mcp::{Outcome, ToolResult};
use ide_mcp::rpc::code;

pub(crate) fn call(session: &mut Session, request: &OtherTool, json: bool) -> Result<Verdict, Failure> {
    let id = session.call(request).map_err(|error| error.to_string())?;
    let what = format!("the result of {:?}", request.name);
    if json {
        return print_outcome(session, id, &what, Of::Tool(request.name.to_string()));
    }
    let outcome = session.outcome_of(id, &what)?;
    let is_unknown = matches!(&outcome, Outcome::Error(error) if error.code == code::INVALID_PARAMS);
    let raw = session.result(outcome).map_err(|problem| {
        let tools = "`ide-mcp agent tools` lists the tools, and with --json their arguments";
        if is_unknown { format!("{problem}; {tools}") } else { problem }
    })?;
    let result = ToolResult::read(&raw).ok_or("the result of the tool has no content")?;
    match structured(&raw) {
        Some(found) if result.content.is_empty() => print_texts([found.as_str()].into_iter())?,
        _ if result.content.is_empty() => complain("agent", &format!("{what} is empty")),
        _ => print_blocks(result.content.iter())?,
    }
    Ok(if result.is_error { Verdict::Bad } else { Verdict::Good })
}
