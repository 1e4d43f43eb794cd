//! Classifies a message: it is a request, a notification, a response, a batch, or it breaks a rule. Every text is
//! exactly one of these.
//!
//! The tests number the rules C1–C20. Where JSON-RPC leaves a case open, we never answer a message without a readable
//! id, always answer a request with one, and never deliver what is only half understood.
//!
//! Every member of the envelope is first kept as it is written. So a member of the wrong type does not hide the id
//! beside it, and `"id":null` differs from an absent id. The content of `params`, `result` and `error.data` is never
//! built into values.

use alloc::borrow::Cow;
use core::{fmt, marker::PhantomData};

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde_json::value::RawValue;

use super::{ErrorObject, Id, InvalidMessage, SessionLimits, depth, is_object, name_of};

/// What kind of message a text is. Borrows from the text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// A request, which expects an answer.
    Request {
        /// The id that the answer must carry.
        id: Id,
        /// The method.
        method: Cow<'a, str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<&'a RawValue>,
    },
    /// A notification, which is never answered.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<&'a RawValue>,
    },
    /// A response. It answers our request with this id, if there is one.
    Response {
        /// The id of the response.
        id: Id,
        /// The content of the response.
        answer: Answer<'a>,
    },
    /// An error without a request id: the peer could not read one of our messages.
    PeerError(ErrorObject),
    /// An array of messages, not classified yet.
    Batch(&'a RawValue),
    /// Not a message, or one that breaks a rule.
    Invalid {
        /// The id and the code of the error to answer with, if we can answer.
        answer: Option<(Id, i64)>,
        /// The rule that the text breaks.
        error: InvalidMessage,
    },
}

/// The content of a response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer<'a> {
    /// The result: the peer served the request.
    Result(&'a RawValue),
    /// The error: the peer did not serve the request.
    Error(ErrorObject),
    /// The answer cannot be read, but its id can: it still ends its request.
    Malformed(InvalidMessage),
}

/// Classifies `text`. A byte order mark at its beginning is ignored.
#[must_use]
pub fn classify<'a>(text: &'a str, limits: &SessionLimits) -> Message<'a> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let too_deep = depth::exceeds(text, limits.depth);
    match text.trim_start_matches([' ', '\t', '\n', '\r']).as_bytes().first() {
        Some(b'{') => match Envelope::read(text) {
            Ok(envelope) => envelope.classify(too_deep, limits),
            Err(_) => unanswered(InvalidMessage::NotJson),
        },
        Some(b'[') => match serde_json::from_str::<&'a RawValue>(text) {
            Ok(_) if too_deep => unanswered(InvalidMessage::TooDeep),
            Ok(batch) => Message::Batch(batch),
            Err(_) => unanswered(InvalidMessage::NotJson),
        },
        _ => match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => unanswered(InvalidMessage::NotAMessage),
            Err(_) => unanswered(InvalidMessage::NotJson),
        },
    }
}

const fn unanswered(error: InvalidMessage) -> Message<'static> {
    Message::Invalid { answer: None, error }
}

/// The known members as they are written. `None` means absent, not null.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// True if a known member comes twice.
    repeated: bool,
    /// True if `id` comes twice, so that no id can be read.
    repeated_id: bool,
}

impl<'a> Envelope<'a> {
    fn classify(self, too_deep: bool, limits: &SessionLimits) -> Message<'a> {
        if self.repeated_id {
            return unanswered(InvalidMessage::InvalidId);
        }
        let id = self.id.and_then(|token| Id::read(token, limits));
        let fault = if too_deep {
            Some(InvalidMessage::TooDeep)
        } else if self.repeated {
            Some(InvalidMessage::DuplicateMember)
        } else if self.jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
            Some(InvalidMessage::WrongVersion)
        } else {
            None
        };
        match self.method {
            Some(_) if self.id.is_some() && id.is_none() => unanswered(InvalidMessage::InvalidId),
            Some(method) => self.classify_with_method(id, method, fault, limits),
            None => self.classify_without_method(id, fault),
        }
    }

    /// Classifies a text with a `method`: a request or a notification, perhaps a faulty one.
    fn classify_with_method(
        &self,
        id: Option<Id>,
        method: &'a RawValue,
        fault: Option<InvalidMessage>,
        limits: &SessionLimits,
    ) -> Message<'a> {
        let params = self.params.filter(|params| !is_null(params));
        let checked = match fault {
            Some(error) => Err(error),
            None if self.result.is_some() || self.error.is_some() => Err(InvalidMessage::MixedMembers),
            None => match name_of(method) {
                None => Err(InvalidMessage::InvalidMethod),
                Some(method) if method.len() > limits.method => Err(InvalidMessage::MethodTooLong),
                Some(_) if params.is_some_and(|params| !is_object(params)) => {
                    Err(InvalidMessage::InvalidParams)
                }
                Some(method) => Ok(method),
            },
        };
        match (checked, id) {
            (Ok(method), Some(id)) => Message::Request { id, method, params },
            (Ok(method), None) => Message::Notification { method, params },
            (Err(error), id) => Message::Invalid { answer: id.map(|id| (id, error.code())), error },
        }
    }

    /// Classifies a text without a `method`: a response, perhaps a faulty one.
    fn classify_without_method(&self, id: Option<Id>, fault: Option<InvalidMessage>) -> Message<'a> {
        let error = self.error.filter(|error| !is_null(error));
        if let Some(id) = id {
            let answer = match (fault, self.result, error) {
                (Some(error), ..) => Answer::Malformed(error),
                (None, Some(result), None) => Answer::Result(result),
                (None, result, Some(error)) if result.is_none_or(is_null) => ErrorObject::read(error)
                    .map_or(Answer::Malformed(InvalidMessage::MalformedResponse), Answer::Error),
                (None, _, _) => Answer::Malformed(InvalidMessage::MalformedResponse),
            };
            return Message::Response { id, answer };
        }
        // An error may come without an id, or with the id null, if the peer could not read our id.
        if self.id.is_none_or(is_null) {
            if let Some(error) = error.filter(|_| fault.is_none()).and_then(ErrorObject::read) {
                return Message::PeerError(error);
            }
        }
        unanswered(match (self.id, self.result, self.error) {
            (None, None, None) => InvalidMessage::NotAMessage,
            _ => InvalidMessage::InvalidId,
        })
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

impl<'a> Envelope<'a> {
    /// Reads the members of `text`. The first attempt accepts only names without escapes, because no known peer escapes
    /// them. If it fails, the second one unescapes the names.
    fn read(text: &'a str) -> serde_json::Result<Self> {
        fn names<'a, N: Deserialize<'a> + Into<Member>>(text: &'a str) -> serde_json::Result<Envelope<'a>> {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            let envelope = deserializer.deserialize_map(Members::<N>(PhantomData))?;
            deserializer.end()?;
            Ok(envelope)
        }
        names::<Member>(text).or_else(|_| names::<Written>(text))
    }
}

/// A visitor that builds an envelope and reads the names of the members as `N`.
struct Members<N>(PhantomData<N>);

impl<'de, N: Deserialize<'de> + Into<Member>> Visitor<'de> for Members<N> {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(name) = map.next_key::<N>()? {
            let member = name.into();
            let slot = match member {
                Member::Jsonrpc => &mut envelope.jsonrpc,
                Member::Id => &mut envelope.id,
                Member::Method => &mut envelope.method,
                Member::Params => &mut envelope.params,
                Member::Result => &mut envelope.result,
                Member::Error => &mut envelope.error,
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                envelope.repeated = true;
                envelope.repeated_id |= matches!(member, Member::Id);
            }
        }
        Ok(envelope)
    }
}

/// A member of the envelope, by its name. Deserializing it fails if the name has escapes.
#[derive(Clone, Copy)]
pub(super) enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl Member {
    const fn named(name: &[u8]) -> Self {
        match name {
            b"jsonrpc" => Self::Jsonrpc,
            b"id" => Self::Id,
            b"method" => Self::Method,
            b"params" => Self::Params,
            b"result" => Self::Result,
            b"error" => Self::Error,
            _ => Self::Other,
        }
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl<'de> Visitor<'de> for Name {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member without escapes")
            }

            fn visit_borrowed_bytes<E: de::Error>(self, name: &'de [u8]) -> Result<Member, E> {
                let member = Member::named(name);
                // serde_json does not reject control characters in a string that is read as bytes.
                if matches!(member, Member::Other) && name.iter().any(|byte| *byte < b' ') {
                    return Err(E::invalid_value(Unexpected::Bytes(name), &self));
                }
                Ok(member)
            }
        }

        // The names are compared as bytes, so they are read as bytes.
        deserializer.deserialize_bytes(Name)
    }
}

/// A member whose name may have escapes. The name is unescaped first, then compared byte for byte.
struct Written(Member);

impl From<Written> for Member {
    fn from(written: Written) -> Self {
        written.0
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let token = <&RawValue>::deserialize(deserializer)?;
        // A name that is not Unicode counts as an unknown name.
        Ok(Self(name_of(token).map_or(Member::Other, |name| Member::named(name.as_bytes()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{
        format,
        string::{String, ToString},
        vec::Vec,
    };

    /// Describes a message in one line.
    fn describe(message: &Message<'_>) -> String {
        let token = |id: &Id| {
            let mut token = Vec::new();
            id.write(&mut token);
            String::from_utf8(token).unwrap()
        };
        let raw = |raw: &Option<&RawValue>| raw.map_or("-".to_string(), |raw| raw.get().to_string());
        match message {
            Message::Request { id, method, params } => {
                format!("request {} {method} {}", token(id), raw(params))
            }
            Message::Notification { method, params } => format!("notification {method} {}", raw(params)),
            Message::Response { id, answer } => match answer {
                Answer::Result(result) => format!("result {} {}", token(id), result.get()),
                Answer::Error(error) => format!("error {} {error}", token(id)),
                Answer::Malformed(error) => format!("malformed {} {error:?}", token(id)),
            },
            Message::PeerError(error) => format!("peer error {error}"),
            Message::Batch(batch) => format!("batch {}", batch.get()),
            Message::Invalid { answer: None, error } => format!("silence {error:?}"),
            Message::Invalid { answer: Some((id, code)), error } => {
                format!("refuse {} {code} {error:?}", token(id))
            }
        }
    }

    #[track_caller]
    fn check(name: &str, text: &str, want: &str) {
        assert_eq!(describe(&classify(text, &SessionLimits::default())), want, "{name}: {text:.200}");
    }

    /// The cases: a name, a text, and the description of its message.
    const CASES: &[(&str, &str, &str)] = &[
        ("C1 empty", "", "silence NotJson"),
        ("C1 words", "hello", "silence NotJson"),
        ("C1 half an object", r#"{"jsonrpc":"2.0","id":1,"method":"m""#, "silence NotJson"),
        ("C1 half an array", "[1,", "silence NotJson"),
        (
            "C1 a control character in a name",
            "{\"a\u{1}\":1,\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
            "silence NotJson",
        ),
        (
            "C1 a name that is a control character",
            "{\"\u{1}\":1,\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
            "silence NotJson",
        ),
        (
            "C1 a control character in a name with escapes",
            "{\"\\u0061\n\":1,\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
            "silence NotJson",
        ),
        (
            "C6 names with escapes, half a surrogate pair, and the last control character",
            "{\"\\u0061\\n\":1,\"\\ud800\":1,\"\u{7f}\":1,\"jsonrpc\":\"2.0\",\"m\\u0065thod\":\"m\"}",
            "notification m -",
        ),
        (
            "C15 an error that is an array",
            r#"{"jsonrpc":"2.0","id":1,"error":[-1,"no",null]}"#,
            "malformed 1 MalformedResponse",
        ),
        ("C1 text after the object", r#"{"jsonrpc":"2.0","id":1,"method":"m"} x"#, "silence NotJson"),
        ("C1 two objects", r#"{"jsonrpc":"2.0","method":"m"}{}"#, "silence NotJson"),
        (
            "C1 bad value in an unknown member",
            r#"{"jsonrpc":"2.0","id":1,"method":"m","x":tru}"#,
            "silence NotJson",
        ),
        ("C2 number", "1", "silence NotAMessage"),
        ("C2 string", r#""method""#, "silence NotAMessage"),
        ("C2 null", " null ", "silence NotAMessage"),
        ("C2 object without members", "{}", "silence NotAMessage"),
        ("C2 object with other members", r#"{"jsonrpc":"2.0","x":1}"#, "silence NotAMessage"),
        (
            "C3 batch",
            r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#,
            r#"batch [{"jsonrpc":"2.0","id":1,"method":"m"}]"#,
        ),
        ("C3 empty batch", "[]", "batch []"),
        (
            "C5 request",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[1]}}"#,
            r#"request 7 m {"a":[1]}"#,
        ),
        (
            "C5 members in another order",
            r#"{"params":{},"method":"m","id":"x","jsonrpc":"2.0"}"#,
            r#"request "x" m {}"#,
        ),
        (
            "C5 white space",
            " \t\r\n{ \"jsonrpc\" : \"2.0\" , \"id\" : 7 , \"method\" : \"m\" } ",
            "request 7 m -",
        ),
        ("C5 id 0", r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#, "request 0 m -"),
        ("C5 empty id", r#"{"jsonrpc":"2.0","id":"","method":"m"}"#, r#"request "" m -"#),
        ("C5 id 7.0", r#"{"jsonrpc":"2.0","id":7.0,"method":"m"}"#, "request 7.0 m -"),
        ("C5 escaped method", r#"{"jsonrpc":"2.0","id":7,"method":"a\/\u0062"}"#, "request 7 a/b -"),
        ("C5 escaped member", r#"{"jsonrpc":"2.0","\u0069d":7,"method":"m"}"#, "request 7 m -"),
        (
            "C5 half a surrogate pair in the params",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"\ud83d"}}"#,
            r#"request 7 m {"a":"\ud83d"}"#,
        ),
        ("C6 notification", r#"{"jsonrpc":"2.0","method":"m","params":{}}"#, "notification m {}"),
        ("C7 id null", r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "silence InvalidId"),
        ("C8 id 1.5", r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "silence InvalidId"),
        ("C8 id true", r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "silence InvalidId"),
        ("C8 id object", r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "silence InvalidId"),
        ("C8 id array", r#"{"jsonrpc":"2.0","id":[],"method":"m"}"#, "silence InvalidId"),
        ("C8 id not Unicode", r#"{"jsonrpc":"2.0","id":"\ud83d","method":"m"}"#, "silence InvalidId"),
        ("C9 method number", r#"{"jsonrpc":"2.0","id":7,"method":1}"#, "refuse 7 -32600 InvalidMethod"),
        ("C9 method null", r#"{"jsonrpc":"2.0","id":7,"method":null}"#, "refuse 7 -32600 InvalidMethod"),
        (
            "C9 method not Unicode",
            r#"{"jsonrpc":"2.0","id":7,"method":"\ud83d"}"#,
            "refuse 7 -32600 InvalidMethod",
        ),
        (
            "C9 method and result",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","result":{}}"#,
            "refuse 7 -32600 MixedMembers",
        ),
        (
            "C9 method and error",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","error":null}"#,
            "refuse 7 -32600 MixedMembers",
        ),
        ("C9 without id", r#"{"jsonrpc":"2.0","method":1}"#, "silence InvalidMethod"),
        ("C9 with id null", r#"{"jsonrpc":"2.0","id":null,"method":1}"#, "silence InvalidId"),
        ("C10 no jsonrpc", r#"{"id":7,"method":"m"}"#, "refuse 7 -32600 WrongVersion"),
        ("C10 jsonrpc 1.0", r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#, "refuse 7 -32600 WrongVersion"),
        ("C10 jsonrpc number", r#"{"jsonrpc":2.0,"id":7,"method":"m"}"#, "refuse 7 -32600 WrongVersion"),
        ("C10 notification", r#"{"method":"m"}"#, "silence WrongVersion"),
        ("C10 response", r#"{"id":7,"result":{}}"#, "malformed 7 WrongVersion"),
        ("C11 no params", r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#, "request 7 m -"),
        ("C12 params null", r#"{"jsonrpc":"2.0","id":7,"method":"m","params":null}"#, "request 7 m -"),
        (
            "C13 params array",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[]}"#,
            "refuse 7 -32602 InvalidParams",
        ),
        (
            "C13 params string",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":"{"}"#,
            "refuse 7 -32602 InvalidParams",
        ),
        ("C13 notification", r#"{"jsonrpc":"2.0","method":"m","params":[]}"#, "silence InvalidParams"),
        ("C14 result", r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, r#"result 7 {"a":1}"#),
        ("C14 error null", r#"{"jsonrpc":"2.0","id":7,"result":{},"error":null}"#, "result 7 {}"),
        ("C14 result null", r#"{"jsonrpc":"2.0","id":7,"result":null}"#, "result 7 null"),
        ("C15 error", r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#, "error 7 no (-1)"),
        (
            "C15 result null",
            r#"{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":0,"message":"no"}}"#,
            "error 7 no (0)",
        ),
        ("C15 no message", r#"{"jsonrpc":"2.0","id":7,"error":{"code":3}}"#, "error 7 no message (3)"),
        (
            "C16 no id",
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
            "peer error no (-32700)",
        ),
        (
            "C16 id null",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
            "peer error no (1)",
        ),
        (
            "C16 id of another type",
            r#"{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"no"}}"#,
            "silence InvalidId",
        ),
        (
            "C17 both",
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"no"}}"#,
            "malformed 7 MalformedResponse",
        ),
        ("C17 neither", r#"{"jsonrpc":"2.0","id":7}"#, "malformed 7 MalformedResponse"),
        ("C17 error null", r#"{"jsonrpc":"2.0","id":7,"error":null}"#, "malformed 7 MalformedResponse"),
        ("C17 error string", r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#, "malformed 7 MalformedResponse"),
        (
            "C17 error without code",
            r#"{"jsonrpc":"2.0","id":7,"error":{"message":"no"}}"#,
            "malformed 7 MalformedResponse",
        ),
        ("C17 result without id", r#"{"jsonrpc":"2.0","result":{}}"#, "silence InvalidId"),
        (
            "C18 method twice",
            r#"{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}"#,
            "refuse 7 -32600 DuplicateMember",
        ),
        (
            "C18 params twice",
            r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{},"params":{}}"#,
            "refuse 7 -32600 DuplicateMember",
        ),
        ("C18 id twice", r#"{"jsonrpc":"2.0","id":7,"\u0069d":8,"method":"a"}"#, "silence InvalidId"),
        (
            "C18 result twice",
            r#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
            "malformed 7 DuplicateMember",
        ),
        ("C18 notification", r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#, "silence DuplicateMember"),
        (
            "C19 unknown members",
            r#"{"jsonrpc":"2.0","x":{"id":1},"id":7,"method":"m","x":null}"#,
            "request 7 m -",
        ),
        (
            "C19 other case, other ends",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","Method":"x","id\u0000":8,"param\u017f":[]}"#,
            "request 7 m -",
        ),
        ("C19 name not Unicode", r#"{"\ud83d":1,"jsonrpc":"2.0","id":7,"method":"m"}"#, "request 7 m -"),
        ("C20 byte order mark", "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}", "request 7 m -"),
        (
            "C20 two of them",
            "\u{feff}\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}",
            "silence NotJson",
        ),
    ];

    #[test]
    fn every_text_has_one_classification() {
        for (name, text, want) in CASES {
            check(name, text, want);
        }
    }

    #[test]
    fn nesting_is_limited_and_id_still_read() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for (levels, too_deep) in [(127, false), (128, true), (100_000, true)] {
            let (deep, name) = (nested(levels), format!("{levels} levels in the object"));
            let request = format!(r#"{{"jsonrpc":"2.0","params":{{"a":1}},"x":{deep},"id":7,"method":"m"}}"#);
            check(
                &name,
                &request,
                if too_deep { "refuse 7 -32600 TooDeep" } else { r#"request 7 m {"a":1}"# },
            );
            let note = format!(r#"{{"jsonrpc":"2.0","x":{deep},"method":"m"}}"#);
            check(&name, &note, if too_deep { "silence TooDeep" } else { "notification m -" });
            let response = format!(r#"{{"jsonrpc":"2.0","x":{deep},"id":7,"result":1}}"#);
            check(&name, &response, if too_deep { "malformed 7 TooDeep" } else { "result 7 1" });
        }
        check("129 levels of arrays", &nested(129), "silence TooDeep");
        check("128 levels of arrays", &nested(128), &format!("batch {}", nested(128)));
    }

    #[test]
    fn ids_and_method_names_are_limited() {
        for (length, fits) in [(1024, true), (1025, false)] {
            let id = format!("\"{}\"", "x".repeat(length));
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            check(
                "id",
                &text,
                &if fits { format!("request {id} m -") } else { "silence InvalidId".to_string() },
            );
        }
        for (length, fits) in [(256, true), (257, false)] {
            let method = "m".repeat(length);
            let text = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}"}}"#);
            let want = if fits {
                format!("request 7 {method} -")
            } else {
                "refuse 7 -32600 MethodTooLong".to_string()
            };
            check("method", &text, &want);
        }
    }

    #[test]
    fn no_text_panics() {
        let tokens = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"jsonrpc\"",
            "\"2.0\"",
            "\"id\"",
            "\"method\"",
            "\"params\"",
            "\"result\"",
            "\"error\"",
            "\"code\"",
            "null",
            "7",
            "1.5",
            "\"m\"",
            "\"\\ud83d\"",
            "\\",
            "\"",
            " ",
            "é",
        ];
        arbtest::arbtest(|u| {
            let mut text = String::new();
            for _ in 0..u.int_in_range(0..=24)? {
                text.push_str(u.choose(&tokens)?);
            }
            let message = classify(&text, &SessionLimits::default());
            // Every text that is not classified as `NotJson` is JSON.
            if !matches!(message, Message::Invalid { error: InvalidMessage::NotJson, .. }) {
                assert!(serde_json::from_str::<IgnoredAny>(&text).is_ok(), "{text}");
            }
            Ok(())
        })
        .budget_ms(300);
    }
}
