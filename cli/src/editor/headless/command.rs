//! The commands of a headless editor: one JSON object per line.

use super::context::{Prompt, Resource};
use super::own::OwnTool;
use crate::editor::diffs::Verdict;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::rpc::from_json;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A command of the user. Commands without members are struct variants too, so that serde rejects unknown members.
#[derive(Debug, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Opens a file, with the cursor at its beginning.
    Open { path: String },
    /// Selects a range of a file.
    Select { path: String, start: Place, end: Place },
    /// Clears the selection.
    Clear {},
    /// Mentions a file, or lines of it.
    Mention { path: String, lines: Option<(u32, u32)>, conn: Option<u64> },
    /// Answers the proposed change with this tab, or the only one.
    Answer { tab: Option<String>, verdict: Verdict, contents: Option<String>, conn: Option<u64> },
    /// Lists the confirmed edits.
    Edits {},
    /// Undoes a confirmed edit.
    Undo { conn: u64, edit: u64 },
    /// Offers these tools from now on, and no others.
    Tools {
        offer: Vec<String>,
        #[serde(default)]
        own: Vec<OwnTool>,
    },
    /// Hides everything from agents.
    Pause {},
    /// Ends the pause.
    Resume {},
    /// Offers these prompts and resources from now on, and no others.
    Context {
        #[serde(default)]
        prompts: Vec<Prompt>,
        #[serde(default)]
        resources: Vec<Resource>,
    },
    /// Sends a form to the user at the agent with this number, or at the only agent. `within` is in
    /// milliseconds.
    Form {
        #[serde(deserialize_with = "ignored")]
        form: Box<RawValue>,
        conn: Option<u64>,
        within: Option<u64>,
    },
    /// Ends the editor.
    Quit {},
}

/// A line and a UTF-16 column, both from 0.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Place(u32, u32);

impl Command {
    /// Parses a line. The error completes a message that begins with "line 7 is not a command: ".
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        // serde_json would also read an array, with the members of the object in order and without names.
        if !line.trim_start().starts_with('{') {
            return Err(ADVICE.into());
        }
        let problem = |error: serde_json::Error| {
            let problem = without_line(&error);
            if error.is_data() { problem } else { format!("{ADVICE} (this one is not JSON: {problem})") }
        };
        let mut command = from_json(line).map_err(problem)?;
        if let Self::Form { form, .. } = &mut command {
            *form = form_of(line).map_err(problem)?;
        }
        Ok(command)
    }
}

/// Returns the form in a line, as it was written. serde cannot keep raw JSON in an enum with a tag, and a
/// `Value` would lose the order of the fields.
fn form_of(line: &str) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Line {
        form: Box<RawValue>,
    }
    from_json(line).map(|line: Line| line.form)
}

fn ignored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| RawValue::NULL.to_owned())
}

const ADVICE: &str =
    r#"commands are JSON objects such as {"cmd":"quit"}; `ide-mcp help headless` lists them"#;

/// Returns the message of serde_json without its line number. That is always 1, and would contradict the line number
/// that the editor reports.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// Returns the range between two places, in either order: a backward selection selects the same text.
pub(crate) fn range(start: Place, end: Place) -> Range {
    let (start, end) = (Position::new(start.0, start.1), Position::new(end.0, end.1));
    Range::new(start.min(end), start.max(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_command_is_rejected_with_its_reason() {
        let cases = [
            ("words", "quit", ADVICE),
            ("not an object", r#"["quit"]"#, ADVICE),
            ("no closing quote", r#"{"cmd":"quit}"#, "not JSON: EOF while parsing a string at column 13"),
            ("two objects", r#"{"cmd":"quit"} {}"#, "not JSON: trailing characters at column 16"),
            ("no cmd", "{}", "missing field `cmd`"),
            ("unknown command", r#"{"cmd":"dance"}"#, "unknown variant `dance`"),
            ("unknown member of quit", r#"{"cmd":"quit","x":1}"#, "unknown field `x`"),
            ("unknown member of clear", r#"{"cmd":"clear","x":1}"#, "unknown field `x`"),
            ("unknown member of open", r#"{"cmd":"open","path":"a","x":1}"#, "unknown field `x`"),
            ("unknown member of pause", r#"{"cmd":"pause","x":1}"#, "unknown field `x`"),
            ("unknown member of resume", r#"{"cmd":"resume","x":1}"#, "unknown field `x`"),
            ("no path", r#"{"cmd":"open"}"#, "missing field `path`"),
            ("not a list", r#"{"cmd":"tools","offer":"openFile"}"#, "invalid type"),
            ("no program", r#"{"cmd":"tools","offer":[],"own":[{"name":"a"}]}"#, "missing field `run`"),
            ("no text", r#"{"cmd":"context","prompts":[{"name":"p"}]}"#, "missing field `text`"),
            ("no URI", r#"{"cmd":"context","resources":[{"text":"x"}]}"#, "missing field `uri`"),
            ("unknown member of context", r#"{"cmd":"context","templates":[]}"#, "unknown field `templates`"),
            ("no form", r#"{"cmd":"form","conn":1}"#, "missing field `form`"),
            ("negative time", r#"{"cmd":"form","form":{},"within":-1}"#, "invalid value"),
            ("negative line", r#"{"cmd":"select","path":"a","start":[-1,0],"end":[0,0]}"#, "invalid value"),
        ];
        for (name, line, expected) in cases {
            let message = Command::parse(line).err().unwrap_or_else(|| format!("{line} is a command"));
            assert!(message.contains(expected) && !message.contains("line 1"), "{name}: {message}");
        }
    }
    #[test]
    fn form_keeps_the_order_of_fields() {
        let form = r#"{"message":"m","requestedSchema":{"properties":{"b":{},"a":{}}}}"#;
        let line = format!(r#"{{"cmd":"form","conn":1,"form":{form}}}"#);
        match Command::parse(&line).unwrap() {
            Command::Form { form: read, conn: Some(1), within: None } => assert_eq!(read.get(), form),
            other => panic!("{other:?}"),
        }
    }
}
