//! What a person answers to a form.

use alloc::{borrow::Cow, collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Number, value::RawValue};

use crate::rpc::{each_member, from_json, name_of, read_object, text_of};

/// What a person answers to a [`Form`](super::Form).
///
/// ```
/// use ide_mcp::mcp::{FieldValue, Form, FormAnswer, FormField};
///
/// let form = Form::new("Deploy?").field(FormField::text("target").required());
/// let answer = FormAnswer::Accepted([("target".to_owned(), FieldValue::from("staging"))].into());
/// assert!(form.check(&answer).is_ok());
/// assert_eq!(answer.text("target"), Some("staging"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormAnswer {
    /// The person gave these values, by field name.
    Accepted(BTreeMap<String, FieldValue>),
    /// The person declined.
    Declined,
    /// The person closed the form without deciding.
    Cancelled,
}

/// A value in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum FieldValue {
    /// A text, or the value of a choice.
    Text(String),
    /// A number.
    Number(Number),
    /// True or false.
    Boolean(bool),
    /// The values of several choices.
    Texts(Vec<String>),
}

impl FormAnswer {
    /// Returns the value of a field, if the person gave one.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&FieldValue> {
        match self {
            Self::Accepted(values) => values.get(field),
            Self::Declined | Self::Cancelled => None,
        }
    }

    /// Returns the text or choice in this field, if the person gave one.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        match self.value(field)? {
            FieldValue::Text(text) => Some(text),
            FieldValue::Number(_) | FieldValue::Boolean(_) | FieldValue::Texts(_) => None,
        }
    }

    /// Returns the number in this field, if the person gave one.
    #[must_use]
    pub fn number(&self, field: &str) -> Option<f64> {
        match self.value(field)? {
            FieldValue::Number(number) => number.as_f64(),
            FieldValue::Text(_) | FieldValue::Boolean(_) | FieldValue::Texts(_) => None,
        }
    }

    /// Returns the boolean in this field, if the person gave one.
    #[must_use]
    pub fn boolean(&self, field: &str) -> Option<bool> {
        match self.value(field)? {
            FieldValue::Boolean(value) => Some(*value),
            FieldValue::Text(_) | FieldValue::Number(_) | FieldValue::Texts(_) => None,
        }
    }

    /// Returns the choices in this field, if the person could pick several.
    #[must_use]
    pub fn texts(&self, field: &str) -> Option<&[String]> {
        match self.value(field)? {
            FieldValue::Texts(texts) => Some(texts),
            FieldValue::Text(_) | FieldValue::Number(_) | FieldValue::Boolean(_) => None,
        }
    }

    /// Reads the result of `elicitation/create`. A null field counts as absent. Returns `None` if the action is
    /// unknown, or a value is of a kind that no form has.
    #[must_use]
    pub fn read(raw: &RawValue) -> Option<Self> {
        Self::read_fields(raw, |_| true)
    }

    /// Reads the values of the fields whose names `is_field` accepts.
    pub(super) fn read_fields(raw: &RawValue, is_field: impl Fn(&str) -> bool) -> Option<Self> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            action: Cow<'a, str>,
            content: Option<&'a RawValue>,
        }
        let read: Members<'_> = read_object(raw)?;
        // Only an accepted form has content that means anything.
        let content = match read.action.as_ref() {
            "accept" => read.content,
            "decline" => return Some(Self::Declined),
            "cancel" => return Some(Self::Cancelled),
            _ => return None,
        };
        let (mut values, mut is_readable) = (BTreeMap::new(), true);
        if let Some(content) = content {
            each_member(content, |name, value| {
                let Some(name) = name_of(name).filter(|name| is_field(name)) else { return };
                match FieldValue::read(value) {
                    Some(value) => drop(values.insert(name.into_owned(), value)),
                    None if value.get() == "null" => drop(values.remove(name.as_ref())),
                    None => is_readable = false,
                }
            })?;
        }
        is_readable.then_some(Self::Accepted(values))
    }
}

/// The maximum size of a list of choices in an answer, in bytes: the same as for the schema of a form.
const MAX_LIST: usize = 64 * 1024;

impl Serialize for FormAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        match self {
            Self::Accepted(values) => {
                out.serialize_entry("action", "accept")?;
                out.serialize_entry("content", values)?;
            }
            Self::Declined => out.serialize_entry("action", "decline")?,
            Self::Cancelled => out.serialize_entry("action", "cancel")?,
        }
        out.end()
    }
}

impl FieldValue {
    /// Returns a number, without a fraction if it has none; `None` if it is not finite.
    #[must_use]
    pub fn number(value: f64) -> Option<Self> {
        super::field::number(value).map(Self::Number)
    }
}

impl FieldValue {
    /// Reads a value; `None` if no form has such a value. Lists and objects are not stored.
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        match raw.get().as_bytes().first()? {
            b'"' => text_of(raw).map(|text| Self::Text(text.into_owned())),
            b't' | b'f' => Some(Self::Boolean(raw.get() == "true")),
            b'[' if raw.get().len() > MAX_LIST => None,
            b'[' => from_json(raw.get()).ok().map(Self::Texts),
            b'-' | b'0'..=b'9' => serde_json::from_str(raw.get()).ok().map(Self::Number),
            _ => None,
        }
    }
}

impl From<&[&str]> for FieldValue {
    fn from(texts: &[&str]) -> Self {
        Self::Texts(texts.iter().map(|text| (*text).into()).collect())
    }
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for FieldValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for FieldValue {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for FieldValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

/// Names the field of a form whose value does not fit, and says why.
///
/// [Causes and reactions](crate::guide::errors#an-answer-does-not-fit-its-form).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The name of the field, as the editor wrote it.
    pub field: String,
    /// What is wrong with its value.
    pub fault: FieldFault,
}

/// What is wrong with the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldFault {
    /// The field is required and has no value.
    Missing,
    /// The value is of another kind.
    WrongKind,
    /// The number, or the length of the text, is out of bounds.
    OutOfBounds,
    /// The text is not one of the choices.
    NoChoice,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.fault {
            FieldFault::Missing => "needs a value",
            FieldFault::WrongKind => "has a value of another kind",
            FieldFault::OutOfBounds => "has a value outside its bounds",
            FieldFault::NoChoice => "has a value that is not one of its choices",
        };
        write!(f, "the field {:?} {fault}", self.field)
    }
}

impl core::error::Error for FieldError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::ToString};

    fn read(text: &str) -> Option<FormAnswer> {
        FormAnswer::read(&RawValue::from_string(text.into()).unwrap())
    }

    #[test]
    fn written_answer_is_read_again() {
        let values = [
            ("a".to_string(), FieldValue::from("x")),
            ("b".to_string(), 3.into()),
            ("c".to_string(), FieldValue::number(0.5).unwrap()),
            ("d".to_string(), false.into()),
            ("e".to_string(), ["x", "y"].as_slice().into()),
        ];
        let rows = [
            (
                FormAnswer::Accepted(BTreeMap::from(values)),
                r#"{"action":"accept","content":{"a":"x","b":3,"c":0.5,"d":false,"e":["x","y"]}}"#,
            ),
            (FormAnswer::Accepted(BTreeMap::new()), r#"{"action":"accept","content":{}}"#),
            (FormAnswer::Declined, r#"{"action":"decline"}"#),
            (FormAnswer::Cancelled, r#"{"action":"cancel"}"#),
        ];
        for (answer, text) in rows {
            assert_eq!(serde_json::to_string(&answer).unwrap(), text);
            assert_eq!(read(text), Some(answer), "{text}");
        }
    }

    #[test]
    fn answer_is_read_tolerantly_or_refused() {
        let nothing = Some(FormAnswer::Accepted(BTreeMap::new()));
        let rows = [
            ("no content", r#"{"action":"accept"}"#, nothing.clone()),
            ("content of null", r#"{"action":"accept","content":null}"#, nothing.clone()),
            ("a field of null", r#"{"action":"accept","content":{"a":null}}"#, nothing),
            ("content of a refusal", r#"{"action":"decline","content":[1]}"#, Some(FormAnswer::Declined)),
            ("a list of numbers", r#"{"action":"accept","content":{"a":[1]}}"#, None),
            ("an object as value", r#"{"action":"accept","content":{"a":{}}}"#, None),
            ("content that is an array", r#"{"action":"accept","content":[]}"#, None),
            ("another action", r#"{"action":"later"}"#, None),
            ("no action", r#"{"content":{}}"#, None),
        ];
        for (name, text, want) in rows {
            assert_eq!(read(text), want, "{name}");
        }
    }

    #[test]
    fn values_are_found_by_kind() {
        let answer = read(r#"{"action":"accept","content":{"a":"x","b":2.5,"c":true}}"#).unwrap();
        assert_eq!(
            (answer.text("a"), answer.number("b"), answer.boolean("c")),
            (Some("x"), Some(2.5), Some(true))
        );
        assert_eq!((answer.text("b"), answer.number("c"), answer.boolean("a")), (None, None, None));
        assert_eq!((answer.text("z"), FormAnswer::Declined.text("a")), (None, None));
    }

    #[test]
    fn numbers_are_written_without_needless_fraction() {
        let rows = [
            (3.0, "3"),
            (-2.0, "-2"),
            (0.5, "0.5"),
            (-0.25, "-0.25"),
            (-8_999_999_999_999_999.0, "-8999999999999999"),
            (9e15, "9000000000000000.0"),
        ];
        for (value, text) in rows {
            assert_eq!(serde_json::to_string(&FieldValue::number(value)).unwrap(), text);
        }
        assert_eq!((FieldValue::number(f64::NAN), FieldValue::number(f64::INFINITY)), (None, None));
    }

    #[test]
    fn the_size_of_a_list_of_choices_is_limited() {
        let of = |len: usize| {
            let text = format!(r#"{{"action":"accept","content":{{"a":["{}"]}}}}"#, "x".repeat(len - 4));
            read(&text)
        };
        let largest = of(65_536).unwrap();
        assert!(largest.texts("a").is_some_and(|texts| texts.iter().map(String::len).eq([65_532])));
        assert_eq!((largest.texts("b"), of(65_537)), (None, None));
        assert_eq!(read(r#"{"action":"accept","content":{"a":"x"}}"#).unwrap().texts("a"), None, "one text");
    }

    #[test]
    fn faults_name_their_field() {
        let rows = [
            (FieldFault::Missing, "the field \"a\" needs a value"),
            (FieldFault::WrongKind, "the field \"a\" has a value of another kind"),
            (FieldFault::OutOfBounds, "the field \"a\" has a value outside its bounds"),
            (FieldFault::NoChoice, "the field \"a\" has a value that is not one of its choices"),
        ];
        for (fault, text) in rows {
            assert_eq!(FieldError { field: "a".into(), fault }.to_string(), text);
        }
    }
}
