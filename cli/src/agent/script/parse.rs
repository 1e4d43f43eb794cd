//! The lines of a script. The parser reads all of them before the first step.

use crate::agent::request::request;
use crate::support::difference::{FOLDER, FOLDER_URI};
use ide_mcp::ide::tool::OtherTool;
use ide_mcp::mcp::FormAnswer;
use ide_mcp::rpc::from_json;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// The default time to wait for an expected event.
const WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Script {
    /// The name of the script for messages.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) struct Step {
    /// The line number, from 1.
    pub(crate) line: usize,
    pub(crate) verb: Verb,
}

#[derive(Debug)]
pub(crate) enum Verb {
    Call {
        tool: String,
        request: OtherTool,
    },
    Request {
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notify {
        method: String,
        params: Option<Box<RawValue>>,
    },
    Expect {
        event: Value,
        within: Duration,
    },
    /// The answer to the oldest open form; `checked` is `None` for an answer that is sent as it is.
    Answer {
        result: Box<RawValue>,
        checked: Option<FormAnswer>,
    },
    Sleep(Duration),
}

impl Script {
    /// Reads a script from a file; `-` is standard input, up to its end.
    pub(crate) fn read(path: &Path, folder: Option<&Folder>) -> Result<Self, String> {
        let (name, text) = if path.as_os_str() == "-" {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            ("standard input".into(), read.map(|_| text))
        } else {
            (path.display().to_string(), fs::read_to_string(path))
        };
        let text = text.map_err(|error| format!("{name}: {error}"))?;
        Self::parse(name, &text, folder)
    }

    fn parse(name: String, text: &str, folder: Option<&Folder>) -> Result<Self, String> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let steps = lines
            .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
            .map(|(line, text)| {
                match verb(&folder.map_or_else(|| text.into(), |folder| folder.put_into(text))) {
                    Ok(verb) => Ok(Step { line, verb }),
                    Err(problem) => Err(format!("{name}:{line}: {problem}")),
                }
            })
            .collect::<Result<Vec<Step>, String>>()?;
        if steps.is_empty() {
            Err(format!("{name}: the script has no steps"))
        } else {
            Ok(Self { name, steps })
        }
    }
}

/// The directory of the agent, in the form of the real client: without symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) path: String,
    pub(crate) uri: String,
}

impl Folder {
    /// Replaces the placeholders `${folder}` and `${folder_uri}` in a line of JSON.
    fn put_into(&self, line: &str) -> String {
        let escaped = |text: &str| {
            let quoted = Value::from(text).to_string();
            quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
        };
        line.replace(FOLDER, &escaped(&self.path)).replace(FOLDER_URI, &escaped(&self.uri))
    }
}

/// The members of all verbs. A member of another verb in the same line is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    call: Option<String>,
    arguments: Option<Box<RawValue>>,
    request: Option<String>,
    notify: Option<String>,
    params: Option<Box<RawValue>>,
    expect: Option<Value>,
    within: Option<u64>,
    sleep: Option<u64>,
    answer: Option<Box<RawValue>>,
    #[serde(default)]
    unchecked: bool,
}

fn verb(text: &str) -> Result<Verb, String> {
    let line: Line = from_json(text).map_err(|error| format!("this is not a step: {error}"))?;
    let Line { call, arguments, request: method, notify, params, expect, within, sleep, answer, unchecked } =
        line;
    let parts = [arguments.is_some(), params.is_some(), within.is_some(), unchecked];
    match (call, method, notify, expect, sleep, answer, parts) {
        (Some(tool), None, None, None, None, None, [_, false, false, false]) => {
            let request = request(&tool, arguments.as_deref().map_or("{}", RawValue::get))?;
            Ok(Verb::Call { tool, request })
        }
        (None, Some(method), None, None, None, None, [false, _, false, false]) => {
            Ok(Verb::Request { method, params: object(params, "params")? })
        }
        (None, None, Some(method), None, None, None, [false, _, false, false]) => {
            Ok(Verb::Notify { method, params: object(params, "params")? })
        }
        (None, None, None, Some(event), None, None, [false, false, _, false]) => {
            if !event.is_object() {
                return Err("`expect` must be a JSON object, such as {\"event\":\"outcome\"}".into());
            }
            Ok(Verb::Expect { event, within: within.map_or(WITHIN, Duration::from_millis) })
        }
        (None, None, None, None, Some(pause), None, [false, false, false, false]) => {
            Ok(Verb::Sleep(Duration::from_millis(pause)))
        }
        (None, None, None, None, None, Some(result), [false, false, false, unchecked]) => {
            if unchecked {
                let result = object(Some(result), "answer")?.ok_or("the answer is missing")?;
                return Ok(Verb::Answer { result, checked: None });
            }
            let checked = FormAnswer::read(&result).ok_or(
                "this is not an answer to a form, such as {\"action\":\"accept\",\"content\":{…}}; the action can also be decline or cancel",
            )?;
            Ok(Verb::Answer { result, checked: Some(checked) })
        }
        _ => Err(
            "a step has one verb: call with arguments, request or notify with params, expect with within, \
                  answer with unchecked, or sleep"
                .into(),
        ),
    }
}

/// Checks that a member is a JSON object, if it is there.
fn object(value: Option<Box<RawValue>>, name: &str) -> Result<Option<Box<RawValue>>, String> {
    match value {
        Some(value) if !value.get().starts_with('{') => Err(format!("the {name} must be a JSON object")),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_line_is_reported_with_its_number() {
        let cases = [
            ("", "s: the script has no steps"),
            ("# a\n\n", "s: the script has no steps"),
            ("{\"sleep\":1}\n\n{", "s:3: this is not a step: EOF"),
            ("[]", "s:1: this is not a step: "),
            ("{}", "s:1: a step has one verb"),
            ("{\"dance\":1}", "s:1: this is not a step: unknown field `dance`"),
            ("{\"sleep\":-1}", "s:1: this is not a step: invalid value"),
            ("{\"sleep\":1,\"sleep\":2}", "s:1: this is not a step: duplicate field"),
            ("{\"sleep\":1,\"call\":\"t\"}", "s:1: a step has one verb"),
            ("{\"sleep\":1,\"within\":1}", "s:1: a step has one verb"),
            ("{\"call\":\"t\",\"params\":{}}", "s:1: a step has one verb"),
            ("{\"call\":\"t\",\"arguments\":[]}", "s:1: the arguments must be a JSON object"),
            ("{\"call\":\"openDiff\"}", "s:1: these are not arguments of openDiff"),
            ("{\"request\":\"m\",\"params\":[]}", "s:1: the params must be a JSON object"),
            ("{\"request\":\"m\",\"notify\":\"m\"}", "s:1: a step has one verb"),
            ("{\"notify\":\"m\",\"params\":[]}", "s:1: the params must be a JSON object"),
            ("{\"sleep\":1,\"answer\":{}}", "s:1: a step has one verb"),
            ("{\"sleep\":1,\"unchecked\":true}", "s:1: a step has one verb"),
            ("{\"answer\":{\"action\":\"later\"}}", "s:1: this is not an answer to a form"),
            ("{\"answer\":[],\"unchecked\":true}", "s:1: the answer must be a JSON object"),
            ("{\"expect\":\"e\"}", "s:1: `expect` must be a JSON object"),
        ];
        for (text, expected) in cases {
            let problem = Script::parse("s".into(), text, None).unwrap_err();
            assert!(problem.starts_with(expected), "{text}: {problem}");
        }
    }

    #[test]
    fn every_verb_is_parsed_with_its_line() {
        let text = "# first\n\n{\"call\":\"t\"}\r\n {\"notify\":\"m\"}\n{\"expect\":{},\"within\":5}\n{\"expect\":{}}\n{\"sleep\":7}\n\
            {\"answer\":{\"action\":\"decline\"}}\n{\"answer\":{},\"unchecked\":true}\n{\"request\":\"r\",\"params\":{}}";
        let script = Script::parse("s".into(), text, None).unwrap();
        let steps: Vec<(usize, String)> = script
            .steps
            .iter()
            .map(|Step { line, verb }| {
                (
                    *line,
                    match verb {
                        Verb::Call { tool, .. } => format!("call {tool}"),
                        Verb::Request { method, params } => format!("request {method} {}", params.is_some()),
                        Verb::Notify { method, params } => format!("notify {method} {}", params.is_some()),
                        Verb::Expect { event, within } => format!("expect {event} {within:?}"),
                        Verb::Answer { checked, .. } => format!("answer {checked:?}"),
                        Verb::Sleep(pause) => format!("sleep {pause:?}"),
                    },
                )
            })
            .collect();
        let expected = [
            "call t",
            "notify m false",
            "expect {} 5ms",
            "expect {} 10s",
            "sleep 7ms",
            "answer Some(Declined)",
            "answer None",
            "request r true",
        ];
        let expected: Vec<(usize, String)> = (3..).zip(expected.map(String::from)).collect();
        assert_eq!(steps, expected);
    }

    #[test]
    fn placeholders_of_the_folder_are_replaced() {
        let folder = Folder { path: "/a \"b\"".into(), uri: "file:///a%20%22b%22".into() };
        let text = r#"{"expect":{"path":"${folder}/x","uri":"${folder_uri}/x","other":"${any}"}}"#;
        let script = Script::parse("s".into(), text, Some(&folder)).unwrap();
        let Verb::Expect { event, .. } = &script.steps[0].verb else { panic!("{script:?}") };
        let expected =
            serde_json::json!({"path": "/a \"b\"/x", "uri": "file:///a%20%22b%22/x", "other": "${any}"});
        assert_eq!(*event, expected);
    }
}
