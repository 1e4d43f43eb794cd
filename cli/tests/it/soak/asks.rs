//! The requests of a client, and the answers that they require.

use super::editor::LINES;
use super::life::Life;
use super::model::Expected;
use super::totals::Counter;
use ide_mcp::testing::Random;
use serde_json::{Value, json};

const INVALID_PARAMS: i64 = -32602;

/// The files of the project, and one that does not exist.
const FILES: [&str; 6] = [LINES, "good.json", "bad.json", "bad.toml", "wide.txt", "missing"];

/// The number of tab names: few enough that proposals share names.
const TABS: usize = 16;

/// A request.
#[derive(Debug)]
pub(super) enum Ask {
    /// A request that every editor answers in the same way.
    Standard(&'static str),
    Diagnostics(Option<&'static str>),
    Outside(&'static str),
    Open {
        file: &'static str,
        focused: bool,
    },
    Proposal(String),
    CloseTab,
    CloseAll,
    /// A tool with arguments that it does not accept.
    Wrong(&'static str, Value),
}

impl Ask {
    /// Returns a random request. `may_propose` allows proposals; `is_calm` excludes requests that
    /// change the selection.
    pub(super) fn any(random: &mut Random, may_propose: bool, is_calm: bool) -> Self {
        let file = |random: &mut Random| FILES[random.below(FILES.len())];
        match random.below(40) {
            0..=3 => Self::Standard("ping"),
            4 => Self::Standard("tools/list"),
            5 => Self::Standard(["resources/list", "prompts/list"][random.below(2)]),
            6 => Self::Standard(["server/discover", "resources/subscribe", "x/unknown"][random.below(3)]),
            7..=12 => Self::Diagnostics(Some(file(random))),
            13 => Self::Diagnostics(None),
            14 => Self::Outside(["getDiagnostics", "openFile"][random.below(2)]),
            15..=18 => Self::Open { file: file(random), focused: !is_calm && random.one_in(8) },
            19..=28 if may_propose => Self::Proposal(proposal(random)),
            29 => Self::CloseAll,
            30 => match random.below(5) {
                0 => Self::Wrong("openDiff", json!({})),
                1 => Self::Wrong("openDiff", json!([1])),
                2 => Self::Wrong("openFile", json!({"filePath": 7})),
                3 => Self::Wrong("getDiagnostics", json!({"uri": [[[{}]]]})),
                _ => Self::Wrong("nobody", json!({"a": 1})),
            },
            _ => Self::CloseTab,
        }
    }
}

/// Returns a text of a random size, most often a small one, so that all open proposals together
/// have no more than some hundred KiB.
fn proposal(random: &mut Random) -> String {
    let most = match random.below(100) {
        0 => 64 * 1024,
        1..=9 => 8 * 1024,
        _ => 1024,
    };
    "a line, ünï ✻\n".repeat(random.below(most / 16))
}

/// Sends the request.
pub(super) fn ask(life: &mut Life<'_, '_>, what: &Ask) {
    let project = || life.client.soak.project.display();
    match what {
        Ask::Standard(method) => {
            life.lists += u64::from(*method == "tools/list");
            let params = life.client.random.one_in(2).then(|| json!({}));
            life.ask(method, params.as_ref(), Expected::of_editor(method, None));
        }
        Ask::Diagnostics(file) => {
            let arguments = match file {
                Some(file) => json!({"uri": format!("file://{}/{file}", project())}),
                None => json!({}),
            };
            // The editor checks only JSON and TOML.
            let is_checked =
                file.as_ref().is_some_and(|file| file.ends_with("json") || file.ends_with("toml"));
            let expected = if is_checked { Expected::ResultOrLate } else { Expected::Answered };
            call(life, "getDiagnostics", &arguments, expected);
        }
        Ask::Outside(tool) => {
            call(
                life,
                tool,
                &json!({"uri": "file:///etc/passwd", "filePath": "/etc/passwd", "makeFrontmost": false}),
                Expected::Failed,
            );
        }
        Ask::Open { file, focused } => {
            let path = format!("{}/{file}", project());
            let arguments = json!({"filePath": path, "startText": "line 7", "makeFrontmost": focused});
            let expected = if *file == "missing" { Expected::Failed } else { Expected::Result };
            call(life, "openFile", &arguments, expected);
        }
        Ask::Proposal(text) => {
            let path = format!("{}/{LINES}", project());
            let arguments = json!({
                "old_file_path": path,
                "new_file_path": path,
                "new_file_contents": text,
                "tab_name": tab(life),
            });
            life.client.soak.totals.add(Counter::Diffs, 1);
            call(life, "openDiff", &arguments, Expected::Verdict(text.clone()));
        }
        Ask::CloseTab => {
            let arguments = json!({"tab_name": tab(life)});
            call(life, "close_tab", &arguments, Expected::Result);
        }
        Ask::CloseAll => call(life, "closeAllDiffTabs", &json!({}), Expected::Result),
        // Since 2025-11-25 a model reads in a result what is wrong with its arguments.
        Ask::Wrong(tool, arguments) => {
            let is_result = life.version == "2025-11-25" && *tool != "nobody";
            let expected = if is_result { Expected::Failed } else { Expected::Error(INVALID_PARAMS) };
            call(life, tool, arguments, expected);
        }
    }
}

fn call(life: &mut Life<'_, '_>, tool: &str, arguments: &Value, expected: Expected) {
    life.ask("tools/call", Some(&json!({"name": tool, "arguments": arguments})), expected);
}

fn tab(life: &mut Life<'_, '_>) -> String {
    format!("✻ tab {}", life.client.random.below(TABS))
}
