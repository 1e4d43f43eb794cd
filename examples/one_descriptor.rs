//! An editor's server in a loop that waits for file descriptors: GLib, libuv, Qt, calloop, or `poll(2)` as
//! here. One descriptor covers the server's sockets, its timers, and wake-ups by other threads.
//!
//! `cargo run --example one_descriptor`; Ctrl-C ends it. On Windows the descriptor is a socket, for
//! `WSAPoll`.

#![allow(clippy::print_stdout, reason = "it shows what it does")]

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use ide_mcp_mio::NestedServer;
    use ide_mcp_mio::ide::{ServerConfig, ServerEvent};
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::low_level::pipe;
    use std::os::unix::net::UnixStream;

    let mut server = NestedServer::start(ServerConfig::new("one descriptor", "1.0").folder("."))?;
    println!("listening on port {}", server.server().local_addr().port());

    // A descriptor of the application, which becomes readable when a signal arrives.
    let (mut signals, sender) = UnixStream::pair()?;
    pipe::register(SIGINT, sender.try_clone()?)?;
    pipe::register(SIGTERM, sender)?;

    while !server.is_over() {
        let mut sources = [PollFd::new(&server, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        match poll(&mut sources, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [of_server, of_signals] = sources.map(|source| !source.revents().is_empty());
        if of_signals {
            std::io::Read::read_exact(&mut signals, &mut [0])?;
            server.shutdown();
        }
        // In a toolkit, call this from the callback that watches the descriptor.
        if of_server {
            server.dispatch(|_, event| {
                if let ServerEvent::Ready { .. } = event {
                    println!("an agent is attached");
                }
            })?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    println!("this example needs Unix signals to end: run frame_loop");
}
