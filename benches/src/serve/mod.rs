//! `--serve NAME CORE`: an echo server in a separate process on one core, so that its CPU time and
//! memory are its own.

pub mod calls;

use ide_mcp::ws::{Limits, OwnedEvent, Server};
use ide_mcp::{Clock, Time};
use ide_mcp_blocking::Conn as Blocking;
use ide_mcp_mio::Conn;
use mio::{Events, Interest, Poll, Token};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// A server of plain bytes, without WebSocket.
pub const RAW: &str = "raw TCP";
pub const MIO: &str = "ide-mcp over mio";
/// A thread for each connection, which blocks in its reads.
pub const BLOCKING: &str = "ide-mcp blocking";
const SMOL: &str = "ide-mcp over smol";

/// The echo servers over our adapters.
pub const ADAPTERS: &[&str] = &[BLOCKING, MIO, SMOL];

/// The echo servers that are compared with each other. The one over smol is measured only among
/// [`ADAPTERS`].
pub const SERVERS: &[&str] = &[
    RAW,
    MIO,
    BLOCKING,
    #[cfg(feature = "peers")]
    "tungstenite",
    #[cfg(feature = "peers")]
    "fastwebsockets",
    #[cfg(feature = "peers")]
    "tokio-websockets",
    #[cfg(feature = "peers")]
    "sockudo-ws",
];

/// Listens on a port that the system chooses, prints the port on standard output, and serves until
/// standard input ends.
pub fn serve(name: &str) {
    let listener = listen();
    match name {
        RAW => on_threads(&listener, raw),
        MIO => over_mio(listener).expect("a poll works"),
        SMOL => over_smol(listener).expect("a reactor works"),
        BLOCKING => on_threads(&listener, blocking),
        #[cfg(feature = "peers")]
        name => peer(name, listener),
        #[cfg(not(feature = "peers"))]
        name => panic!("there is no server {name}"),
    }
}

/// Returns a listener on a port that the system chooses, and prints the port.
pub fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    announce(listener.local_addr().expect("it is bound").port());
    listener
}

/// The CPU time of the longest turn since the last query, in microseconds; zero if the server does not time
/// its turns.
static LONGEST_TURN: AtomicU64 = AtomicU64::new(0);

/// True from the first query on. Asking for a thread's time costs a system call, which servers without
/// turns should not have to make.
static TURNS_ARE_TIMED: AtomicBool = AtomicBool::new(false);

/// Prints the port. From then on, prints the longest turn whenever a byte arrives on standard input, and ends
/// the process when standard input ends.
pub fn announce(port: u16) {
    println!("{port}");
    thread::spawn(|| {
        while let Ok(1) = std::io::stdin().read(&mut [0]) {
            TURNS_ARE_TIMED.store(true, Ordering::Relaxed);
            println!("{}", LONGEST_TURN.swap(0, Ordering::Relaxed));
        }
        std::process::exit(0);
    });
}

/// Returns how much CPU time this thread has used, which measures a turn without the time that other threads
/// get.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("it is positive")
}

/// Runs a turn, and records its time if turns are timed.
fn turn<T>(run: impl FnOnce() -> T) -> T {
    if !TURNS_ARE_TIMED.load(Ordering::Relaxed) {
        return run();
    }
    let begin = cpu_time();
    let done = run();
    let took = cpu_time().saturating_sub(begin);
    LONGEST_TURN.fetch_max(took.as_micros().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    done
}

/// Keeps this thread, and the threads and processes that it starts, on one core.
pub fn pin(core: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    // With a single core, client and server cannot be separated.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

pub fn on_threads(listener: &TcpListener, serve: fn(TcpStream)) {
    for stream in listener.incoming().flatten() {
        stream.set_nodelay(true).expect("a connected socket takes options");
        thread::spawn(move || serve(stream));
    }
}

fn raw(mut stream: TcpStream) {
    let mut buf = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = stream.read(&mut buf) {
        if stream.write_all(&buf[..n]).is_err() {
            return;
        }
    }
}

fn blocking(stream: TcpStream) {
    let machine = Server::new(Limits::default(), Time::ZERO);
    let mut conn = Blocking::from_stream(stream, machine).expect("a connected socket takes options");
    while let Some(event) = conn.next_event() {
        on(conn.machine_mut(), event);
    }
}

fn over_mio(listener: TcpListener) -> std::io::Result<()> {
    const LISTENER: Token = Token(usize::MAX);
    listener.set_nonblocking(true)?;
    let mut listener = mio::net::TcpListener::from_std(listener);
    let (mut poll, clock) = (Poll::new()?, Clock::new());
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    // Boxed, so that the spare capacity of the table does not count as memory of connections.
    let mut conns: Vec<Option<Box<Conn<Server>>>> = Vec::new();
    let mut events = Events::with_capacity(1024);
    loop {
        let now = clock.now();
        let deadline = conns.iter().flatten().filter_map(|conn| conn.deadline(now)).min();
        poll.poll(&mut events, clock.until(deadline))?;
        let now = clock.now();
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((stream, _)) = listener.accept() {
                    let machine = Server::new(Limits::default(), now);
                    let conn = Conn::new(stream, machine, poll.registry(), Token(conns.len()))?;
                    conns.push(Some(Box::new(conn)));
                }
            } else if let Some(Some(conn)) = conns.get_mut(event.token().0) {
                conn.handle_event(event);
            }
        }
        for slot in &mut conns {
            if let Some(conn) = slot {
                if conn.deadline(now).is_some_and(|deadline| deadline <= now) {
                    conn.turn(now, on);
                }
                if conn.is_over() {
                    *slot = None;
                }
            }
        }
    }
}

fn over_smol(listener: TcpListener) -> std::io::Result<()> {
    let (listener, executor) = (async_io::Async::new(listener)?, async_executor::LocalExecutor::new());
    async_io::block_on(executor.run(async {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let stream = stream.into_inner()?;
            let machine = Server::new(Limits::default(), Time::ZERO);
            let mut conn = ide_mcp_smol::Conn::from_stream(stream, machine)?;
            let serve = async move {
                while let Some(event) = conn.next_event().await {
                    on(conn.machine_mut(), event);
                }
            };
            executor.spawn(serve).detach();
        }
    }))
}

fn on(server: &mut Server, event: OwnedEvent) {
    // If an answer cannot be sent, its connection has ended, and it is not needed.
    let _ = match event {
        OwnedEvent::Upgrade(_) => server.accept(None).map_err(drop),
        OwnedEvent::Text(text) => server.sender().text(&text).map_err(drop),
        OwnedEvent::Binary(bytes) => server.sender().binary(&bytes).map_err(drop),
        _ => Ok(()),
    };
}

#[cfg(feature = "peers")]
fn peer(name: &str, listener: TcpListener) {
    use crate::peers;
    if name == "tungstenite" {
        return on_threads(&listener, peers::tungstenite::serve);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.expect("a runtime can be built").block_on(async {
        listener.set_nonblocking(true).expect("a listener takes options");
        let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime takes it");
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { continue };
            stream.set_nodelay(true).expect("a connected socket takes options");
            match name {
                "tokio-websockets" => drop(tokio::spawn(peers::tokio_websockets::serve(stream))),
                "fastwebsockets" => drop(tokio::spawn(async move {
                    if accept(&mut stream).await.is_some() {
                        peers::fastwebsockets::serve(stream).await;
                    }
                })),
                "sockudo-ws" => drop(tokio::spawn(async move {
                    if accept(&mut stream).await.is_some() {
                        peers::sockudo_ws::serve(stream).await;
                    }
                })),
                name => panic!("there is no server {name}"),
            }
        }
    });
}

/// Answers the opening handshake for the peers whose own handshake needs a whole HTTP server.
#[cfg(feature = "peers")]
async fn accept(stream: &mut tokio::net::TcpStream) -> Option<()> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut request).await.ok().filter(|n| *n > 0)?;
    }
    let mut answer = Vec::new();
    crate::floor::answer(&request, &mut answer)?;
    stream.write_all(&answer).await.ok()
}
