//! Feeds a transcript to the library with its recorded clock, and prints the first difference.
//!
//! ```text
//!  transcript ──▶ script ──input of the peer, with times──▶ core ──output──▶ compare ──▶ first difference
//!                   └──────output of the side─────────────────┴─ actions of the application ─┘
//! ```
//!
//! `ide-mcp replay --help` explains the use and the exit status.

mod agent;
mod agent_script;
mod compare;
mod conn_output;
mod editor;
mod editor_config;
mod engine;
mod ids;
mod list;
mod options;
mod portable;
mod run;
mod script;
mod search;

use crate::support::transcript::{Side, Transcript, read};
use crate::support::{NOT_BEGUN, Program, complain, counted, write_line};
use agent::AgentCore;
use agent_script::AgentScript;
use editor::EditorCore;
use editor_config::EditorConfig;
use engine::{Difference, Outcome, seconds};
pub(crate) use options::Options;
use options::Task;
use script::Script;
use search::play;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The exit status for a difference.
const DIFFERENT: u8 = 1;

/// The maximum size of a transcript. Several copies of all of it are in memory.
const MAX_FILE: u64 = 512 * 1024 * 1024;

const PROGRAM: Program = Program("replay");

/// Runs the command. The error is a wrong command line.
pub(crate) fn main(options: &Options) -> Result<ExitCode, String> {
    options.check()?;
    Ok(run(options))
}

fn run(options: &Options) -> ExitCode {
    let transcript = match load(&options.file) {
        Ok(transcript) => transcript,
        Err(problem) => {
            let problem = format!("{}: {problem}", options.file.display());
            return PROGRAM.end_with(options.json, NOT_BEGUN, &problem);
        }
    };
    if transcript.is_cut {
        complain(
            "replay",
            "the last line is cut off, probably because its writer was killed; it is left out",
        );
    }
    let side = match options.task() {
        Task::List => return PROGRAM.printed(list::print(&transcript, options.only()), 0, NOT_BEGUN),
        Task::Script => return print_script(&transcript, options),
        Task::Editor => Side::Editor,
        Task::Agent => Side::Agent,
    };
    let (script, header) = (Script::new(&transcript, side, options.comparison()), transcript.header.as_ref());
    let outcome = match side {
        Side::Editor => {
            let config = EditorConfig::infer(header, &script);
            play(&script, options.tolerance(), || EditorCore::new(&config))
        }
        Side::Agent => play(&script, options.tolerance(), || AgentCore::new(header, &script)),
    };
    let text = if options.json { outcome_json(&outcome, &script) } else { outcome_text(&outcome, &script) };
    let status = if outcome.difference.is_some() { DIFFERENT } else { 0 };
    PROGRAM.printed(write_line(&text), status, NOT_BEGUN)
}

fn print_script(transcript: &Transcript, options: &Options) -> ExitCode {
    let script = match AgentScript::new(transcript, options.conn, options.folder.as_deref()) {
        Ok(script) => script,
        Err(problem) => return PROGRAM.end(NOT_BEGUN, &problem),
    };
    if script.conns > 1 && options.conn.is_none() {
        let AgentScript { conn, conns, .. } = script;
        complain("replay", &format!("this is connection {conn} of {conns}; choose another with --conn N"));
    }
    PROGRAM.printed(write_line(&script.text), 0, NOT_BEGUN)
}

fn load(path: &Path) -> Result<Transcript, String> {
    let len = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if len > MAX_FILE {
        return Err(format!("it is larger than {} MiB", MAX_FILE / 1024 / 1024));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    read(&text).map_err(|bad| format!("{bad}: this is not a record of `ide-mcp tap`"))
}

fn outcome_text(outcome: &Outcome, script: &Script) -> String {
    let mut text = match &outcome.difference {
        None => sameness(outcome, script),
        Some(difference) => show(difference, script.side),
    };
    for what in &script.uncompared {
        text.push_str(&format!("\nnot compared: {what}"));
    }
    text
}

/// Returns [`outcome_text`] as a line of JSON.
fn outcome_json(outcome: &Outcome, script: &Script) -> String {
    let uncompared: Vec<String> = script.uncompared.iter().map(ToString::to_string).collect();
    let mut line = match &outcome.difference {
        None => json!({"event": "same", "messages": outcome.same, "connections": script.expected.len()}),
        Some(Difference { line, at, conn, place }) => json!({
            "event": "difference", "line": line, "at_ms": at.since_start().as_millis(), "conn": conn,
            "where": place.path, "recorded": place.recorded, "now": place.now,
        }),
    };
    if let Some(members) = line.as_object_mut() {
        members.insert("side".into(), script.side.to_string().into());
        members.insert("uncompared".into(), uncompared.into());
    }
    line.to_string()
}

fn sameness(outcome: &Outcome, script: &Script) -> String {
    let (same, side, conns) = (outcome.same, script.side, script.expected.len());
    let end = seconds(script.end);
    let conns = counted(conns, "connection");
    format!("no difference: the {side} sends the same {same} messages on {conns} in {end} s")
}

fn show(difference: &Difference, side: Side) -> String {
    let Difference { line, at, conn, place } = difference;
    let line = line.map_or_else(|| "not in the record".into(), |line| format!("line {line}"));
    format!(
        "first difference: {line}, at {} s, on connection {conn}, from the {side}\n  where     {}\n  recorded  {}\n  now       {}",
        seconds(*at),
        place.path,
        place.recorded,
        place.now
    )
}
