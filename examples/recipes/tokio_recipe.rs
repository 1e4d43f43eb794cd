//! An editor's server in a task of tokio. There is no adapter for tokio: copy this file, which is
//! all that an adapter would be.
//!
//! `ide_mcp_driver::Server` does everything but wait; here tokio's sockets and timers wait. A
//! socket that would block arms tokio's reactor. The reactor later adds the socket to the wake-ups,
//! which wakes the task. (`ide-mcp-smol` runs in a task of tokio unchanged; its own reactor costs
//! one more thread.)
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example tokio_recipe`; Enter ends it.

use ide_mcp::Clock;
use ide_mcp::ide::{Diagnostics, Host, HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent};
use ide_mcp::ide::{Tool, ToolCall, ToolSet};
use ide_mcp::mcp::Implementation;
use ide_mcp_driver::{Bind, Server, Transport};
use ide_mcp_driver::{Next, Shutdown, WakeSet};
use ide_mcp_lockfile::{LockDir, new_token, workspace_folders};
use std::error::Error;
use std::future::{self, Future as _};
use std::io::{self, ErrorKind, Read, Write};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use std::{net, process, thread};
use tokio::io::AsyncWrite as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep_until};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let token = new_token()?;
    let info = Implementation::new("tokio_recipe", "1.0");
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
    let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), tools));
    let wakes = WakeSet::new();
    let mut server = Server::bind(Bind::AnyPort, config, |listener| Sockets::new(listener, &wakes))?;
    let file = LockFile::new(process::id(), workspace_folders(["."])?, "tokio", token);
    server.publish(&LockDir::from_environment()?, &file)?;
    println!("listening on port {}; Enter ends it", server.local_addr().port());

    // Another thread of an application puts a message into a queue and then wakes the task. Here a
    // wake-up alone is enough, since it has only one meaning: to end.
    let waker = wakes.waker();
    thread::spawn(move || {
        let _ = io::stdin().read_line(&mut String::new());
        waker.wake();
    });

    let (clock, start) = (Clock::new(), Instant::now());
    loop {
        let event = next(&mut server, &wakes, &clock, start).await;
        match event {
            Next::Event(HostEvent::Agent { event: ServerEvent::Ready { .. }, .. }) => {
                println!("an agent is attached");
            }
            Next::Event(HostEvent::Agent { event: ServerEvent::Call(call), .. }) => {
                answer(server.host_mut(), call);
            }
            Next::Wake => server.shutdown(clock.now()),
            Next::Over => return Ok(()),
            _ => {}
        }
    }
}

/// Accepts every proposal unchanged, and finds no problems.
fn answer(host: &mut Host, call: ToolCall) {
    // An error means that the agent has gone or has cancelled the call.
    let _ = match call {
        ToolCall::GetDiagnostics(call, _) => host.answer(call, &Diagnostics::new(Vec::new())),
        ToolCall::OpenDiff(call, diff) => host.answer(call, &diff.accept()),
        other => host.call(other).fail(-32601, "this editor shows diffs and nothing else"),
    };
}

/// Waits for the next event or a wake-up. Dropping the future loses nothing.
async fn next(
    server: &mut Server<Sockets>,
    wakes: &WakeSet,
    clock: &Clock,
    start: Instant,
) -> Next<HostEvent> {
    let mut timer = pin!(sleep_until(start));
    future::poll_fn(|context| {
        loop {
            // The task registers first, so that every wake-up from here on wakes it.
            let ready = wakes.register(context.waker());
            match server.next(clock.now(), &ready) {
                Next::Wait(None) => return Poll::Pending,
                Next::Wait(Some(until)) => {
                    timer.as_mut().reset(start + until.since_start());
                    ready!(timer.as_mut().poll(context));
                }
                next => return Poll::Ready(next),
            }
        }
    })
    .await
}

/// The listener, and the wake-ups of all sockets.
struct Sockets {
    listener: Option<TcpListener>,
    of_listener: Waker,
    wakes: WakeSet,
}

impl Sockets {
    fn new(listener: net::TcpListener, wakes: &WakeSet) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = Some(TcpListener::from_std(listener)?);
        Ok(Self { listener, of_listener: wakes.listener_waker(), wakes: wakes.clone() })
    }
}

impl Transport for Sockets {
    type Incoming = TcpStream;
    type Socket = Socket;

    fn accept(&mut self) -> io::Result<TcpStream> {
        let listener = self.listener.as_ref().ok_or(ErrorKind::WouldBlock)?;
        match listener.poll_accept(&mut Context::from_waker(&self.of_listener)) {
            Poll::Ready(accepted) => accepted.map(|(stream, _)| stream),
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn adopt(&mut self, number: usize, stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Ok(Socket { stream, wakes: self.wakes.socket_waker(number) })
    }

    fn ends(socket: &Socket) -> io::Result<(net::SocketAddr, net::SocketAddr)> {
        Ok((socket.stream.local_addr()?, socket.stream.peer_addr()?))
    }

    fn close(&mut self) {
        self.listener = None;
    }
}

/// A socket that never blocks, and wakes its task when it can be read or written again.
struct Socket {
    stream: TcpStream,
    wakes: Waker,
}

impl Read for Socket {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.try_read(space) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    or_would_block(self.stream.poll_read_ready(&mut Context::from_waker(&self.wakes)))?;
                }
                done => return done,
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    or_would_block(self.stream.poll_write_ready(&mut Context::from_waker(&self.wakes)))?;
                }
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Socket {
    fn shutdown_write(&mut self) -> io::Result<()> {
        // This calls `shutdown(2)`, which does not wait.
        match Pin::new(&mut self.stream).poll_shutdown(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }
}

/// Converts the answer of the reactor: pending becomes `WouldBlock`; ready lets the caller try again.
fn or_would_block(armed: Poll<io::Result<()>>) -> io::Result<()> {
    match armed {
        Poll::Ready(news) => news,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}
