//! Calls over loopback: CPU time of the server per call, beside rmcp and a server written by hand.

use super::calls::{INITIALIZE, INITIALIZED, check, frame, open_diff};
use super::ours;
use crate::echo::{Lane, Outcome, Running, goal};
use crate::serve::{listen, on_threads, pin};
use ide_mcp::ide::{HostConfig, HostEvent, Server, Tool, ToolSet};
use ide_mcp::rpc::SessionId;
use ide_mcp::{Clock, Time};
use ide_mcp_blocking::Conn;
use mio::{Events, Poll, Token};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const MIO: &str = "ide-mcp over mio";
const BLOCKING: &str = "ide-mcp blocking";
const HAND_WRITTEN: &str = "tungstenite + serde";
const RMCP: &str = "rmcp";

/// Everyone who can serve calls.
const SERVERS: &[&str] = &[
    MIO,
    BLOCKING,
    #[cfg(feature = "peers")]
    HAND_WRITTEN,
    #[cfg(feature = "peers")]
    RMCP,
];

/// Arguments of this size, with this many calls under way, this many a round.
const LOADS: [(&str, usize, usize, usize); 4] = [
    ("100 B", 100, 1, 2_000),
    ("100 B", 100, 16, 16_000),
    ("64 KiB", 64 * 1024, 1, 1_000),
    ("64 KiB", 64 * 1024, 16, 1_000),
];

/// A server that is silent for so long has failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first of the ids, which all have as many digits.
const FIRST: u32 = 100;

/// Prints the CPU time of each server, and the goals.
pub fn calls(rounds: usize) {
    pin(1);
    for (size, bytes, depth, times) in LOADS {
        let mut lanes: Vec<(&'static str, Running, Load, Vec<Outcome>)> = SERVERS
            .iter()
            .map(|name| {
                let server = Running::start("--serve-calls", name);
                let load = Load::connect(server.port, bytes, depth);
                (*name, server, load, Vec::new())
            })
            .collect();
        for _ in 0..rounds {
            for (_, server, load, outcomes) in &mut lanes {
                let (cpu, start) = (server.cpu(), Instant::now());
                load.run(times);
                let took = start.elapsed();
                let cpu = (server.cpu() - cpu).as_nanos() as f64 / times as f64;
                outcomes.push(Outcome { per_second: times as f64 / took.as_secs_f64(), cpu });
            }
        }
        let lanes: Vec<Lane> =
            lanes.into_iter().map(|(name, _, _, outcomes)| Lane { name, outcomes }).collect();
        print(size, depth, &lanes);
    }
}

fn print(size: &str, depth: usize, lanes: &[Lane]) {
    let cpu: fn(&Outcome) -> f64 = |outcome| outcome.cpu;
    println!("\ntools/call over loopback, {size}, {depth} in flight: the best of the rounds\n");
    println!("{:<24}{:>14}{:>18}", "", "calls/s", "CPU ns per call");
    for lane in lanes {
        let fastest = lane.outcomes.iter().map(|outcome| outcome.per_second).fold(0.0, f64::max);
        let least = lane.outcomes.iter().map(cpu).fold(f64::INFINITY, f64::min);
        println!("{:<24}{fastest:>14.0}{least:>18.0}", lane.name);
    }
    let lane = |wanted: &str| lanes.iter().find(|lane| lane.name == wanted);
    for ours in [MIO, BLOCKING] {
        for (theirs, most) in [(RMCP, if size == "100 B" { 0.3 } else { 0.75 }), (HAND_WRITTEN, 1.1)] {
            let (Some(one), Some(other)) = (lane(ours), lane(theirs)) else { continue };
            goal(&format!("CPU of {theirs}, {ours}"), one.median_ratio(other, cpu), most, false);
        }
    }
}

/// Listens, says where, and serves until standard input ends.
pub fn serve(name: &str) {
    match name {
        MIO => over_mio().expect("a poll works"),
        BLOCKING => on_threads(&listen(), blocking),
        #[cfg(feature = "peers")]
        HAND_WRITTEN => on_threads(&listen(), by_hand),
        #[cfg(feature = "peers")]
        RMCP => on_tokio(listen()),
        name => panic!("nobody is called {name}"),
    }
}

/// An editor as an application runs it: many connections, one thread.
fn over_mio() -> std::io::Result<()> {
    let (mut poll, clock) = (Poll::new()?, Clock::new());
    let tools = ToolSet::new().handle(Tool::OpenDiff);
    let config = HostConfig::new(ours::config(tools));
    let mut server =
        ide_mcp_mio::Server::bind(ide_mcp_mio::Bind::AnyPort, config, poll.registry(), Token(0))?;
    crate::serve::announce(server.port());
    let mut events = Events::with_capacity(64);
    loop {
        poll.poll(&mut events, clock.until(server.deadline(clock.now())))?;
        for event in &events {
            server.handle(event);
        }
        server.turn(clock.now(), |host, event| {
            if let HostEvent::Connection { event, .. } = event {
                ours::answer(&event, |call, outcome| host.decide(call, outcome));
            }
        });
    }
}

fn blocking(stream: TcpStream) {
    let port = stream.local_addr().expect("it is connected").port();
    let mut config = ours::config(ToolSet::new().handle(Tool::OpenDiff));
    config.policy.port = port;
    let machine = Server::new(config, SessionId::new(1), Time::ZERO);
    let mut conn = Conn::from_stream(stream, machine).expect("a connected socket takes options");
    while let Some(event) = conn.next_event() {
        ours::on(conn.machine_mut(), &event);
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
        super::hand_written::answer(text.as_str(), &mut out);
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
            tokio::spawn(super::rmcp::serve(stream));
        }
    });
}

/// A session that makes calls and counts the bytes of the answers, which are all of one length.
struct Load {
    stream: TcpStream,
    frames: Vec<Vec<u8>>,
    answer: usize,
    buf: Vec<u8>,
}

impl Load {
    fn connect(port: u16, bytes: usize, depth: usize) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_nodelay(true).expect("a connected socket takes options");
        stream.set_read_timeout(Some(PATIENCE)).expect("a connected socket takes options");
        let head = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: mcp\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("the server reads");
        let mut answered = Vec::new();
        while !answered.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("the server answers");
            answered.extend(byte);
        }
        assert!(answered.starts_with(b"HTTP/1.1 101"), "the server accepts");
        stream.write_all(&frame(INITIALIZE)).expect("the server reads");
        let hello = read_text(&mut stream);
        assert!(hello.contains("2025-11-25"), "{hello}");
        stream.write_all(&frame(INITIALIZED)).expect("the server reads");
        let ids = (FIRST..).take(depth);
        let frames: Vec<Vec<u8>> = ids.map(|id| frame(&open_diff(id, bytes))).collect();
        let mut answer = 0;
        for (id, frame) in (FIRST..).zip(&frames) {
            stream.write_all(frame).expect("the server reads");
            let text = read_text(&mut stream);
            check(&text, id);
            // Longer than 125 bytes, or not.
            let len = text.len() + if text.len() < 126 { 2 } else { 4 };
            assert!(answer == 0 || answer == len, "the answers have different lengths");
            answer = len;
        }
        Self { stream, frames, answer, buf: vec![0; 64 * 1024] }
    }

    /// Makes so many calls, of which at most as many as there are frames are unanswered; more go out when half of them
    /// are answered.
    fn run(&mut self, calls: usize) {
        let depth = self.frames.len();
        let (mut sent, mut received) = (0, 0);
        while received < calls * self.answer {
            let answered = received / self.answer;
            let free = (depth - (sent - answered)).min(calls - sent);
            if free > 0 && (free >= depth / 2 || sent + free == calls) {
                for at in sent..sent + free {
                    self.stream.write_all(&self.frames[at % depth]).expect("the server reads");
                }
                sent += free;
            }
            let n = self.stream.read(&mut self.buf).expect("the server answers");
            assert!(n > 0, "the server went away");
            received += n;
        }
        assert_eq!(received, calls * self.answer, "more was said than was asked");
    }
}

/// The next frame, which is a whole text.
fn read_text(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("the server answers");
    assert_eq!(head[0], 0x81, "a whole text");
    let mut len = usize::from(head[1]);
    if len == 126 {
        stream.read_exact(&mut head).expect("the server answers");
        len = u16::from_be_bytes(head).into();
    }
    let mut text = vec![0; len];
    stream.read_exact(&mut text).expect("the server answers");
    String::from_utf8(text).expect("a text is UTF-8")
}
