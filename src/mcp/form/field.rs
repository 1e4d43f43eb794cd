//! The fields of a form.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::iter;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, value::RawValue};

use super::{FieldError, FieldFault, FieldValue};
use crate::rpc::{from_json, read_owned, text_of};

/// A field of a [`Form`](super::Form).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// The name of the value in the answer.
    pub name: Cow<'static, str>,
    /// The title, for the person. If empty it is left out, and the client shows the name.
    pub title: Cow<'static, str>,
    /// What the field is for, for the person. Left out if empty.
    pub description: Cow<'static, str>,
    /// True if the person must give a value.
    pub required: bool,
    /// The kind of the value.
    pub kind: FieldKind,
    /// The value that the client shows at first.
    pub default: Option<FieldValue>,
}

/// The kind of the value of a field, and its bounds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A text.
    Text {
        /// The minimum length, in characters.
        min_length: Option<u32>,
        /// The maximum length, in characters.
        max_length: Option<u32>,
        /// The format: `email`, `uri`, `date` or `date-time`. The client checks it; [`Form::check`](super::Form::check)
        /// does not.
        format: Option<Cow<'static, str>>,
    },
    /// A number.
    Number {
        /// True for integers.
        is_integer: bool,
        /// The minimum.
        minimum: Option<Number>,
        /// The maximum.
        maximum: Option<Number>,
    },
    /// True or false.
    Boolean,
    /// One of these choices.
    Choice(Vec<FieldChoice>),
    /// Any number of these choices (MCP 2025-11-25).
    Choices {
        /// The choices.
        choices: Vec<FieldChoice>,
        /// How many must be picked at least.
        min_items: Option<u32>,
        /// How many may be picked at most.
        max_items: Option<u32>,
    },
}

/// A value that a person can pick.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChoice {
    /// The value in the answer.
    pub value: Cow<'static, str>,
    /// What the client shows; if this is `None`, it shows the value.
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
    /// Makes a choice of a value and its title.
    fn from((value, title): (V, T)) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }
}

impl FormField {
    /// Returns a field for text.
    pub fn text(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Text { min_length: None, max_length: None, format: None })
    }

    /// Returns a field for a number.
    pub fn number(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Number { is_integer: false, minimum: None, maximum: None })
    }

    /// Returns a field for an integer.
    pub fn integer(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Number { is_integer: true, minimum: None, maximum: None })
    }

    /// Returns a field for true or false.
    pub fn boolean(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, FieldKind::Boolean)
    }

    /// Returns a field for one of these choices, with or without titles.
    pub fn choice<C: Into<FieldChoice>>(
        name: impl Into<Cow<'static, str>>,
        choices: impl IntoIterator<Item = C>,
    ) -> Self {
        Self::new(name, FieldKind::Choice(choices.into_iter().map(Into::into).collect()))
    }

    /// Returns a field for any number of these choices (MCP 2025-11-25), with or without titles.
    pub fn choices<C: Into<FieldChoice>>(
        name: impl Into<Cow<'static, str>>,
        choices: impl IntoIterator<Item = C>,
    ) -> Self {
        let choices = choices.into_iter().map(Into::into).collect();
        Self::new(name, FieldKind::Choices { choices, min_items: None, max_items: None })
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

    /// Makes the field required.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Sets the value that the client shows at first. A value that does not fit the field is not sent.
    #[must_use]
    pub fn default(self, value: impl Into<FieldValue>) -> Self {
        Self { default: Some(value.into()), ..self }
    }

    /// Sets the minimum length of a text, in characters. Fields of other kinds stay as they are.
    #[must_use]
    pub fn min_length(mut self, length: u32) -> Self {
        if let FieldKind::Text { min_length, .. } = &mut self.kind {
            *min_length = Some(length);
        }
        self
    }

    /// Sets the maximum length of a text, in characters. Fields of other kinds stay as they are.
    #[must_use]
    pub fn max_length(mut self, length: u32) -> Self {
        if let FieldKind::Text { max_length, .. } = &mut self.kind {
            *max_length = Some(length);
        }
        self
    }

    /// Sets the format of a text: `email`, `uri`, `date` or `date-time`. Fields of other kinds stay as they are.
    #[must_use]
    pub fn format(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        if let FieldKind::Text { format, .. } = &mut self.kind {
            *format = Some(name.into());
        }
        self
    }

    /// Sets the minimum of a number, if `value` is finite. Fields of other kinds stay as they are.
    #[must_use]
    pub fn minimum(mut self, value: f64) -> Self {
        if let (FieldKind::Number { minimum, .. }, Some(value)) = (&mut self.kind, number(value)) {
            *minimum = Some(value);
        }
        self
    }

    /// Sets the maximum of a number, if `value` is finite. Fields of other kinds stay as they are.
    #[must_use]
    pub fn maximum(mut self, value: f64) -> Self {
        if let (FieldKind::Number { maximum, .. }, Some(value)) = (&mut self.kind, number(value)) {
            *maximum = Some(value);
        }
        self
    }

    /// Sets how many [`choices`](Self::choices) must be picked at least. Fields of other kinds stay as they are.
    #[must_use]
    pub fn min_items(mut self, count: u32) -> Self {
        if let FieldKind::Choices { min_items, .. } = &mut self.kind {
            *min_items = Some(count);
        }
        self
    }

    /// Sets how many [`choices`](Self::choices) may be picked at most. Fields of other kinds stay as they are.
    #[must_use]
    pub fn max_items(mut self, count: u32) -> Self {
        if let FieldKind::Choices { max_items, .. } = &mut self.kind {
            *max_items = Some(count);
        }
        self
    }

    /// Returns roughly how much memory the field takes: the bytes of its strings, and the size of each list element.
    #[cfg(feature = "ide")]
    pub(super) fn content_len(&self) -> usize {
        let choices = |choices: &[FieldChoice]| {
            choices.iter().fold(0_usize, |sum, choice| {
                let title = choice.title.as_deref().map_or(0, str::len);
                let texts = choice.value.len().saturating_add(title);
                sum.saturating_add(size_of::<FieldChoice>()).saturating_add(texts)
            })
        };
        let kind = match &self.kind {
            FieldKind::Text { format, .. } => format.as_deref().map_or(0, str::len),
            FieldKind::Number { .. } | FieldKind::Boolean => 0,
            FieldKind::Choice(list) | FieldKind::Choices { choices: list, .. } => choices(list),
        };
        let default = match &self.default {
            Some(FieldValue::Text(text)) => text.len(),
            Some(FieldValue::Texts(texts)) => texts.iter().fold(0_usize, |sum, text| {
                sum.saturating_add(size_of::<String>()).saturating_add(text.len())
            }),
            Some(FieldValue::Number(_) | FieldValue::Boolean(_)) | None => 0,
        };
        [self.name.len(), self.title.len(), self.description.len(), kind, default]
            .into_iter()
            .fold(size_of::<Self>(), usize::saturating_add)
    }

    /// Checks a value of this field; `None` if the answer has none.
    pub(super) fn check(&self, value: Option<&FieldValue>) -> Result<(), FieldError> {
        let fault = match value {
            Some(value) => self.kind.fault(value),
            None => self.required.then_some(FieldFault::Missing),
        };
        fault.map_or(Ok(()), |fault| Err(FieldError { field: self.name.as_ref().into(), fault }))
    }

    /// Writes the field as JSON Schema. `is_newest` is false for versions of MCP before 2025-11-25.
    pub(super) fn schema(&self, is_newest: bool) -> impl Serialize {
        let text = |text| Some(text).filter(|text: &&Cow<'static, str>| !text.is_empty()).cloned();
        let mut schema = Schema {
            title: text(&self.title),
            description: text(&self.description),
            default: self.default.clone().filter(|value| self.kind.fault(value).is_none()),
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
                let titled = titled(choices);
                match titled {
                    Some(titled) if is_newest => schema.one_of = Some(titled),
                    Some(titled) => {
                        schema.names = Some(titled.into_iter().filter_map(|choice| choice.title).collect());
                        schema.values = Some(values(choices));
                    }
                    None => schema.values = Some(values(choices)),
                }
            }
            FieldKind::Choices { choices, min_items, max_items } => {
                schema.kind = "array".into();
                let any_of = titled(choices);
                let kind = any_of.is_none().then_some("string".into());
                let values = any_of.is_none().then(|| values(choices));
                schema.items = Some(Items { kind, values, any_of });
                (schema.min_items, schema.max_items) = (*min_items, *max_items);
            }
        }
        schema
    }

    /// Reads a field; `None` if no form has a field of this kind.
    pub(super) fn read(name: String, required: bool, raw: &RawValue) -> Option<Self> {
        let schema: Schema = read_owned(raw)?;
        let plain = |value| FieldChoice { value, title: None };
        let choice =
            |Titled { value, title }| FieldChoice { title: title.filter(|title| *title != value), value };
        let kind = match (schema.kind.as_ref(), schema.values, schema.one_of, schema.items) {
            ("string", Some(values), _, _) => {
                let titles = schema.names.into_iter().flatten().map(Some).chain(iter::repeat(None));
                let titled = values.into_iter().zip(titles).map(|(value, title)| Titled { value, title });
                FieldKind::Choice(titled.map(choice).collect())
            }
            ("string", None, Some(titled), _) => FieldKind::Choice(titled.into_iter().map(choice).collect()),
            ("string", None, None, _) => FieldKind::Text {
                min_length: schema.min_length,
                max_length: schema.max_length,
                format: schema.format,
            },
            ("number" | "integer", ..) => FieldKind::Number {
                is_integer: schema.kind == "integer",
                minimum: schema.minimum,
                maximum: schema.maximum,
            },
            ("boolean", ..) => FieldKind::Boolean,
            ("array", _, _, Some(Items { values, any_of, .. })) => FieldKind::Choices {
                choices: match (values, any_of) {
                    (Some(values), _) => values.into_iter().map(plain).collect(),
                    (None, Some(titled)) => titled.into_iter().map(choice).collect(),
                    (None, None) => return None,
                },
                min_items: schema.min_items,
                max_items: schema.max_items,
            },
            _ => return None,
        };
        let default = schema.default.filter(|value| kind.fault(value).is_none());
        let (title, description) = (schema.title.unwrap_or_default(), schema.description.unwrap_or_default());
        Some(Self { name: name.into(), title, description, required, kind, default })
    }
}

fn values(choices: &[FieldChoice]) -> Vec<Cow<'static, str>> {
    choices.iter().map(|choice| choice.value.clone()).collect()
}

/// Returns the choices with their titles, if any of them has one. A choice without a title gets its value as title.
fn titled(choices: &[FieldChoice]) -> Option<Vec<Titled>> {
    let has_titles = choices.iter().any(|choice| choice.title.is_some());
    let titled = |FieldChoice { value, title }: &FieldChoice| Titled {
        title: Some(title.as_ref().unwrap_or(value).clone()),
        value: value.clone(),
    };
    has_titles.then(|| choices.iter().map(titled).collect())
}

impl FieldKind {
    /// Returns what is wrong with a value for this kind, if anything.
    fn fault(&self, value: &FieldValue) -> Option<FieldFault> {
        let is_in = |is_in: bool| if is_in { None } else { Some(FieldFault::OutOfBounds) };
        let counts = |count: usize, min: Option<u32>, max: Option<u32>| {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
        };
        let has = |choices: &[FieldChoice], text: &String| choices.iter().any(|choice| choice.value == *text);
        match (self, value) {
            (Self::Text { min_length, max_length, .. }, FieldValue::Text(text)) => {
                is_in(counts(text.chars().count(), *min_length, *max_length))
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
                (!has(choices, text)).then_some(FieldFault::NoChoice)
            }
            (Self::Choices { choices, min_items, max_items }, FieldValue::Texts(texts)) => {
                if !texts.iter().all(|text| has(choices, text)) {
                    return Some(FieldFault::NoChoice);
                }
                is_in(counts(texts.len(), *min_items, *max_items))
            }
            (
                Self::Text { .. }
                | Self::Number { .. }
                | Self::Boolean
                | Self::Choice(_)
                | Self::Choices { .. },
                _,
            ) => Some(FieldFault::WrongKind),
        }
    }
}

/// Returns a number that is written without a fraction if it has none.
pub(super) fn number(value: f64) -> Option<Number> {
    // Below 2^53 an `f64` holds every whole number exactly, so the cast to `i64` loses nothing.
    #[allow(clippy::cast_possible_truncation, reason = "the number is an integer below 2^53")]
    let whole = (value % 1.0 == 0.0 && value.abs() < 9e15).then_some(value as i64);
    whole.map(Number::from).or_else(|| Number::from_f64(value))
}

/// A field as JSON Schema. If a bound, a default, a title or a description cannot be read, it is left out; if anything
/// else cannot be read, neither can the field.
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
    /// The titles of the choices in versions before MCP 2025-11-25.
    #[serde(rename = "enumNames", default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<Cow<'static, str>>>,
    /// The choices with titles from MCP 2025-11-25 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Titled>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items: Option<Items>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    format: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    min_length: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    max_length: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    min_items: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    max_items: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "bound")]
    minimum: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "bound")]
    maximum: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value")]
    default: Option<FieldValue>,
}

/// The choices of a field in which several can be picked.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Items {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    kind: Option<Cow<'static, str>>,
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Cow<'static, str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<Titled>>,
}

/// A choice and its title.
#[derive(Serialize, Deserialize)]
struct Titled {
    #[serde(rename = "const")]
    value: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    title: Option<Cow<'static, str>>,
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'static, str>>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(text_of(raw).map(|text| Cow::Owned(text.into_owned())))
}

fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FieldValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(FieldValue::read)
}

fn bound<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Number>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(from_json(raw.get()).ok())
}

/// Reads a number of characters or choices. A number above the maximum of `u32` counts as that maximum.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let number = bound(deserializer)?.and_then(|number| number.as_f64());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let saturated = number.map(|number| number as u32);
    Ok(saturated)
}
