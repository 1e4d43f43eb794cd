//! One direction of a connection: what one side says is written down, and then goes on to the other.

use crate::record::Recorder;
use crate::redact::Redactor;
use ide_mcp::ws::CloseCode;
use ide_mcp::ws::frame::{Header, Opcode};
use ide_mcp_examples::transcript::{Side, What};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Pipe {
    conn: u32,
    from: Side,
    to: TcpStream,
    redactor: Redactor,
    recorder: Arc<Recorder>,
    /// The tap has said farewell: whatever else comes reaches nobody.
    is_over: bool,
    bytes: u64,
}

/// A pipe that the end of the program may cut in on.
pub(crate) type Shared = Arc<Mutex<Pipe>>;

impl Pipe {
    pub(crate) const fn new(
        conn: u32,
        from: Side,
        to: TcpStream,
        redactor: Redactor,
        recorder: Arc<Recorder>,
    ) -> Self {
        Self { conn, from, to, redactor, recorder, is_over: false, bytes: 0 }
    }

    /// How many bytes have gone on.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From here on what comes is redacted so.
    pub(crate) fn set_redactor(&mut self, redactor: Redactor) {
        self.redactor = redactor;
    }

    /// Writes `recorded` down, and hands `sent` on: waits as long as the other side does not read.
    pub(crate) fn hand_on(&mut self, sent: &[u8], recorded: &[u8]) -> io::Result<()> {
        if self.is_over {
            return Ok(());
        }
        let known = self.redactor.pass(recorded);
        self.tell(known);
        self.to.write_all(sent)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(sent.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    fn tell(&self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.recorder.tell(self.conn, What::Bytes(self.from, bytes), false);
        }
    }

    /// This side says nothing more, and the other is told so in the same way.
    pub(crate) fn end(&mut self, why: &str) {
        let held = self.redactor.finish();
        self.tell(held);
        if !self.is_over {
            self.recorder.tell(self.conn, What::End(self.from, why.into()), false);
        }
        let _ = self.to.shutdown(Shutdown::Write);
    }

    /// The tap ends: in the place of its peer the other side gets a close frame with 1001, if nothing is half said.
    pub(crate) fn farewell(&mut self) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        let held = self.redactor.finish();
        self.tell(held);
        if self.redactor.is_between_frames() {
            // A mask hides nothing from whoever reads the key before it: any will do.
            let key = (self.from == Side::Agent).then_some([0; 4]);
            let header = Header { fin: true, opcode: Opcode::Close, len: 2, key };
            let mut frame = header.encode().bytes().to_vec();
            frame.extend(CloseCode::GOING_AWAY.get().to_be_bytes());
            self.recorder.tell(self.conn, What::Bytes(self.from, frame.clone()), true);
            let _ = self.to.write_all(&frame);
        }
        self.recorder.tell(self.conn, What::End(self.from, "the tap ends".into()), true);
        let _ = self.to.shutdown(Shutdown::Write);
    }
}

/// Hands on all that `from` says, to its end.
pub(crate) fn pump(mut from: &TcpStream, pipe: &Mutex<Pipe>) {
    let mut buf = vec![0; CHUNK];
    loop {
        match read(&mut from, &mut buf) {
            Ok(0) => return lock(pipe).end("end of the stream"),
            Ok(n) => {
                let bytes = buf.get(..n).unwrap_or_default();
                if let Err(error) = lock(pipe).hand_on(bytes, bytes) {
                    // Nobody hears this side any more, so it need not go on. Its end goes on as ever.
                    lock(pipe).end(&format!("nobody heard it: {error}"));
                    let _ = from.shutdown(Shutdown::Both);
                    return;
                }
            }
            Err(error) => return lock(pipe).end(&error.to_string()),
        }
    }
}

/// One read that no signal interrupts.
pub(crate) fn read(from: &mut &TcpStream, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// What a thread that panicked leaves behind is to be ended as well.
pub(crate) fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}
