//! `tools`: what the editor offers.

use super::{Verdict, print};
use crate::session::{Failure, Session};
use ide_mcp::ide::display_safe;
use serde::Deserialize;

pub(crate) fn tools(session: &mut Session) -> Result<Verdict, Failure> {
    let asked = session.client().list_tools().map_err(|error| error.to_string())?;
    let result = session.result_of(asked)?;
    let list: List =
        serde_json::from_str(result.get()).map_err(|error| format!("no list of tools: {error}"))?;
    for tool in list.tools {
        let line = format!("{:<24} {}", tool.name, tool.description.unwrap_or_default());
        if !print(display_safe(&line).trim_end())? {
            break;
        }
    }
    Ok(Verdict::Good)
}

#[derive(Deserialize)]
struct List {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    description: Option<String>,
}
