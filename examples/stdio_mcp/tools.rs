//! What is offered: three small tools, typed on the way in.

use ide_mcp::mcp::{Content, ToolResult, ToolSpec, Tools};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::fs;

/// The tools of this program. What a call asks for comes out of [`decode`](Tools::decode) as a [`Call`], so that nothing
/// behind it sees JSON.
#[derive(Debug)]
pub(crate) struct Toolbox([ToolSpec; 3]);

#[derive(Debug)]
pub(crate) enum Call {
    CountWords(CountWords),
    FindLines(FindLines),
    Remind(Remind),
}

#[derive(Debug, Deserialize)]
pub(crate) struct CountWords {
    text: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FindLines {
    path: String,
    text: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Remind {
    pub(crate) after_ms: u64,
    pub(crate) text: String,
}

impl Default for Toolbox {
    fn default() -> Self {
        Self([
            ToolSpec::new(
                "count_words",
                "Counts the lines, words and characters of a text.",
                r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
            ),
            ToolSpec::new(
                "find_lines",
                "Lists the lines of a file that contain a text, with their numbers from 1.",
                r#"{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path","text"]}"#,
            ),
            ToolSpec::new(
                "remind",
                "Answers with the text after so many milliseconds.",
                r#"{"type":"object","properties":{"after_ms":{"type":"integer","minimum":0},"text":{"type":"string"}},"required":["after_ms","text"]}"#,
            ),
        ])
    }
}

impl Tools for Toolbox {
    type Call = Call;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Call, D::Error> {
        match name {
            "count_words" => CountWords::deserialize(arguments).map(Call::CountWords),
            "find_lines" => FindLines::deserialize(arguments).map(Call::FindLines),
            "remind" => Remind::deserialize(arguments).map(Call::Remind),
            // Only listed names come here.
            _ => Err(D::Error::custom("no such tool")),
        }
    }
}

impl Call {
    /// The answer of a tool that has one at once. A failure is a text for the model to read.
    pub(crate) fn answer(&self) -> Result<ToolResult<'static>, String> {
        match self {
            Self::CountWords(CountWords { text }) => Ok(ToolResult::text(format!(
                "{} lines, {} words, {} characters",
                text.lines().count(),
                text.split_whitespace().count(),
                text.chars().count()
            ))),
            Self::FindLines(FindLines { path, text }) => {
                let contents = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
                let found = contents.lines().zip(1..).filter(|(line, _)| line.contains(text));
                Ok(ToolResult::new(
                    found.map(|(line, number)| Content::text(format!("{number}: {line}"))).collect(),
                ))
            }
            Self::Remind(_) => Err("a reminder is answered when it is due".into()),
        }
    }
}
