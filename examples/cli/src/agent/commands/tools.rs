//! `tools`: prints the tools of the editor.

use super::{Verdict, print, print_json};
use crate::agent::session::{Failure, Session};
use crate::support::complain;
use ide_mcp::ide::display_safe;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(crate) fn tools(session: &mut Session, json: bool) -> Result<Verdict, Failure> {
    let asked = session.client().and_then(|client| client.list_tools()).map_err(|error| error.to_string())?;
    let result = session.result_of(asked.id(), "the list of tools")?;
    let list: List =
        serde_json::from_str(result.get()).map_err(|error| format!("no list of tools: {error}"))?;
    if list.tools.is_empty() {
        complain("agent", "the editor offers no tools");
    }
    for tool in list.tools {
        let goes_on = if json {
            print_json(&Line { event: "tool", tool })?
        } else {
            let line = format!("{:<24} {}", tool.name, tool.description.unwrap_or_default());
            print(display_safe(&line).trim_end())?
        };
        if !goes_on {
            break;
        }
    }
    Ok(Verdict::Good)
}

#[derive(Deserialize)]
struct List {
    tools: Vec<Tool>,
}

#[derive(Deserialize, Serialize)]
struct Tool {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, rename = "inputSchema", skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Line {
    event: &'static str,
    #[serde(flatten)]
    tool: Tool,
}
