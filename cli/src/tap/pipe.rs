//! One direction of a connection: the tap records the bytes of one side and then forwards them.

use crate::support::complain;
use crate::support::transcript::{Side, What};
use crate::tap::record::Recorder;
use crate::tap::redact::Redactor;
use ide_mcp::Clock;
use ide_mcp::ws::CloseCode;
use ide_mcp::ws::frame::{Header, Opcode};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

/// The size of a read.
const CHUNK: usize = 64 * 1024;

/// How the answer of an editor that accepts an agent begins.
const SWITCHING: &[u8] = b"HTTP/1.1 101 ";

/// The write timeout of a close frame of the tap. A close frame has a few bytes, so there is room at once if the side
/// reads. The tap closes one side after the other. With 32 connections (`CONNECTIONS`), 64 close frames take 1.3 s at
/// most, less than the 2 s of a close handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Pipe {
    conn: u32,
    from: Side,
    to: TcpStream,
    redactor: Redactor,
    recorder: Arc<Recorder>,
    /// True after the close frame of the tap: the pipe forwards nothing more.
    is_over: bool,
    bytes: u64,
    /// The first bytes of the editor, at most as many as [`SWITCHING`] has.
    beginning: Vec<u8>,
}

/// A pipe that the end of the program may interrupt.
pub(crate) type Shared = Arc<Mutex<Pipe>>;

impl Pipe {
    pub(crate) const fn new(
        conn: u32,
        from: Side,
        to: TcpStream,
        redactor: Redactor,
        recorder: Arc<Recorder>,
    ) -> Self {
        Self { conn, from, to, redactor, recorder, is_over: false, bytes: 0, beginning: Vec::new() }
    }

    /// Returns the number of forwarded bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets the redactor from now on. The bytes that the old one holds back could begin a token, so they are replaced
    /// by minus signs.
    pub(crate) fn set_redactor(&mut self, redactor: Redactor) {
        let held = self.redactor.finish();
        self.record(vec![b'-'; held.len()]);
        self.redactor = redactor;
    }

    /// Records `recorded`, and forwards `sent`; blocks while the other side does not read.
    pub(crate) fn forward(&mut self, sent: &[u8], recorded: &[u8]) -> io::Result<()> {
        if self.is_over {
            return Ok(());
        }
        let missing = SWITCHING.len().saturating_sub(self.beginning.len());
        if self.from == Side::Editor && missing > 0 {
            self.beginning.extend(sent.iter().take(missing));
            if self.beginning == SWITCHING {
                self.recorder.accept(self.conn);
                complain("tap", &format!("{}: an agent connected", self.conn));
            }
        }
        let redacted = self.redactor.pass(recorded);
        self.record(redacted);
        self.to.write_all(sent)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(sent.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    fn record(&self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.recorder.record(self.conn, What::Bytes(self.from, bytes), false);
        }
    }

    /// Records the end of this side, and ends the other side in the same way.
    pub(crate) fn end(&mut self, reason: &str) {
        let held = self.redactor.finish();
        self.record(held);
        if !self.is_over {
            self.recorder.record(self.conn, What::End(self.from, reason.into()), false);
        }
        let _ = self.to.shutdown(Shutdown::Write);
    }

    /// Ends this direction because the tap ends: the receiver gets a close frame with 1001 instead of the sender's,
    /// unless a frame is incomplete or there is no room.
    pub(crate) fn close(&mut self) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        let held = self.redactor.finish();
        self.record(held);
        let mut reason = "the tap ends".to_owned();
        if self.redactor.is_between_frames() {
            // A frame from an agent must be masked. The key is in the frame, so the mask hides nothing, and any key
            // will do.
            let key = (self.from == Side::Agent).then_some([0; 4]);
            let header = Header { fin: true, opcode: Opcode::Close, len: 2, key };
            let mut frame = header.encode().bytes().to_vec();
            frame.extend(CloseCode::GOING_AWAY.get().to_be_bytes());
            self.recorder.record(self.conn, What::Bytes(self.from, frame.clone()), true);
            let written =
                self.to.set_write_timeout(Some(CLOSE_TIMEOUT)).and_then(|()| self.to.write_all(&frame));
            if let Err(error) = written {
                reason = format!("the tap ends, and its close frame could not be sent: {error}");
            }
        }
        self.recorder.record(self.conn, What::End(self.from, reason), true);
        let _ = self.to.shutdown(Shutdown::Write);
    }
}

/// Forwards all bytes of `from`, up to its end.
pub(crate) fn pump(mut from: &TcpStream, pipe: &Mutex<Pipe>) {
    let mut buf = vec![0; CHUNK];
    loop {
        match read(&mut from, &mut buf) {
            Ok(0) => return lock(pipe).end("end of the stream"),
            Ok(n) => {
                let bytes = buf.get(..n).unwrap_or_default();
                if let Err(error) = lock(pipe).forward(bytes, bytes) {
                    // Nobody reads what this side sends any more, so the tap ends it. `end` records this, and passes
                    // it on like any other end.
                    lock(pipe).end(&format!("the other side does not receive the bytes: {error}"));
                    let _ = from.shutdown(Shutdown::Both);
                    return;
                }
            }
            Err(error) => return lock(pipe).end(&error.to_string()),
        }
    }
}

/// Reads once, and repeats a read that a signal interrupted.
pub(crate) fn read(from: &mut &TcpStream, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Locks a pipe. The tap can end it even after a panic of its thread.
pub(crate) fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a pipe like [`lock`]; `None` if it stays busy for `at_most`.
pub(crate) fn lock_in(pipe: &Mutex<Pipe>, at_most: Duration) -> Option<MutexGuard<'_, Pipe>> {
    let clock = Clock::new();
    let end = clock.now().saturating_add(at_most);
    loop {
        match pipe.try_lock() {
            Ok(pipe) => return Some(pipe),
            Err(TryLockError::Poisoned(pipe)) => return Some(pipe.into_inner()),
            Err(TryLockError::WouldBlock) if clock.now() >= end => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::transcript::{Header, VERSION};
    use crate::tap::sink::Sink;
    use std::fs;
    use std::net::TcpListener;
    use std::sync::mpsc;

    #[test]
    fn accepted_agent_is_noticed_wherever_a_read_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = b"HTTP/1.1 401 Unauthorized\r\n\r\nHTTP/1.1 101 ";
        let accepted = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";
        for (head, is_accepted) in [(&accepted[..], true), (refused, false)] {
            for cut in 0..=SWITCHING.len() + 1 {
                let to = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                let recorder = Arc::new(Recorder::new(vec![]));
                recorder.hold(1);
                let mut pipe =
                    Pipe::new(1, Side::Editor, to, Redactor::of_agent(&[], true), recorder.clone());
                for piece in [&head[..cut], &head[cut..]] {
                    pipe.forward(piece, piece).unwrap();
                }
                assert_eq!(recorder.forget(1), is_accepted, "{cut}");
            }
        }
    }

    #[test]
    fn close_does_not_wait_for_stalled_side() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_does_not_read, _) = listener.accept().unwrap();
        // The kernel still moves bytes to the other socket for a while, which makes room again. So
        // the test fills the buffers several times, at last byte by byte.
        to.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        for size in [CHUNK, 1, 1, 1, 1] {
            while (&to).write(&vec![b'x'; size]).is_ok() {}
        }
        to.set_write_timeout(None).unwrap();

        let temp = crate::support::temp::private_temp_dir();
        let path = temp.path().join("close.jsonl");
        let header = Header {
            transcript: VERSION,
            started_ms: 0,
            editor: String::new(),
            port: 1,
            token: None,
            folders: vec![],
        };
        let sink = Sink::transcript(Some(&path), true, 10_000, &header).unwrap();
        let recorder = Arc::new(Recorder::new(vec![sink]));
        recorder.hold(1);
        recorder.accept(1);
        let mut pipe = Pipe::new(1, Side::Agent, to, Redactor::of_agent(&[], true), recorder);
        let (over, ends) = mpsc::channel();
        thread::spawn(move || {
            let clock = Clock::new();
            pipe.close();
            over.send(clock.now()).unwrap();
        });
        let took = ends.recv_timeout(Duration::from_secs(20)).unwrap();
        let transcript = fs::read_to_string(&path).unwrap();
        assert!(took.since_start() < Duration::from_secs(2), "{took:?}");
        assert!(transcript.contains("the tap ends, and its close frame could not be sent: "), "{transcript}");
    }
}
