//! An agent that is attached to the editor of a [`Place`].

use crate::process::Place;
use ide_mcp::Time;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::tool::{DiffOutcome, OpenDiff};
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, Pending};
use ide_mcp::mcp::{FormAnswer, Implementation, Outcome, Timeout};
use ide_mcp::rpc::SessionId;
use ide_mcp_blocking::Conn;
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

pub struct Agent(Conn<Client>);

impl Agent {
    /// Attaches to the editor that the lock file names, and waits until the session is open.
    pub fn attach(place: &Place) -> Self {
        let lock = place.published("the editor", None);
        let port = lock.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let file = LockFile::parse(&fs::read_to_string(&lock).unwrap()).unwrap();
        let mut config = ClientConfig::new(Implementation::new("agent", "1"), port, file.auth_token);
        config.mcp.elicitation = true;
        let client = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO).unwrap();
        let mut conn = Conn::connect(("127.0.0.1", port), client).unwrap();
        while !matches!(conn.next_event(), Some(ClientEvent::Ready(_))) {}
        Self(conn)
    }

    /// Returns the names of the tools.
    pub fn tools(&mut self) -> Vec<String> {
        let list = self.request("tools/list", &json!({}));
        let tools = list["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().into()).collect()
    }

    /// Calls a tool, and returns the text blocks of its result.
    pub fn call(&mut self, name: &str, arguments: &Value) -> Vec<String> {
        let result = self.request("tools/call", &json!({"name": name, "arguments": arguments}));
        let content = result["content"].as_array().unwrap().iter();
        content.map(|block| block["text"].as_str().unwrap().into()).collect()
    }

    /// Proposes a change and checks that the editor accepts it.
    pub fn proposal_is_accepted(&mut self) {
        let proposal = json!({"old_file_path": "/x", "new_file_path": "/x", "new_file_contents": "new\n", "tab_name": "t"});
        assert_eq!(self.call("openDiff", &proposal), ["FILE_SAVED", "new\n"]);
    }

    /// Proposes a change, and returns the request; [`decided`](Self::decided) waits for the answer.
    pub fn propose(&mut self) -> Pending<DiffOutcome> {
        let request = self.0.machine_mut().call_tool(&OpenDiff::new("/x", "new\n", "t")).unwrap();
        assert!(self.0.flush(Duration::from_secs(20)));
        request
    }

    /// Waits for the decision about a proposed change.
    pub fn decided(&mut self, proposal: Pending<DiffOutcome>) -> DiffOutcome {
        loop {
            match self.0.next_event() {
                Some(ClientEvent::Outcome { request, outcome }) if request == proposal.id() => {
                    return proposal.answer(outcome).unwrap();
                }
                Some(_) => {}
                None => panic!("no decision: the connection has ended"),
            }
        }
    }

    /// Waits for a form of the editor, answers it, and returns its message.
    pub fn form(&mut self, answer: &FormAnswer) -> String {
        loop {
            match self.0.next_event() {
                Some(ClientEvent::Form { call, form }) => {
                    self.0.machine_mut().answer_form(call, answer).unwrap();
                    return form.message;
                }
                Some(_) => {}
                None => panic!("no form: the connection has ended"),
            }
        }
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let request = self.0.machine_mut().request(method, Some(params), Timeout::Default).unwrap();
        loop {
            match self.0.next_event() {
                Some(ClientEvent::Outcome { request: ended, outcome: Outcome::Result(result) })
                    if ended == request =>
                {
                    return serde_json::from_str(result.get()).unwrap();
                }
                Some(ClientEvent::Outcome { outcome, .. }) => panic!("{method}: {outcome:?}"),
                Some(_) => {}
                None => panic!("{method}: the connection has ended"),
            }
        }
    }
}
