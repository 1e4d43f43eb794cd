//! The requests for prompts and resources, for folders, and for an answer to a form, each with the
//! answer that it requires. The rows state the answers, and no code under test decides them.

use super::Expected;
use ide_mcp::mcp::{
    Context, Form, FormField, PromptArgument, PromptSpec, ResourceSpec, ResourceTemplate, Root,
};
use ide_mcp::rpc::code;

/// A request for something that a session serves itself.
#[derive(Debug)]
pub struct Served {
    pub method: &'static str,
    /// The parameters as JSON; empty if they are absent.
    pub params: &'static str,
    pub requires: Requires,
}

/// What a row requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requires {
    /// This result, byte for byte.
    Result(&'static str),
    /// The list of the folders of the client.
    Roots,
    Error(i64),
    /// The answer of the application, which receives a call of this kind.
    Call(Kind),
    /// The answer of the application if there is a template, otherwise -32002.
    Template,
}

/// The kind of a call, which decides the forms of its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tool,
    Request,
    Prompt,
    Resource,
    /// A resource that a tool reads.
    ReadByTool,
    Form,
}

const fn row(method: &'static str, params: &'static str, requires: Requires) -> Served {
    Served { method, params, requires }
}

const INVALID: Requires = Requires::Error(code::INVALID_PARAMS);
const PROMPT: Requires = Requires::Call(Kind::Prompt);
const FORM: Requires = Requires::Call(Kind::Form);

pub const SERVED: &[Served] = &[
    row(
        "prompts/list",
        "",
        Requires::Result(
            r#"{"prompts":[{"name":"bare"},{"name":"review","arguments":[{"name":"file","required":true},{"name":"focus"}]}]}"#,
        ),
    ),
    row("prompts/list", r#"{"cursor":"c"}"#, INVALID),
    row("prompts/get", r#"{"name":"bare"}"#, PROMPT),
    row("prompts/get", r#"{"name":"bare","arguments":null}"#, PROMPT),
    row("prompts/get", r#"{"name":"review","arguments":{"file":"a"}}"#, PROMPT),
    row(
        "prompts/get",
        r#"{"name":"review","arguments":{"file":"","more":"b"},"_meta":{"progressToken":"w"}}"#,
        PROMPT,
    ),
    row("prompts/get", r#"{"name":"review"}"#, INVALID),
    row("prompts/get", r#"{"name":"review","arguments":{"focus":"a"}}"#, INVALID),
    row("prompts/get", r#"{"name":"review","arguments":{"file":1}}"#, INVALID),
    row("prompts/get", r#"{"name":"bare","arguments":[]}"#, INVALID),
    row("prompts/get", r#"{"name":"nobody"}"#, INVALID),
    row("prompts/get", "{}", INVALID),
    row("prompts/get", "", INVALID),
    row("resources/read", r#"{"uri":"notes://today"}"#, Requires::Call(Kind::Resource)),
    row(
        "resources/read",
        r#"{"uri":"notes://today","_meta":{"progressToken":"w"}}"#,
        Requires::Call(Kind::Resource),
    ),
    row("resources/read", r#"{"uri":"ide://soon"}"#, Requires::Call(Kind::ReadByTool)),
    row(
        "resources/read",
        r#"{"uri":"ide://soon","_meta":{"progressToken":"w"}}"#,
        Requires::Call(Kind::ReadByTool),
    ),
    // The tool requires an argument.
    row("resources/read", r#"{"uri":"ide://typed"}"#, INVALID),
    // The tool does not exist.
    row("resources/read", r#"{"uri":"ide://gone"}"#, Requires::Error(code::RESOURCE_NOT_FOUND)),
    row("resources/read", r#"{"uri":"notes://other"}"#, Requires::Template),
    row("resources/read", r#"{"uri":"NOTES://today"}"#, Requires::Template),
    row("resources/read", r#"{"uri":7}"#, INVALID),
    row("resources/read", "", INVALID),
    row("roots/list", "", Requires::Roots),
    row("roots/list", r#"{"cursor":"c"}"#, Requires::Roots),
    row("elicitation/create", r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#, FORM),
    row(
        "elicitation/create",
        r#"{"mode":"form","message":"m","requestedSchema":{"properties":{"a":{"type":"string","enum":["x"]}},"required":["a"]},"_meta":{"progressToken":"w"}}"#,
        FORM,
    ),
    row(
        "elicitation/create",
        r#"{"message":"m","requestedSchema":{"properties":{"a":{"type":"string","minLength":1,"maxLength":9}},"required":[]}}"#,
        FORM,
    ),
    row(
        "elicitation/create",
        r#"{"message":"m","requestedSchema":{"properties":{"a":{"type":"number","minimum":0},"b":{"type":"boolean","default":true}}}}"#,
        FORM,
    ),
    row(
        "elicitation/create",
        r#"{"message":"m","requestedSchema":{"properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}}}}}"#,
        FORM,
    ),
    row(
        "elicitation/create",
        r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"1"}"#,
        INVALID,
    ),
    row("elicitation/create", r#"{"mode":"url","message":"m","requestedSchema":{"properties":{}}}"#, INVALID),
    row(
        "elicitation/create",
        r#"{"message":"m","requestedSchema":{"properties":{"a":{"type":"object"}}}}"#,
        INVALID,
    ),
    row(
        "elicitation/create",
        r#"{"message":"m","requestedSchema":{"properties":{"a":{"type":"boolean"},"b":{"type":"array","items":{"type":"number"}}}}}"#,
        INVALID,
    ),
    row("elicitation/create", r#"{"message":"m","requestedSchema":{"properties":[]}}"#, INVALID),
    row("elicitation/create", r#"{"message":"m"}"#, INVALID),
    row("elicitation/create", r#"{"requestedSchema":{"properties":{}}}"#, INVALID),
    row("elicitation/create", "", INVALID),
];

/// Returns true if a session that offers prompts and resources (a server), or folders and forms (a
/// client), serves this method itself.
pub fn is_served(is_server: bool, method: &str) -> bool {
    match method {
        "prompts/list" | "prompts/get" | "resources/list" | "resources/templates/list" | "resources/read" => {
            is_server
        }
        "roots/list" | "elicitation/create" => !is_server,
        _ => false,
    }
}

/// What a request leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Due {
    /// This answer, at once.
    Now(Expected),
    /// A call of this kind, which the application answers.
    Call(Kind),
}

/// Returns what these parameters lead to; `None` if no row has them.
pub fn served(method: &str, params: Option<&str>, has_template: bool, has_other_roots: bool) -> Option<Due> {
    let params = params.unwrap_or_default();
    let row = SERVED.iter().find(|row| row.method == method && row.params == params)?;
    Some(match row.requires {
        Requires::Result(text) => Due::Now(Expected::Exactly(text)),
        Requires::Roots => Due::Now(Expected::Exactly(roots(has_other_roots).1)),
        Requires::Error(code) => Due::Now(Expected::Error(code)),
        Requires::Template if !has_template => Due::Now(Expected::Error(code::RESOURCE_NOT_FOUND)),
        Requires::Template => Due::Call(Kind::Resource),
        Requires::Call(kind) => Due::Call(kind),
    })
}

/// Returns the prompts and resources of the rows.
pub fn context(has_template: bool) -> Context {
    let review = PromptSpec::new("review", "")
        .argument(PromptArgument::required("file", ""))
        .argument(PromptArgument::optional("focus", ""));
    let context = Context::new()
        .prompt(PromptSpec::new("bare", ""))
        .prompt(review)
        .resource(ResourceSpec::new("notes://today", "today"))
        .resource(ResourceSpec::new("ide://soon", "soon").read_by("soon"))
        .resource(ResourceSpec::new("ide://typed", "typed").read_by("typed"))
        .resource(ResourceSpec::new("ide://gone", "gone").read_by("gone"));
    match has_template {
        true => context.template(ResourceTemplate::new("notes://{day}", "notes")),
        false => context,
    }
}

/// Returns the folders of a client, and the result of `roots/list` with them.
pub fn roots(is_other: bool) -> (Vec<Root>, &'static str) {
    match is_other {
        false => (vec![Root::new("file:///w").name("w")], r#"{"roots":[{"uri":"file:///w","name":"w"}]}"#),
        true => (vec![], r#"{"roots":[]}"#),
    }
}

/// The capabilities that a client declares, and true if the client shows forms.
pub const CAPABILITIES: [(&str, bool); 7] = [
    (r#"{"elicitation":{}}"#, true),
    ("{}", false),
    (r#"{"roots":{},"elicitation":{"form":{}}}"#, true),
    (r#"{"elicitation":{"form":{},"url":{}}}"#, true),
    (r#"{"elicitation":{"url":{}}}"#, false),
    (r#"{"roots":{}}"#, false),
    (r#"{"elicitation":true}"#, false),
];

/// Returns the form that a server sends.
pub fn form() -> Form {
    Form::new("Which?")
        .field(FormField::choice("suite", ["all", "failed"]).required())
        .field(FormField::integer("jobs").minimum(1.0).maximum(8.0))
}

/// The answers to [`form`], each with the result that the application receives; `None` if the answer
/// does not fit.
pub const FORM_ANSWERS: &[(&str, Option<&str>)] = &[
    (
        r#"{"action":"accept","content":{"suite":"all"}}"#,
        Some(r#"{"action":"accept","content":{"suite":"all"}}"#),
    ),
    (
        r#"{"action":"accept","content":{"suite":"failed","more":[1],"jobs":8}}"#,
        Some(r#"{"action":"accept","content":{"jobs":8,"suite":"failed"}}"#),
    ),
    (r#"{"action":"decline","content":[1]}"#, Some(r#"{"action":"decline"}"#)),
    (r#"{"action":"cancel"}"#, Some(r#"{"action":"cancel"}"#)),
    (r#"{"action":"accept","content":{"suite":"all","jobs":9}}"#, None),
    (r#"{"action":"accept","content":{"suite":"all","jobs":0}}"#, None),
    (r#"{"action":"accept","content":{"suite":"all","jobs":1.5}}"#, None),
    (r#"{"action":"accept","content":{"suite":"some"}}"#, None),
    (r#"{"action":"accept","content":{"suite":["all"]}}"#, None),
    (r#"{"action":"accept","content":{"jobs":1}}"#, None),
    (r#"{"action":"accept"}"#, None),
    (r#"{"action":"later"}"#, None),
    ("{}", None),
];

/// Returns the result that the application receives for this answer to a form, if the answer fits.
pub fn fitting(answer: &str) -> Option<&'static str> {
    FORM_ANSWERS.iter().find(|(text, _)| *text == answer).and_then(|(_, fits)| *fits)
}
