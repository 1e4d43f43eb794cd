//! The protocol besides tools: the prompts and resources of an editor, and what it asks the client.

use super::row::{
    Proof::{Agent, AgentAnswers, AgentSends},
    Row,
    Step::*,
    answers, row, with_context,
};
use ide_mcp::ide::tool::OpenEditors;
use ide_mcp::mcp::{
    Context, Form, FormField, GetPrompt, List, PromptResult, ReadResource, ResourceResult, Root, Timeout,
};
use ide_mcp::rpc::ErrorObject;

fn form() -> Form {
    Form::new("Run the tests?").field(FormField::boolean("all").required())
}

pub const ROWS: &[Row] = &[
    row(
        "initialize",
        "declares what the editor offers, with its instructions; then the editor asks a client that has roots for its roots",
        with_context(&[
            ClientSends(
                r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"claude-code","version":"2.1.330"}},"jsonrpc":"2.0","id":0}"#,
            ),
            Wrote(
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true}},"serverInfo":{"name":"editor","version":"1.0"},"instructions":"The editor has notes."}}"#,
            ),
            ClientSends(r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#),
            AppGets(r#"Ready { client: Some(Implementation { name: "claude-code", version: "2.1.330" }) }"#),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
        ]),
    ),
    row(
        "prompts/list",
        "one page; the session answers by itself",
        with_context(&[
            ClientSends(r#"{"method":"prompts/list","jsonrpc":"2.0","id":1}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"review","description":"Reviews a file","arguments":[{"name":"path","description":"The file","required":true}]}]}}"#,
            ),
            ClientSends(r#"{"method":"prompts/list","params":{"cursor":"x"},"jsonrpc":"2.0","id":2}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown cursor"}}"#),
        ]),
    ),
    row(
        "prompts/list, an agent",
        "asks page by page, and gets one list",
        AgentSends(
            |client| {
                client.list(List::Prompts, Timeout::Never).unwrap();
            },
            r#"{"jsonrpc":"2.0","id":2,"method":"prompts/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"prompts":[{"name":"review"}]}}"#,
            r#"Result(RawValue({"prompts":[{"name":"review"}]}))"#,
        ),
    ),
    row(
        "prompts/get",
        "the application answers with messages; an unknown name or a missing argument is -32602",
        with_context(&[
            ClientSends(
                r#"{"method":"prompts/get","params":{"name":"review","arguments":{"path":"/w/a"}},"jsonrpc":"2.0","id":1}"#,
            ),
            AppGets(r#"GetPrompt { name: "review", arguments: {"path": "/w/a"} }"#),
            AnswersRequest(|call| call.respond_prompt(&PromptResult::text("Review /w/a.")).unwrap()),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"Review /w/a."}}]}}"#,
            ),
            ClientSends(r#"{"method":"prompts/get","params":{"name":"review"},"jsonrpc":"2.0","id":2}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"prompt review requires the argument path"}}"#,
            ),
            ClientSends(r#"{"method":"prompts/get","params":{"name":"x"},"jsonrpc":"2.0","id":3}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"prompt x not found"}}"#),
        ]),
    ),
    row(
        "prompts/get, an agent",
        "sends the name and the arguments",
        AgentSends(
            |client| {
                client.get_prompt(&GetPrompt::new("review").argument("path", "/w/a")).unwrap();
            },
            r#"{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review","arguments":{"path":"/w/a"}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"messages":[]}}"#,
            r#"Result(RawValue({"messages":[]}))"#,
        ),
    ),
    row(
        "resources/list",
        "the resources of the editor, then those that its tools read; templates have their own list",
        with_context(&[
            ClientSends(r#"{"method":"resources/list","jsonrpc":"2.0","id":1}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"notes://today","name":"today","mimeType":"text/plain"},{"uri":"ide://open-editors","name":"open-editors","description":"Get the tabs that are open","mimeType":"application/json"}]}}"#,
            ),
            ClientSends(r#"{"method":"resources/templates/list","jsonrpc":"2.0","id":2}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":2,"result":{"resourceTemplates":[{"uriTemplate":"notes://{day}","name":"notes of a day"}]}}"#,
            ),
        ]),
    ),
    row(
        "resources/list, an agent",
        "asks page by page, and gets one list",
        AgentSends(
            |client| {
                client.list(List::Resources, Timeout::Never).unwrap();
            },
            r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"resources":[]}}"#,
            r#"Result(RawValue({"resources":[]}))"#,
        ),
    ),
    row(
        "resources/templates/list, an agent",
        "asks page by page, and gets one list",
        AgentSends(
            |client| {
                client.list(List::ResourceTemplates, Timeout::Never).unwrap();
            },
            r#"{"jsonrpc":"2.0","id":2,"method":"resources/templates/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"resourceTemplates":[]}}"#,
            r#"Result(RawValue({"resourceTemplates":[]}))"#,
        ),
    ),
    row(
        "resources/read",
        "the application answers with contents, or with -32002 for a resource that only a template can cover",
        with_context(&[
            ClientSends(
                r#"{"method":"resources/read","params":{"uri":"notes://today"},"jsonrpc":"2.0","id":1}"#,
            ),
            AppGets(r#"ReadResource { uri: "notes://today" }"#),
            AnswersRequest(|call| {
                call.respond_resource(&ResourceResult::text("notes://today", "text/plain", "milk")).unwrap();
            }),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"notes://today","mimeType":"text/plain","text":"milk"}]}}"#,
            ),
            ClientSends(
                r#"{"method":"resources/read","params":{"uri":"notes://monday"},"jsonrpc":"2.0","id":2}"#,
            ),
            AppGets(r#"ReadResource { uri: "notes://monday" }"#),
            AnswersRequest(|call| {
                call.fail(ErrorObject::resource_not_found("no notes for this day")).unwrap()
            }),
            Wrote(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"no notes for this day"}}"#),
        ]),
    ),
    row(
        "resources/read, an agent",
        "sends the URI",
        AgentSends(
            |client| {
                client.read_resource(&ReadResource::new("notes://today")).unwrap();
            },
            r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"notes://today"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"contents":[]}}"#,
            r#"Result(RawValue({"contents":[]}))"#,
        ),
    ),
    row(
        "resources/read, of a tool",
        "is a call of the tool, whose answer becomes the contents",
        with_context(&[
            ClientSends(
                r#"{"method":"resources/read","params":{"uri":"ide://open-editors"},"jsonrpc":"2.0","id":1}"#,
            ),
            AppGets("GetOpenEditors(GetOpenEditors)"),
            answers!(GetOpenEditors, OpenEditors::default()),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"ide://open-editors","mimeType":"application/json","text":"{\"tabs\":[]}"}]}}"#,
            ),
        ]),
    ),
    row(
        "prompts/list_changed, resources/list_changed",
        "sent once for each list that the client has read and that has changed",
        with_context(&[
            Does(|editor| editor.server.set_context(Context::new().prompts([]).resources([]))),
            Wrote(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#),
            Wrote(r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#),
            ClientSends(r#"{"method":"prompts/list","jsonrpc":"2.0","id":1}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}"#),
        ]),
    ),
    row(
        "prompts/list_changed, an agent",
        "is a notification for the application, which lists again",
        Agent(
            "notifications/prompts/list_changed",
            "{}",
            r#"Notification { method: "notifications/prompts/list_changed", params: Some(RawValue({})) }"#,
        ),
    ),
    row(
        "resources/list_changed, an agent",
        "is a notification for the application, which lists again",
        Agent(
            "notifications/resources/list_changed",
            "{}",
            r#"Notification { method: "notifications/resources/list_changed", params: Some(RawValue({})) }"#,
        ),
    ),
    row(
        "roots/list",
        "the folders of the client; the editor asks again after each change",
        with_context(&[
            ClientSends(r#"{"result":{"roots":[{"uri":"file:///w"}]},"jsonrpc":"2.0","id":1}"#),
            AppGets(r#"RootsChanged { roots: [Root { uri: "file:///w", name: None }] }"#),
            ClientSends(r#"{"method":"notifications/roots/list_changed","jsonrpc":"2.0"}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#),
        ]),
    ),
    row(
        "roots/list, an agent",
        "answers with its folders",
        AgentAnswers(
            "roots/list",
            "{}",
            r#"{"jsonrpc":"2.0","id":2,"result":{"roots":[{"uri":"file:///w"}]}}"#,
        ),
    ),
    row(
        "roots/list_changed, an agent",
        "sent after its folders have changed",
        AgentSends(
            |client| client.set_roots(vec![Root::new("file:///x")]).unwrap(),
            r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
            "",
            "",
        ),
    ),
    row(
        "elicitation/create",
        "a form for the person at the client; an answer that does not fit the form is malformed",
        with_context(&[
            Does(|editor| {
                editor.agent_mut().elicit(form()).unwrap();
            }),
            Wrote(
                r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Run the tests?","requestedSchema":{"type":"object","properties":{"all":{"type":"boolean"}},"required":["all"]}}}"#,
            ),
            ClientSends(r#"{"result":{"action":"accept","content":{"all":true}},"jsonrpc":"2.0","id":2}"#),
            AppGets(r#"Result(RawValue({"action":"accept","content":{"all":true}}))"#),
            Does(|editor| {
                editor.agent_mut().elicit(form()).unwrap();
            }),
            Wrote(
                r#"{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"Run the tests?","requestedSchema":{"type":"object","properties":{"all":{"type":"boolean"}},"required":["all"]}}}"#,
            ),
            ClientSends(r#"{"result":{"action":"accept","content":{"all":"yes"}},"jsonrpc":"2.0","id":3}"#),
            AppGets("Malformed"),
        ]),
    ),
    row(
        "elicitation/create, an agent",
        "shows the form to the person, who declines here",
        AgentAnswers(
            "elicitation/create",
            r#"{"message":"Run the tests?","requestedSchema":{"type":"object","properties":{"all":{"type":"boolean"}},"required":["all"]}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}"#,
        ),
    ),
    row(
        "elicitation/create, an agent, a URL",
        "is -32602: only forms are supported, as in the real client (measured)",
        AgentAnswers(
            "elicitation/create",
            r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"1"}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"only forms are supported, not other modes"}}"#,
        ),
    ),
];
