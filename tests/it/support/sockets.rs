//! The WebSocket layer as subjects of the laws.

use super::frames::{HEAD, frame, masked};
use super::laws::{EventOf, Subject};
use super::subject::{LATE, Refusals};
use ide_mcp::testing::{Random, pass, pass_with};
use ide_mcp::ws::{self, CloseCode, OwnedEvent, Part, SendError, Sender};
use ide_mcp::{Keepalive, Time};
use std::time::Duration;

/// The high-water mark: small, so that the laws about it run quickly.
const MARK: usize = 4096;

/// The limit of a message: more than the longest message of a script.
const MESSAGE: usize = 128 * 1024;

/// Returns limits that all differ, so that a test notices if one is used for another.
pub fn limits(outgoing: usize, message: usize) -> ws::Limits {
    let mut limits = ws::Limits::default();
    (limits.outgoing, limits.message, limits.head) = (outgoing, message, 7 * 1024);
    limits.handshake = Duration::from_secs(7);
    limits.stalled = Duration::from_secs(19);
    limits.keepalive = Some(Keepalive::new(Duration::from_secs(23), Duration::from_secs(11)));
    limits.close = Duration::from_secs(3);
    limits.drain = Duration::from_secs(5);
    limits
}

/// `ws::Server` with an application that accepts and answers.
#[derive(Debug)]
pub struct WsServer;

/// `ws::Client` with an application that answers.
#[derive(Debug)]
pub struct WsClient;

/// An application that answers messages. Its choices depend on a seed and on the number of events
/// so far.
pub struct Echo {
    random: Option<Random>,
    /// True for an application that decides about the opening handshake late.
    is_late: bool,
}

impl Echo {
    fn new(seed: u64) -> Self {
        Self { random: (seed != 0).then(|| Random::new(seed)), is_late: seed == LATE }
    }

    /// Accepts the pending opening handshake, or refuses it.
    fn decide(&mut self, machine: &mut ws::Server, offers_mcp: bool) {
        let refuses = self.random.as_mut().is_some_and(|random| random.one_in(9));
        let no = ws::Refusal::new(ws::Status::Forbidden, "no");
        let _ = if refuses { machine.reject(no) } else { machine.accept(offers_mcp.then_some("mcp")) };
    }

    fn answers(&mut self, mut sender: Sender<'_>, event: &OwnedEvent) {
        let choice = self.random.as_mut().map_or(1, |random| random.below(12));
        let _ = match (choice, event) {
            (0, _) => Ok(()),
            (9, _) => sender.ping(b"are you there"),
            (10, OwnedEvent::Text(_)) => sender.close(CloseCode::NORMAL, "enough"),
            (_, OwnedEvent::Text(text)) => sender.text(text.get(..200).unwrap_or(text)),
            (_, OwnedEvent::Binary(bytes)) => sender.binary(bytes.get(..200).unwrap_or(bytes)),
            _ => Ok(()),
        };
    }
}

/// Returns conversations in frames, each with two rounds: every opcode, fragments, characters in pieces, all
/// forms of the length.
fn conversation(key: Option<[u8; 4]>) -> Vec<Vec<u8>> {
    let frame = |first, payload: &[u8]| frame(first, key, payload);
    let talk = [
        frame(0x81, "h\u{e9}llo \u{1f980}".as_bytes()),
        frame(0x89, b"1"),
        frame(0x89, b"2"),
        frame(0x89, b"3"),
        frame(0x01, b"a\xf0\x9f"),
        frame(0x8a, b"pong"),
        frame(0x00, b""),
        frame(0x80, b"\xa6\x80 b"),
        frame(0x82, &[0xff; 300]),
        frame(0x02, b"x"),
        frame(0x80, b""),
        frame(0x81, b""),
    ]
    .concat()
    .repeat(2);
    vec![
        [talk.clone(), frame(0x88, b"\x03\xe8bye"), frame(0x81, b"too late"), frame(0x88, b"")].concat(),
        [frame(0x81, &[b'x'; 130]), talk.clone(), frame(0x82, &vec![7; 0x1_0001]), talk].concat(),
        [frame(0x81, b"fine"), frame(0x88, b"")].concat(),
        [frame(0x89, b""), frame(0x01, b"broken off")].concat(),
        frame(0x88, b"\x03\xee"),
        [frame(0x81, b"fine"), frame(0x01, b"\xff")].concat(),
    ]
}

impl Subject for WsServer {
    type Machine = ws::Server;
    type App = Echo;
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ws::Server".into()
    }

    fn make(&self, now: Time) -> ws::Server {
        ws::Server::new(limits(MARK, MESSAGE), now)
    }

    fn app(&self, seed: u64) -> Echo {
        Echo::new(seed)
    }

    fn react(&self, app: &mut Echo, machine: &mut ws::Server, event: &OwnedEvent) {
        match event {
            OwnedEvent::Upgrade(upgrade) if !app.is_late => {
                app.decide(machine, upgrade.request().offers("mcp"))
            }
            _ => {}
        }
        app.answers(machine.sender(), event);
    }

    fn act_late(&self, app: &mut Echo, machine: &mut ws::Server) {
        if app.is_late {
            // Without a pending opening handshake the decision is refused.
            app.decide(machine, false);
        }
    }

    fn copied(event: &OwnedEvent) -> Option<OwnedEvent> {
        Some(event.clone())
    }

    fn is_closed(event: &OwnedEvent) -> bool {
        matches!(event, OwnedEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        let mut scripts: Vec<_> = conversation(Some([0x37, 0xfa, 0x21, 0x3d]))
            .into_iter()
            .map(|talk| [HEAD.as_bytes(), &talk].concat())
            .collect();
        let field = "X-Filler: ".to_owned() + &"y".repeat(9000) + "\r\n";
        scripts.push(HEAD.replacen("Host", &(field.clone() + "Host"), 1).into());
        // Two faults: a head that is too long, and a bare line feed after its limit.
        scripts.push(HEAD.replacen("Host", &(field + "\nHost"), 1).into());
        scripts.push(HEAD.replace("13", "12").into());
        scripts
    }

    fn opening(&self) -> Vec<u8> {
        HEAD.into()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        masked(0x81, &vec![b'm'; len])
    }

    fn refuse(&self, _app: &Echo, machine: &mut ws::Server, is_full: bool, refusals: &mut Refusals) {
        refuse(machine.is_open(), is_full, machine.sender(), refusals);
        refusals.expect("a sub-protocol that was not offered", machine.accept(Some("not offered")).is_err());
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[
            "a ping that is too long",
            "while it is not open",
            "above the mark",
            "a sub-protocol that was not offered",
        ]
    }
}

/// Tries the sends that both sides refuse.
fn refuse(open: bool, full: bool, mut sender: Sender<'_>, refusals: &mut Refusals) {
    refusals.expect("a ping that is too long", sender.ping(&[0; 126]).is_err());
    let (name, allowed): (_, &[SendError]) = match (open, full) {
        (false, _) => ("while it is not open", &[SendError::NotOpen, SendError::Closed]),
        (true, true) => ("above the mark", &[SendError::Full]),
        (true, false) => return,
    };
    refusals.expect_err(name, sender.text_part("refused", Part::More), allowed);
    refusals.expect_err(name, sender.ping(b"refused"), allowed);
    // A fragmented message can be in progress as well.
    let allowed = &[allowed, if open { &[SendError::Unfinished] } else { &[] }].concat();
    refusals.expect_err(name, sender.text("refused"), allowed);
    refusals.expect_err(name, sender.binary(b"refused"), allowed);
    if !open {
        refusals.expect_err(name, sender.close(CloseCode::NORMAL, ""), allowed);
    }
}

impl Subject for WsClient {
    type Machine = ws::Client;
    type App = Echo;
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ws::Client".into()
    }

    fn make(&self, now: Time) -> ws::Client {
        ws::Client::new(
            ws::ClientRequest::new("127.0.0.1:1"),
            Random::new(7).source(),
            limits(MARK, MESSAGE),
            now,
        )
        .unwrap()
    }

    fn app(&self, seed: u64) -> Echo {
        Echo::new(seed)
    }

    fn react(&self, app: &mut Echo, machine: &mut ws::Client, event: &EventOf<Self>) {
        app.answers(machine.sender(), event);
    }

    fn copied(event: &OwnedEvent) -> Option<OwnedEvent> {
        Some(event.clone())
    }

    fn is_closed(event: &OwnedEvent) -> bool {
        matches!(event, OwnedEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        let mut scripts: Vec<_> =
            conversation(None).into_iter().map(|talk| [self.opening(), talk].concat()).collect();
        let answer = String::from_utf8(self.opening()).unwrap();
        let field = "X-Filler: ".to_owned() + &"y".repeat(9000) + "\r\n";
        scripts.push(answer.replacen("Upgrade", &(field.clone() + "Upgrade"), 1).into());
        scripts.push(answer.replacen("Upgrade", &(field + "\nUpgrade"), 1).into());
        scripts.push(answer.replace("101", "401").into());
        scripts
    }

    /// Returns the answer to the opening handshake of the fixed seed.
    fn opening(&self) -> Vec<u8> {
        let request = pass(&mut self.make(Time::ZERO), Time::ZERO, usize::MAX).written_bytes();
        let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        server.feed(Time::ZERO, &request);
        pass_with(&mut server, Time::ZERO, usize::MAX, |server, _| server.accept(None).unwrap())
            .written_bytes()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        frame(0x81, None, &vec![b'm'; len])
    }

    fn refuse(&self, _app: &Echo, machine: &mut ws::Client, is_full: bool, refusals: &mut Refusals) {
        refuse(machine.is_open(), is_full, machine.sender(), refusals);
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &["a ping that is too long", "while it is not open", "above the mark"]
    }
}
