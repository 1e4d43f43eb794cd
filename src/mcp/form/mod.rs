//! Forms: a server asks the person at the client a question (MCP 2025-11-25, elicitation, form mode).

mod answer;
mod field;

pub use answer::{FieldError, FieldFault, FieldValue, FormAnswer};
pub use field::{FieldChoice, FieldKind, FormField};

use alloc::{borrow::Cow, collections::BTreeSet, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use super::{ProtocolVersion, context::put};
use crate::rpc::{ErrorObject, each_member, name_of, read_object, text_of};

/// Asks the person at the client something: a message and fields to fill in.
///
/// The real client shows the form in its terminal, with the name of the editor (measured, see docs/protocol.md). MCP
/// forbids asking for passwords and other secrets in forms.
///
/// ```
/// use ide_mcp::mcp::{Form, FormField};
/// let form = Form::new("Which tests should run?")
///     .field(FormField::choice("suite", ["all", "failed"]).required())
///     .field(FormField::integer("jobs").description("How many at once").minimum(1.0));
/// assert_eq!(
///     serde_json::to_string(&form)?,
///     r#"{"message":"Which tests should run?","requestedSchema":{"type":"object","properties":{"suite":{"type":"string","enum":["all","failed"]},"jobs":{"type":"integer","description":"How many at once","minimum":1}},"required":["suite"]}}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Form {
    /// The question, for the person.
    pub message: String,
    fields: Vec<FormField>,
}

/// The maximum size, in bytes, of the schema of a received form: more than a person can answer. It also bounds the
/// memory of a form and the time to read it.
const MAX_SCHEMA: usize = 64 * 1024;

impl Form {
    /// Returns a form without fields, which only asks for consent.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), fields: Vec::new() }
    }

    /// Adds a field. It replaces an earlier one with the same name.
    #[must_use]
    pub fn field(mut self, field: FormField) -> Self {
        put(&mut self.fields, field, |field| &field.name);
        self
    }

    /// Returns the fields, in the order that a client shows them.
    #[must_use]
    pub fn fields(&self) -> &[FormField] {
        &self.fields
    }

    /// Returns roughly how much memory the form takes: the bytes of its strings, and the size of each list element.
    #[cfg(feature = "ide")]
    pub(crate) fn content_len(&self) -> usize {
        self.fields.iter().fold(self.message.len(), |sum, field| sum.saturating_add(field.content_len()))
    }

    /// Checks that an accepted answer fits the form: every required field has a value, and every value is of the kind
    /// of its field and within its bounds. The format of a text is not checked. Values of other names are ignored. An
    /// answer that declines or cancels fits every form.
    ///
    /// # Errors
    ///
    /// The first field whose value does not fit.
    pub fn check(&self, answer: &FormAnswer) -> Result<(), FieldError> {
        let FormAnswer::Accepted(values) = answer else { return Ok(()) };
        self.fields.iter().try_for_each(|field| field.check(values.get(field.name.as_ref())))
    }

    /// Reads the result of `elicitation/create`, ignoring values of other names. Returns `None` if it cannot be read or
    /// does not fit the form.
    pub(super) fn read_answer(&self, raw: &RawValue) -> Option<FormAnswer> {
        let names: BTreeSet<&str> = self.fields.iter().map(|field| field.name.as_ref()).collect();
        FormAnswer::read_fields(raw, |name| names.contains(name)).filter(|answer| self.check(answer).is_ok())
    }

    /// Reads the parameters of `elicitation/create`, as [`Form`] writes them or as a later version of MCP does.
    ///
    /// # Errors
    ///
    /// An error with [`INVALID_PARAMS`](crate::rpc::code::INVALID_PARAMS) for the server, if a member is missing, the
    /// mode is another one, a field is of no known [`FieldKind`], or the schema has more than 64 KiB.
    pub fn read(params: &RawValue) -> Result<Self, ErrorObject> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            mode: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
            #[serde(borrow)]
            requested_schema: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Schema<'a> {
            #[serde(borrow)]
            properties: &'a RawValue,
            #[serde(borrow)]
            required: Option<Vec<Cow<'a, str>>>,
        }
        let invalid = |text: String| ErrorObject::invalid_params(text);
        let (message, read) = read_object::<Params<'_>>(params)
            .and_then(|read| Some((text_of(read.message?)?.into_owned(), read)))
            .ok_or_else(|| invalid("elicitation/create needs a message and a schema".into()))?;
        if read.mode.is_some_and(|mode| mode.get() != "\"form\"") {
            return Err(invalid("only forms are supported, not other modes".into()));
        }
        if read.requested_schema.is_some_and(|schema| schema.get().len() > MAX_SCHEMA) {
            return Err(invalid("the schema of a form may have at most 64 KiB".into()));
        }
        let schema = read.requested_schema.and_then(read_object::<Schema<'_>>);
        let Some(Schema { properties, required }) = schema else {
            return Err(invalid("the schema of a form must be an object with properties".into()));
        };
        let required = required.unwrap_or_default();
        let (mut form, mut unreadable) = (Self::new(message), None);
        each_member(properties, |name, schema| {
            let field = name_of(name).and_then(|name| {
                let is_required = required.contains(&name);
                FormField::read(name.into(), is_required, schema)
            });
            match field {
                Some(field) => put(&mut form.fields, field, |field| &field.name),
                None => unreadable = unreadable.or_else(|| Some(name.get())),
            }
        })
        .ok_or_else(|| invalid("the properties of a form must be an object".into()))?;
        match unreadable {
            Some(name) => Err(invalid(format!(
                "the field {name} must be a string, number, integer, boolean or array of choices"
            ))),
            None => Ok(form),
        }
    }
}

impl Serialize for Form {
    /// Writes the parameters of `elicitation/create` as in MCP 2025-11-25.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FormOut { form: self, version: None }.serialize(serializer)
    }
}

/// A form for a session of this version; `None` for the newest.
pub(super) struct FormOut<'a> {
    pub(super) form: &'a Form,
    pub(super) version: Option<ProtocolVersion>,
}

impl Serialize for FormOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Schema<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            properties: Properties<'a>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            required: Vec<&'a str>,
        }
        // Before the newest version, the titles of choices were written in another way.
        let is_newest = self.version.is_none_or(|version| version == ProtocolVersion::NEWEST);
        let required = self.form.fields.iter().filter(|field| field.required);
        let schema = Schema {
            kind: "object",
            properties: Properties { fields: &self.form.fields, is_newest },
            required: required.map(|field| field.name.as_ref()).collect(),
        };
        let mut out = serializer.serialize_map(Some(2))?;
        out.serialize_entry("message", &self.form.message)?;
        out.serialize_entry("requestedSchema", &schema)?;
        out.end()
    }
}

struct Properties<'a> {
    fields: &'a [FormField],
    is_newest: bool,
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields.iter().map(|field| (&field.name, field.schema(self.is_newest))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn read(text: &str) -> Result<Form, ErrorObject> {
        Form::read(&RawValue::from_string(text.into()).unwrap())
    }

    #[test]
    fn written_form_is_read_back_equal() {
        let rows = [
            ("no fields", Form::new("go on?")),
            ("a text", Form::new("m").field(FormField::text("a").title("A").description("d").required())),
            (
                "a text with bounds",
                Form::new("m").field(FormField::text("a").min_length(1).max_length(9).default("x")),
            ),
            ("a text with a format", Form::new("m").field(FormField::text("a").format("email"))),
            ("a number", Form::new("m").field(FormField::number("a").minimum(-0.5).maximum(9.0))),
            ("an integer", Form::new("m").field(FormField::integer("a").default(3))),
            ("a boolean", Form::new("m").field(FormField::boolean("a").default(true))),
            ("a choice", Form::new("m").field(FormField::choice("a", ["x", "y"]).default("y"))),
            (
                "a choice with titles",
                Form::new("m").field(FormField::choice("a", [("x", "The x"), ("y", "The y")])),
            ),
            (
                "several choices",
                Form::new("m").field(FormField::choices("a", ["x", "y"]).min_items(1).max_items(2)),
            ),
            (
                "several choices with titles",
                Form::new("m").field(FormField::choices("a", [("x", "The x"), ("y", "The y")])),
            ),
            (
                "several, the second one replaced",
                Form::new("m")
                    .field(FormField::text("b"))
                    .field(FormField::text("a"))
                    .field(FormField::boolean("a")),
            ),
        ];
        for (name, form) in rows {
            for version in [None, Some(ProtocolVersion::V2025_06_18)] {
                let text = serde_json::to_string(&FormOut { form: &form, version }).unwrap();
                assert_eq!(read(&text).unwrap(), form, "{name}: {text}");
            }
        }
    }

    #[test]
    fn form_is_written_for_its_version() {
        let form = Form::new("m")
            .field(FormField::text("a").title("A").description("d").default("x").required())
            .field(FormField::choice("b", [("x", "The x")]));
        assert!(form.fields().iter().map(|field| &*field.name).eq(["a", "b"]));
        let text = r#""a":{"type":"string","title":"A","description":"d","default":"x"}"#;
        let newest = r#"{"type":"string","oneOf":[{"const":"x","title":"The x"}]}"#;
        let before = r#"{"type":"string","enum":["x"],"enumNames":["The x"]}"#;
        let rows = [
            (None, newest),
            (Some(ProtocolVersion::NEWEST), newest),
            (Some(ProtocolVersion::V2025_06_18), before),
        ];
        for (version, choice) in rows {
            let written = serde_json::to_string(&FormOut { form: &form, version }).unwrap();
            let properties =
                format!(r#"{{"type":"object","properties":{{{text},"b":{choice}}},"required":["a"]}}"#);
            assert_eq!(
                written,
                format!(r#"{{"message":"m","requestedSchema":{properties}}}"#),
                "{version:?}"
            );
        }
    }

    #[test]
    fn form_is_read_tolerantly_or_refused() {
        let of = |properties: &str| {
            format!(
                r#"{{"mode":"form","message":"m","requestedSchema":{{"type":"object","properties":{properties}}}}}"#
            )
        };
        let field = |field| Ok(Form::new("m").field(field));
        let unknown =
            || Err("the field \"a\" must be a string, number, integer, boolean or array of choices");
        let rows = [
            (
                "titles as the newest version writes them",
                of(r#"{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}"#),
                field(FormField::choice("a", [("x", "X")])),
            ),
            (
                "a default of another kind is left out",
                of(r#"{"a":{"type":"boolean","default":1,"x":[]}}"#),
                field(FormField::boolean("a")),
            ),
            ("an object as a field", of(r#"{"a":{"type":"object","properties":{}}}"#), unknown()),
            (
                "choices without a type, and bounds of other kinds",
                of(r#"{"a":{"type":"array","items":{"enum":["x"]},"minItems":1.0,"maxItems":"2"}}"#),
                field(FormField::choices("a", ["x"]).min_items(1)),
            ),
            (
                "a bound above the maximum of u32",
                of(r#"{"a":{"type":"string","maxLength":4294967296,"minLength":-1}}"#),
                field(FormField::text("a").max_length(u32::MAX).min_length(0)),
            ),
            (
                "a name that is present twice: the later one counts",
                of(r#"{"a":{"type":"string"},"a":{"type":"boolean"}}"#),
                field(FormField::boolean("a")),
            ),
            (
                "members that are null",
                r#"{"message":"m","requestedSchema":{"properties":{"a":{"type":"boolean","title":null}},"required":null}}"#
                    .into(),
                field(FormField::boolean("a")),
            ),
            ("an array of any strings", of(r#"{"a":{"type":"array","items":{"type":"string"}}}"#), unknown()),
            ("a field without a type", of(r#"{"a":{}}"#), unknown()),
            ("a field that is not an object", of(r#"{"a":1,"b":2}"#), unknown()),
            ("properties that are not an object", of("[]"), Err("the properties of a form must be an object")),
            (
                "another mode",
                r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"1"}"#.into(),
                Err("only forms are supported, not other modes"),
            ),
            ("a mode that is not a string", r#"{"mode":1,"message":"m"}"#.into(), Err("only forms are supported, not other modes")),
            (
                "no schema",
                r#"{"message":"m"}"#.into(),
                Err("the schema of a form must be an object with properties"),
            ),
            ("no message", "{}".into(), Err("elicitation/create needs a message and a schema")),
            ("not an object", "null".into(), Err("elicitation/create needs a message and a schema")),
        ];
        for (name, text, want) in rows {
            let got = read(&text).map_err(|error| (error.code, error.message));
            assert_eq!(got, want.map_err(|text| (-32602, text.into())), "{name}");
        }
        let padded = |len: usize| of(&format!(r#"{{"a":{{"type":"boolean","x":"{}"}}}}"#, "x".repeat(len)));
        let around = r#"{"type":"object","properties":{"a":{"type":"boolean","x":""}}}"#.len();
        assert!(read(&padded(65_536 - around)).is_ok());
        let error = read(&padded(65_537 - around)).unwrap_err();
        assert_eq!(error.message, "the schema of a form may have at most 64 KiB");
    }

    #[test]
    fn answer_is_checked_against_the_form() {
        let form = Form::new("m")
            .field(FormField::text("name").required().min_length(2).max_length(3))
            .field(FormField::number("part").minimum(0.0).maximum(1.0))
            .field(FormField::integer("count"))
            .field(FormField::boolean("all"))
            .field(FormField::choice("suite", ["a", "b"]))
            .field(FormField::choices("tags", ["a", "b", "c"]).min_items(1).max_items(2));
        let tags = |tags: &[&str]| ("tags", FieldValue::from(tags));
        let wrong = |field: &str, fault| Err(FieldError { field: field.into(), fault });
        let name = ("name", FieldValue::from("né"));
        let rows = [
            ("the required one", vec![name.clone()], Ok(())),
            (
                "all",
                vec![
                    name.clone(),
                    ("part", FieldValue::number(0.5).unwrap()),
                    ("count", FieldValue::number(2.0).unwrap()),
                    ("all", true.into()),
                    ("suite", "b".into()),
                    ("more", "ignored".into()),
                ],
                Ok(()),
            ),
            ("the longest", vec![("name", "abc".into())], Ok(())),
            ("none", vec![], wrong("name", FieldFault::Missing)),
            ("too short", vec![("name", "é".into())], wrong("name", FieldFault::OutOfBounds)),
            ("too long", vec![("name", "abcd".into())], wrong("name", FieldFault::OutOfBounds)),
            ("a number for a text", vec![("name", 12.into())], wrong("name", FieldFault::WrongKind)),
            ("the smallest", vec![name.clone(), ("part", 0.into())], Ok(())),
            ("the largest", vec![name.clone(), ("part", 1.into())], Ok(())),
            ("too small", vec![name.clone(), ("part", (-1).into())], wrong("part", FieldFault::OutOfBounds)),
            ("too large", vec![name.clone(), ("part", 2.into())], wrong("part", FieldFault::OutOfBounds)),
            (
                "a fraction for an integer",
                vec![name.clone(), ("count", FieldValue::number(0.5).unwrap())],
                wrong("count", FieldFault::WrongKind),
            ),
            (
                "a text for a boolean",
                vec![name.clone(), ("all", "true".into())],
                wrong("all", FieldFault::WrongKind),
            ),
            (
                "a value that is not one of the choices",
                vec![name.clone(), ("suite", "c".into())],
                wrong("suite", FieldFault::NoChoice),
            ),
            ("the maximum number of choices", vec![name.clone(), tags(&["a", "c"])], Ok(())),
            (
                "too many choices",
                vec![name.clone(), tags(&["a", "b", "c"])],
                wrong("tags", FieldFault::OutOfBounds),
            ),
            ("too few choices", vec![name.clone(), tags(&[])], wrong("tags", FieldFault::OutOfBounds)),
            (
                "several choices, one of them unknown",
                vec![name.clone(), tags(&["a", "d"])],
                wrong("tags", FieldFault::NoChoice),
            ),
            (
                "a text instead of choices",
                vec![name, ("tags", "a".into())],
                wrong("tags", FieldFault::WrongKind),
            ),
        ];
        for (row, values, want) in rows {
            let values = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
            assert_eq!(form.check(&FormAnswer::Accepted(values)), want, "{row}");
        }
        assert_eq!(form.check(&FormAnswer::Declined), Ok(()));
        assert_eq!(form.check(&FormAnswer::Cancelled), Ok(()));
    }

    #[test]
    fn answer_keeps_the_values_of_the_form() {
        let form = Form::new("m").field(FormField::text("a")).field(FormField::choices("b", ["x", "y"]));
        let read = |content: &str| {
            let text = format!(r#"{{"action":"accept","content":{content}}}"#);
            form.read_answer(&RawValue::from_string(text).unwrap())
        };
        let accepted = |values: &[(&str, FieldValue)]| {
            let values = values.iter().map(|(name, value)| ((*name).into(), value.clone()));
            Some(FormAnswer::Accepted(values.collect()))
        };
        let rows = [
            ("other names", r#"{"a":"x","c":["y"],"d":{}}"#, accepted(&[("a", "x".into())])),
            ("null", r#"{"a":null}"#, accepted(&[])),
            ("a name that is present twice", r#"{"a":"x","a":"y"}"#, accepted(&[("a", "y".into())])),
            ("choices", r#"{"b":["x"]}"#, accepted(&[("b", FieldValue::from(["x"].as_slice()))])),
            ("an array for a text", r#"{"a":["x"]}"#, None),
            ("an object", r#"{"a":{}}"#, None),
            ("numbers for choices", r#"{"b":[1]}"#, None),
        ];
        for (name, content, want) in rows {
            assert_eq!(read(content), want, "{name}");
        }
    }
}
