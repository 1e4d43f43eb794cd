//! The load on a server: one connection that sends frames and counts the bytes that come back.

use crate::handshake::request;
use crate::mcp::calls::{INITIALIZE, INITIALIZED, check, frame, open_diff};
use crate::serve::calls::TOKEN;
use crate::workload::push_frame;
use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The size of the echoed texts, in bytes.
pub const TEXT: usize = 125;

/// The read timeout. A server that does not answer within it has failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first id of the calls, all of which have the same number of digits.
const FIRST: u32 = 100;

/// One connection. All answers have the same length.
pub struct Load {
    stream: TcpStream,
    /// The frames in flight, one after the other. The frames of calls differ, because calls have
    /// ids.
    window: Vec<u8>,
    /// The length of each frame.
    frame: usize,
    /// True if the frames are written at once, false if one by one.
    at_once: bool,
    /// The answers to the first window; empty if they are not known.
    expected: Vec<u8>,
    answer: usize,
    buf: Vec<u8>,
    /// The latency of each answer since the last [`run`](Load::run) began.
    pub latencies: Vec<Duration>,
}

impl Load {
    /// Opens a connection for echoes, `depth` at a time. Skips the handshake if `raw` is true.
    pub fn echo(port: u16, depth: usize, raw: bool) -> Self {
        let mut stream = connect(port);
        let text = [b'x'; TEXT];
        let mut frame = Vec::new();
        push_frame(&mut frame, &text, [1, 2, 3, 4]);
        let mut answer = vec![0x81, TEXT as u8];
        answer.extend(text);
        if raw {
            answer.clone_from(&frame);
        } else {
            open(&mut stream, request());
        }
        let mut load = Self::new(stream, &vec![frame; depth], answer.len(), true);
        load.expected = answer.repeat(depth);
        load
    }

    /// Opens a connection for calls with arguments of this size, `depth` at a time.
    pub fn calls(port: u16, bytes: usize, depth: usize) -> Self {
        let mut stream = session(port, TOKEN);
        let ids = (FIRST..).take(depth);
        let frames: Vec<Vec<u8>> = ids.map(|id| frame(&open_diff(id, bytes))).collect();
        let mut answer = 0;
        for (id, frame) in (FIRST..).zip(&frames) {
            stream.write_all(frame).expect("the server reads");
            let text = read_text(&mut stream);
            check(&text, id);
            // The header of the frame has 2 bytes below 126 bytes of text, otherwise 4.
            let len = text.len() + if text.len() < 126 { 2 } else { 4 };
            assert!(answer == 0 || answer == len, "the answers have different lengths");
            answer = len;
        }
        Self::new(stream, &frames, answer, false)
    }

    fn new(stream: TcpStream, frames: &[Vec<u8>], answer: usize, at_once: bool) -> Self {
        Self {
            stream,
            window: frames.concat(),
            frame: frames[0].len(),
            at_once,
            expected: Vec::new(),
            answer,
            buf: vec![0; 64 * 1024],
            latencies: Vec::new(),
        }
    }

    fn depth(&self) -> usize {
        self.window.len() / self.frame
    }

    /// Sends this many messages, with at most one window of them unanswered; more follow once half of the
    /// window is answered. If the first answers are known, they are compared byte for byte. For the
    /// others, only the bytes are counted.
    pub fn run(&mut self, messages: usize) {
        let depth = self.depth();
        self.latencies.clear();
        let mut under_way = VecDeque::new();
        let (mut sent, mut received) = (0, 0);
        while received < messages * self.answer {
            let answered = received / self.answer;
            let free = (depth - (sent - answered)).min(messages - sent);
            if free > 0 && (free >= depth / 2 || sent + free == messages) {
                under_way.extend(std::iter::repeat_n(Instant::now(), free));
                self.send(sent % depth, free);
                sent += free;
            }
            received += self.receive(received);
            let now = Instant::now();
            let done = received / self.answer - answered;
            self.latencies.extend(under_way.drain(..done).map(|sent| now - sent));
        }
        assert_eq!(received, messages * self.answer, "the server has sent more than the answers");
    }

    /// Sends one window.
    pub fn begin(&mut self) {
        self.send(0, self.depth());
    }

    /// Reads the answers to one window.
    pub fn finish(&mut self) {
        let mut received = 0;
        while received < self.depth() * self.answer {
            received += self.receive(received);
        }
    }

    /// Sends `count` frames from `first` on, starting over after the last frame of the window.
    fn send(&mut self, first: usize, count: usize) {
        let until_end = count.min(self.depth() - first);
        for (at, count) in [(first, until_end), (0, count - until_end)] {
            let frames = &self.window[at * self.frame..(at + count) * self.frame];
            let piece = if self.at_once { frames.len().max(1) } else { self.frame };
            for frames in frames.chunks(piece) {
                self.stream.write_all(frames).expect("the server reads");
            }
        }
    }

    fn receive(&mut self, before: usize) -> usize {
        let n = self.stream.read(&mut self.buf).expect("the server answers");
        assert!(n > 0, "the server went away");
        if let Some(expected) = self.expected.get(before..self.expected.len().min(before + n)) {
            assert!(self.buf.starts_with(expected), "an answer differs from the expected one");
        }
        n
    }
}

/// Opens a session as an agent does, with its token; the session is idle afterwards.
pub fn session(port: u16, token: &str) -> TcpStream {
    let mut stream = connect(port);
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: mcp\r\nX-Claude-Code-Ide-Authorization: {token}\r\n\r\n"
    );
    open(&mut stream, head.as_bytes());
    stream.write_all(&frame(INITIALIZE)).expect("the server reads");
    let hello = read_text(&mut stream);
    assert!(hello.contains("2025-11-25"), "{hello}");
    stream.write_all(&frame(INITIALIZED)).expect("the server reads");
    stream
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    stream.set_nodelay(true).expect("a connected socket takes options");
    stream.set_read_timeout(Some(PATIENCE)).expect("a connected socket takes options");
    stream
}

fn open(stream: &mut TcpStream, head: &[u8]) {
    stream.write_all(head).expect("the server reads");
    let mut answered = Vec::new();
    while !answered.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the server answers");
        answered.extend(byte);
    }
    assert!(answered.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answered));
}

/// Reads the next frame, which is a whole text.
pub fn read_text(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("the server answers");
    assert_eq!(head[0], 0x81, "a whole text");
    let mut len = usize::from(head[1]);
    if len == 126 {
        stream.read_exact(&mut head).expect("the server answers");
        len = u16::from_be_bytes(head).into();
    }
    let mut text = vec![0; len];
    stream.read_exact(&mut text).expect("the server answers");
    String::from_utf8(text).expect("a text is UTF-8")
}
