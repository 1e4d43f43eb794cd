//! The expected answer to a request of a script, and the check of an answer against it. The
//! expectation depends on the side that receives the request.

use super::calls::{Called, Fit};
use super::speech::Wants;
use crate::sessions::{Kind, Requires, is_served, requires, roots};
use ide_mcp::ide::Dialect;
use ide_mcp::ide::tool::Tool;
use ide_mcp::rpc::code;
use serde_json::{Value, json};

/// The side that receives the requests, with the settings on which its answers depend.
#[derive(Debug)]
pub enum Serves {
    Editor {
        dialect: Dialect,
        /// The tools that the editor handles.
        handled: Vec<Tool>,
        /// The names that the editor lists, in order.
        listed: Vec<String>,
        /// True if the editor forwards to the application all requests for which the session has no
        /// implementation of its own (`Forward::Unmodelled`).
        forwards: bool,
    },
    Agent {
        forwards: bool,
    },
}

/// The requirements for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// Any answer.
    Any,
    Error(i64),
    /// The refusal of wrong arguments, as the version has it.
    InvalidArguments,
    Result(Value),
    /// A result with this member: a string, or a list of entries with these names.
    Having(&'static str, Option<Value>),
    /// The answer of the application.
    Raw,
    /// The contents of a resource that a tool reads. The application answers with a failure of the tool,
    /// which becomes an error.
    ReadByTool,
    /// A tool result from the application; the editor may also end the call by itself, as [`Ends`]
    /// states.
    Tool(Ends),
    /// This answer, or an error because too many calls are open already.
    OrBusy(Box<Self>),
}

/// The ability of an editor to answer a call by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    No,
    /// The editor may answer a diff, whose tab another call closes, and a call that closes a tab.
    May,
    Does,
}

/// The cause of an answer.
#[derive(Clone, Debug)]
pub enum Upon {
    /// A message arrived.
    Words,
    /// The application gave this answer.
    Result(Value),
    Failure(i64),
    /// Time passed, or the session ended: the answer replaces that of the application.
    Nothing,
}

impl Serves {
    /// Returns the expected answer to a request whose id no open request has. `awaiting` is true
    /// before the session is open.
    pub fn expected(&self, wants: &Wants, awaiting: bool) -> Expected {
        let (method, params, cursor, call) = match wants {
            Wants::Refused(code) => return Expected::Error(*code),
            Wants::Method { method, params, cursor, call } => {
                (method.as_str(), params.as_deref(), *cursor, call.as_ref())
            }
        };
        match (self, method) {
            (_, "ping") => Expected::Result(json!({})),
            (_, "server/discover") => Expected::Error(code::METHOD_NOT_FOUND),
            (Self::Editor { .. }, "initialize") if awaiting => Expected::Having("protocolVersion", None),
            // Served without a session, too. This model does not check the parameters of `readFile`.
            (Self::Editor { dialect: Dialect::Obsidian, .. }, "readFile") => Expected::Any,
            (Self::Editor { .. }, _) if awaiting => Expected::Error(code::INVALID_REQUEST),
            (Self::Editor { .. }, "initialize") => Expected::Error(code::INVALID_REQUEST),
            (Self::Agent { .. }, "initialize") => Expected::Error(code::METHOD_NOT_FOUND),
            (Self::Agent { .. }, _) if is_served(false, method) => served(method, params),
            (Self::Agent { forwards }, _) => forwarded(*forwards),
            (Self::Editor { listed, .. }, "tools/list") if !cursor => {
                Expected::Having("tools", Some(json!(listed)))
            }
            (Self::Editor { .. }, "tools/list") => Expected::Error(code::INVALID_PARAMS),
            (Self::Editor { dialect, handled, .. }, "tools/call") => match call {
                Some(call) => called(*dialect, handled, call),
                None => Expected::Any,
            },
            // A notification that arrives as a request.
            (Self::Editor { .. }, "ide_connected") => Expected::OrBusy(Box::new(Expected::Result(json!({})))),
            (_, "resources/list" | "resources/templates/list" | "prompts/list") if cursor => {
                Expected::Error(code::INVALID_PARAMS)
            }
            (Self::Editor { handled, .. }, "resources/list") => {
                let of_tools = handled.iter().filter_map(|tool| Some(resource(*tool)?.0));
                let names = ["today", "soon", "typed", "gone"].into_iter().chain(of_tools);
                Expected::Having("resources", Some(names.collect()))
            }
            (_, "resources/templates/list") => Expected::Having("resourceTemplates", Some(json!(["notes"]))),
            (Self::Editor { handled, .. }, "resources/read") => {
                let is_named = |tool: &Tool| resource(*tool).is_some_and(|(_, uri)| params == Some(uri));
                match Tool::ALL.into_iter().find(is_named) {
                    Some(tool) if handled.contains(&tool) => called_by(Kind::ReadByTool),
                    // Every other URI can be one of the template.
                    Some(_) => called_by(Kind::Resource),
                    // An editor has no such tool.
                    None if params.is_some_and(|params| params.contains("ide://typed")) => {
                        Expected::Error(code::RESOURCE_NOT_FOUND)
                    }
                    None => served(method, params),
                }
            }
            (Self::Editor { .. }, "prompts/list") => served(method, None),
            (Self::Editor { .. }, _) if is_served(true, method) => served(method, params),
            (Self::Editor { forwards, .. }, _) => forwarded(*forwards),
        }
    }
}

fn forwarded(forwards: bool) -> Expected {
    match forwards {
        true => Expected::OrBusy(Box::new(Expected::Raw)),
        false => Expected::Error(code::METHOD_NOT_FOUND),
    }
}

/// Returns the expected answer to a request that the session serves itself.
fn served(method: &str, params: Option<&str>) -> Expected {
    let result = |text| Expected::Result(serde_json::from_str(text).expect("a result is JSON"));
    match requires(method, params) {
        Some(Requires::Result(text)) => result(text),
        Some(Requires::Roots) => result(roots(false).1),
        Some(Requires::Error(code)) => Expected::Error(code),
        Some(Requires::Call(kind)) => called_by(kind),
        Some(Requires::Template) => called_by(Kind::Resource),
        None => Expected::Any,
    }
}

/// Returns the expected answer to a call of this kind.
fn called_by(kind: Kind) -> Expected {
    let expected = if kind == Kind::ReadByTool { Expected::ReadByTool } else { Expected::Raw };
    Expected::OrBusy(Box::new(expected))
}

/// Returns the name of the resource that a tool reads, and the parameters that name it.
fn resource(tool: Tool) -> Option<(&'static str, &'static str)> {
    Some(match tool {
        Tool::GetCurrentSelection => ("selection", r#"{"uri":"ide://selection"}"#),
        Tool::GetDiagnostics => ("diagnostics", r#"{"uri":"ide://diagnostics"}"#),
        Tool::GetOpenEditors => ("open-editors", r#"{"uri":"ide://open-editors"}"#),
        Tool::GetWorkspaceFolders => ("workspace-folders", r#"{"uri":"ide://workspace-folders"}"#),
        _ => return None,
    })
}

/// Returns the expected answer to a call of a tool in this dialect.
fn called(dialect: Dialect, handled: &[Tool], Called { tool, fit }: &Called) -> Expected {
    let unknown = match dialect {
        Dialect::JetBrains | Dialect::SnakeCase => code::METHOD_NOT_FOUND,
        _ => code::INVALID_PARAMS,
    };
    let ends = match tool {
        Ok(Some(Tool::CloseAllDiffTabs | Tool::SetPermissionMode)) => Ends::Does,
        // If the application handles `CloseTab`, it closes the tabs that are no diffs.
        Ok(Some(Tool::CloseTab)) if handled.contains(&Tool::CloseTab) => Ends::May,
        Ok(Some(Tool::CloseTab)) => Ends::Does,
        Ok(Some(Tool::OpenDiff)) => Ends::May,
        _ => Ends::No,
    };
    let expected = match tool {
        Err(()) => Expected::Error(code::INVALID_PARAMS),
        Ok(None) => Expected::Error(unknown),
        Ok(Some(tool)) if ends != Ends::Does && *tool != Tool::CloseTab && !handled.contains(tool) => {
            // The application does not show the diff, so that there is no verdict.
            Expected::Error(if *tool == Tool::OpenDiff { code::METHOD_NOT_FOUND } else { unknown })
        }
        Ok(Some(_)) => match fit {
            Fit::Right => Expected::Tool(ends),
            Fit::Wrong => Expected::InvalidArguments,
            Fit::Unknown => Expected::Any,
        },
    };
    Expected::OrBusy(Box::new(expected))
}

impl Expected {
    /// Returns the expectation for a request that cannot fail for lack of room.
    pub fn without_busy(self) -> Self {
        match self {
            Self::OrBusy(expected) => *expected,
            other => other,
        }
    }

    /// Returns true if nearly every answer meets the expectation.
    pub fn is_vague(&self) -> bool {
        match self {
            Self::OrBusy(expected) => expected.is_vague(),
            _ => *self == Self::Any,
        }
    }

    /// Returns true if `answer` meets the expectation.
    pub fn is_met(&self, answer: &Value, upon: &Upon) -> bool {
        let (result, error) = (answer.get("result"), answer.pointer("/error/code").and_then(Value::as_i64));
        match (self, upon) {
            (Self::OrBusy(expected), _) => {
                let busy = matches!(upon, Upon::Words) && error == Some(code::INTERNAL_ERROR);
                busy || expected.is_met(answer, upon)
            }
            // A tool that reads a resource fails with an error.
            (Self::Any, Upon::Result(own)) => result == Some(own) || error == Some(code::INTERNAL_ERROR),
            (Self::ReadByTool, Upon::Result(_) | Upon::Nothing) => error == Some(code::INTERNAL_ERROR),
            (Self::Raw | Self::Tool(_), Upon::Result(own)) => result == Some(own),
            (Self::Any | Self::Raw | Self::ReadByTool | Self::Tool(_), Upon::Failure(own)) => {
                error == Some(*own)
            }
            (Self::Any, Upon::Words | Upon::Nothing) => error.is_none_or(|code| KNOWN.contains(&code)),
            (Self::Raw, Upon::Nothing) => error == Some(code::INTERNAL_ERROR),
            (Self::Raw | Self::ReadByTool, Upon::Words) => false,
            (Self::Tool(ends), Upon::Words) => *ends != Ends::No && result.is_some_and(is_of_tool),
            (Self::Tool(ends), Upon::Nothing) => *ends != Ends::Does && result.is_some_and(is_of_tool),
            (Self::Error(code), Upon::Words) => error == Some(*code),
            (Self::InvalidArguments, Upon::Words) => {
                error == Some(code::INVALID_PARAMS) || result.is_some_and(names_the_argument)
            }
            (Self::Result(expected), Upon::Words) => result == Some(expected),
            (Self::Having(name, names), Upon::Words) => {
                result.and_then(|result| result.get(*name)).is_some_and(|member| match names {
                    None => member.is_string(),
                    Some(names) => *names == names_of(member),
                })
            }
            // These answers were due at once.
            (Self::Error(_) | Self::InvalidArguments | Self::Result(_) | Self::Having(..), _) => false,
        }
    }
}

/// The error codes that the code under test writes by itself.
const KNOWN: [i64; 5] = [
    code::INVALID_REQUEST,
    code::METHOD_NOT_FOUND,
    code::INVALID_PARAMS,
    code::INTERNAL_ERROR,
    code::RESOURCE_NOT_FOUND,
];

/// Returns true for the result by which a model learns that its arguments do not fit (MCP 2025-11-25).
fn names_the_argument(result: &Value) -> bool {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    result["isError"] == true && text.starts_with("Invalid arguments: ")
}

fn is_of_tool(result: &Value) -> bool {
    result["content"].as_array().is_some_and(|blocks| blocks.iter().all(|block| block["type"] == "text"))
}

fn names_of(list: &Value) -> Value {
    list.as_array().into_iter().flatten().map(|entry| entry["name"].clone()).collect()
}
