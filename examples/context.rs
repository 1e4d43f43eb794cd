//! An editor that offers context (a prompt, resources, a form), and saves its unsaved buffer before an
//! agent edits the file. It ends when its agent leaves. `cargo run --example context`, then `claude --ide`
//! in the same folder.
#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_mio::ide::kit::Range;
use ide_mcp_mio::ide::tool::{Diagnostic, Diagnostics, FileDiagnostics, Severity, Tool, ToolCall};
use ide_mcp_mio::ide::{ServerConfig, ServerEvent};
use ide_mcp_mio::mcp::{Context, Form, FormField, PromptResult, PromptSpec, ResourceResult, ResourceSpec};
use ide_mcp_mio::{Clock, Server, mio};
use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::new()
        .prompt(PromptSpec::new("review", "Reviews the draft"))
        .resource(ResourceSpec::new("draft://text", "draft").description("The unsaved text of draft.txt"))
        .resource(ResourceSpec::new("draft://notes", "notes").description("What the person plans"));
    // This tool is also the resource ide://diagnostics.
    let tools = [Tool::GetDiagnostics];
    let editor = ServerConfig::new("Context", "1.0").folder(".").tools(tools).context(context);
    let mut poll = mio::Poll::new()?;
    let mut server = Server::start(editor, poll.registry(), mio::Token(1))?;

    let path = env::current_dir()?.join("draft.txt");
    let form = Form::new("Save before an edit?").field(FormField::boolean("save").required());
    let review = PromptResult::text("Review draft://text.");
    let draft = Diagnostic::new(Severity::Hint, Range::default(), "this is a draft");
    let found = Diagnostics { files: vec![FileDiagnostics::new("file:///draft.txt", vec![draft])] };
    let (clock, mut events) = (Clock::new(), mio::Events::with_capacity(64));
    let (mut unsaved, mut pending) = (Some("a draft\n"), None);
    while !server.is_over() {
        poll.poll(&mut events, clock.until(server.deadline(clock.now())))?;
        for event in &events {
            server.handle_event(event);
        }
        while let Some(event) = server.next_event(clock.now()) {
            let ide = server.machine_mut();
            // Answering fails only if the agent has gone, and then the answer is not needed.
            match event {
                ServerEvent::Ready { agent, .. } => pending = ide.agent_mut(agent).elicit(form.clone()).ok(),
                ServerEvent::Outcome { request, outcome, .. } => {
                    let form = pending.take_if(|form| form.id() == request);
                    println!("{:?}", form.map(|form| form.answer(outcome)));
                }
                ServerEvent::GetPrompt { call, .. } => _ = ide.call(call).respond_prompt(&review),
                ServerEvent::ReadResource { call, resource, .. } => {
                    let text = if resource.uri == "draft://text" { "a draft\n" } else { "publish it" };
                    _ = ide.call(call).respond_resource(&ResourceResult::text(resource.uri, "", text));
                }
                // The agent writes the file after the answer to its next call, so save the buffer now. The
                // path comes from the agent, so we only compare it, and never open it. If the write fails,
                // the text stays unsaved.
                ServerEvent::EditExpected { path: edited, .. } if Path::new(&*edited) == path => {
                    unsaved = unsaved.filter(|text| fs::write(&path, text).is_err());
                }
                ServerEvent::Call { call: ToolCall::GetDiagnostics(call, _), .. } => {
                    _ = ide.answer(call, &found)
                }
                ServerEvent::Closed { .. } => server.shutdown(clock.now()),
                _ => {}
            }
        }
    }
    Ok(())
}
