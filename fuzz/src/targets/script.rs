//! Scripts: arbitrary bytes, read as operations of a peer, an application and a clock, in any order.

use crate::support::frames::frame;
use crate::support::laws::Subject;
use crate::support::run::Run;
use crate::support::sockets::{WsClient, WsServer};
use ide_mcp::ws::{CloseCode, OwnedEvent, Part, Sender};
use ide_mcp::{Machine, Outbox as _, Time, To};
use std::time::Duration;

/// Performs the operations of a script on a server.
pub fn ws_server_script(data: &[u8]) {
    play(&WsServer, data, Some([1, 2, 3, 4]), |machine, send| send.on(machine.sender()));
}

/// Performs the operations of a script on a client.
pub fn ws_client_script(data: &[u8]) {
    play(&WsClient, data, None, |machine, send| send.on(machine.sender()));
}

/// The next operation.
#[derive(Debug)]
enum Step<'a> {
    /// The peer sends these bytes.
    Peer(Vec<u8>),
    /// The size of the pieces in which later bytes of the peer arrive.
    Cut(usize),
    /// True if bytes arrive through `space` and `filled`, false if through `feed`.
    Read(bool),
    /// The application sends a message of its own.
    Send(Send<'a>),
    /// The socket takes up to this many bytes of output.
    Write(usize),
    /// This much time passes.
    Tick(Duration),
    /// The clock advances to the deadline.
    Due,
    Poll,
    Trim,
    Refuse,
    Eof,
    Overfeed,
}

#[derive(Debug)]
enum Send<'a> {
    Text(&'a str),
    /// A message as the JSON-RPC layer sends it: through a function that writes it, with a length that
    /// is known only afterwards.
    Message(&'a str),
    TextPart(&'a str, Part),
    Binary(usize),
    BinaryPart(&'a [u8], Part),
    Ping(&'a [u8]),
    Close(CloseCode, &'a str),
}

impl Send<'_> {
    /// Sends, and ignores a refusal: [`Run`] asserts the laws in each step (see `laws.rs`).
    fn on(&self, mut sender: Sender<'_>) {
        let _ = match self {
            Self::Text(text) => sender.text(text),
            Self::Message(text) => {
                let full = sender.is_full();
                let _ = sender.message(To::Unsolicited, |buf| buf.extend_from_slice(text.as_bytes()));
                assert!(!full || sender.is_full(), "a message has made room in the send buffer");
                Ok(())
            }
            Self::TextPart(text, part) => sender.text_part(text, *part),
            Self::Binary(len) => sender.binary(&vec![7; *len]),
            Self::BinaryPart(bytes, part) => sender.binary_part(bytes, *part),
            Self::Ping(payload) => sender.ping(payload),
            Self::Close(code, reason) => sender.close(*code, reason),
        };
    }
}

/// The bytes of a script. They are read from the front, so a truncated input is a script with the same
/// first operations and fewer of them. Missing bytes are zero.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn part(&mut self) -> Part {
        if self.byte() % 2 == 0 { Part::Last } else { Part::More }
    }

    fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    fn bytes(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        bytes
    }

    /// Reads some bytes and returns their longest prefix that is UTF-8.
    fn text(&mut self) -> &'a str {
        let bytes = self.bytes();
        std::str::from_utf8(bytes)
            .or_else(|fault| std::str::from_utf8(&bytes[..fault.valid_up_to()]))
            .unwrap_or_default()
    }

    fn step(&mut self, key: Option<[u8; 4]>) -> Step<'a> {
        match self.byte() % 19 {
            0 | 1 => Step::Peer(frame(self.byte(), key, self.bytes())),
            // Up to 128 KiB, so that all three encodings of the length of a frame occur.
            2 => Step::Peer(frame(self.byte(), key, &vec![self.byte(); usize::from(self.word()) * 2])),
            3 => Step::Peer(self.bytes().to_vec()),
            4 => Step::Cut(usize::from(self.byte()).max(1)),
            5 => Step::Read(self.byte() % 2 == 0),
            6 => Step::Send(Send::Text(self.text())),
            7 => Step::Send(Send::TextPart(self.text(), self.part())),
            8 => Step::Send(Send::Binary(usize::from(self.word()))),
            9 => Step::Send(Send::BinaryPart(self.bytes(), self.part())),
            10 => Step::Send(Send::Ping(self.bytes())),
            11 => {
                let code = CloseCode::new(self.word()).unwrap_or(CloseCode::NORMAL);
                Step::Send(Send::Close(code, self.text()))
            }
            12 => Step::Write(usize::from(self.word())),
            // From milliseconds to minutes.
            13 => Step::Tick(Duration::from_millis(u64::from(self.byte()) << (self.byte() % 12))),
            14 => Step::Due,
            15 => Step::Poll,
            16 => Step::Trim,
            18 => Step::Send(Send::Message(self.text())),
            _ => match self.byte() % 4 {
                0 => Step::Eof,
                1 => Step::Overfeed,
                _ => Step::Refuse,
            },
        }
    }
}

fn play<S>(subject: &S, data: &[u8], key: Option<[u8; 4]>, send: impl Fn(&mut S::Machine, &Send<'_>))
where
    S: Subject<Machine: Machine<Event = OwnedEvent>>,
{
    let mut script = Script(data);
    let choice = script.byte();
    let (opens, app) = (choice & 1 == 0, u64::from(choice >> 1 & 3));
    let mut run = Run::new(subject, app, app);
    let mut peer = Peer { cut: usize::MAX, reads: false };
    if opens {
        peer.send(&mut run, &subject.opening());
    }
    while !script.0.is_empty() {
        match script.step(key) {
            Step::Peer(bytes) => peer.send(&mut run, &bytes),
            Step::Cut(cut) => peer.cut = cut,
            Step::Read(reads) => peer.reads = reads,
            Step::Send(message) => run.act(|machine| send(machine, &message)),
            Step::Write(max) => run.write(max),
            Step::Tick(span) => run.tick(run.now().saturating_add(span)),
            Step::Due => run.tick(run.deadline().unwrap_or_else(|| run.now())),
            Step::Poll => run.settle(),
            Step::Trim => run.trim(),
            Step::Refuse => run.refuse(),
            Step::Eof => run.eof(Time::ZERO),
            Step::Overfeed => run.overfeed(),
        }
    }
    run.finish();
    super::check_display(&run.record().events);
}

/// The way in which the bytes of the peer arrive.
struct Peer {
    /// The size of the pieces.
    cut: usize,
    /// True if they arrive through `space` and `filled`, false if through `feed`.
    reads: bool,
}

impl Peer {
    fn send<S: Subject>(&self, run: &mut Run<'_, S>, bytes: &[u8]) {
        // Small pieces of long frames would only take time.
        for piece in bytes.chunks(self.cut.max(bytes.len() / 256)) {
            if self.reads {
                run.read_all(run.now(), piece);
            } else if run.wants_input() {
                run.feed(run.now(), piece);
            }
        }
    }
}
