//! The tap itself: its listener, its end, and its lock file.

use crate::support::transcript::{Header, VERSION};
use crate::support::{Shell, complain, find, json_line, on_signal, unix_ms, write_line};
use crate::tap::conversation::{Conversation, Handle};
use crate::tap::head::Ends;
use crate::tap::options::{Options, Outputs, Record};
use crate::tap::record::Recorder;
use crate::tap::sink::Sink;
use ide_mcp::ide::LockFileEvent;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::{Clock, Time};
use ide_mcp_lockfile::{EditorSearch, GuardMode, GuardThread, LockDir, NoEditorReason, new_token};
use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;
use std::{process, thread};

/// How many connections may be open: more than any editor accepts. Each takes two threads.
const CONNECTIONS: usize = 32;

/// How many connections may be open that the editor has not accepted. One more ends the
/// oldest, as at the server of an editor.
const UNAUTHENTICATED: usize = 8;

/// How long each of these connections has before a new one replaces it. In a storm, the tap then accepts no more than
/// 160 connections a second, and an agent among them succeeds.
const CHANCE: Duration = Duration::from_millis(50);

/// How long the close handshakes at the end may take. After that, the unwritten lines of the transcript have the same
/// time.
const DRAIN: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Tap {
    lock: GuardThread,
    /// The search for this editor and no other.
    search: EditorSearch,
    ends: Arc<Ends>,
    recorder: Arc<Recorder>,
    record: Record,
    /// True if the events of the tap go to standard output.
    json: bool,
    events: Receiver<Event>,
    sender: SyncSender<Event>,
    open: BTreeMap<u32, Open>,
    accepted: u32,
    clock: Clock,
}

/// A connection of an agent, accepted by the editor or not.
#[derive(Debug)]
struct Open {
    since: Time,
    agent: TcpStream,
    /// `None` while the tap connects to the editor.
    handle: Option<Handle>,
}

#[derive(Debug)]
enum Event {
    Accepted(TcpStream),
    /// The tap has connected to the editor for this agent, and the handle ends both sides.
    Open(u32, Handle),
    Over(u32),
    /// The lock file of the editor is gone or names a dead process.
    Gone,
    LockFile(LockFileEvent),
    Signal,
}

impl Tap {
    /// Finds the editor, listens, and then publishes the lock file.
    pub(crate) fn start(options: Options) -> Result<Self, Box<dyn Error>> {
        let outputs = options.outputs(io::stdout().is_terminal())?;
        let search = options.search();
        let search = if options.json { search } else { find::chosen("tap", search)? };
        let editor = find::editor(&search)?;
        let shown = display_safe(&editor.name).into_owned();
        let name = options.name.clone().unwrap_or_else(|| format!("{} (tap)", editor.name));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|error| format!("cannot listen on a port of 127.0.0.1: {error}"))?;
        let (token, port) = (new_token()?, listener.local_addr()?.port());
        let header = Header {
            transcript: VERSION,
            started_ms: unix_ms(),
            editor: editor.name.clone(),
            port: editor.port,
            token: editor.token.as_ref().map(|token| "*".repeat(token.as_bytes().len())),
            folders: editor.folders.clone(),
        };
        let recorder = Arc::new(Recorder::new(sinks(&options, &outputs, &header)?));

        // A short queue: further connections wait at the listener.
        let (sender, events) = mpsc::sync_channel(4);
        let (signalled, recording) = (sender.clone(), Arc::clone(&recorder));
        let mut is_first = true;
        on_signal(move || {
            // The second signal ends all waits.
            if !std::mem::take(&mut is_first) {
                recording.abandon();
            }
            signalled.send(Event::Signal).is_ok()
        })?;
        let accepting = sender.clone();
        thread::spawn(move || accept(&listener, &accepting));
        let file = LockFile::new(process::id(), editor.folders, name, token.clone());
        let lock = LockDir::from_environment()?.publish(port, &file)?;

        let place = lock.path().display();
        if options.json {
            let editor = json!({"name": editor.name, "port": editor.port});
            let event =
                json!({"event": "listening", "port": port, "lock": place.to_string(), "editor": editor});
            write_line(&json_line(&event)?)?;
        } else {
            complain("tap", &format!("listening on port {port} for {shown:?} on port {}", editor.port));
            complain("tap", &format!("the lock file is {place}"));
            // Each way has its own row, which fits a terminal of 80 columns.
            complain("tap", &format!("attach an agent to the tap in one of these ways:{}", ways(port)));
        }
        let mut search = search;
        search.lock_file = Some(editor.lock_file);
        let (editor_token, editor_port, trust) = (editor.token, editor.port, options.trust);
        let ends = Ends { token, port, editor_token, editor_port, trust };
        let guarding = sender.clone();
        let lock = GuardThread::spawn(lock, GuardMode::default(), move |event| {
            // If the queue is full, the tap may be ending and waiting for this thread, so drop the event.
            drop(guarding.try_send(Event::LockFile(event)));
        })?;
        let ends = Arc::new(ends);
        Ok(Self {
            lock,
            search,
            ends,
            recorder,
            record: outputs.record,
            json: options.json,
            events,
            sender,
            open: BTreeMap::new(),
            accepted: 0,
            clock: Clock::new(),
        })
    }

    /// Runs until a signal or the end of the editor. Returns true if the transcript is complete.
    pub(crate) fn run(mut self) -> bool {
        loop {
            match self.events.recv() {
                Ok(Event::Accepted(agent)) => self.converse(agent),
                Ok(Event::Open(conn, handle)) => {
                    if let Some(open) = self.open.get_mut(&conn) {
                        open.handle = Some(handle);
                    }
                }
                Ok(Event::Over(conn)) => drop(self.open.remove(&conn)),
                Ok(Event::LockFile(event)) => report_lock_file(&event),
                Ok(Event::Gone) => {
                    complain("tap", "the editor is gone, and so is the tap: start the editor, then the tap");
                    break;
                }
                Ok(Event::Signal) | Err(_) => break,
            }
        }
        self.stop()
    }

    fn converse(&mut self, agent: TcpStream) {
        use NoEditorReason::{DeadProcess, NoFile};
        let unauthenticated = self.make_room();
        if self.open.len().saturating_sub(unauthenticated) >= CONNECTIONS {
            return complain("tap", &format!("an agent was refused, because {CONNECTIONS} are attached"));
        }
        let Ok(socket) = agent.try_clone() else { return };
        self.accepted = self.accepted.saturating_add(1);
        let (conn, ends, recorder) = (self.accepted, Arc::clone(&self.ends), Arc::clone(&self.recorder));
        self.recorder.hold(conn);
        self.open.insert(conn, Open { since: self.clock.now(), agent: socket, handle: None });
        let (events, search) = (self.sender.clone(), self.search.clone());
        // Connecting to an editor that does not answer takes a while, so another thread does it.
        thread::spawn(move || {
            let opened = Conversation::open(conn, agent, ends, &recorder)
                .and_then(|conversation| Ok((conversation.handle()?, conversation)));
            match opened {
                Ok((handle, conversation)) => {
                    let _ = events.send(Event::Open(conn, handle));
                    conversation.run(&recorder);
                }
                Err(error) => {
                    complain("tap", &format!("{conn}: {error}"));
                    // After a restart the editor has another port or token, and the header of the transcript does not
                    // name those.
                    let looked = search.find();
                    if looked.is_err_and(|none| matches!(none.reason, NoFile { .. } | DeadProcess { .. })) {
                        let _ = events.send(Event::Gone);
                    }
                }
            }
            recorder.forget(conn);
            let _ = events.send(Event::Over(conn));
        });
    }

    /// Ends the oldest unauthenticated connection if there are as many as allowed. Returns how many
    /// are left.
    fn make_room(&mut self) -> usize {
        let unauthenticated = self.recorder.unauthenticated();
        let Some(oldest) = unauthenticated.first().filter(|_| unauthenticated.len() >= UNAUTHENTICATED)
        else {
            return unauthenticated.len();
        };
        if let Some(open) = self.open.remove(oldest) {
            thread::sleep(CHANCE.saturating_sub(self.clock.now().saturating_since(open.since)));
            // The editor may have accepted the connection meanwhile.
            if !self.recorder.unauthenticated().contains(oldest) {
                self.open.insert(*oldest, open);
                return unauthenticated.len().saturating_sub(1);
            }
            let editor = open.handle.iter().flat_map(Handle::sockets);
            for socket in editor.chain([&open.agent]) {
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
        self.recorder.forget(*oldest);
        unauthenticated.len().saturating_sub(1)
    }

    /// Removes the lock file, so that no agent finds the tap any more, and then ends.
    fn stop(mut self) -> bool {
        if let Err(error) = self.lock.remove() {
            complain("tap", &error.to_string());
        }
        self.open.values().filter_map(|open| open.handle.as_ref()).for_each(Handle::end);
        let clock = Clock::new();
        let end = clock.now().saturating_add(DRAIN);
        while !self.open.is_empty() {
            let left = clock.until(Some(end)).unwrap_or_default();
            match self.events.recv_timeout(left) {
                Ok(Event::Over(conn)) => drop(self.open.remove(&conn)),
                Ok(Event::Open(_, handle)) => handle.end(),
                Ok(Event::Accepted(_) | Event::Gone | Event::LockFile(_)) => {}
                Ok(Event::Signal) | Err(_) => break,
            }
        }
        let is_whole = self.recorder.end(DRAIN);
        if self.json {
            let record = self.record.path().map(|path| path.display().to_string());
            // If nobody reads it, the exit status still means the same.
            let event = json!({"event": "over", "record": record, "complete": is_whole});
            let _ = json_line(&event).and_then(|line| write_line(&line));
        } else {
            complain("tap", &format!("ended; {}", self.record.whereabouts(Shell::here())));
        }
        is_whole
    }
}

/// Returns how agents attach to the tap, one way per row.
fn ways(port: u16) -> String {
    [
        "/ide in Claude Code",
        &format!("ide-mcp agent --port {port} tools"),
        &format!("CLAUDE_CODE_SSE_PORT={port} in the environment of an agent"),
    ]
    .map(|way| format!("\n  {way}"))
    .concat()
}

fn sinks(options: &Options, outputs: &Outputs, header: &Header) -> Result<Vec<Sink>, String> {
    let transcript = |out| Sink::transcript(out, options.force, options.max_bytes, header);
    let transcript = match &outputs.record {
        Record::File(path) => Some(transcript(Some(path.as_path()))?),
        Record::Stdout => Some(transcript(None)?),
        Record::Nowhere => None,
    };
    let view = outputs.has_view.then(|| Sink::view(options.only()));
    // The transcript comes first, so that at the end it gets all the time that it needs.
    Ok(transcript.into_iter().chain(view).collect())
}

fn report_lock_file(event: &LockFileEvent) {
    match event {
        LockFileEvent::Lost => complain("tap", "the lock file is gone"),
        LockFileEvent::Restored => complain("tap", "the lock file is back"),
        LockFileEvent::Taken => {
            complain(
                "tap",
                "another program has taken the name of the lock file, so agents do not find the tap",
            );
        }
        LockFileEvent::Failed { error } => complain("tap", error),
        _ => {}
    }
}

fn accept(listener: &TcpListener, events: &SyncSender<Event>) {
    for agent in listener.incoming() {
        match agent {
            Ok(agent) => {
                if events.send(Event::Accepted(agent)).is_err() {
                    return;
                }
            }
            // The system may lack file descriptors. Some may be free in a moment.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}
