//! What the agent can be told to do.

use crate::options;
use crate::session::{Failure, Session};
use ide_mcp::ide::{ClientEvent, CloseTab, GetDiagnostics, OpenDiff, OtherTool, ToolRequest};
use ide_mcp::mcp::{Outcome, ToolResult};
use ide_mcp::rpc::RequestId;
use ide_mcp_examples::{display_safe, say, say_json};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::Path;
use std::sync::mpsc::{self, TryRecvError};
use std::time::Duration;
use std::{fs, io, thread};

/// Whether the exit status is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Bad,
}

/// `tools`
pub(crate) fn tools(mut session: Session) -> Result<Verdict, Failure> {
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
    let asked = session.client().list_tools().map_err(|error| error.to_string())?;
    let result = result_of(session.outcome_of(asked)?)?;
    let list: List =
        serde_json::from_str(result.get()).map_err(|error| format!("no list of tools: {error}"))?;
    for tool in list.tools {
        let line = format!("{:<24} {}", tool.name, tool.description.unwrap_or_default());
        if !say(display_safe(&line).trim_end()) {
            break;
        }
    }
    session.detach();
    Ok(Verdict::Good)
}

/// `call NAME JSON`
pub(crate) fn call(mut session: Session, name: String, arguments: Box<RawValue>) -> Result<Verdict, Failure> {
    let request = ToolRequest::Other(OtherTool::new(name, arguments));
    let raw = result_of(session.ask(&request)?)?;
    let result = ToolResult::read(&raw).ok_or("the result of the tool has no content")?;
    for text in result.texts() {
        if !say(text) {
            break;
        }
    }
    session.detach();
    Ok(if result.is_error { Verdict::Bad } else { Verdict::Good })
}

/// `calls`: as many at a time as come, each outcome when it comes. Ends with the input, once all have an outcome.
pub(crate) fn calls(mut session: Session) -> Result<Verdict, Failure> {
    let (sender, lines) = mpsc::channel();
    // Standard input cannot be waited for together with a socket, so a thread of its own does.
    thread::spawn(move || io::stdin().lock().lines().try_for_each(|line| sender.send(line)));
    let mut open = BTreeMap::new();
    let (mut more, mut verdict) = (true, Verdict::Good);
    while more || !open.is_empty() {
        match lines.try_recv() {
            Ok(line) => {
                let line = line.map_err(|error| error.to_string())?;
                if let Some((request, name)) = begin(&mut session, &line)? {
                    open.insert(request, name);
                }
                continue;
            }
            Err(TryRecvError::Disconnected) => more = false,
            Err(TryRecvError::Empty) => {}
        }
        if let Some(ClientEvent::Outcome { request, outcome }) =
            session.next_within(Duration::from_millis(20))?
        {
            let (shown, good) = shown(&outcome);
            if !good {
                verdict = Verdict::Bad;
            }
            let name = open.remove(&request).unwrap_or_default();
            if !say_json(&json!({"event": "outcome", "tool": name, "outcome": shown})) {
                break;
            }
        }
    }
    session.detach();
    Ok(verdict)
}

fn begin(session: &mut Session, line: &str) -> Result<Option<(RequestId, String)>, Failure> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    let (name, json) = line.split_once(char::is_whitespace).unwrap_or((line, "{}"));
    let arguments = options::arguments(json)?;
    // An `openDiff` waits for a person, so it has to be known as one.
    let request = match name {
        "openDiff" => {
            serde_json::from_str(arguments.get()).map(ToolRequest::OpenDiff).map_err(|e| e.to_string())?
        }
        name => ToolRequest::Other(OtherTool::new(name, arguments)),
    };
    Ok(Some((session.call(&request)?, name.into())))
}

/// An outcome as JSON, and whether it is a good one.
fn shown(outcome: &Outcome) -> (Value, bool) {
    match outcome {
        Outcome::Result(raw) => {
            let failed = ToolResult::read(raw).is_some_and(|result| result.is_error);
            (json!({"result": raw}), !failed)
        }
        Outcome::Error(error) => (json!({"error": {"code": error.code, "message": error.message}}), false),
        other => (json!({"ended": format!("{other:?}")}), false),
    }
}

/// `watch`
pub(crate) fn watch(mut session: Session) -> Result<Verdict, Failure> {
    loop {
        let heard = match session.next()? {
            ClientEvent::SelectionChanged(selection) => {
                json!({"event": "selection_changed", "params": selection})
            }
            ClientEvent::AtMentioned(mention) => json!({"event": "at_mentioned", "params": mention}),
            ClientEvent::Notification { method, params } => json!({"event": method, "params": params}),
            _ => continue,
        };
        if !say_json(&heard) {
            session.detach();
            return Ok(Verdict::Good);
        }
    }
}

/// `diff PATH NEWFILE`, in the steps of the real client: the client writes the file, with the text that comes back.
pub(crate) fn diff(mut session: Session, path: &Path, proposal: &Path) -> Result<Verdict, Failure> {
    let contents = fs::read_to_string(proposal).map_err(|e| format!("{}: {e}", proposal.display()))?;
    let absolute = std::path::absolute(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let target = absolute.to_str().ok_or_else(|| format!("{} is not Unicode", path.display()))?;
    let tab_name = tab_name(&absolute)?;
    let open = ToolRequest::OpenDiff(OpenDiff::new(target, contents, tab_name.as_str()));
    let raw = result_of(session.ask(&open)?)?;
    let result = ToolResult::read(&raw).ok_or("the verdict has no content")?;
    let texts: Vec<&str> = result.texts().collect();
    let verdict = match texts.as_slice() {
        ["FILE_SAVED", text] => {
            fs::write(&absolute, text).map_err(|e| format!("{}: {e}", path.display()))?;
            say(&format!("accepted: {} was written", path.display()));
            Verdict::Good
        }
        ["DIFF_REJECTED", ..] => {
            say("rejected");
            Verdict::Bad
        }
        other => return Err(format!("the editor answered no verdict: {other:?}")),
    };
    for _ in 0..2 {
        session.ask(&ToolRequest::CloseTab(CloseTab::new(tab_name.as_str())))?;
    }
    if verdict == Verdict::Good {
        session.ask(&ToolRequest::GetDiagnostics(GetDiagnostics::new(Some(format!("file://{target}")))))?;
    }
    session.detach();
    Ok(verdict)
}

/// A name such as the real client gives: unlike for each diff.
fn tab_name(path: &Path) -> Result<String, Failure> {
    let mut unlike = [0; 3];
    getrandom::fill(&mut unlike).map_err(|error| error.to_string())?;
    let [a, b, c] = unlike;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("✻ [Claude Code] {name} ({a:02x}{b:02x}{c:02x}) ⧉"))
}

fn result_of(outcome: Outcome) -> Result<Box<RawValue>, Failure> {
    match outcome {
        Outcome::Result(result) => Ok(result),
        Outcome::Error(error) => Err(error.to_string()),
        Outcome::TimedOut => Err("the editor did not answer in time".into()),
        other => Err(format!("no answer: {other:?}")),
    }
}
