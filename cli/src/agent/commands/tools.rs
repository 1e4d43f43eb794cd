//! `tools`: prints the tools of the editor.

use super::{Verdict, print, print_json};
use crate::agent::session::{Failure, Session};
use crate::support::{columns, complain, wrap};
use ide_mcp::ide::kit::display_safe;
use ide_mcp::rpc::from_json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The width of the column of names, in columns of the terminal: more than the longest name of a known tool.
const NAME: usize = 24;
/// On a screen of at least this many columns, a description starts in the row of its name. It then has at least 35
/// columns.
const NARROW: usize = 60;

pub(crate) fn tools(session: &mut Session, json: bool) -> Result<Verdict, Failure> {
    let request =
        session.client().and_then(|client| client.list_tools()).map_err(|error| error.to_string())?;
    let result = session.result_of(request.id(), "the list of tools")?;
    let list: List =
        from_json(result.get()).map_err(|error| format!("the list of tools cannot be read: {error}"))?;
    if list.tools.is_empty() {
        complain("agent", "the editor offers no tools");
    }
    let columns = columns::of_stdout();
    for tool in list.tools {
        let goes_on = if json {
            print_json(&Line { event: "tool", tool })?
        } else {
            let description = tool.description.unwrap_or_default();
            print(&rows(&display_safe(&tool.name), &display_safe(&description), columns).join("\n"))?
        };
        if !goes_on {
            break;
        }
    }
    Ok(Verdict::Good)
}

/// Returns the rows of a tool on a screen of this many columns: the name, and the description after it or, on a narrow
/// screen, below it. Without a screen it is one row.
fn rows(name: &str, description: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else {
        return vec![format!("{name:<NAME$} {description}").trim_end().to_owned()];
    };
    let is_narrow = columns < NARROW;
    let indent = if is_narrow { 2 } else { NAME.saturating_add(1) };
    let ranges = wrap::rows(description, columns.saturating_sub(indent));
    let mut parts: Vec<&str> = ranges.into_iter().filter_map(|range| description.get(range)).collect();
    if is_narrow || name.len() > NAME {
        parts.insert(0, "");
    }
    let row = |(nth, part): (usize, &str)| {
        let before = if nth == 0 { name } else { "" };
        format!("{before:<indent$}{part}").trim_end().to_owned()
    };
    parts.into_iter().enumerate().map(row).filter(|row| !row.is_empty()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_wrap_at_words() {
        let words = "Opens a file, and selects a passage in it, for the person to read";
        let indent = " ".repeat(25);
        let (longest, long) = ("n".repeat(NAME), "n".repeat(NAME + 1));
        let wrapped = |first: &str, second: &str| {
            vec![format!("{:<25}{first}", "openFile"), format!("{indent}{second}")]
        };
        let cases: [(&str, &str, &str, Option<usize>, Vec<String>); 10] = [
            ("a pipe", "openFile", words, None, vec![format!("{:<25}{words}", "openFile")]),
            ("enough columns", "openFile", words, Some(90), vec![format!("{:<25}{words}", "openFile")]),
            (
                "one column too few",
                "openFile",
                words,
                Some(89),
                wrapped("Opens a file, and selects a passage in it, for the person to", "read"),
            ),
            (
                "80 columns",
                "openFile",
                words,
                Some(80),
                wrapped("Opens a file, and selects a passage in it, for the", "person to read"),
            ),
            (
                "a narrow screen",
                "openFile",
                words,
                Some(40),
                ["openFile", "  Opens a file, and selects a passage in", "  it, for the person to read"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
            (
                "the minimum width for one row",
                "openFile",
                "Words",
                Some(NARROW),
                vec![format!("{:<25}Words", "openFile")],
            ),
            (
                "one column less",
                "openFile",
                "Words",
                Some(NARROW - 1),
                vec!["openFile".into(), "  Words".into()],
            ),
            (
                "the longest name that leaves room in its row",
                &longest,
                "Words",
                Some(80),
                vec![format!("{longest} Words")],
            ),
            ("a long name", &long, "Words", Some(80), vec![long.clone(), format!("{indent}Words")]),
            ("no description", "openFile", "", Some(40), vec!["openFile".into()]),
        ];
        for (name, tool, description, columns, expected) in cases {
            assert_eq!(rows(tool, description, columns), expected, "{name}");
        }
    }
}
