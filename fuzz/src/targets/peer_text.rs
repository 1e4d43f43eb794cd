//! JSON-RPC messages as a peer may write them, correct and nearly correct. From the way a message was generated, we
//! know whether it must be answered, and under which id. The code under test is never asked to classify a message.

use super::calls::{Called, call, no_arguments, text_in, value};
use crate::model::SERVED;
use ide_mcp::ide::tool::Tool;
use ide_mcp::rpc::code;
use ide_mcp::testing::arbitrary::{Arbitrary, Result, Unstructured};

/// Any text that a peer can send.
#[derive(Debug)]
pub enum PeerText {
    One(Message, Wrapping),
    Batch(Vec<Element>, Wrapping),
    Text(String),
}

/// An element of a batch.
#[derive(Debug)]
pub enum Element {
    Message(Message),
    /// Another batch, which must not be processed, or a value that is not a message at all.
    Strange(&'static str),
}

/// The text around a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapping {
    Plain,
    Spaced,
    ByteOrderMark,
    /// Invalid JSON: the closing brackets are missing.
    CutOff,
    /// Invalid JSON: the message twice in a row.
    TwoAtOnce,
}

/// A message. Its members have a fixed order, which `order` rotates.
#[derive(Debug)]
pub struct Message {
    id: Option<Id>,
    body: Body,
    flaw: Flaw,
    order: u8,
}

#[derive(Debug)]
enum Body {
    /// A method, its parameters as JSON, and the tool call that they make up, if any. It is a request if there is an
    /// id, otherwise a notification.
    Request(String, Option<String>, Option<Called>),
    /// The cancellation of the request with this id.
    Cancellation(Id),
    /// A response, or a message with neither a method nor a response.
    Response(&'static str),
}

/// A fault or an oddity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    NoVersion,
    OldVersion,
    VersionNumber,
    MethodTwice,
    ParamsTwice,
    IdTwice,
    ResultBeside,
    ErrorBeside,
    /// A member with an unknown name.
    Unknown,
    /// A member that nests too deeply.
    Deep,
    EscapedNames,
}

/// An id and its meaning.
#[derive(Clone, Debug)]
pub struct Id {
    pub token: String,
    /// A string that is the same for all spellings of an id; `None` if the token is not an id.
    pub meaning: Option<String>,
}

/// The requests and cancellations in a text.
#[derive(Debug, Default)]
pub struct Contents {
    /// The ids that must be answered, each once, with their requests.
    pub answers: Vec<(Id, Request)>,
    /// The meanings of ids that no longer need an answer.
    pub cancels: Vec<String>,
    /// True if it is certain that the cancellations are valid: there is a single one, without a flaw. The request is
    /// then no longer answered.
    pub is_surely_cancelled: bool,
}

/// A request, as far as its generation determines it.
#[derive(Clone, Debug)]
pub enum Request {
    /// A faulty request, which is refused with this code regardless of its other members.
    Refused(i64),
    Method {
        method: String,
        /// The parameters, if they are an object.
        params: Option<String>,
        /// True if there is a cursor among the parameters.
        cursor: bool,
        call: Option<Called>,
    },
}

impl PeerText {
    /// Returns the text on the wire.
    pub fn text(&self) -> String {
        let (text, wrapping) = match self {
            Self::One(message, wrapping) => (message.text(), *wrapping),
            Self::Batch(elements, wrapping) => {
                let texts: Vec<String> = elements.iter().map(Element::text).collect();
                (format!("[{}]", texts.join(",")), *wrapping)
            }
            Self::Text(text) => return text.clone(),
        };
        match wrapping {
            Wrapping::Plain => text,
            Wrapping::Spaced => format!(" \t\r\n{text}\n"),
            Wrapping::ByteOrderMark => format!("\u{feff}{text}"),
            Wrapping::CutOff => text.trim_end_matches(['}', ']']).to_owned(),
            Wrapping::TwoAtOnce => format!("{text}{text}"),
        }
    }

    /// Returns the requests and cancellations in the text. `batches` is true if the version of MCP has batches.
    pub fn contents(&self, batches: bool) -> Contents {
        let mut contents = Contents::default();
        match self {
            Self::One(_, Wrapping::CutOff | Wrapping::TwoAtOnce)
            | Self::Batch(_, Wrapping::CutOff | Wrapping::TwoAtOnce)
            | Self::Text(_) => {}
            Self::One(message, _) => {
                message.add_to(&mut contents);
                contents.is_surely_cancelled = message.is_flawless();
            }
            Self::Batch(elements, _) => {
                let deep =
                    |element: &Element| matches!(element, Element::Message(it) if it.flaw == Flaw::Deep);
                if batches && !elements.is_empty() && elements.len() <= MOST && !elements.iter().any(deep) {
                    for element in elements {
                        if let Element::Message(message) = element {
                            message.add_to(&mut contents);
                        }
                    }
                }
            }
        }
        contents
    }
}

/// The maximum number of messages in a batch.
const MOST: usize = 64;

/// The maximum length of a method name, in bytes.
const LONGEST_METHOD: usize = 256;

const CANCELLED: &str = r#""notifications/cancelled""#;

impl Element {
    fn text(&self) -> String {
        match self {
            Self::Message(message) => message.text(),
            Self::Strange(text) => (*text).into(),
        }
    }
}

impl Message {
    fn add_to(&self, contents: &mut Contents) {
        let is_known = self.id.as_ref().is_some_and(|id| id.meaning.is_some()) && self.flaw != Flaw::IdTwice;
        match (&self.id, &self.body) {
            (_, Body::Response(_)) => {}
            (Some(id), _) if is_known => contents.answers.push((id.clone(), self.request())),
            // Receivers differ in whether they accept a flawed cancellation, so the request may be answered or not.
            (None, Body::Cancellation(id)) => contents.cancels.extend(id.meaning.clone()),
            _ => {}
        }
    }

    /// Returns true if the message has no fault. It may have oddities.
    fn is_flawless(&self) -> bool {
        match self.flaw {
            Flaw::None | Flaw::Unknown | Flaw::EscapedNames => true,
            Flaw::ParamsTwice => matches!(self.body, Body::Request(_, None, _)),
            _ => false,
        }
    }

    /// Returns the request that the message makes.
    fn request(&self) -> Request {
        let (method, params, call) = match &self.body {
            _ if !self.is_flawless() => return Request::Refused(code::INVALID_REQUEST),
            Body::Request(method, params, call) => (method.as_str(), params.as_deref(), call.clone()),
            Body::Cancellation(_) => (CANCELLED, None, None),
            Body::Response(_) => return Request::Refused(code::INVALID_REQUEST),
        };
        let Some(method) = text_in(method).filter(|method| method.len() <= LONGEST_METHOD) else {
            return Request::Refused(code::INVALID_REQUEST);
        };
        if params.is_some_and(|params| params != "null" && !params.starts_with('{')) {
            return Request::Refused(code::INVALID_PARAMS);
        }
        let cursor = params.is_some_and(|params| params.contains("\"cursor\""));
        let params = params.filter(|params| *params != "null").map(str::to_owned);
        Request::Method { method, params, cursor, call }
    }

    fn text(&self) -> String {
        let mut members: Vec<(&str, String)> = Vec::new();
        match self.flaw {
            Flaw::NoVersion => {}
            Flaw::OldVersion => members.push(("jsonrpc", r#""1.0""#.into())),
            Flaw::VersionNumber => members.push(("jsonrpc", "2.0".into())),
            _ => members.push(("jsonrpc", r#""2.0""#.into())),
        }
        let id = self.id.as_ref().map(|id| ("id", id.token.clone()));
        match &self.body {
            Body::Request(method, params, _) => {
                members.push(("method", method.clone()));
                members.extend(params.clone().map(|params| ("params", params)));
            }
            Body::Cancellation(id) => {
                members.push(("method", CANCELLED.into()));
                members.push(("params", format!(r#"{{"requestId":{},"reason":"why"}}"#, id.token)));
            }
            Body::Response(answer) => {
                let answer = answer.split_once(':').map(|(name, value)| (name, value.into()));
                members.extend(answer);
            }
        }
        members.extend(id.clone());
        let member = |name: &str| members.iter().find(|(other, _)| *other == name).cloned();
        let more = match self.flaw {
            Flaw::MethodTwice => member("method"),
            Flaw::ParamsTwice => member("params"),
            Flaw::IdTwice => id,
            Flaw::ResultBeside => Some(("result", "{}".into())),
            Flaw::ErrorBeside => Some(("error", r#"{"code":1,"message":"m"}"#.into())),
            Flaw::Unknown => Some(("x", r#"{"id":1,"method":[null]}"#.into())),
            Flaw::Deep => Some(("x", ["[".repeat(200), "]".repeat(200)].concat())),
            _ => None,
        };
        members.extend(more);
        let first = usize::from(self.order) % members.len().max(1);
        members.rotate_left(first);
        let named = |name: &str| match self.flaw {
            Flaw::EscapedNames => {
                name.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect()
            }
            _ => name.to_owned(),
        };
        let texts: Vec<String> =
            members.iter().map(|(name, value)| format!("\"{}\":{value}", named(name))).collect();
        format!("{{{}}}", texts.join(","))
    }
}

impl<'a> Arbitrary<'a> for PeerText {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let wrapping = match u.int_in_range(0..=31)? {
            0 => Wrapping::Spaced,
            1 => Wrapping::ByteOrderMark,
            2 => Wrapping::CutOff,
            3 => Wrapping::TwoAtOnce,
            _ => Wrapping::Plain,
        };
        Ok(match u.int_in_range(0..=15)? {
            0 => Self::Text(
                u.choose(&["", "1", "null", "\"x\"", "{}", "{\"a\":", "\u{feff}\u{feff}{}", "nan"])?
                    .to_string(),
            ),
            1 | 2 => {
                // Batches around the limit contain only pings, because a script is not long enough for that many other
                // messages.
                let many = match u.int_in_range(0..=15)? {
                    0 => u.int_in_range(MOST - 1..=MOST + 1)?,
                    many => many / 2,
                };
                let mut elements = Vec::new();
                for at in 0..many {
                    elements.push(if many < MOST - 1 { u.arbitrary()? } else { ping(at) });
                }
                Self::Batch(elements, wrapping)
            }
            _ => Self::One(u.arbitrary()?, wrapping),
        })
    }
}

fn ping(number: usize) -> Element {
    let token = format!("\"p{number}\"");
    let id = Some(Id { meaning: Some(token.clone()), token });
    Element::Message(Message {
        id,
        body: Body::Request("\"ping\"".into(), None, None),
        flaw: Flaw::None,
        order: 0,
    })
}

impl<'a> Arbitrary<'a> for Element {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        const STRANGE: [&str; 5] = ["1", "null", "[]", "{}", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#];
        Ok(if u.ratio(1, 8)? { Self::Strange(u.choose(&STRANGE)?) } else { Self::Message(u.arbitrary()?) })
    }
}

impl<'a> Arbitrary<'a> for Message {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (id, body) = match u.int_in_range(0..=15)? {
            0 | 1 => (None, notification(u)?),
            2 | 3 => (None, Body::Cancellation(u.arbitrary()?)),
            4 => (u.ratio(7, 8)?.then(|| u.arbitrary()).transpose()?, Body::Response(answer(u)?)),
            5 => (Some(u.arbitrary()?), notification(u)?),
            6 => (Some(u.arbitrary()?), Body::Cancellation(u.arbitrary()?)),
            _ => (Some(u.arbitrary()?), request(u)?),
        };
        // Three in four messages have no flaw.
        let flaw = *u.choose(&[
            Flaw::NoVersion,
            Flaw::OldVersion,
            Flaw::VersionNumber,
            Flaw::MethodTwice,
            Flaw::ParamsTwice,
            Flaw::IdTwice,
            Flaw::ResultBeside,
            Flaw::ErrorBeside,
            Flaw::Unknown,
            Flaw::Deep,
            Flaw::EscapedNames,
        ])?;
        let flaw = if u.ratio(1, 4)? { flaw } else { Flaw::None };
        Ok(Self { id, body, flaw, order: u.arbitrary()? })
    }
}

fn answer(u: &mut Unstructured<'_>) -> Result<&'static str> {
    Ok(u.choose(&[
        "result:{}",
        "result:null",
        r#"error:{"code":-32601,"message":"no"}"#,
        "error:null",
        "error:7",
        "",
    ])?)
}

fn notification(u: &mut Unstructured<'_>) -> Result<Body> {
    let (method, params) = match u.int_in_range(0..=7)? {
        0 => ("notifications/initialized", "{}".into()),
        1 => (
            "notifications/progress",
            format!(r#"{{"progressToken":{},"progress":{}}}"#, value(u, 1)?, value(u, 1)?),
        ),
        2 => ("ide_connected", format!(r#"{{"pid":{}}}"#, value(u, 1)?)),
        // The id is in an array, so it is never valid by chance. Valid cancellations are generated as
        // `Body::Cancellation`.
        3 => ("notifications/cancelled", format!(r#"{{"requestId":[{}]}}"#, value(u, 2)?)),
        4 => ("notifications/roots/list_changed", value(u, 2)?),
        5 => ("tools/call", r#"{"name":"getDiagnostics","arguments":{}}"#.into()),
        6 => ("selection_changed", value(u, 3)?),
        _ => ("x/unknown", value(u, 2)?),
    };
    let call = (method == "tools/call").then(|| no_arguments(Tool::GetDiagnostics));
    Ok(Body::Request(format!("\"{method}\""), Some(params), call))
}

fn request(u: &mut Unstructured<'_>) -> Result<Body> {
    const METHODS: [&str; 14] = [
        "\"ping\"",
        "\"tools/list\"",
        "\"initialize\"",
        "\"server/discover\"",
        "\"resources/list\"",
        "\"prompts/list\"",
        "\"resources/templates/list\"",
        "\"logging/setLevel\"",
        "\"x/ask\"",
        "\"p\\u0069ng\"",
        "\"readFile\"",
        "\"\"",
        "7",
        "null",
    ];
    if u.ratio(1, 4)? {
        let (method, params) = match u.int_in_range(0..=3)? {
            0 => ("resources/read", *u.choose(&TOOL_RESOURCES)?),
            _ => u.choose(SERVED).map(|row| (row.method, row.params))?,
        };
        let params = Some(params.to_owned()).filter(|params| !params.is_empty());
        return Ok(Body::Request(format!("\"{method}\""), params, None));
    }
    if u.ratio(3, 4)? {
        let (params, called) = call(u)?;
        return Ok(Body::Request("\"tools/call\"".into(), Some(params), Some(called)));
    }
    let method = *u.choose(&METHODS)?;
    let params = match u.int_in_range(0..=7)? {
        0 => Some(value(u, 3)?),
        1 => Some(r#"{"cursor":"c","level":"debug","path":"a"}"#.into()),
        2 => Some(format!(r#"{{"protocolVersion":{},"capabilities":{{}}}}"#, value(u, 1)?)),
        _ => None,
    };
    let method = if u.ratio(1, 64)? {
        let length = u.int_in_range(LONGEST_METHOD..=LONGEST_METHOD + 1)?;
        format!("\"{}\"", "m".repeat(length))
    } else {
        method.into()
    };
    Ok(Body::Request(method, params, None))
}

/// The parameters that name a resource which a tool reads.
const TOOL_RESOURCES: [&str; 4] = [
    r#"{"uri":"ide://selection"}"#,
    r#"{"uri":"ide://open-editors"}"#,
    r#"{"uri":"ide://diagnostics"}"#,
    r#"{"uri":"ide://workspace-folders"}"#,
];

impl<'a> Arbitrary<'a> for Id {
    /// Chooses from a few ids in many spellings, so that ids coincide.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let number = u.int_in_range(0..=7)?;
        let id = |token: String, meaning: String| Self { token, meaning: Some(meaning) };
        let none = |token: String| Self { token, meaning: None };
        Ok(match u.int_in_range(0..=31)? {
            0..=11 => id(format!("{number}"), format!("{number}")),
            12..=16 => id(format!("\"{number}\""), format!("\"{number}\"")),
            17 => id(format!("{number}.0"), format!("{number}")),
            18 => id(format!("{number}e0"), format!("{number}")),
            19 => id(format!("\"\\u003{number}\""), format!("\"{number}\"")),
            20 => id(format!("-{number}"), if number == 0 { "0".into() } else { format!("-{number}") }),
            21 => id(format!("1844674407370955161{number}"), format!("1844674407370955161{number}")),
            22 => id(format!("900719925474099{number}"), format!("900719925474099{number}")),
            23 => id("\"\"".into(), "\"\"".into()),
            24 => id(format!("\"{}\"", "x".repeat(1024)), "long".into()),
            25 => none(format!("\"{}\"", "x".repeat(1025))),
            26 => none("null".into()),
            27 => none(format!("{number}.5")),
            28 => none("true".into()),
            29 => none(format!("{{\"id\":{number}}}")),
            30 => none(format!("[{number}]")),
            _ => none("\"\\ud83d\"".into()),
        })
    }
}
