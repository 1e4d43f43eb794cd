//! Forms: questions of a server to the person at the client (MCP 2025-11-25, elicitation, form mode).

mod answer;
mod field;

pub use answer::{FieldError, FieldFault, FieldValue, FormAnswer};
pub use field::{FieldChoice, FieldKind, FormField};

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use super::context::put;
use crate::rpc::{ErrorObject, code, each_member, read_object, text_of};

/// A form that the client shows to its person: a message and fields.
///
/// The real client shows the form in its terminal, with the name of the editor (measured, see
/// docs/evidence.md). MCP forbids questions for passwords and other secrets in forms.
///
/// ```
/// use ide_mcp::mcp::{Form, FormField};
/// let form = Form::new("Which tests should run?")
///     .field(FormField::choice("suite", ["all", "failed"]).required())
///     .field(FormField::integer("jobs").description("How many at once").at_least(1.0));
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
    /// The fields, in the order in which the client shows them. A form without fields asks for
    /// consent alone.
    pub fields: Vec<FormField>,
}

impl Form {
    /// Returns a form without fields.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), fields: Vec::new() }
    }

    /// Adds a field. The field replaces an earlier field with the same name.
    #[must_use]
    pub fn field(mut self, field: FormField) -> Self {
        put(&mut self.fields, field, |field| &field.name);
        self
    }

    /// Checks that an accepted answer fits the form: every required field has a value, and every
    /// value is of the kind of its field and within its bounds. Values of other names are ignored. An
    /// answer that is not accepted fits every form.
    ///
    /// # Errors
    ///
    /// The first field without a value that fits.
    pub fn check(&self, answer: &FormAnswer) -> Result<(), FieldError> {
        let FormAnswer::Accepted(values) = answer else { return Ok(()) };
        self.fields.iter().try_for_each(|field| field.check(values.get(field.name.as_ref())))
    }

    /// Reads the parameters of `elicitation/create`.
    pub(super) fn read(params: Option<&RawValue>) -> Result<Self, ErrorObject> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            mode: Option<Cow<'a, str>>,
            message: String,
            #[serde(borrow)]
            requested_schema: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Schema<'a> {
            #[serde(borrow)]
            properties: &'a RawValue,
            #[serde(borrow, default)]
            required: Vec<Cow<'a, str>>,
        }
        let invalid = |text: String| ErrorObject::new(code::INVALID_PARAMS, text);
        let read: Params<'_> = params
            .and_then(read_object)
            .ok_or_else(|| invalid("elicitation/create needs a message and a schema".into()))?;
        if read.mode.is_some_and(|mode| mode != "form") {
            return Err(invalid("only the mode form is supported".into()));
        }
        let schema = read.requested_schema.and_then(read_object::<Schema<'_>>);
        let Some(Schema { properties, required }) = schema else {
            return Err(invalid("the schema of a form is an object with properties".into()));
        };
        let (mut form, mut unreadable) = (Self::new(read.message), None);
        each_member(properties, |name, schema| {
            let field = text_of(name).and_then(|name| {
                let is_required = required.contains(&name);
                FormField::read(name.into(), is_required, schema)
            });
            match field {
                Some(field) => put(&mut form.fields, field, |field| &field.name),
                None => unreadable = unreadable.or_else(|| Some(name.get())),
            }
        })
        .ok_or_else(|| invalid("the properties of a form are an object".into()))?;
        match unreadable {
            Some(name) => Err(invalid(format!("the field {name} is of no kind that a form can have"))),
            None => Ok(form),
        }
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Schema<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            properties: Properties<'a>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            required: Vec<&'a str>,
        }
        let required = self.fields.iter().filter(|field| field.required);
        let schema = Schema {
            kind: "object",
            properties: Properties(&self.fields),
            required: required.map(|field| field.name.as_ref()).collect(),
        };
        let mut out = serializer.serialize_map(Some(2))?;
        out.serialize_entry("message", &self.message)?;
        out.serialize_entry("requestedSchema", &schema)?;
        out.end()
    }
}

struct Properties<'a>(&'a [FormField]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|field| (&field.name, field.schema())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn read(text: &str) -> Result<Form, ErrorObject> {
        Form::read(Some(&RawValue::from_string(text.into()).unwrap()))
    }

    #[test]
    fn written_form_is_read_again() {
        let rows = [
            ("no fields", Form::new("go on?")),
            ("a text", Form::new("m").field(FormField::text("a").title("A").description("d").required())),
            ("a text with bounds", Form::new("m").field(FormField::text("a").of_length(1, 9).default("x"))),
            ("a text of a format", Form::new("m").field(FormField::text("a").format("email"))),
            ("a number", Form::new("m").field(FormField::number("a").at_least(-0.5).at_most(9.0))),
            ("an integer", Form::new("m").field(FormField::integer("a").default(3))),
            ("a boolean", Form::new("m").field(FormField::boolean("a").default(true))),
            ("a choice", Form::new("m").field(FormField::choice("a", ["x", "y"]).default("y"))),
            (
                "a choice with titles",
                Form::new("m").field(FormField::choice("a", [("x", "The x"), ("y", "The y")])),
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
            let text = serde_json::to_string(&form).unwrap();
            assert_eq!(read(&text).unwrap(), form, "{name}: {text}");
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
        let unknown = || Err("the field \"a\" is of no kind that a form can have");
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
            ("a list as a field", of(r#"{"a":{"type":"array","items":{"enum":["x"]}}}"#), unknown()),
            ("a field without a type", of(r#"{"a":{}}"#), unknown()),
            ("a field that is no object", of(r#"{"a":1,"b":2}"#), unknown()),
            ("properties that are no object", of("[]"), Err("the properties of a form are an object")),
            (
                "another mode",
                r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"1"}"#.into(),
                Err("only the mode form is supported"),
            ),
            (
                "no schema",
                r#"{"message":"m"}"#.into(),
                Err("the schema of a form is an object with properties"),
            ),
            ("no message", "{}".into(), Err("elicitation/create needs a message and a schema")),
        ];
        for (name, text, want) in rows {
            let got = read(&text).map_err(|error| (error.code, error.message));
            assert_eq!(got, want.map_err(|text| (-32602, text.into())), "{name}");
        }
        assert!(Form::read(None).is_err());
    }

    #[test]
    fn answer_is_checked_against_the_form() {
        let form = Form::new("m")
            .field(FormField::text("name").required().of_length(2, 3))
            .field(FormField::number("part").at_least(0.0).at_most(1.0))
            .field(FormField::integer("count"))
            .field(FormField::boolean("all"))
            .field(FormField::choice("suite", ["a", "b"]));
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
            ("a number as text", vec![("name", 12.into())], wrong("name", FieldFault::WrongKind)),
            ("the smallest", vec![name.clone(), ("part", 0.into())], Ok(())),
            ("the largest", vec![name.clone(), ("part", 1.into())], Ok(())),
            ("too small", vec![name.clone(), ("part", (-1).into())], wrong("part", FieldFault::OutOfBounds)),
            ("too large", vec![name.clone(), ("part", 2.into())], wrong("part", FieldFault::OutOfBounds)),
            (
                "a fraction as integer",
                vec![name.clone(), ("count", FieldValue::number(0.5).unwrap())],
                wrong("count", FieldFault::WrongKind),
            ),
            (
                "a text as boolean",
                vec![name.clone(), ("all", "true".into())],
                wrong("all", FieldFault::WrongKind),
            ),
            ("no choice of it", vec![name, ("suite", "c".into())], wrong("suite", FieldFault::NoChoice)),
        ];
        for (row, values, want) in rows {
            let values = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
            assert_eq!(form.check(&FormAnswer::Accepted(values)), want, "{row}");
        }
        assert_eq!(form.check(&FormAnswer::Declined), Ok(()));
        assert_eq!(form.check(&FormAnswer::Cancelled), Ok(()));
    }
}
