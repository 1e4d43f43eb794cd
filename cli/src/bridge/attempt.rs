//! One attempt to reach the editor: the socket that connects, and the check of who listens.
//!
//! ```text
//!  Attempt ──connected, a trusted user listens──▶ Trusted ──▶ the connection of a session
//!     └──────not connected, or another user listens──▶ the reason
//! ```
//!
//! An editor can die at any time, and somebody else can take its port. So each attempt checks again who listens, and
//! the type of the socket is the proof: a session begins only on a [`Trusted`] socket, and nothing can be sent on
//! others.

use ide_mcp::Time;
use ide_mcp::ide::Client;
use ide_mcp_driver::ConnectError;
use ide_mcp_mio::Conn;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

/// How long connecting may take: as long as for an agent (`AgentOptions::connect_timeout`).
const TIMEOUT: Duration = Duration::from_secs(30);

/// A socket that is connecting.
#[derive(Debug)]
pub(super) struct Attempt {
    stream: TcpStream,
    until: Time,
}

/// A connected socket whose server may get the token.
#[derive(Debug)]
pub(super) struct Trusted(TcpStream);

/// The result of an attempt.
#[derive(Debug)]
pub(super) enum Progress {
    Connecting(Attempt),
    Connected(Trusted),
    Failed(ConnectError),
}

impl Attempt {
    /// Begins to connect, without waiting.
    pub(super) fn begin(now: Time, to: SocketAddr, registry: &Registry, token: Token) -> io::Result<Self> {
        let mut stream = TcpStream::connect(to)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { stream, until: now.saturating_add(TIMEOUT) })
    }

    /// Returns the socket once it has connected and `check` trusts its server.
    pub(super) fn proceed(
        self,
        now: Time,
        check: impl FnOnce(&TcpStream) -> Result<(), ConnectError>,
    ) -> Progress {
        let failed = |error: io::Error| Progress::Failed(error.into());
        match (self.stream.take_error(), self.stream.peer_addr()) {
            (Ok(Some(error)) | Err(error), _) => failed(error),
            (Ok(None), Err(error)) if error.kind() == ErrorKind::NotConnected => {
                if now < self.until {
                    return Progress::Connecting(self);
                }
                failed(ErrorKind::TimedOut.into())
            }
            (Ok(None), Err(error)) => failed(error),
            (Ok(None), Ok(_)) => match check(&self.stream) {
                Ok(()) => Progress::Connected(Trusted(self.stream)),
                Err(error) => Progress::Failed(error),
            },
        }
    }

    /// Returns when the attempt ends.
    pub(super) const fn deadline(&self) -> Time {
        self.until
    }
}

impl Trusted {
    /// Begins a session on the socket.
    pub(super) fn begin(self, client: Client, registry: &Registry, token: Token) -> io::Result<Conn<Client>> {
        let Self(mut stream) = self;
        // `Conn` registers the socket, so that the `Poll` reports again that it is ready.
        registry.deregister(&mut stream)?;
        Conn::new(stream, client, registry, token)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use mio::Poll;
    use std::net;

    /// The queue of the listener is full, so Linux drops the attempt without an answer.
    #[test]
    fn attempt_ends_after_30_seconds() {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let to = listener.local_addr().unwrap();
        let connect = |_| net::TcpStream::connect_timeout(&to, Duration::from_millis(500)).ok();
        let queue: Vec<net::TcpStream> = (0..8).map_while(connect).collect();
        assert!(queue.len() < 8, "the queue is never full");
        let poll = Poll::new().unwrap();
        let check = |_: &TcpStream| panic!("it is not connected");
        let begin = Time::from_millis(7);
        let attempt = Attempt::begin(begin, to, poll.registry(), Token(0)).unwrap();
        let last = Time::from_millis(30_006);
        assert_eq!(attempt.deadline(), last.saturating_add(Duration::from_millis(1)));
        let Progress::Connecting(attempt) = attempt.proceed(last, check) else { panic!("it ends too early") };
        let over = attempt.deadline();
        let end = attempt.proceed(over, check);
        let is_timeout = |error: &io::Error| error.kind() == ErrorKind::TimedOut;
        assert!(matches!(&end, Progress::Failed(ConnectError::Io(error)) if is_timeout(error)), "{end:?}");
    }
}
