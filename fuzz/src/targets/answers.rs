//! What has to be answered to a request that a script says, by whom it is said to; and whether an answer is that.

use super::calls::{Called, Fit};
use super::speech::Wants;
use ide_mcp::ide::{Dialect, Tool};
use ide_mcp::rpc::code;
use serde_json::{Value, json};

/// Who is asked, and what of it shows in the answers.
#[derive(Debug)]
pub enum Serves {
    Editor {
        dialect: Dialect,
        /// Which tools it handles, and which it lists, in this order.
        handled: Vec<Tool>,
        listed: Vec<String>,
        /// Its application is asked whatever the session does not model.
        forwards: bool,
    },
    Agent {
        forwards: bool,
    },
}

/// What is known of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// It is one.
    Any,
    Error(i64),
    Result(Value),
    /// A result that has this member.
    Having(&'static str, Option<Value>),
    /// The application answers.
    Raw,
    /// The same, and what it says is the result of a tool; whether the editor may end the call itself, and how.
    Tool(Ends),
    /// Either it is that, or the application has too many open already.
    OrBusy(Box<Self>),
}

/// Whether an editor answers a call by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    No,
    /// It may: a diff, whose tab another call closes, or a tab.
    May,
    Does,
}

/// When an answer comes.
#[derive(Clone, Debug)]
pub enum Upon {
    /// Something was said.
    Words,
    /// The application gave this answer.
    Result(Value),
    Failure(i64),
    /// Time passed, or the end came: an answer in place of the application's.
    Nothing,
}

impl Serves {
    /// What has to come of a request whose id is free; `awaiting`: before the session was opened.
    pub fn expected(&self, wants: &Wants, awaiting: bool) -> Expected {
        let (method, cursor, call) = match wants {
            Wants::Refused(code) => return Expected::Error(*code),
            Wants::Method { method, cursor, call } => (method.as_str(), *cursor, call.as_ref()),
        };
        match (self, method) {
            (_, "ping") => Expected::Result(json!({})),
            (_, "server/discover") => Expected::Error(code::METHOD_NOT_FOUND),
            (Self::Editor { .. }, "initialize") if awaiting => Expected::Having("protocolVersion", None),
            (Self::Editor { .. }, _) if awaiting => Expected::Error(code::INVALID_REQUEST),
            (Self::Editor { .. }, "initialize") => Expected::Error(code::INVALID_REQUEST),
            (Self::Agent { .. }, "initialize") => Expected::Error(code::METHOD_NOT_FOUND),
            (Self::Agent { forwards }, _) => forwarded(*forwards),
            (Self::Editor { listed, .. }, "tools/list") if !cursor => {
                Expected::Having("tools", Some(json!(listed)))
            }
            (Self::Editor { .. }, "tools/list") => Expected::Error(code::INVALID_PARAMS),
            (Self::Editor { dialect, handled, .. }, "tools/call") => match call {
                Some(call) => called(*dialect, handled, call),
                None => Expected::Any,
            },
            // A notification that comes as a request.
            (Self::Editor { .. }, "ide_connected") => Expected::OrBusy(Box::new(Expected::Result(json!({})))),
            // Of its parameters nothing is known here.
            (Self::Editor { dialect: Dialect::Obsidian, .. }, "readFile") => Expected::Any,
            (Self::Editor { forwards: true, .. }, _) => forwarded(true),
            (_, "resources/list" | "resources/templates/list" | "prompts/list") if cursor => {
                Expected::Error(code::INVALID_PARAMS)
            }
            (_, "resources/list") => Expected::Result(json!({"resources": []})),
            (_, "resources/templates/list") => Expected::Result(json!({"resourceTemplates": []})),
            (_, "prompts/list") => Expected::Result(json!({"prompts": []})),
            _ => Expected::Error(code::METHOD_NOT_FOUND),
        }
    }
}

fn forwarded(forwards: bool) -> Expected {
    match forwards {
        true => Expected::OrBusy(Box::new(Expected::Raw)),
        false => Expected::Error(code::METHOD_NOT_FOUND),
    }
}

/// What comes of a call, by the columns of the dialects' table.
fn called(dialect: Dialect, handled: &[Tool], Called { tool, fit }: &Called) -> Expected {
    let unknown = match dialect {
        Dialect::JetBrains | Dialect::SnakeCase => code::METHOD_NOT_FOUND,
        _ => code::INVALID_PARAMS,
    };
    let ends = match tool {
        Ok(Some(Tool::CloseAllDiffTabs | Tool::SetPermissionMode)) => Ends::Does,
        // Where it is handled, the application closes what is no diff.
        Ok(Some(Tool::CloseTab)) if handled.contains(&Tool::CloseTab) => Ends::May,
        Ok(Some(Tool::CloseTab)) => Ends::Does,
        Ok(Some(Tool::OpenDiff)) => Ends::May,
        _ => Ends::No,
    };
    let expected = match tool {
        Err(()) => Expected::Error(code::INVALID_PARAMS),
        Ok(None) => Expected::Error(unknown),
        Ok(Some(tool)) if ends != Ends::Does && *tool != Tool::CloseTab && !handled.contains(tool) => {
            // Nobody gave a verdict on a diff that nobody shows.
            Expected::Error(if *tool == Tool::OpenDiff { code::METHOD_NOT_FOUND } else { unknown })
        }
        Ok(Some(_)) => match fit {
            Fit::Right => Expected::Tool(ends),
            Fit::Wrong => Expected::Error(code::INVALID_PARAMS),
            Fit::Unknown => Expected::Any,
        },
    };
    Expected::OrBusy(Box::new(expected))
}

impl Expected {
    /// The same of a request for which there is room.
    pub fn without_busy(self) -> Self {
        match self {
            Self::OrBusy(expected) => *expected,
            other => other,
        }
    }

    /// Whether it is met by nearly everything.
    pub fn is_vague(&self) -> bool {
        match self {
            Self::OrBusy(expected) => expected.is_vague(),
            _ => *self == Self::Any,
        }
    }

    /// Whether this is such an answer.
    pub fn is_met(&self, answer: &Value, upon: &Upon) -> bool {
        let (result, error) = (answer.get("result"), answer.pointer("/error/code").and_then(Value::as_i64));
        match (self, upon) {
            (Self::OrBusy(expected), _) => {
                let busy = matches!(upon, Upon::Words) && error == Some(code::INTERNAL_ERROR);
                busy || expected.is_met(answer, upon)
            }
            (Self::Any | Self::Raw | Self::Tool(_), Upon::Result(own)) => result == Some(own),
            (Self::Any | Self::Raw | Self::Tool(_), Upon::Failure(own)) => error == Some(*own),
            (Self::Any, Upon::Words | Upon::Nothing) => error.is_none_or(|code| KNOWN.contains(&code)),
            (Self::Raw, Upon::Nothing) => error == Some(code::INTERNAL_ERROR),
            (Self::Raw, Upon::Words) => false,
            (Self::Tool(ends), Upon::Words) => *ends != Ends::No && result.is_some_and(is_of_tool),
            (Self::Tool(ends), Upon::Nothing) => *ends != Ends::Does && result.is_some_and(is_of_tool),
            (Self::Error(code), Upon::Words) => error == Some(*code),
            (Self::Result(expected), Upon::Words) => result == Some(expected),
            (Self::Having(name, names), Upon::Words) => {
                result.and_then(|result| result.get(*name)).is_some_and(|member| match names {
                    None => member.is_string(),
                    Some(names) => *names == names_of(member),
                })
            }
            // It was due at once.
            (Self::Error(_) | Self::Result(_) | Self::Having(..), _) => false,
        }
    }
}

/// All that the code under test writes by itself.
const KNOWN: [i64; 4] =
    [code::INVALID_REQUEST, code::METHOD_NOT_FOUND, code::INVALID_PARAMS, code::INTERNAL_ERROR];

fn is_of_tool(result: &Value) -> bool {
    result["content"].as_array().is_some_and(|blocks| blocks.iter().all(|block| block["type"] == "text"))
}

fn names_of(list: &Value) -> Value {
    list.as_array().into_iter().flatten().map(|entry| entry["name"].clone()).collect()
}
