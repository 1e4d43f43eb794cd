//! What a text is: a request, a notification, a response, or which rule it breaks. A total function.
//!
//! The marks C1–C20 in the tests are the rows of its specification (mcp.md 2.3). Where JSON-RPC leaves room, the rule
//! is: never answer what has no readable id, always answer what has one, and never deliver half-understood content.
//!
//! Every member of the envelope is first taken as it is written, so that a member of the wrong type does not hide the
//! id beside it, and `"id":null` is not the same as no id. Nothing is built of what lies inside `params`, `result`
//! and `error.data`.

use alloc::borrow::Cow;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{ErrorObject, Id, Limits, Violation, depth};

/// What a text is. Borrows from it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// Asks for an answer.
    Request {
        /// Which the answer must carry.
        id: Id,
        /// What is asked.
        method: Cow<'a, str>,
        /// An object; `None` if absent or null.
        params: Option<&'a RawValue>,
    },
    /// Asks for nothing and is never answered.
    Notification {
        /// What is said.
        method: Cow<'a, str>,
        /// An object; `None` if absent or null.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours, if the id is that of one.
    Response {
        /// The id that it names.
        id: Id,
        /// What it says.
        answer: Answer<'a>,
    },
    /// An error that names no request: the peer could not read something of ours.
    PeerError(ErrorObject),
    /// An array of messages, none of them looked at.
    Batch(&'a RawValue),
    /// Not a message, or one that breaks a rule.
    Invalid {
        /// The id and the code of the error to answer with, where that is possible.
        answer: Option<(Id, i64)>,
        /// The rule.
        violation: Violation,
    },
}

/// What a response says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer<'a> {
    /// The request was served.
    Result(&'a RawValue),
    /// It was not.
    Error(ErrorObject),
    /// The id can be read, but not the answer: the request is over all the same.
    Malformed(Violation),
}

/// Says what `text` is. A byte order mark in front of it is ignored.
#[must_use]
pub fn classify<'a>(text: &'a str, limits: &Limits) -> Message<'a> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let too_deep = depth::exceeds(text, limits.depth);
    match text.trim_start_matches([' ', '\t', '\n', '\r']).as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<Envelope<'a>>(text) {
            Ok(envelope) => envelope.classify(too_deep, limits),
            Err(_) => unanswered(Violation::NotJson),
        },
        Some(b'[') => match serde_json::from_str::<&'a RawValue>(text) {
            Ok(_) if too_deep => unanswered(Violation::TooDeep),
            Ok(batch) => Message::Batch(batch),
            Err(_) => unanswered(Violation::NotJson),
        },
        _ => match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => unanswered(Violation::NotAMessage),
            Err(_) => unanswered(Violation::NotJson),
        },
    }
}

const fn unanswered(violation: Violation) -> Message<'static> {
    Message::Invalid { answer: None, violation }
}

/// The known members as they are written; `None` is absent, not null.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// A member other than `id` is there twice.
    doubled: bool,
    /// `id` is there twice, so that none can be read.
    doubled_id: bool,
}

impl<'a> Envelope<'a> {
    fn classify(self, too_deep: bool, limits: &Limits) -> Message<'a> {
        let id = match self.id {
            _ if self.doubled_id => return unanswered(Violation::InvalidId),
            Some(token) => Some(Id::read(token, limits)),
            None => None,
        };
        let fault = if too_deep {
            Some(Violation::TooDeep)
        } else if self.doubled {
            Some(Violation::DuplicateMember)
        } else if self.jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
            Some(Violation::WrongVersion)
        } else {
            None
        };
        match self.method {
            Some(method) => self.asks(id, method, fault, limits),
            None => self.answers(id.flatten(), fault),
        }
    }

    /// There is a `method`: a request or a notification, or an attempt at one.
    fn asks(
        &self,
        id: Option<Option<Id>>,
        method: &'a RawValue,
        fault: Option<Violation>,
        limits: &Limits,
    ) -> Message<'a> {
        let id = match id {
            Some(None) => return unanswered(Violation::InvalidId),
            Some(Some(id)) => Some(id),
            None => None,
        };
        let params = self.params.filter(|params| !is_null(params));
        let checked = match fault {
            Some(violation) => Err(violation),
            None if self.result.is_some() || self.error.is_some() => Err(Violation::MixedMembers),
            None => match string(method) {
                None => Err(Violation::InvalidMethod),
                Some(method) if method.len() > limits.method => Err(Violation::MethodTooLong),
                Some(_) if params.is_some_and(|params| !is_object(params)) => Err(Violation::InvalidParams),
                Some(method) => Ok(method),
            },
        };
        match (checked, id) {
            (Ok(method), Some(id)) => Message::Request { id, method, params },
            (Ok(method), None) => Message::Notification { method, params },
            (Err(violation), id) => {
                Message::Invalid { answer: id.map(|id| (id, violation.code())), violation }
            }
        }
    }

    /// There is no `method`: a response, or an attempt at one.
    fn answers(&self, id: Option<Id>, fault: Option<Violation>) -> Message<'a> {
        let error = self.error.filter(|error| !is_null(error));
        if let Some(id) = id {
            let answer = match (fault, self.result, error) {
                (Some(violation), ..) => Answer::Malformed(violation),
                (None, Some(result), None) => Answer::Result(result),
                (None, result, Some(error)) if result.is_none_or(is_null) => ErrorObject::read(error)
                    .map_or(Answer::Malformed(Violation::MalformedResponse), Answer::Error),
                (None, _, _) => Answer::Malformed(Violation::MalformedResponse),
            };
            return Message::Response { id, answer };
        }
        // An error may come without an id, or with null where the id could not be read.
        if self.id.is_none_or(is_null) {
            if let Some(error) = error.filter(|_| fault.is_none()).and_then(ErrorObject::read) {
                return Message::PeerError(error);
            }
        }
        unanswered(match (self.id, self.result, self.error) {
            (None, None, None) => Violation::NotAMessage,
            _ => Violation::InvalidId,
        })
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// The content of a JSON string, borrowed where no escape has to be undone. `None` if it is none, or is not Unicode.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let token = raw.get();
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(token).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(member) = map.next_key()? {
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
                        match member {
                            Member::Id => envelope.doubled_id = true,
                            Member::Jsonrpc
                            | Member::Method
                            | Member::Params
                            | Member::Result
                            | Member::Error
                            | Member::Other => envelope.doubled = true,
                        }
                    }
                }
                Ok(envelope)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The name of a member, compared byte for byte after its escapes were undone.
#[derive(Clone, Copy)]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Member, E> {
                self.visit_bytes(name.as_bytes())
            }

            fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Member, E> {
                Ok(match name {
                    b"jsonrpc" => Member::Jsonrpc,
                    b"id" => Member::Id,
                    b"method" => Member::Method,
                    b"params" => Member::Params,
                    b"result" => Member::Result,
                    b"error" => Member::Error,
                    _ => Member::Other,
                })
            }
        }

        // As bytes, since a name that is not Unicode is just one more that is unknown.
        deserializer.deserialize_bytes(Name)
    }
}
