//! `--serve-calls NAME CORE`: an MCP server with one tool in a separate process on one core.

use super::{announce, listen, on_threads, turn};
use crate::mcp::ours;
use crate::program::PROGRAM;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{Tool, ToolCall, ToolSet};
use ide_mcp::ide::{self, Auth, Policy, ServerConfig, ServerEvent};
use ide_mcp::{Clock, Output, Time};
use mio::{Events, Poll, Token};
use serde::Deserialize;
use std::future::{Future as _, poll_fn};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::pin::pin;
use std::process::{Command, Stdio};

/// A server with one connection in a loop of blocking reads and writes, without timers.
pub const BARE: &str = "bare loop";
pub const MIO: &str = "ide-mcp-mio";
pub const SMOL: &str = "ide-mcp-smol";
pub const BLOCKING: &str = "ide-mcp-blocking";
pub const SIDECAR: &str = "ide-mcp sidecar";
#[cfg(feature = "peers")]
pub const HAND_WRITTEN: &str = "tungstenite + serde";
#[cfg(feature = "peers")]
pub const RMCP: &str = "rmcp";

/// The servers of the adapters, and the bare loop, which runs on a thread for each connection.
pub const ADAPTERS: &[&str] = &[BARE, MIO, SMOL, BLOCKING];

/// The token of the agents.
pub const TOKEN: &str = "a-token-of-the-benches-that-is-no-secret";

/// The directory of the lock file of the sidecar, which the sidecar creates.
const LOCK_DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/sidecar");

/// How many agents attach at most, in any measurement.
const CONNECTIONS: usize = 2000;

/// Listens, prints the port, and serves until standard input ends.
pub fn serve(name: &str) {
    match name {
        MIO => over_mio().expect("a poll works"),
        SMOL => over_smol().expect("a reactor works"),
        BLOCKING => over_blocking().expect("threads can be had"),
        BARE => on_threads(&listen(), bare),
        SIDECAR => over_sidecar().expect("the program is built"),
        #[cfg(feature = "peers")]
        HAND_WRITTEN => on_threads(&listen(), by_hand),
        #[cfg(feature = "peers")]
        RMCP => on_tokio(listen()),
        name => panic!("there is no server {name}"),
    }
}

fn server_config(port: u16) -> ServerConfig {
    let token = AuthToken::from_text(TOKEN).expect("a good token");
    let tools = ToolSet::new().handle(Tool::OpenDiff);
    ServerConfig::new("editor", "1").policy(Policy::new(port, Auth::Token(token))).tools(tools)
}

fn config() -> ServerConfig {
    let mut config = server_config(0);
    config.max_clients = CONNECTIONS;
    config
}

fn on(server: &mut ide::Server, event: ServerEvent) {
    if let ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } = event {
        // A disconnected agent needs no answer.
        let _ = server.answer(call, ours::reject(diff));
    }
}

/// Runs an editor as an application does: many connections, one thread.
fn over_mio() -> io::Result<()> {
    let (mut poll, clock) = (Poll::new()?, Clock::new());
    let mut server =
        ide_mcp_mio::Server::bind(ide_mcp_mio::Bind::AnyPort, config(), poll.registry(), Token(0))?;
    announce(server.local_addr().port());
    let mut events = Events::with_capacity(64);
    loop {
        poll.poll(&mut events, clock.until(server.deadline(clock.now())))?;
        turn(|| {
            for event in &events {
                server.handle_event(event);
            }
            server.turn(clock.now(), on);
        });
    }
}

fn over_smol() -> io::Result<()> {
    let mut server = ide_mcp_smol::Server::bind(ide_mcp_smol::Bind::AnyPort, config())?;
    announce(server.local_addr().port());
    let mut serve = pin!(async {
        loop {
            if let Some(event) = server.next_event().await {
                on(server.machine_mut(), event);
            }
        }
    });
    // A turn is one poll of the task, since an executor runs other tasks only between two polls.
    async_io::block_on(poll_fn(|context| turn(|| serve.as_mut().poll(context))))
}

fn over_blocking() -> io::Result<()> {
    let mut server = ide_mcp_blocking::Server::bind(ide_mcp_blocking::Bind::AnyPort, config())?;
    announce(server.local_addr().port());
    loop {
        if let Some(event) = server.next_event() {
            on(server.machine_mut(), event);
        }
    }
}

/// The part of an event that [`over_sidecar`] reads.
#[derive(Deserialize)]
struct Event<'a> {
    event: &'a str,
    port: Option<u16>,
    call: Option<u64>,
}

/// Runs an editor that reads the lines of the sidecar, its child process.
fn over_sidecar() -> io::Result<()> {
    let mut sidecar = Command::new(PROGRAM)
        .arg("sidecar")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // This process ends without reading the last event, and the sidecar would report an error about
        // that.
        .stderr(Stdio::null())
        .spawn()?;
    let mut commands = sidecar.stdin.take().expect("it is piped");
    writeln!(
        commands,
        r#"{{"name":"editor","folders":[],"tools":["openDiff"],"token":"{TOKEN}","lock_dir":"{LOCK_DIR}"}}"#
    )?;
    let (mut events, mut line) = (BufReader::new(sidecar.stdout.take().expect("it is piped")), String::new());
    while events.read_line(&mut line)? > 0 {
        let event: Event<'_> = serde_json::from_str(&line)?;
        match (event.event, event.port, event.call) {
            ("listening", Some(port), _) => announce(port),
            ("diff", _, Some(call)) => {
                commands.write_all(
                    format!("{{\"cmd\":\"answer\",\"call\":{call},\"verdict\":\"reject\"}}\n").as_bytes(),
                )?;
            }
            _ => {}
        }
        line.clear();
    }
    Ok(())
}

fn bare(mut stream: TcpStream) {
    let port = stream.local_addr().expect("it is connected").port();
    let mut server = ide::Server::new(server_config(port));
    let conn = server.connect(Time::ZERO);
    while let Ok(n @ 1..) = stream.read(server.space(conn)) {
        server.filled(Time::ZERO, conn, n);
        loop {
            match server.poll(Time::ZERO) {
                Output::Event(event) => ours::on(&mut server, event),
                Output::Write { conn, bytes } => {
                    if stream.write_all(bytes).is_err() {
                        return;
                    }
                    let n = bytes.len();
                    server.written(conn, n);
                }
                Output::Close(_) => return,
                Output::Wait(_) => break,
            }
        }
    }
}

#[cfg(feature = "peers")]
fn by_hand(stream: TcpStream) {
    use tungstenite::Message;
    use tungstenite::handshake::server::{Request, Response};
    let callback = |_: &Request, mut response: Response| {
        response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().expect("a good value"));
        Ok(response)
    };
    let Ok(mut socket) = tungstenite::accept_hdr(stream, callback) else { return };
    let mut out = Vec::new();
    while let Ok(message) = socket.read() {
        let Message::Text(text) = message else { continue };
        crate::mcp::hand_written::answer(text.as_str(), &mut out);
        if out.is_empty() {
            continue;
        }
        let answer = String::from_utf8(std::mem::take(&mut out)).expect("JSON is text");
        if socket.send(Message::text(answer)).is_err() {
            return;
        }
    }
}

#[cfg(feature = "peers")]
fn on_tokio(listener: std::net::TcpListener) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be built").block_on(async {
        listener.set_nonblocking(true).expect("a listener takes options");
        let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime takes it");
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).expect("a connected socket takes options");
            tokio::spawn(crate::mcp::rmcp::serve(stream));
        }
    });
}
