//! The lines that an editor in another language writes: the configuration, then commands. The agent acts in between.

use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{GetDiagnostics, GetOpenEditors, OpenDiff};
use ide_mcp::ide::{Client, ClientConfig};
use ide_mcp::mcp::{GetPrompt, Implementation, ReadResource};
use ide_mcp::rpc::{RequestId, SessionId, normalized};
use ide_mcp::testing::{Random, pass};
use ide_mcp::{Output, Time};
use ide_mcp_embed::{CommandErrorKind, EVENTS, Editor, Event, Value};
use std::collections::BTreeSet;
use std::time::Duration;

const CONFIG: &str = r#"{"name":"E","folders":["/w"],"port":1,"token":"0123456789abcdef","tools":["openDiff","getDiagnostics","getOpenEditors"],"prompts":[{"name":"p"}],"resources":[{"uri":"n://1"}]}"#;

/// Checks that no line panics, that each command has at most one error with its number, that each event has the
/// members of its row, and that each call ends once.
///
/// The first line is a configuration, or else the target uses its own. A later line is a command, or, if it starts
/// with `!`, actions of an agent, one per byte.
pub fn command_lines(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let first = lines.next().and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
    // The first line may set the consent, the dialect and the port, so an agent would not know how to attach to the
    // editor that it configures.
    let of_line = Editor::new(first).ok();
    let has_agent = of_line.is_none();
    let Some(editor) = of_line.or_else(|| Editor::new(CONFIG).ok()) else { return };
    let mut run = Run { editor, agent: None, now: Time::ZERO, open: BTreeSet::new(), is_over: false };
    if has_agent {
        run.attach();
    }
    for (line, number) in lines.zip(2..) {
        match line.split_first() {
            Some((b'!', acts)) => acts.iter().take(64).for_each(|act| run.act(*act)),
            _ => run.command(number, line),
        }
    }
    run.command(1, br#"{"cmd":"quit"}"#);
    run.remove();
    run.settle(None);
    assert!(run.is_over && run.open.is_empty(), "{:?}", run.open);
}

struct Run {
    editor: Editor,
    agent: Option<Agent>,
    now: Time,
    /// The calls that have not ended, judging by the events and the commands.
    open: BTreeSet<u64>,
    is_over: bool,
}

struct Agent {
    conn: u64,
    client: Client,
    requests: Vec<RequestId>,
}

impl Run {
    fn attach(&mut self) {
        let token = AuthToken::from_text("0123456789abcdef").ok();
        let config = ClientConfig::new(Implementation::new("agent", "1"), 1, token);
        let client = Client::new(config, Random::new(0).source(), SessionId::new(0), self.now);
        let conn = self.editor.connect(self.now);
        self.agent = client.ok().map(|client| Agent { conn, client, requests: Vec::new() });
        self.settle(None);
    }

    fn remove(&mut self) {
        if let Some(agent) = self.agent.take() {
            self.editor.feed_eof(self.now, agent.conn);
            self.editor.feed_eof(self.now, agent.conn);
        }
    }

    fn command(&mut self, number: u64, line: &[u8]) {
        self.editor.command_line(self.now, number, line);
        // Take the events of the command before the agent acts: the agent may cause any number of further events.
        let mut events = Vec::new();
        while let Output::Event(event) = self.editor.poll(self.now) {
            events.push(event);
        }
        let errors = events.iter().filter(|event| matches!(event, Event::Error { .. })).count();
        assert!(errors <= 1);
        match (errors, answered(line)) {
            (0, Some(call)) if !self.is_over => {
                assert!(self.open.remove(&call), "{call} was answered, but was not open");
            }
            // A result that cannot be used still ends its call.
            (1, Some(call)) if self.open.contains(&call) && !self.is_open(call) => {
                let _ = self.open.remove(&call);
            }
            _ => {}
        }
        events.iter().for_each(|event| self.take(event, Some(number)));
        self.settle(Some(number));
    }

    /// Returns true if the editor waits for an answer to a call. The agent asks for no progress.
    fn is_open(&mut self, call: u64) -> bool {
        let command = format!(r#"{{"cmd":"progress","call":{call},"progress":1}}"#);
        let done = self.editor.command(self.now, 0, &command);
        !done.is_err_and(|error| error.kind() == CommandErrorKind::Gone)
    }

    fn act(&mut self, act: u8) {
        if act == b'c' {
            self.remove();
        } else if act.is_ascii_digit() {
            self.now = self.now.saturating_add(Duration::from_millis(1 << (act - b'0')));
        }
        if let Some(agent) = &mut self.agent {
            let client = &mut agent.client;
            let request = match act {
                b'd' => client.call_tool(&OpenDiff::new("/w/a", "text", "t")).map(|request| request.id()),
                b'o' => client.call_tool(&GetOpenEditors).map(|request| request.id()),
                b'g' => client
                    .call_tool(&GetDiagnostics::new(Some("file:///w/a".into())))
                    .map(|request| request.id()),
                b'p' => client.get_prompt(&GetPrompt::new("p")).map(|request| request.id()),
                b'r' => client.read_resource(&ReadResource::new("n://1")).map(|request| request.id()),
                b'x' => {
                    if let Some(last) = agent.requests.pop() {
                        client.cancel(last, None);
                    }
                    return self.settle(None);
                }
                _ => return self.settle(None),
            };
            agent.requests.extend(request);
        }
        self.settle(None);
    }

    /// Moves bytes and events until nothing happens any more.
    fn settle(&mut self, line: Option<u64>) {
        loop {
            let mut is_idle = true;
            if let Some(agent) = &mut self.agent {
                let bytes = pass(&mut agent.client, self.now, usize::MAX).written_bytes();
                self.editor.feed(self.now, agent.conn, &bytes);
                is_idle = bytes.is_empty();
            }
            loop {
                match self.editor.poll(self.now) {
                    Output::Event(event) => self.take(&event, line),
                    Output::Write { conn, bytes } => {
                        let n = bytes.len();
                        if let Some(agent) = &mut self.agent {
                            agent.client.feed(self.now, bytes);
                        }
                        self.editor.written(conn, n);
                    }
                    Output::Close(conn) => drop(self.agent.take_if(|agent| agent.conn == conn)),
                    Output::Wait(_) => break,
                }
                is_idle = false;
            }
            if is_idle {
                return;
            }
        }
    }

    fn take(&mut self, event: &Event, line: Option<u64>) {
        assert!(!self.is_over, "{event:?} after the end");
        let text = event.to_json();
        assert!(!text.contains('\n'), "{text}");
        let written: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).unwrap_or_default();
        let row = EVENTS.iter().find(|row| row.name == event.name());
        let members = row.map(|row| row.members).unwrap_or_default();
        assert!(
            members.iter().all(|member| !member.is_required || written.contains_key(member.name)),
            "{text}"
        );
        assert!(written.keys().all(|name| name == "event" || event.member(name).is_some()), "{text}");
        let call = match event.member("call") {
            Some(Value::Number(call)) => Some(call),
            _ => None,
        };
        match event {
            Event::Error { line: named, .. } => assert_eq!(*named, line, "{text}"),
            Event::DiffClosed { .. } | Event::CallEnded { .. } => {
                assert!(call.is_some_and(|call| self.open.remove(&call)), "{text}");
            }
            Event::Over {} => self.is_over = true,
            _ => assert!(call.is_none_or(|call| self.open.insert(call)), "{text}"),
        }
    }
}

/// Returns the call that a command answers, if the command is one that does.
fn answered(line: &[u8]) -> Option<u64> {
    let line = normalized(std::str::from_utf8(line).ok()?);
    let command: serde_json::Value = serde_json::from_str(&line).ok()?;
    let answers = ["answer", "respond", "fail"].iter().any(|name| command["cmd"] == *name);
    answers.then(|| command["call"].as_u64()).flatten()
}
