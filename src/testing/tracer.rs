//! [`Tracer`]: a machine that shows its bytes and events.

use alloc::{format, string::String, vec::Vec};

use crate::ide::kit::display_safe;
use crate::{
    Machine, Output, Time,
    ws::frame::{self, Header},
};

/// Shows what passes through a machine as lines of text: the heads of the opening handshake, each frame, and each
/// event. Wrap your machine in it; the tracer is a [`Machine`] too. It follows the bytes of one connection, so an
/// [`ide::Server`](crate::ide::Server) that you trace may have only one.
///
/// The machines themselves do not log. Put a tracer in the place of its machine in an adapter's `Conn`, in a
/// [`Pair`](crate::testing::Pair), or in any other loop. Each line begins with `◀` for input, `▶` for output, or two
/// spaces for an event, and has no line breaks and nothing that controls a terminal. Header fields that may contain a
/// token are masked; the contents of messages are shown. A tracer keeps a copy of each frame until it is complete.
///
/// ```
/// use ide_mcp::testing::Tracer;
/// use ide_mcp::{Machine as _, Time, ws};
///
/// let server = ws::Server::new(ws::Limits::default(), Time::ZERO);
/// let mut lines = Vec::new();
/// let mut server = Tracer::new(server, |line| lines.push(line.to_owned()));
/// server.feed(Time::ZERO, (), b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
/// assert_eq!(lines, ["◀ GET / HTTP/1.1", "◀ Host: h"]);
/// ```
#[derive(Debug)]
pub struct Tracer<M, F> {
    /// The machine; use it to send something.
    pub machine: M,
    show: F,
    input: Direction,
    output: Direction,
    /// The bytes of the last offer.
    offered: Vec<u8>,
}

impl<M, F: FnMut(&str)> Tracer<M, F> {
    /// Wraps a machine; `show` takes each line.
    pub const fn new(machine: M, show: F) -> Self {
        Self {
            machine, show, input: Direction::new("◀"), output: Direction::new("▶"), offered: Vec::new()
        }
    }
}

impl<M: Machine, F: FnMut(&str)> Machine for Tracer<M, F> {
    type Event = M::Event;
    type Conn = M::Conn;

    fn poll(&mut self, now: Time) -> Output<'_, M::Event, M::Conn> {
        let output = self.machine.poll(now);
        match &output {
            Output::Event(event) => (self.show)(&format!("  {}", display_safe(&format!("{event:?}")))),
            Output::Write { bytes, .. } => {
                self.offered.clear();
                self.offered.extend_from_slice(bytes);
            }
            Output::Close(_) | Output::Wait(_) => {}
        }
        output
    }

    fn written(&mut self, conn: M::Conn, n: usize) {
        self.output.pass(self.offered.get(..n).unwrap_or_default(), &mut self.show);
        self.offered.clear();
        self.machine.written(conn, n);
    }

    fn feed(&mut self, now: Time, conn: M::Conn, bytes: &[u8]) {
        self.input.pass(bytes, &mut self.show);
        self.machine.feed(now, conn, bytes);
    }

    fn feed_eof(&mut self, now: Time, conn: M::Conn) {
        (self.show)("◀ end of the transport");
        self.machine.feed_eof(now, conn);
    }

    fn wants_input(&self, conn: M::Conn) -> bool {
        self.machine.wants_input(conn)
    }

    fn wants_output(&self, conn: M::Conn) -> bool {
        self.machine.wants_output(conn)
    }

    fn space(&mut self, conn: M::Conn) -> &mut [u8] {
        self.machine.space(conn)
    }

    fn filled(&mut self, now: Time, conn: M::Conn, n: usize) {
        self.input.pass(self.machine.space(conn).get(..n).unwrap_or_default(), &mut self.show);
        self.machine.filled(now, conn, n);
    }

    fn trim(&mut self, conn: M::Conn) {
        self.machine.trim(conn);
    }

    fn deadline(&self) -> Option<Time> {
        self.machine.deadline()
    }
}

/// The bytes of one direction: first the head of the opening handshake, then frames. Each is shown once it is complete.
#[derive(Debug)]
struct Direction {
    arrow: &'static str,
    /// True for the frames of a client; those of a server are not masked (RFC 6455 section 5.3).
    masked: bool,
    part: Part,
    /// The beginning of a head or of a frame.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head,
    Frames,
    /// Neither a head nor frames. The machine reports the fault; the tracer shows nothing more of this direction.
    Neither,
}

/// The longest head that is shown, in bytes. By default a machine accepts 8 KiB
/// ([`Limits::head`](crate::ws::Limits::head)).
const MAX_HEAD: usize = 64 * 1024;

impl Direction {
    const fn new(arrow: &'static str) -> Self {
        Self { arrow, masked: true, part: Part::Head, partial: Vec::new() }
    }

    fn pass(&mut self, bytes: &[u8], show: &mut impl FnMut(&str)) {
        if self.part != Part::Neither {
            self.partial.extend_from_slice(bytes);
        }
        while self.show_head(show) || self.show_frame(show).is_some() {}
        if self.part == Part::Neither || self.part == Part::Head && self.partial.len() > MAX_HEAD {
            self.part = Part::Neither;
            self.partial = Vec::new();
        }
    }

    fn show_head(&mut self, show: &mut impl FnMut(&str)) -> bool {
        let end = self.partial.windows(4).position(|four| four == b"\r\n\r\n");
        let (Part::Head, Some(end)) = (self.part, end) else { return false };
        self.part = Part::Frames;
        let head: Vec<u8> = self.partial.drain(..end.saturating_add(4)).collect();
        // A client begins with a request, and a server with a status line.
        self.masked = !head.starts_with(b"HTTP/");
        for (at, line) in String::from_utf8_lossy(&head).trim_end().lines().enumerate() {
            let shown = match line.split_once(':') {
                _ if at == 0 => line.into(),
                Some((name, _)) if !is_secret(name) => line.into(),
                Some((name, _)) => format!("{name}: …"),
                // The line may continue the value of the field before it, so it is not shown.
                None => "…".into(),
            };
            show(&format!("{} {}", self.arrow, display_safe(&shown)));
        }
        true
    }

    fn show_frame(&mut self, show: &mut impl FnMut(&str)) -> Option<()> {
        if self.part != Part::Frames {
            return None;
        }
        let parsed = Header::parse(&self.partial, self.masked);
        if parsed.is_err() {
            self.part = Part::Neither;
        }
        let (header, size) = parsed.ok()??;
        let end = usize::try_from(header.len).ok()?.checked_add(size)?;
        let mut payload = self.partial.get(size..end)?.to_vec();
        frame::mask(header.key.unwrap_or_default(), 0, &mut payload);
        let text = String::from_utf8_lossy(&payload);
        show(&format!("{} {:?} {}", self.arrow, header.opcode, display_safe(&text)));
        self.partial.drain(..end);
        Some(())
    }
}

/// Returns true if the field may contain a token, or continues the value of another field.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with([' ', '\t']) || ["auth", "cookie", "token"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::pass_with;
    use crate::ws;

    fn lines(input: &[u8], piece: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        let mut server = Tracer::new(server, |line| lines.push(line.into()));
        for bytes in input.chunks(piece) {
            server.feed(Time::ZERO, (), bytes);
            pass_with(&mut server, Time::ZERO, usize::MAX, |server, _| {
                let _ = server.machine.accept(None);
            });
        }
        lines
    }

    #[test]
    fn pieces_of_any_size_give_the_same_lines() {
        let head = b"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: secret\r\n secret\r\nnothing\r\n\r\n";
        let frames = b"\x81\x82abcd\x29\x0b\x88\x80abcd";
        for (name, input) in [("a head", &head[..]), ("frames", &[&head[..], frames].concat())] {
            let whole = lines(input, input.len());
            let shown = |lines: &[String]| -> Vec<String> {
                lines.iter().filter(|line| line.starts_with('\u{25c0}')).cloned().collect()
            };
            assert!(shown(&whole).len() >= 5 && !whole.concat().contains("secret"), "{name}: {whole:?}");
            for piece in 1..input.len() {
                assert_eq!(shown(&lines(input, piece)), shown(&whole), "{name} in pieces of {piece}");
            }
        }
        assert!(lines(&[&head[..], frames].concat(), 9).contains(&"\u{25c0} Text Hi".into()));
    }

    #[test]
    fn foreign_bytes_are_not_kept() {
        let mut direction = Direction::new("<");
        let mut shown = Vec::new();
        direction.pass(&[b'x'; MAX_HEAD], &mut |line: &str| shown.push(String::from(line)));
        assert_eq!(direction.partial.len(), MAX_HEAD);
        direction.pass(b"x", &mut |_: &str| {});
        direction.pass(b"GET / HTTP/1.1\r\n\r\n", &mut |_: &str| {});
        assert_eq!((direction.partial.len(), direction.part), (0, Part::Neither));
        let mut direction = Direction::new("<");
        direction.pass(b"GET / HTTP/1.1\r\n\r\n\xff\xff\xff", &mut |_: &str| {});
        assert_eq!((direction.partial.len(), direction.part), (0, Part::Neither));
        assert_eq!(shown, [""; 0]);
    }
}
