//! A [`Desk`] is the whole editor without a terminal and without sockets: keys go in as bytes,
//! agents are connected to the server in memory, and the screen comes out as lines. Time stands still
//! unless a test moves it.

mod agents;
mod conflicts;
mod context;
mod disk;
mod edits;
mod findings;
mod flows;
mod keymap;
mod launch;
mod looks;
mod messages;
mod names;
#[cfg(unix)]
mod panic;
mod person;
mod privacy;
mod proposals;
#[cfg(unix)]
mod reader;
mod review;
mod search;
mod sizes;

use super::app::App;
use super::view::frame::Frame;
use super::view::palette::{ColorDepth, Ink};
use crate::editor::folders::Folders;
use crate::editor::options::OnDiff;
use crate::support::Shell;
use crate::support::keys::Bytes;
use crate::support::local;
use crate::support::temp::short_temp_dir;
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{Auth, Client, ClientConfig, ClientEvent, ConnId, Policy, Server, ServerConfig};
use ide_mcp::mcp::{Implementation, Outcome, ToolResult};
use ide_mcp::rpc::{RequestId, SessionId};
use ide_mcp::testing::pass;
use ide_mcp::{Output, Time};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

struct Desk {
    root: PathBuf,
    app: App,
    server: Server,
    agents: Vec<(ConnId, Client)>,
    received: Vec<(usize, ClientEvent)>,
    now: Time,
    /// Makes the disk continue when it is dropped.
    hanging: Option<Sender<()>>,
}

impl Desk {
    /// Creates a project with these files.
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, OnDiff::Ask)
    }

    fn with(files: &[(&str, &str)], on_diff: OnDiff) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = COUNT.fetch_add(1, Ordering::Relaxed);
        let parent = short_temp_dir().join(format!("ide-mcp-desk-{}-{unique}", std::process::id()));
        let root = parent.join("project");
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(&root).unwrap();
        let root = local::resolved(&root).unwrap();
        let policy = Policy::new(1, Auth::Disabled);
        let folders = Folders::open(std::slice::from_ref(&root)).unwrap().with_ignored();
        let mut config = ServerConfig::new("editor", "1").policy(policy).tools(super::calls::tools());
        config.filter = folders.filter();
        config.mcp.context = super::context::context().into();
        let server = Server::new(config);
        let mut app = App::new(folders, on_diff, || {}).unwrap();
        app.resize((80, 24));
        app.model.shell = Shell::Posix;
        let mut desk = Self {
            root,
            app,
            server,
            agents: Vec::new(),
            received: Vec::new(),
            now: Time::ZERO,
            hanging: None,
        };
        desk.turn();
        desk
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().into()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    /// Writes a file as another program would.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    fn turn(&mut self) {
        self.app.tick(&mut self.server, self.now);
        loop {
            let mut moved = self.pass();
            while let Some(follow_up) = self.hanging.is_none().then(|| self.app.disk.wait()).flatten() {
                follow_up(&mut self.app, &mut self.server, self.now);
                moved = true;
            }
            self.app.settle(&mut self.server, self.now);
            for (at, (conn, client)) in self.agents.iter_mut().enumerate() {
                let passed = pass(client, self.now, usize::MAX);
                self.received.extend(passed.events.into_iter().map(|event| (at, event)));
                for (_, bytes) in passed.written {
                    self.server.feed(self.now, *conn, &bytes);
                    moved = true;
                }
            }
            moved |= self.pass();
            if !moved {
                return;
            }
        }
    }

    /// Runs a pass of the editor, and feeds its output to the agents. Returns true if there was any.
    fn pass(&mut self) -> bool {
        let mut has_written = false;
        loop {
            match self.server.poll(self.now) {
                Output::Event(event) => self.app.event(&mut self.server, self.now, event),
                Output::Write { conn, bytes } => {
                    let n = bytes.len();
                    if let Some((_, client)) = self.agents.iter_mut().find(|(of, _)| *of == conn) {
                        client.feed(self.now, bytes);
                    }
                    self.server.written(conn, n);
                    has_written = true;
                }
                Output::Close(_) => {}
                Output::Wait(_) => return has_written,
            }
        }
    }

    /// Makes the disk hang until [`recover`](Self::recover).
    fn hang(&mut self) {
        let (recover, held) = mpsc::channel();
        self.app.disk.run(None, move |_| held.recv().unwrap_or_default(), |_, _, _, ()| {});
        self.hanging = Some(recover);
    }

    fn recover(&mut self) {
        self.hanging = None;
        self.turn();
    }

    fn wait(&mut self, millis: u64) {
        self.now = self.now.saturating_add(Duration::from_millis(millis));
        self.turn();
    }

    /// Types bytes as a terminal sends them.
    fn keys(&mut self, bytes: &str) {
        let (mut typed, mut events) = (Bytes::default(), Vec::new());
        typed.feed(bytes.as_bytes(), |event| events.push(event));
        typed.silence(|event| events.push(event));
        let mut events = events.into_iter();
        self.app.inputs(&mut self.server, self.now, || events.next());
        self.turn();
    }

    /// Opens a file from the list.
    fn open(&mut self, name: &str) {
        self.app.model.focus = super::model::Focus::Files;
        self.app.model.tree.point_at(&self.root.join(name));
        self.keys("\r");
    }

    fn attach(&mut self, name: &str) -> usize {
        let mut config = ClientConfig::new(Implementation::new(name, "2.1"), 1, None);
        config.mcp.elicitation = true;
        let session = SessionId::new(u64::try_from(self.agents.len()).unwrap() + 1);
        let client = Client::new(config, getrandom::fill, session, self.now).unwrap();
        let conn = self.server.connect(self.now);
        self.agents.push((conn, client));
        self.turn();
        // After this time the client accepts mentions.
        self.wait(1_600);
        self.agents.len() - 1
    }

    fn call(&mut self, agent: usize, request: &impl ToolArguments) -> RequestId {
        let id = self.agents[agent].1.call_tool(request).unwrap().id();
        self.turn();
        id
    }

    /// Returns the texts of the result of a call, if the result has arrived.
    fn result(&self, id: RequestId) -> Option<Vec<String>> {
        self.received.iter().find_map(|(_, event)| match event {
            ClientEvent::Outcome { request, outcome: Outcome::Result(result) } if *request == id => {
                Some(ToolResult::read(result).unwrap().texts().map(Into::into).collect())
            }
            _ => None,
        })
    }

    /// Calls a tool that answers at once. Returns the texts of its result.
    fn ask(&mut self, agent: usize, request: &impl ToolArguments) -> String {
        let id = self.call(agent, request);
        self.result(id).unwrap_or_default().join("|")
    }

    fn frame(&mut self) -> Frame {
        self.app.draw(ColorDepth::True)
    }

    fn screen(&mut self) -> String {
        self.frame().rows().join("\n")
    }

    fn shows(&mut self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "{text:?} is not on the screen:\n{screen}");
    }

    /// Checks the look of the first character of a text on the screen.
    fn assert_ink(&mut self, text: &str, ink: Ink) {
        let frame = self.frame();
        let (width, height) = frame.size();
        let from = |x: u16, y: u16| -> String {
            (x..width).map(|x| frame.symbol(x, y)).take(text.chars().count()).collect()
        };
        let mut places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let place = places.find(|(x, y)| from(*x, *y) == text);
        let (x, y) = place.unwrap_or_else(|| panic!("{text:?} is not there:\n{}", frame.rows().join("\n")));
        assert!(frame.wears(x, y, ink), "{text:?} is not in {ink:?}: {:?}", frame.cells.cell((x, y)));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.root.parent().map(fs::remove_dir_all);
    }
}
