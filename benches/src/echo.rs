//! Echo servers over loopback: messages per second, CPU time per message, and memory per idle connection.
//!
//! One load generator on one thread, the server in a process of its own and on a core of its own. The servers take
//! turns round by round.

use crate::handshake::request;
use crate::serve::{SERVERS, pin};
use crate::workload::push_frame;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The size of the texts.
const TEXT: usize = 125;

/// How many connections are open while the memory is looked at.
const IDLE: usize = 1000;

/// What one server did in one round.
pub struct Outcome {
    pub per_second: f64,
    /// Nanoseconds of the server's CPU time per message.
    pub cpu: f64,
}

/// With this many messages under way, this many a round.
const DEPTHS: [(usize, usize); 2] = [(1, 3_000), (64, 50_000)];

/// Prints messages per second and CPU time, and the goals.
pub fn echo(rounds: usize) {
    pin(1);
    for (depth, messages) in DEPTHS {
        let mut lanes: Vec<(&str, Running, Load, Vec<Outcome>)> = SERVERS
            .iter()
            .map(|name| {
                let server = Running::start("--serve", name);
                let load = Load::connect(&server, *name == "raw TCP");
                (*name, server, load, Vec::new())
            })
            .collect();
        for _ in 0..rounds {
            for (_, server, load, outcomes) in &mut lanes {
                let (cpu, start) = (server.cpu(), Instant::now());
                load.run(depth, messages);
                let took = start.elapsed();
                let cpu = (server.cpu() - cpu).as_nanos() as f64 / messages as f64;
                outcomes.push(Outcome { per_second: messages as f64 / took.as_secs_f64(), cpu });
            }
        }
        let lanes: Vec<Lane> =
            lanes.into_iter().map(|(name, _, _, outcomes)| Lane { name, outcomes }).collect();
        print(depth, &lanes);
    }
}

/// The rounds of one server.
pub struct Lane {
    pub name: &'static str,
    pub outcomes: Vec<Outcome>,
}

impl Lane {
    /// The median, over the rounds, of what this has for each of the other's. Both saw the same moment of the machine,
    /// whose clock changes from round to round.
    pub fn median_ratio(&self, other: &Self, of: fn(&Outcome) -> f64) -> f64 {
        let pairs = self.outcomes.iter().zip(&other.outcomes);
        let mut ratios: Vec<f64> = pairs.map(|(one, other)| of(one) / of(other)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

fn print(depth: usize, lanes: &[Lane]) {
    let (per_second, cpu): (fn(&Outcome) -> f64, fn(&Outcome) -> f64) =
        (|outcome| outcome.per_second, |outcome| outcome.cpu);
    println!("\necho, {TEXT} B, {depth} in flight: the best of the rounds, and the median of their ratios\n");
    println!("{:<24}{:>14}{:>22}{:>12}", "", "messages/s", "CPU ns per message", "of raw");
    let raw = &lanes[0];
    for lane in lanes {
        let fastest = lane.outcomes.iter().map(per_second).fold(0.0, f64::max);
        let least = lane.outcomes.iter().map(cpu).fold(f64::INFINITY, f64::min);
        println!("{:<24}{fastest:>14.0}{least:>22.0}{:>11.2}x", lane.name, lane.median_ratio(raw, cpu));
    }
    let ours = |wanted: &str| lanes.iter().find(|lane| lane.name == wanted);
    let peers = || lanes[1..].iter().filter(|lane| !lane.name.starts_with("ide-mcp"));
    if let (1, Some(ours)) = (depth, ours("ide-mcp blocking")) {
        goal("CPU of raw TCP, blocking", ours.median_ratio(raw, cpu), 1.12, false);
    }
    if let (64, Some(ours), 1..) = (depth, ours("ide-mcp over mio"), peers().count()) {
        let fastest = peers().map(|peer| ours.median_ratio(peer, per_second)).fold(f64::INFINITY, f64::min);
        let frugal = peers().map(|peer| ours.median_ratio(peer, cpu)).fold(0.0, f64::max);
        goal("messages/s of the best peer, mio", fastest, 12.0, true);
        goal("CPU of the best peer, mio", frugal, 0.06, false);
    }
}

/// Prints whether a ratio has been reached.
pub fn goal(name: &str, ratio: f64, goal: f64, at_least: bool) {
    let met = if at_least { ratio >= goal } else { ratio <= goal };
    let bound = if at_least { "at least" } else { "at most" };
    println!("{:<5} {name}: {ratio:.3}x, goal {bound} {goal}x", if met { "met" } else { "MISS" });
}

/// Prints the memory of each server with many connections open.
pub fn memory(_: usize) {
    println!("\nmemory with {IDLE} connections, each of which has echoed one text of {TEXT} B and is idle\n");
    println!("{:<24}{:>16}{:>20}", "", "at first, KiB", "KiB a connection");
    for name in SERVERS {
        let server = Running::start("--serve", name);
        // The first connection pays for what all share.
        let mut loads = vec![Load::connect(&server, *name == "raw TCP")];
        loads[0].run(1, 1);
        let before = server.resident();
        for _ in 0..IDLE {
            let mut load = Load::connect(&server, *name == "raw TCP");
            load.run(1, 1);
            loads.push(load);
        }
        // An adapter gives memory back after a second of silence.
        thread::sleep(Duration::from_millis(1500));
        let each = (server.resident() as f64 - before as f64) / IDLE as f64;
        println!("{name:<24}{before:>16}{each:>20.2}");
        if *name == "ide-mcp over mio" {
            goal("KiB a connection, mio", each, 1.0, false);
        }
    }
}

/// A server in a process of its own, ended when this is dropped.
pub struct Running {
    process: Child,
    pub port: u16,
}

impl Running {
    /// This program, started with this mode and name.
    pub fn start(mode: &str, name: &str) -> Self {
        let program = std::env::current_exe().expect("a running program has a path");
        let mut process = Command::new(program)
            .args([mode, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let mut line = String::new();
        let told = BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line);
        let port = told.ok().and_then(|_| line.trim().parse().ok()).expect("the server says its port");
        Self { process, port }
    }

    /// The CPU time of all its threads so far.
    pub fn cpu(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("it is running");
        let nanos = threads.flatten().map(|thread| {
            let stat = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            stat.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
        });
        Duration::from_nanos(nanos.sum())
    }

    /// Resident memory in KiB.
    fn resident(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("it is running");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One connection that sends frames and counts the bytes that come back.
struct Load {
    stream: TcpStream,
    frame: Vec<u8>,
    answer: Vec<u8>,
    buf: Vec<u8>,
}

impl Load {
    fn connect(server: &Running, raw: bool) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("the server listens");
        stream.set_nodelay(true).expect("a connected socket takes options");
        let text = [b'x'; TEXT];
        let mut frame = Vec::new();
        push_frame(&mut frame, &text, [1, 2, 3, 4]);
        let mut answer = vec![0x81, TEXT as u8];
        answer.extend(text);
        if raw {
            answer.clone_from(&frame);
        } else {
            stream.write_all(request()).expect("the server reads");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("the server answers");
                head.extend(byte);
            }
            assert!(head.starts_with(b"HTTP/1.1 101"), "the server accepts");
        }
        Self { stream, frame, answer, buf: vec![0; 64 * 1024] }
    }

    /// Sends `messages`, of which at most `depth` are unanswered; more go out when half of them are answered. The
    /// first answers are compared byte for byte, the others counted.
    fn run(&mut self, depth: usize, messages: usize) {
        let window = self.frame.repeat(depth);
        let expected = self.answer.repeat(depth.min(messages));
        let (mut sent, mut received) = (0, 0);
        while received < messages * self.answer.len() {
            let answered = received / self.answer.len();
            let free = depth.min(messages - answered).saturating_sub(sent - answered).min(messages - sent);
            if free > 0 && (free >= depth / 2 || sent + free == messages) {
                self.stream.write_all(&window[..free * self.frame.len()]).expect("the server reads");
                sent += free;
            }
            let n = self.stream.read(&mut self.buf).expect("the server answers");
            assert!(n > 0, "the server went away");
            if let Some(expected) = expected.get(received..expected.len().min(received + n)) {
                assert!(self.buf.starts_with(expected), "another answer than what was sent");
            }
            received += n;
        }
    }
}
