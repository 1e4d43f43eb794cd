//! The fields of a form.

use alloc::{borrow::Cow, string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::{Number, value::RawValue};

use super::{FieldError, FieldFault, FieldValue};
use crate::rpc::{read_object, text_of};

/// A field of a [`Form`](super::Form).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// The name of the value in the answer.
    pub name: Cow<'static, str>,
    /// The title of the field, for the person. Left out if empty: the client shows the name then.
    pub title: Cow<'static, str>,
    /// A description of the field, for the person. Left out if empty.
    pub description: Cow<'static, str>,
    /// True if the person has to give a value.
    pub required: bool,
    /// The kind of the value.
    pub kind: FieldKind,
    /// The value that the client shows at first.
    pub default: Option<FieldValue>,
}

/// The kind of the value of a field, and the bounds of the value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A text.
    Text {
        /// The smallest number of characters.
        min_length: Option<u32>,
        /// The greatest number of characters.
        max_length: Option<u32>,
        /// The format: `email`, `uri`, `date` or `date-time`. The client checks the format;
        /// [`Form::check`](super::Form::check) does not.
        format: Option<Cow<'static, str>>,
    },
    /// A number.
    Number {
        /// True if the number has no fraction.
        is_integer: bool,
        /// The smallest number.
        minimum: Option<Number>,
        /// The greatest number.
        maximum: Option<Number>,
    },
    /// True or false.
    Boolean,
    /// One of these texts.
    Choice(Vec<FieldChoice>),
}

/// A text that a person can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChoice {
    /// The text in the answer.
    pub value: Cow<'static, str>,
    /// The text that the client shows; `None` for the value.
    pub title: Option<Cow<'static, str>>,
}

impl From<&'static str> for FieldChoice {
    fn from(value: &'static str) -> Self {
        Self { value: value.into(), title: None }
    }
}

impl From<String> for FieldChoice {
    fn from(value: String) -> Self {
        Self { value: value.into(), title: None }
    }
}

impl<V: Into<Cow<'static, str>>, T: Into<Cow<'static, str>>> From<(V, T)> for FieldChoice {
    /// Returns a choice of a value and its title.
    fn from((value, title): (V, T)) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }
}

impl FormField {
    /// Returns a field for a text.
    pub fn text(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Text { min_length: None, max_length: None, format: None })
    }

    /// Returns a field for a number.
    pub fn number(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Number { is_integer: false, minimum: None, maximum: None })
    }

    /// Returns a field for a number without a fraction.
    pub fn integer(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Number { is_integer: true, minimum: None, maximum: None })
    }

    /// Returns a field for true or false.
    pub fn boolean(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Boolean)
    }

    /// Returns a field for one of these texts, each with or without a title.
    pub fn choice<C: Into<FieldChoice>>(
        name: impl Into<Cow<'static, str>>,
        choices: impl IntoIterator<Item = C>,
    ) -> Self {
        Self::new(name, FieldKind::Choice(choices.into_iter().map(Into::into).collect()))
    }

    fn new(name: impl Into<Cow<'static, str>>, kind: FieldKind) -> Self {
        let (title, description) = (Cow::Borrowed(""), Cow::Borrowed(""));
        Self { name: name.into(), title, description, required: false, kind, default: None }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(self, title: impl Into<Cow<'static, str>>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(self, description: impl Into<Cow<'static, str>>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// Demands a value.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Sets the value that the client shows at first.
    #[must_use]
    pub fn default(self, value: impl Into<FieldValue>) -> Self {
        Self { default: Some(value.into()), ..self }
    }

    /// Sets the smallest and the greatest number of characters of a text. Does nothing for another
    /// kind.
    #[must_use]
    pub fn of_length(mut self, min: u32, max: u32) -> Self {
        if let FieldKind::Text { min_length, max_length, .. } = &mut self.kind {
            (*min_length, *max_length) = (Some(min), Some(max));
        }
        self
    }

    /// Sets the format of a text: `email`, `uri`, `date` or `date-time`. Does nothing for another
    /// kind.
    #[must_use]
    pub fn format(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        if let FieldKind::Text { format, .. } = &mut self.kind {
            *format = Some(name.into());
        }
        self
    }

    /// Sets the smallest number. Does nothing for another kind, or if `min` is not finite.
    #[must_use]
    pub fn at_least(mut self, min: f64) -> Self {
        if let FieldKind::Number { minimum, .. } = &mut self.kind {
            *minimum = number(min);
        }
        self
    }

    /// Sets the greatest number. Does nothing for another kind, or if `max` is not finite.
    #[must_use]
    pub fn at_most(mut self, max: f64) -> Self {
        if let FieldKind::Number { maximum, .. } = &mut self.kind {
            *maximum = number(max);
        }
        self
    }

    /// Checks a value of this field; `None` if the answer has none.
    pub(super) fn check(&self, value: Option<&FieldValue>) -> Result<(), FieldError> {
        let fault = match value {
            Some(value) => self.kind.fault(value),
            None => self.required.then_some(FieldFault::Missing),
        };
        fault.map_or(Ok(()), |fault| Err(FieldError { field: self.name.as_ref().into(), fault }))
    }

    /// Returns the description of the field as JSON Schema.
    pub(super) fn schema(&self) -> impl Serialize {
        let text = |text| Some(text).filter(|text: &&Cow<'static, str>| !text.is_empty()).cloned();
        let mut schema = Schema {
            title: text(&self.title),
            description: text(&self.description),
            default: self.default.clone(),
            ..Schema::default()
        };
        match &self.kind {
            FieldKind::Text { min_length, max_length, format } => {
                schema.kind = "string".into();
                (schema.min_length, schema.max_length) = (*min_length, *max_length);
                schema.format.clone_from(format);
            }
            FieldKind::Number { is_integer, minimum, maximum } => {
                schema.kind = if *is_integer { "integer" } else { "number" }.into();
                schema.minimum.clone_from(minimum);
                schema.maximum.clone_from(maximum);
            }
            FieldKind::Boolean => schema.kind = "boolean".into(),
            FieldKind::Choice(choices) => {
                schema.kind = "string".into();
                schema.values = Some(choices.iter().map(|choice| choice.value.clone()).collect());
                let title = |choice: &FieldChoice| choice.title.as_ref().unwrap_or(&choice.value).clone();
                let has_titles = choices.iter().any(|choice| choice.title.is_some());
                schema.names = has_titles.then(|| choices.iter().map(title).collect());
            }
        }
        schema
    }

    /// Reads the description of a field; `None` if the field is of no kind that a form can have.
    pub(super) fn read(name: String, required: bool, raw: &RawValue) -> Option<Self> {
        let schema: Schema = read_object(raw)?;
        let kind = match (schema.kind.as_ref(), schema.values, schema.one_of) {
            ("string", Some(values), _) => {
                let mut titles = schema.names.into_iter().flatten();
                FieldKind::Choice(
                    values
                        .into_iter()
                        .map(|value| FieldChoice {
                            title: titles.next().filter(|title| *title != value),
                            value,
                        })
                        .collect(),
                )
            }
            ("string", None, Some(choices)) => {
                let choice = |Titled { value, title }| FieldChoice { value, title };
                FieldKind::Choice(choices.into_iter().map(choice).collect())
            }
            ("string", None, None) => FieldKind::Text {
                min_length: schema.min_length,
                max_length: schema.max_length,
                format: schema.format,
            },
            ("number" | "integer", _, _) => FieldKind::Number {
                is_integer: schema.kind == "integer",
                minimum: schema.minimum,
                maximum: schema.maximum,
            },
            ("boolean", _, _) => FieldKind::Boolean,
            _ => return None,
        };
        let default = schema.default.filter(|value| kind.fault(value).is_none());
        let (title, description) = (schema.title.unwrap_or_default(), schema.description.unwrap_or_default());
        Some(Self { name: name.into(), title, description, required, kind, default })
    }
}

impl FieldKind {
    /// Returns the fault of a value of this kind, if it has one.
    fn fault(&self, value: &FieldValue) -> Option<FieldFault> {
        let is_in = |is_in: bool| if is_in { None } else { Some(FieldFault::OutOfBounds) };
        match (self, value) {
            (Self::Text { min_length, max_length, .. }, FieldValue::Text(text)) => {
                let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                is_in(
                    min_length.is_none_or(|min| length >= min) && max_length.is_none_or(|max| length <= max),
                )
            }
            (Self::Number { is_integer, minimum, maximum }, FieldValue::Number(number)) => {
                let value = number.as_f64().unwrap_or_default();
                if *is_integer && value % 1.0 != 0.0 {
                    return Some(FieldFault::WrongKind);
                }
                let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
                is_in(
                    bound(minimum).is_none_or(|min| value >= min)
                        && bound(maximum).is_none_or(|max| value <= max),
                )
            }
            (Self::Boolean, FieldValue::Boolean(_)) => None,
            (Self::Choice(choices), FieldValue::Text(text)) => {
                let is_choice = choices.iter().any(|choice| choice.value == *text);
                (!is_choice).then_some(FieldFault::NoChoice)
            }
            (Self::Text { .. } | Self::Number { .. } | Self::Boolean | Self::Choice(_), _) => {
                Some(FieldFault::WrongKind)
            }
        }
    }
}

/// Returns a number that is written without a fraction if it has none.
pub(super) fn number(value: f64) -> Option<Number> {
    // `i64` has each number without a fraction whose size is below 2^53.
    #[allow(clippy::cast_possible_truncation, reason = "the number is an integer below 2^53")]
    let whole = (value % 1.0 == 0.0 && value.abs() < 9e15).then_some(value as i64);
    whole.map(Number::from).or_else(|| Number::from_f64(value))
}

/// A field as JSON Schema. A member that cannot be read makes the field unreadable, but for the
/// default and the texts for the person.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    title: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    description: Option<Cow<'static, str>>,
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Cow<'static, str>>>,
    /// The titles of the choices as MCP 2025-06-18 writes them, which later versions accept too.
    #[serde(rename = "enumNames", default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<Cow<'static, str>>>,
    #[serde(default, skip_serializing)]
    one_of: Option<Vec<Titled>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_length: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_length: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    minimum: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maximum: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value")]
    default: Option<FieldValue>,
}

/// A choice and its title as MCP 2025-11-25 writes them.
#[derive(Deserialize)]
struct Titled {
    #[serde(rename = "const")]
    value: Cow<'static, str>,
    title: Option<Cow<'static, str>>,
}

fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'static, str>>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(text_of(raw).map(|text| Cow::Owned(text.into_owned())))
}

fn value<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<FieldValue>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}
