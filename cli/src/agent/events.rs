//! The events of a session as lines of JSON, `{"event", …}`, in one format for all commands.

use crate::agent::session::{Session, SessionEvent};
use ide_mcp::ide::{ClientEvent, Dialect, EditorNotification};
use ide_mcp::mcp::{CallEnd, Form, Outcome, ToolResult};
use ide_mcp::rpc::{ErrorObject, Json};
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::borrow::Cow;

/// A push of the editor: the name of the notification, and its parameters.
#[derive(Debug, Serialize)]
pub(crate) struct Pushed {
    event: Box<str>,
    params: Option<Json>,
}

impl Pushed {
    /// Converts an event. Returns `None` if the event is not a push.
    pub(crate) fn of(event: ClientEvent) -> Option<Self> {
        Some(match event {
            ClientEvent::Pushed(push) => Self::new(Dialect::VsCode.notification(push.notification()), &push),
            ClientEvent::ToolsChanged => {
                Self { event: "notifications/tools/list_changed".into(), params: None }
            }
            ClientEvent::Notification { method, params } => Self { event: method, params },
            _ => return None,
        })
    }

    /// Returns the parameters as they were written, if the push is a selection.
    pub(crate) fn selection(&self) -> Option<&str> {
        let is_selection = *self.event == *Dialect::VsCode.notification(EditorNotification::SelectionChanged);
        self.params.as_ref().filter(|_| is_selection).map(|params| params.get())
    }

    /// Returns the push as the notification that it was.
    pub(crate) fn message(&self) -> impl Serialize {
        let Self { event, params } = self;
        #[derive(Serialize)]
        struct Message<'a> {
            method: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<&'a Json>,
        }
        Message { method: event, params: params.as_ref() }
    }

    fn new<P: Serialize>(event: &str, params: &P) -> Self {
        Self { event: event.into(), params: to_raw_value(params).ok().map(Json::from) }
    }
}

/// A change of a connection that reconnects.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Link {
    Lost { reason: String },
    Attached { port: u16, name: String },
}

impl Link {
    /// Converts a change of the connection. Returns `None` for an event of the session.
    pub(crate) fn of(event: &SessionEvent, session: &Session) -> Option<Self> {
        match event {
            SessionEvent::Lost(reason) => Some(Self::Lost { reason: reason.clone() }),
            SessionEvent::Back => {
                let editor = session.editor();
                Some(Self::Attached { port: editor.port, name: editor.name.clone() })
            }
            SessionEvent::Client(_) => None,
        }
    }
}

/// A form of the editor, or its end without an answer.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum FormEvent<'a> {
    Form(&'a Form),
    FormClosed { reason: &'static str },
}

impl FormEvent<'_> {
    pub(crate) const fn of_end(end: &CallEnd) -> Self {
        let reason = match end {
            CallEnd::Cancelled { .. } => "cancelled",
            CallEnd::Expired => "no answer in time",
            _ => "the connection ended first",
        };
        Self::FormClosed { reason }
    }
}

/// The outcome of a call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Result(Json),
    Error {
        code: i64,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Json>,
    },
    Ended(Cow<'static, str>),
}

impl End {
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Result(raw) => Self::Result(raw),
            Outcome::Error(ErrorObject { code, message, data, .. }) => Self::Error { code, message, data },
            Outcome::TimedOut => Self::Ended("no answer in time".into()),
            Outcome::Closed => Self::Ended("the connection ended first".into()),
            Outcome::Cancelled => Self::Ended("cancelled".into()),
            _ => Self::Ended("the answer cannot be read".into()),
        }
    }

    /// Returns the end of a call that ended with its connection, for this reason.
    pub(crate) fn by(reason: &str) -> Self {
        Self::Ended(format!("the connection ended first: {reason}").into())
    }
}

/// A request and its outcome, or an input line and the error in it.
#[derive(Debug, Serialize)]
pub(crate) struct OutcomeLine {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(flatten)]
    of: Option<Of>,
    #[serde(flatten)]
    happened: Happened,
}

/// The name of the requested tool, prompt, resource or method.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Of {
    Tool(String),
    Prompt(String),
    Resource(String),
    Method(String),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Happened {
    Outcome(End),
    Error(String),
}

impl OutcomeLine {
    pub(crate) const fn outcome(line: Option<usize>, of: Of, end: End) -> Self {
        Self { event: "outcome", line, of: Some(of), happened: Happened::Outcome(end) }
    }

    pub(crate) fn wrong(line: usize, error: String) -> Self {
        Self { event: "outcome", line: Some(line), of: None, happened: Happened::Error(error) }
    }

    /// Returns true if the outcome is a result that the tool does not mark as an error.
    pub(crate) fn is_good(&self) -> bool {
        match &self.happened {
            Happened::Outcome(End::Result(raw)) => {
                !ToolResult::read(raw).is_some_and(|result| result.is_error)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, to_value};

    #[test]
    fn errors_keep_their_data() {
        let with_data = |data: Option<&str>| {
            let mut error = ErrorObject::new(-7, "no");
            error.data = data.map(|data| serde_json::from_str(data).unwrap());
            to_value(End::of(Outcome::Error(error))).unwrap()
        };
        assert_eq!(with_data(None), json!({"error": {"code": -7, "message": "no"}}));
        let data = json!({"code": -7, "message": "no", "data": {"path": "/x"}});
        assert_eq!(with_data(Some(r#"{"path":"/x"}"#)), json!({ "error": data }));
    }
}
