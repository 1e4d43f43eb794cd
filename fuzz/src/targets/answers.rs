//! Says which answer a request of a script must get, and checks an answer against that. It depends on the side that
//! gets the request.

use super::calls::{Called, Fit};
use super::peer_text::Request;
use crate::model::{self, Answer, Due, Expected as Exact, Kind, State, is_served};
use ide_mcp::ide::Dialect;
use ide_mcp::ide::tool::Tool;
use ide_mcp::rpc::code;
use serde_json::{Value, json};

/// The side that gets the requests, with the settings that its answers depend on.
#[derive(Debug)]
pub enum Serves {
    Editor {
        dialect: Dialect,
        /// The tools that the editor handles.
        handled: Vec<Tool>,
        /// The names that the editor lists, in order.
        listed: Vec<String>,
        /// True if the editor forwards to the application every request that the session does not implement itself
        /// (`Forward::Unmodelled`).
        forwards: bool,
    },
    Agent {
        forwards: bool,
    },
}

/// What an answer must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// Any answer.
    Any,
    /// This answer, at once.
    Now(Exact),
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

/// Says whether an editor can answer a call by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    No,
    /// The editor may answer a diff, whose tab another call closes, and a call that closes a tab.
    May,
    Does,
}

/// What caused an answer.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// A message arrived.
    Message,
    /// The application gave this answer.
    Result(Value),
    Failure(i64),
    /// Time passed, or the session ended: the answer replaces that of the application.
    Nothing,
}

impl Serves {
    /// Returns the expected answer to a request, if no open request has the same id. `awaiting` is true before the
    /// session is open.
    pub fn expected(&self, request: &Request, awaiting: bool) -> Expected {
        let (method, params, cursor, call) = match request {
            Request::Refused(code) => return error(*code),
            Request::Method { method, params, cursor, call } => {
                (method.as_str(), params.as_deref(), *cursor, call.as_ref())
            }
        };
        // Obsidian serves this even before the session is open. This model does not check the parameters of `readFile`.
        if let (Self::Editor { dialect: Dialect::Obsidian, .. }, "readFile") = (self, method) {
            return Expected::Any;
        }
        let is_editor = matches!(self, Self::Editor { .. });
        let state = if awaiting { State::New } else { State::Open };
        if let Some(expected) = Exact::of_session(is_editor, state, method) {
            return Expected::Now(expected);
        }
        match (self, method) {
            (Self::Agent { .. }, _) if is_served(false, method) => served(method, params),
            (Self::Agent { forwards }, _) => forwarded(*forwards),
            (Self::Editor { .. }, "tools/list") if cursor => error(code::INVALID_PARAMS),
            (Self::Editor { listed, .. }, "tools/list") => {
                Expected::Now(Exact::Listing("tools", json!(listed)))
            }
            (Self::Editor { dialect, handled, .. }, "tools/call") => match call {
                Some(call) => called(*dialect, handled, call),
                None => Expected::Any,
            },
            // A notification that arrives as a request.
            (Self::Editor { .. }, "ide_connected") => {
                Expected::OrBusy(Box::new(Expected::Now(Exact::Exactly("{}"))))
            }
            (_, "resources/list" | "resources/templates/list" | "prompts/list") if cursor => {
                error(code::INVALID_PARAMS)
            }
            (Self::Editor { handled, .. }, "resources/list") => {
                let of_tools = handled.iter().filter_map(|tool| Some(resource(*tool)?.0));
                let names = ["today", "soon", "typed", "gone"].into_iter().chain(of_tools);
                Expected::Now(Exact::Listing("resources", names.collect()))
            }
            (_, "resources/templates/list") => {
                Expected::Now(Exact::Listing("resourceTemplates", json!(["notes"])))
            }
            (Self::Editor { handled, .. }, "resources/read") => {
                let is_named = |tool: &Tool| resource(*tool).is_some_and(|(_, uri)| params == Some(uri));
                match Tool::ALL.into_iter().find(is_named) {
                    Some(tool) if handled.contains(&tool) => called_by(Kind::ReadByTool),
                    // Every other URI can match the template.
                    Some(_) => called_by(Kind::Resource),
                    // The editor does not have the tool that reads this resource.
                    None if params.is_some_and(|params| params.contains("ide://typed")) => {
                        error(code::RESOURCE_NOT_FOUND)
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
        false => error(code::METHOD_NOT_FOUND),
    }
}

const fn error(code: i64) -> Expected {
    Expected::Now(Exact::Error(code))
}

/// Returns the expected answer to a request that the session serves itself.
fn served(method: &str, params: Option<&str>) -> Expected {
    match model::served(method, params, true, false) {
        Some(Due::Now(expected)) => Expected::Now(expected),
        Some(Due::Call(kind)) => called_by(kind),
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
        // If the application handles `CloseTab`, it closes the tabs that are not diffs.
        Ok(Some(Tool::CloseTab)) if handled.contains(&Tool::CloseTab) => Ends::May,
        Ok(Some(Tool::CloseTab)) => Ends::Does,
        Ok(Some(Tool::OpenDiff)) => Ends::May,
        _ => Ends::No,
    };
    let expected = match tool {
        Err(()) => error(code::INVALID_PARAMS),
        Ok(None) => error(unknown),
        Ok(Some(tool)) if ends != Ends::Does && *tool != Tool::CloseTab && !handled.contains(tool) => {
            // The application does not show diffs, so there is no verdict.
            error(if *tool == Tool::OpenDiff { code::METHOD_NOT_FOUND } else { unknown })
        }
        Ok(Some(_)) => match fit {
            Fit::Right => Expected::Tool(ends),
            Fit::Wrong => Expected::Now(Exact::InvalidArguments),
            Fit::Unknown => Expected::Any,
        },
    };
    Expected::OrBusy(Box::new(expected))
}

impl Expected {
    /// Returns the expectation if there is always room for the request.
    pub fn without_busy(self) -> Self {
        match self {
            Self::OrBusy(expected) => *expected,
            other => other,
        }
    }

    /// Returns true if nearly any answer meets the expectation.
    pub fn is_vague(&self) -> bool {
        match self {
            Self::OrBusy(expected) => expected.is_vague(),
            _ => *self == Self::Any,
        }
    }

    /// Returns true if `answer` meets the expectation.
    pub fn is_met(&self, answer: &Answer, trigger: &Trigger) -> bool {
        let result: Option<Value> =
            answer.result.as_ref().map(|text| serde_json::from_str(text).expect(text));
        let fails = |code| answer.code == Some(code);
        match (self, trigger) {
            (Self::OrBusy(expected), _) => {
                matches!(trigger, Trigger::Message) && fails(code::INTERNAL_ERROR)
                    || expected.is_met(answer, trigger)
            }
            (Self::Now(expected), Trigger::Message) => expected.fits(answer),
            // The expected answer had to come at once.
            (Self::Now(_), _) => false,
            // A tool that reads a resource fails with an error.
            (Self::Any, Trigger::Result(own)) => result.as_ref() == Some(own) || fails(code::INTERNAL_ERROR),
            (Self::ReadByTool, Trigger::Result(_) | Trigger::Nothing) => fails(code::INTERNAL_ERROR),
            (Self::Raw | Self::Tool(_), Trigger::Result(own)) => result.as_ref() == Some(own),
            (_, Trigger::Failure(own)) => fails(*own),
            (Self::Any, Trigger::Message | Trigger::Nothing) => {
                answer.code.is_none_or(|code| KNOWN.contains(&code))
            }
            (Self::Raw, Trigger::Nothing) => fails(code::INTERNAL_ERROR),
            (Self::Raw | Self::ReadByTool, Trigger::Message) => false,
            (Self::Tool(ends), Trigger::Message) => {
                *ends != Ends::No && result.as_ref().is_some_and(is_of_tool)
            }
            (Self::Tool(ends), Trigger::Nothing) => {
                *ends != Ends::Does && result.as_ref().is_some_and(is_of_tool)
            }
        }
    }
}

/// The error codes that the code under test sends on its own.
const KNOWN: [i64; 5] = [
    code::INVALID_REQUEST,
    code::METHOD_NOT_FOUND,
    code::INVALID_PARAMS,
    code::INTERNAL_ERROR,
    code::RESOURCE_NOT_FOUND,
];

fn is_of_tool(result: &Value) -> bool {
    result["content"].as_array().is_some_and(|blocks| blocks.iter().all(|block| block["type"] == "text"))
}
