//! A server in a loop that can wait for a file descriptor and a timeout and for nothing else: GLib,
//! calloop, libuv, Qt, a hand-written `poll(2)`.
//!
//! A `mio::Poll` has a descriptor of its own, which is readable while any of its sources is ready
//! (epoll and kqueue; not on Windows). Hand this descriptor to the outer loop. Give the server a
//! turn when the descriptor is readable or the deadline has come. Here the outer loop is `poll(2)`.
//! `cargo run --example nested_poll`; Ctrl-C ends it.

#![allow(clippy::print_stdout, reason = "it shows what it does")]

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    on_unix::run()
}

#[cfg(not(unix))]
fn main() {
    println!("there is no descriptor to wait for on this system: see mio_loop and frame_loop");
}

#[cfg(unix)]
mod on_unix {
    use ide_mcp_mio::Clock;
    use ide_mcp_mio::ide::{HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent, ToolSet};
    use ide_mcp_mio::lockfile::{LockDir, new_token, workspace_folders};
    use ide_mcp_mio::mcp::Implementation;
    use ide_mcp_mio::mio::{Events, Poll, Token};
    use ide_mcp_mio::{Bind, Server};
    use rustix::event::{PollFd, PollFlags, Timespec, poll as outer_poll};
    use rustix::io::Errno;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::low_level::pipe;
    use std::error::Error;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;
    use std::process;
    use std::time::Duration;

    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        let mut inner = Poll::new()?;
        let descriptor = inner.registry().try_clone()?;
        let mut server = listen(&inner)?;
        println!("listening on port {}", server.port());

        // A descriptor of the application, which becomes readable when a signal comes.
        let (signals, sender) = UnixStream::pair()?;
        pipe::register(SIGINT, sender.try_clone()?)?;
        pipe::register(SIGTERM, sender)?;

        let clock = Clock::new();
        let mut events = Events::with_capacity(64);
        let mut stopping = false;
        while !server.is_over() {
            // The outer loop waits for the server, its deadline and the descriptors of the
            // application.
            let wait = clock.until(server.deadline(clock.now()));
            let mut sources = vec![PollFd::new(&descriptor, PollFlags::IN)];
            if !stopping {
                sources.push(PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN));
            }
            match outer_poll(&mut sources, wait.map(timespec).as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_signalled = sources.get(1).is_some_and(|signals| !signals.revents().is_empty());

            // The outer loop calls this part when the descriptor is readable or the timer fires. It
            // does not wait.
            inner.poll(&mut events, Some(Duration::ZERO))?;
            for event in &events {
                server.handle_event(event);
            }
            if is_signalled {
                stopping = true;
                server.shutdown(clock.now());
            }
            server.turn(clock.now(), |_, event| {
                if let HostEvent::Agent { event: ServerEvent::Ready { .. }, .. } = event {
                    println!("an agent is attached");
                }
            });
            // A loop with timers now sets its timer to the new `server.deadline`.
        }
        Ok(())
    }

    fn listen(poll: &Poll) -> Result<Server, Box<dyn Error>> {
        let token = new_token()?;
        let info = Implementation::new("nested_poll", "1.0");
        let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), ToolSet::new()));
        let mut server = Server::bind(Bind::AnyPort, config, poll.registry(), Token(0))?;
        let file = LockFile::new(process::id(), workspace_folders(["."])?, "Nested", token);
        server.publish(&LockDir::from_environment()?, &file)?;
        Ok(server)
    }

    /// Converts a duration; one that is too long for the system becomes an hour.
    fn timespec(wait: Duration) -> Timespec {
        Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 })
    }
}
