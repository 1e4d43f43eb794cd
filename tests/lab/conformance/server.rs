//! The server that the conformance suite of MCP examines, for tests/lab/conformance/run.sh: the tools, prompts and
//! resources that its scenarios name, on [`ide_mcp::ide::Server`] and the blocking adapter.
//!
//! ```text
//! conformance ORIGIN     serves on a free port of 127.0.0.1, which it prints, and admits pages of ORIGIN
//! ```

#![allow(clippy::wildcard_enum_match_arm, clippy::print_stdout, reason = "a test program")]

use ide_mcp_blocking::ide::tool::{OtherTool, ToolCall, ToolSet};
use ide_mcp_blocking::ide::{AgentId, Auth, Pending, Policy, ServerConfig, ServerEvent};
use ide_mcp_blocking::mcp::{
    Content, Context, FieldValue, Form, FormAnswer, FormField, Forward, GetPrompt, LogLevel, Outcome,
    Progress, PromptArgument, PromptMessage, PromptResult, PromptRole, PromptSpec, ResourceBody,
    ResourceContents, ResourceResult, ResourceSpec, ResourceTemplate, Timeout, ToolResult,
};
use ide_mcp_blocking::rpc::{CallId, RequestId};
use ide_mcp_blocking::{Server, Time};
use serde_json::value::to_raw_value;
use serde_json::{Number, Value, json};
use std::time::Duration;
use std::{borrow::Cow, env, error::Error, iter, mem};

/// A picture with one pixel, and an empty sound file.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
/// How long a tool takes between two steps, as the scenarios ask.
const STEP: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let origin = env::args().nth(1).ok_or("usage: conformance ORIGIN")?;
    let mut policy = Policy::new(0, Auth::Disabled);
    policy.allowed_origins.push(origin);
    let mut config = ServerConfig::new("conformance", "1.0").policy(policy).tools(tools());
    // The suite sees a form at once, unlike the real client.
    config.settle = Some(Duration::ZERO);
    config.mcp.context = context().into();
    config.mcp.logging = Some(LogLevel::Info);
    config.mcp.capabilities.insert("completions".into(), "{}".into());
    let own = ["completion/complete", "resources/subscribe", "resources/unsubscribe"];
    config.mcp.forward = Forward::Methods(own.map(Cow::from).into());

    // The suite leaves its sessions open: one or two for each scenario.
    config.max_clients = 100;
    let server = Server::bind(Default::default(), config)?;
    println!("{}", server.local_addr().port());
    Program { server, steps: Vec::new(), forms: Vec::new(), samples: Vec::new() }.serve();
    Ok(())
}

struct Program {
    server: Server,
    /// The calls that have more steps: when the next step is due, which one it is, the call, and what its tool does.
    steps: Vec<(Time, u8, CallId, Stepped)>,
    /// The calls that wait for a form that a person fills in, and for a model.
    forms: Vec<(Pending<FormAnswer>, CallId)>,
    samples: Vec<(RequestId, CallId)>,
}

#[derive(Clone, Copy)]
enum Stepped {
    Logging,
    Progress,
}

impl Program {
    fn serve(&mut self) {
        while !self.server.is_over() {
            let due = self.steps.iter().map(|(at, ..)| *at).min();
            let wait = due.map_or(Duration::MAX, |at| at.saturating_since(self.server.now()));
            if let Some(event) = self.server.poll(wait) {
                self.on_event(event);
            }
            let now = self.server.now();
            let (due, later): (Vec<_>, _) =
                mem::take(&mut self.steps).into_iter().partition(|(at, ..)| *at <= now);
            self.steps = later;
            for (_, step, call, kind) in due {
                self.step(step, call, kind);
            }
        }
    }

    /// Handles an event of a client. If an answer fails, the client has left.
    fn on_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Call { agent, call: ToolCall::Other(call, tool) } => {
                self.call(agent, call.id(), tool)
            }
            ServerEvent::CallEnded { call, .. } => self.steps.retain(|(_, _, open, _)| *open != call),
            ServerEvent::GetPrompt { call, prompt, .. } => {
                let _ = self.server.machine_mut().call(call).respond_prompt(&prompt_result(&prompt));
            }
            ServerEvent::ReadResource { call, resource, .. } => {
                let _ = self.server.machine_mut().call(call).respond_resource(&contents(resource.uri));
            }
            ServerEvent::Request { call, method, .. } => {
                let completion =
                    json!({"completion": {"values": ["paris", "park", "party"], "hasMore": false}});
                let answer = if &*method == "completion/complete" { completion } else { json!({}) };
                if let Ok(answer) = to_raw_value(&answer) {
                    let _ = self.server.machine_mut().call(call).respond_raw(&answer);
                }
            }
            ServerEvent::Outcome { request, outcome, .. } => self.on_outcome(request, outcome),
            _ => {}
        }
    }

    fn call(&mut self, agent: AgentId, call: CallId, tool: OtherTool) {
        let host = self.server.machine_mut();
        let argument = |name: &str| -> String {
            let arguments = tool.raw().and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
            arguments.and_then(|all| Some(all.get(name)?.as_str()?.to_owned())).unwrap_or_default()
        };
        let result = match &*tool.name {
            "test_simple_text" => ToolResult::text("This is a simple text response for testing."),
            "test_image_content" => ToolResult::new(vec![image()]),
            "test_audio_content" => {
                ToolResult::new(vec![block(&json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"}))])
            }
            "test_embedded_resource" => ToolResult::new(vec![embedded(
                "test://embedded-resource",
                "This is an embedded resource content.",
            )]),
            "test_multiple_content_types" => ToolResult::new(vec![
                Content::text("Multiple content types test:"),
                image(),
                embedded("test://mixed-content-resource", r#"{"test":"data","value":123}"#),
            ]),
            "test_error_handling" => {
                ToolResult::error("This tool intentionally returns an error for testing")
            }
            "json_schema_2020_12_tool" => ToolResult::text("ok"),
            "test_tool_with_logging" => return self.step(0, call, Stepped::Logging),
            "test_tool_with_progress" => return self.step(0, call, Stepped::Progress),
            "test_sampling" => {
                let text = json!({"type": "text", "text": argument("prompt")});
                let params = json!({"messages": [{"role": "user", "content": text}], "maxTokens": 100});
                match host.agent_mut(agent).request("sampling/createMessage", Some(&params), Timeout::Default)
                {
                    Ok(request) => return self.samples.push((request, call)),
                    Err(error) => ToolResult::error(error.to_string()),
                }
            }
            "test_elicitation_sep1330_enums" => {
                match host.agent_mut(agent).request(
                    "elicitation/create",
                    Some(&all_choices()),
                    Timeout::Default,
                ) {
                    Ok(request) => return self.samples.push((request, call)),
                    Err(error) => ToolResult::error(error.to_string()),
                }
            }
            name => {
                let form =
                    if name == "test_elicitation" { question(argument("message")) } else { defaults() };
                match host.agent_mut(agent).elicit(form) {
                    Ok(form) => return self.forms.push((form, call)),
                    Err(error) => ToolResult::error(error.to_string()),
                }
            }
        };
        let _ = host.call(call).respond(&result);
    }

    /// Takes one of the three steps of a call, and answers after the third.
    fn step(&mut self, step: u8, call: CallId, kind: Stepped) {
        let host = self.server.machine_mut();
        match kind {
            Stepped::Logging => {
                let texts = ["Tool execution started", "Tool processing data", "Tool execution completed"];
                let params = texts.get(usize::from(step)).map(|text| json!({"level": "info", "data": text}));
                let _ =
                    host.agent_mut(AgentId::of_call(call)).notify("notifications/message", params.as_ref());
            }
            Stepped::Progress => {
                let _ = host.call(call).progress(&Progress::new(f64::from(step) * 50.0).of(100.0));
            }
        }
        if step < 2 {
            self.steps.push((self.server.now().saturating_add(STEP), step + 1, call, kind));
        } else {
            let _ = host.call(call).respond(&ToolResult::text("done"));
        }
    }

    fn on_outcome(&mut self, request: RequestId, outcome: Outcome) {
        let (call, result) = if let Some(at) = self.forms.iter().position(|(form, _)| form.id() == request) {
            let (form, call) = self.forms.swap_remove(at);
            let answer = form.answer(outcome).map(|answer| format!("User response: {answer:?}"));
            (call, answer.map_or_else(|error| ToolResult::error(error.to_string()), ToolResult::text))
        } else if let Some(at) = self.samples.iter().position(|(sample, _)| *sample == request) {
            let (_, call) = self.samples.swap_remove(at);
            (
                call,
                match outcome {
                    Outcome::Result(result) => ToolResult::text(format!("Response: {}", result.get())),
                    other => ToolResult::error(format!("{other:?}")),
                },
            )
        } else {
            return;
        };
        let _ = self.server.machine_mut().call(call).respond(&result);
    }
}

fn tools() -> ToolSet {
    const ANY: &str = r#"{"type":"object","properties":{}}"#;
    const NEWEST_SCHEMA: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}"##;
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_tool_with_progress",
        "test_error_handling",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
    ];
    let one = |name| {
        format!(r#"{{"type":"object","properties":{{"{name}":{{"type":"string"}}}},"required":["{name}"]}}"#)
    };
    plain
        .into_iter()
        .fold(ToolSet::new(), |tools, name| tools.custom(name, "A tool of the conformance suite", ANY))
        .custom("test_sampling", "Asks the model of the client", one("prompt"))
        .custom("test_elicitation", "Asks the person at the client", one("message"))
        .custom("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", NEWEST_SCHEMA)
}

fn context() -> Context {
    let argument = |name| PromptArgument::required(name, "An argument of a test");
    let prompt = |name| PromptSpec::new(name, "A prompt of the conformance suite");
    let resource =
        |uri, name| ResourceSpec::new(uri, name).description("A resource of the conformance suite");
    Context::new()
        .prompt(prompt("test_simple_prompt"))
        .prompt(prompt("test_prompt_with_arguments").argument(argument("arg1")).argument(argument("arg2")))
        .prompt(prompt("test_prompt_with_embedded_resource").argument(argument("resourceUri")))
        .prompt(prompt("test_prompt_with_image"))
        .resource(resource("test://static-text", "text").mime_type("text/plain"))
        .resource(resource("test://static-binary", "binary").mime_type("image/png"))
        .resource(resource("test://watched-resource", "watched").mime_type("text/plain"))
        .template(ResourceTemplate::new("test://template/{id}/data", "template"))
}

fn prompt_result(prompt: &GetPrompt) -> PromptResult<'static> {
    let argument = |name: &str| prompt.arguments.get(name).cloned().unwrap_or_default();
    let with = |block, text: &'static str| {
        let messages =
            [block, Content::text(text)].map(|content| PromptMessage::new(PromptRole::User, content));
        PromptResult::new(messages.into())
    };
    match &*prompt.name {
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            PromptResult::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))
        }
        "test_prompt_with_embedded_resource" => with(
            embedded(&argument("resourceUri"), "Embedded resource content for testing."),
            "Please process the embedded resource above.",
        ),
        "test_prompt_with_image" => with(image(), "Please analyze the image above."),
        _ => PromptResult::text("This is a simple prompt for testing."),
    }
}

fn contents(uri: String) -> ResourceResult<'static> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let (mime_type, body) = match (&*uri, id) {
        (_, Some(id)) => {
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            ("application/json", ResourceBody::Text(data.to_string().into()))
        }
        ("test://static-binary", _) => ("image/png", ResourceBody::Blob(b"\x89PNG\r\n\x1a\n".into())),
        _ => ("text/plain", ResourceBody::Text("This is the content of the static text resource.".into())),
    };
    ResourceResult::new(iter::once(ResourceContents::new(uri, mime_type, body)).collect())
}

fn question(message: String) -> Form {
    Form::new(message)
        .field(FormField::text("username").description("User's response").required())
        .field(FormField::text("email").description("User's email address").required())
}

fn defaults() -> Form {
    Form::new("Please review the values")
        .field(FormField::text("name").default("John Doe"))
        .field(FormField::integer("age").default(30))
        .field(
            FormField::number("score")
                .default(Number::from_f64(95.5).map_or_else(|| 0.into(), FieldValue::Number)),
        )
        .field(FormField::choice("status", ["active", "inactive", "pending"]).default("active"))
        .field(FormField::boolean("verified").default(true))
}

/// Returns the parameters of a form with every kind of choice. [`Form`] writes titles as MCP 2025-11-25 does, so the
/// field with the deprecated names is added as JSON.
fn all_choices() -> Value {
    let (options, titled) = (["option1", "option2", "option3"], [("value1", "First"), ("value2", "Second")]);
    let form = Form::new("Please choose")
        .field(FormField::choice("untitledSingle", options))
        .field(FormField::choice("titledSingle", titled))
        .field(FormField::choices("untitledMulti", options))
        .field(FormField::choices("titledMulti", titled));
    let mut params = json!(form);
    if let Some(properties) = params.pointer_mut("/requestedSchema/properties").and_then(Value::as_object_mut)
    {
        let deprecated =
            json!({"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]});
        properties.insert("legacyEnum".into(), deprecated);
    }
    params
}

fn image() -> Content<'static> {
    block(&json!({"type": "image", "data": PNG, "mimeType": "image/png"}))
}

fn embedded(uri: &str, text: &str) -> Content<'static> {
    block(&json!({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": text}}))
}

fn block(value: &Value) -> Content<'static> {
    to_raw_value(value)
        .map_or_else(|error| Content::text(error.to_string()), |raw| Content::Raw(Cow::Owned(raw)))
}
