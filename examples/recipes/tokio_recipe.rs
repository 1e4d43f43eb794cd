//! A `Host` in a task of tokio. There is no adapter for tokio: this is all that one would be, to copy.
//!
//! One task owns the host and the sockets; other tasks reach it through a channel. It waits for readiness, for the next
//! deadline and for the channel, and then takes a turn. Runs on a current-thread runtime as well as on any other.
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example tokio_recipe`; Enter ends it.

use ide_mcp::ide::locate::Extras;
use ide_mcp::ide::{
    ConnId, Host, HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent, ToolSet,
};
use ide_mcp::mcp::Implementation;
use ide_mcp::{Clock, Machine as _, Time, Wire as _};
use ide_mcp_link::{BUDGET, Link, Shutdown};
use ide_mcp_lockfile::{LockDir, from_environment, new_token, workspace_folders};
use std::collections::BTreeMap;
use std::error::Error;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::{process, thread};
use tokio::io::AsyncWrite as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// A socket of tokio as a [`Link`] has it: reading and writing do not wait.
struct Socket(TcpStream);

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buf)
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.try_write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Socket {
    fn shutdown_write(&mut self) -> io::Result<()> {
        // It is `shutdown(2)`, which does not wait.
        match Pin::new(&mut self.0).poll_shutdown(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }
}

/// The host, and a link for each of its connections; those whose connection is over end by themselves.
struct Editor {
    host: Host,
    links: BTreeMap<ConnId, Link<Socket>>,
    ending: Vec<Link<Socket>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    let token = new_token()?;
    let info = Implementation::new("tokio_recipe", "1.0");
    let config = ServerConfig::new(info, Policy::new(port, token.clone()), ToolSet::new());
    let mut editor =
        Editor { host: Host::new(HostConfig::new(config)), links: BTreeMap::new(), ending: Vec::new() };

    let file = LockFile::new(process::id(), workspace_folders(["."])?, "tokio", token);
    let candidates = from_environment(Extras::default())?;
    let dir = candidates.first().ok_or("no directory for lock files: set HOME")?;
    let mut lock = Some(LockDir::create(&dir.dir)?.publish(port, &file)?);
    println!("listening on port {port}");

    // What other tasks and threads want done.
    let (sender, mut commands) = mpsc::channel::<()>(16);
    thread::spawn(move || {
        let _ = io::stdin().read_line(&mut String::new());
        sender.blocking_send(())
    });

    let (clock, start) = (Clock::new(), Instant::now());
    loop {
        let deadline = editor.turn(clock.now());
        // As long as it is published, others can come.
        if lock.is_none() && editor.is_over() {
            return Ok(());
        }
        tokio::select! {
            accepted = listener.accept(), if lock.is_some() => {
                // A connection that broke off before it was accepted concerns nobody.
                if let Ok((stream, _)) = accepted {
                    stream.set_nodelay(true)?;
                    editor.links.insert(editor.host.connect(clock.now()), Link::new(Socket(stream)));
                }
            }
            () = editor.readiness() => {}
            () = sleep_until(start + deadline.unwrap_or_default().since_start()), if deadline.is_some() => {}
            Some(()) = commands.recv() => {
                if let Some(lock) = lock.take() {
                    lock.remove()?;
                }
                editor.host.shutdown(clock.now());
            }
        }
        if let Some(lock) = &mut lock {
            lock.republish_if_missing()?;
        }
    }
}

impl Editor {
    /// Moves all there is to move; then when the next turn is due at the latest.
    fn turn(&mut self, now: Time) -> Option<Time> {
        for (id, link) in &mut self.links {
            if let Some(mut wire) = self.host.wire(*id) {
                link.read(&mut wire, now, BUDGET);
            }
        }
        self.host.tick(now);
        while let Some(event) = self.host.poll_event() {
            let HostEvent::Connection { event, .. } = event else { continue };
            match event {
                ServerEvent::Ready { .. } => println!("an agent is attached"),
                ServerEvent::Call { call, .. } => {
                    let _ = self.host.fail(call, -32601, "this editor has no tools");
                }
                _ => {}
            }
        }
        // Names what is new; a link knows what it could not write.
        while self.host.poll_transmit().is_some() {}
        for id in self.links.keys().copied().collect::<Vec<_>>() {
            let (Some(mut wire), Some(link)) = (self.host.wire(id), self.links.get_mut(&id)) else {
                continue;
            };
            link.write(&mut wire, now, BUDGET);
            if link.is_ending() {
                self.host.remove(now, id);
                self.ending.extend(self.links.remove(&id));
            }
        }
        self.ending.retain_mut(|link| {
            link.discard(now, BUDGET);
            !link.is_over()
        });
        self.deadline(now)
    }

    fn deadline(&mut self, now: Time) -> Option<Time> {
        let host = &mut self.host;
        if self.links.iter().any(|(id, link)| host.wire(*id).is_some_and(|wire| link.is_due(&wire))) {
            return Some(now);
        }
        let links = self.links.values().chain(&self.ending);
        links.filter_map(|link| link.deadline(now)).chain(self.host.deadline()).min()
    }

    /// Waits until a socket that matters can be read or written. Nothing is lost if this is dropped.
    async fn readiness(&mut self) {
        poll_fn(|context| {
            let mut any = false;
            for (id, link) in &mut self.links {
                let Some(wire) = self.host.wire(*id) else { continue };
                let stream = &link.socket().0;
                let reads = wire.wants_input() && stream.poll_read_ready(context).is_ready();
                let writes = !wire.outgoing().is_empty() && stream.poll_write_ready(context).is_ready();
                if reads || writes {
                    link.ready();
                    any = true;
                }
            }
            for link in &mut self.ending {
                if link.socket().0.poll_read_ready(context).is_ready() {
                    link.ready();
                    any = true;
                }
            }
            if any { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn is_over(&self) -> bool {
        self.links.is_empty() && self.ending.is_empty()
    }
}
