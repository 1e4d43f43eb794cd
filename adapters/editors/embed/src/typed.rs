//! Commands without JSON.

use crate::command::{Answer, Clear, Command, Fail, Mention, Quit, Respond, Select, Verdict};
use crate::error::CommandError;
use crate::input::{Lines, Place};
use serde_json::value::RawValue;

/// One of the commands that every editor needs, for a binding to a language without a JSON parser. The
/// members are those of [`COMMANDS`](crate::COMMANDS).
#[derive(Debug)]
pub struct TypedCommand(pub(crate) Command);

impl TypedCommand {
    /// Returns the command `select`.
    #[must_use]
    pub const fn select(path: String, start: (u32, u32), end: (u32, u32), text: Option<String>) -> Self {
        let (start, end) = (Place(start.0, start.1), Place(end.0, end.1));
        Self(Command::Select(Select { path, start, end, text }))
    }

    /// Returns the command `clear`.
    #[must_use]
    pub const fn clear() -> Self {
        Self(Command::Clear(Clear {}))
    }

    /// Returns the command `mention`.
    #[must_use]
    pub fn mention(path: String, lines: Option<(u32, u32)>, conn: Option<u64>) -> Self {
        let lines = lines.map(|(first, last)| Lines(first, last));
        Self(Command::Mention(Mention { path, lines, line_count: None, conn }))
    }

    /// Returns the command `answer` with the verdict `accept`.
    #[must_use]
    pub const fn accept(call: u64, contents: Option<String>) -> Self {
        Self(Command::Answer(Answer { call, verdict: Verdict::Accept, contents }))
    }

    /// Returns the command `answer` with the verdict `reject`.
    #[must_use]
    pub const fn reject(call: u64) -> Self {
        Self(Command::Answer(Answer { call, verdict: Verdict::Reject, contents: None }))
    }

    /// Returns the command `respond`, with the result as JSON. Only a `call` has a default result.
    ///
    /// # Errors
    /// [`CommandError`] if the result is not JSON.
    pub fn respond(call: u64, result: Option<&str>) -> Result<Self, CommandError> {
        let result = result.map(|result| RawValue::from_string(result.into())).transpose();
        let result =
            result.map_err(|error| CommandError::invalid(format!("`result` is not JSON: {error}")))?;
        Ok(Self(Command::Respond(Respond { call, result })))
    }

    /// Returns the command `fail`.
    #[must_use]
    pub const fn fail(call: u64, message: String) -> Self {
        Self(Command::Fail(Fail { call, message }))
    }

    /// Returns the command `quit`.
    #[must_use]
    pub const fn quit() -> Self {
        Self(Command::Quit(Quit {}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_commands_equal_commands_in_json() {
        let rows = [
            (
                r#"{"cmd":"select","path":"/w/a","start":[1,2],"end":[3,4],"text":"x"}"#,
                TypedCommand::select("/w/a".into(), (1, 2), (3, 4), Some("x".into())),
            ),
            (r#"{"cmd":"clear"}"#, TypedCommand::clear()),
            (
                r#"{"cmd":"mention","path":"/w/a","lines":[1,2],"conn":3}"#,
                TypedCommand::mention("/w/a".into(), Some((1, 2)), Some(3)),
            ),
            (
                r#"{"cmd":"answer","call":7,"verdict":"accept","contents":"x"}"#,
                TypedCommand::accept(7, Some("x".into())),
            ),
            (r#"{"cmd":"answer","call":7,"verdict":"reject"}"#, TypedCommand::reject(7)),
            (
                r#"{"cmd":"respond","call":7,"result":{"tabs":[]}}"#,
                TypedCommand::respond(7, Some(r#"{"tabs":[]}"#)).unwrap(),
            ),
            (r#"{"cmd":"fail","call":7,"message":"m"}"#, TypedCommand::fail(7, "m".into())),
            (r#"{"cmd":"quit"}"#, TypedCommand::quit()),
        ];
        for (json, typed) in rows {
            assert_eq!(format!("{:?}", typed.0), format!("{:?}", Command::read(json).unwrap()), "{json}");
        }
    }

    #[test]
    fn result_without_json_is_refused() {
        let error = TypedCommand::respond(7, Some("{")).unwrap_err();
        assert!(error.to_string().starts_with("`result` is not JSON"), "{error}");
    }
}
