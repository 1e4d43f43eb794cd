//! How connections end, and clients that never authenticate.

use super::life::Life;
use super::shared::{Client, PATIENCE};
use super::totals::Counter;
use ide_mcp::testing::Random;
use ide_mcp::ws::{CloseCode, Closed, Part};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

/// The number of pending connections that the editor keeps; for one more it drops the oldest
/// without an answer.
const STRANGERS: usize = 8;

/// How a client ends its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// A close handshake after all answers.
    Quiet,
    /// A close handshake with requests open.
    Close,
    /// A protocol error.
    Break,
    /// A lost transport, at this point of the output.
    Kill(Point, Kill),
}

/// The last output before a lost transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Message,
    Fragment,
    HalfFrame,
    HalfHeader,
}

/// The end of the transport, as TCP shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kill {
    Reset,
    Drop,
    /// The client ends its output and still reads.
    HalfClose,
}

impl Ending {
    pub(super) fn any(random: &mut Random) -> Self {
        const POINTS: [Point; 4] = [Point::Message, Point::Fragment, Point::HalfFrame, Point::HalfHeader];
        const KILLS: [Kill; 3] = [Kill::Reset, Kill::Drop, Kill::HalfClose];
        match random.below(10) {
            0 | 1 => Self::Quiet,
            2 => Self::Close,
            3 => Self::Break,
            _ => Self::Kill(POINTS[random.below(POINTS.len())], KILLS[random.below(KILLS.len())]),
        }
    }

    pub(super) const fn is_kill(self) -> bool {
        matches!(self, Self::Kill(..))
    }

    /// Ends the connection, and checks that the editor ends it as well.
    pub(super) fn perform(self, life: &mut Life<'_, '_>) -> Result<(), String> {
        match self {
            Self::Quiet | Self::Close => {
                // An error means that the connection has ended, which the check below detects.
                let _ = life.conn.machine_mut().sender().close(CloseCode::NORMAL, "soak");
                match life.closed()? {
                    Closed::Local { clean: true } => Ok(()),
                    other => Err(format!("a close frame led to this: {other}")),
                }
            }
            Self::Break => {
                let written = life.flush().and_then(|()| write(life.conn.stream(), b"\x81\x01a"));
                written.map_err(|error| error.to_string())?;
                match life.closed()? {
                    Closed::Remote { code: Some(code), .. } if code == CloseCode::PROTOCOL => Ok(()),
                    other => Err(format!("a frame without a mask led to this: {other}")),
                }
            }
            Self::Kill(point, kill) => {
                point.reach(life).map_err(|error| error.to_string())?;
                kill.perform(life.conn.stream()).map_err(|error| error.to_string())?;
                if kill == Kill::HalfClose {
                    life.closed()?;
                }
                Ok(())
            }
        }
    }
}

impl Point {
    fn reach(self, life: &mut Life<'_, '_>) -> io::Result<()> {
        if self == Self::Fragment {
            let _ = life.conn.machine_mut().sender().text_part("{\"jsonrpc\":", Part::More);
        }
        life.flush()?;
        match self {
            Self::Message | Self::Fragment => Ok(()),
            // The header of a text frame of 4 KiB with a mask of zeros, and a part of the text.
            Self::HalfFrame => write(life.conn.stream(), b"\x81\xfe\x10\x00\0\0\0\0{\"jsonrpc\":\"2.0\""),
            Self::HalfHeader => write(life.conn.stream(), b"\x81\xfe\x10"),
        }
    }
}

impl Kill {
    fn perform(self, stream: &TcpStream) -> io::Result<()> {
        match self {
            Self::Reset => Ok(rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?),
            Self::Drop => Ok(()),
            Self::HalfClose => stream.shutdown(Shutdown::Write),
        }
    }
}

/// Writes a few bytes directly to the socket, bypassing the machine. The socket has room for them,
/// since everything before was flushed.
fn write(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)
}

/// Connects without a session: either the editor refuses the request, or the client leaves early.
pub(super) fn unauthenticated(client: &mut Client<'_>) -> Result<(), String> {
    let soak = client.soak;
    let (mut stream, before) = soak.connect()?;
    soak.totals.add(Counter::Unauthenticated, 1);
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         x-claude-code-ide-authorization: a-token-that-it-is-not\r\n\r\n",
        soak.editor.port
    );
    let (sent, answer) = match client.random.below(5) {
        0 => ("", None),
        1 => (head.get(..client.random.below(head.len())).unwrap_or_default(), None),
        2 => (head.as_str(), Some("HTTP/1.1 401")),
        3 => ("POST / HTTP/1.1\r\n\r\n", Some("HTTP/1.1 4")),
        _ => ("\x16\x03\x01 hello\r\n\r\n", Some("HTTP/1.1 400")),
    };
    let written = stream.write_all(sent.as_bytes());
    let Some(answer) = answer else {
        thread::sleep(Duration::from_millis(u64::try_from(client.random.below(30)).unwrap_or(0)));
        let kill = if client.random.one_in(2) { Kill::Reset } else { Kill::Drop };
        return kill.perform(&stream).map_err(|error| error.to_string());
    };
    let mut received = Vec::new();
    let read = written.and_then(|()| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.take(64 * 1024).read_to_end(&mut received)
    });
    let received = String::from_utf8_lossy(&received);
    match read {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err("an unauthenticated peer got no answer".into())
        }
        _ if received.starts_with(answer) => {
            soak.totals.add(Counter::Rebuffed, 1);
            Ok(())
        }
        // The editor dropped this connection as the oldest of too many. The newer ones came later.
        _ if received.is_empty() && soak.arrivals.since(before) >= STRANGERS => Ok(()),
        _ => Err(format!("an unauthenticated peer received {received:?} instead of {answer}")),
    }
}
