//! One agent and its connection to the editor: two sockets, each with a thread. The tap reads from neither side
//! faster than the other side reads.

use crate::support::transcript::{Side, What};
use crate::support::{complain, connect_checked, not_connected};
use crate::tap::head::{self, Ends};
use crate::tap::pipe::{self, Pipe, Shared};
use crate::tap::record::Recorder;
use crate::tap::redact::Redactor;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::discovery::client_env::LOOPBACK;
use ide_mcp_driver::ConnectError;
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What an agent gets while the editor does not answer. The agent may try again.
const NO_EDITOR: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// How long connecting to the editor may take. On one machine the system connects at once, unless the queue of the
/// editor is full; then it tries again after one second and after three.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a side may take to end after the other has ended, as long as for a close handshake.
const LINGER: Duration = Duration::from_secs(2);

/// How long to wait for a thread that is forwarding bytes before the tap sends its own close frame. For both sides of
/// 32 agents, the waits and close frames together take no longer than a close handshake may.
const BUSY: Duration = Duration::from_millis(10);

/// The sockets and pipes that another thread uses to end a conversation.
#[derive(Debug)]
pub(crate) struct Handle {
    sockets: [TcpStream; 2],
    pipes: [Shared; 2],
}

impl Handle {
    pub(crate) const fn sockets(&self) -> &[TcpStream; 2] {
        &self.sockets
    }

    /// Ends both sides, with a close frame unless a frame is incomplete.
    pub(crate) fn end(&self) {
        for pipe in &self.pipes {
            // A pipe that stays busy waits for a side that does not read, and that would not read a close frame.
            if let Some(mut pipe) = pipe::lock_in(pipe, BUSY) {
                pipe.close();
            }
        }
        for socket in &self.sockets {
            let _ = socket.shutdown(Shutdown::Write);
        }
    }
}

/// A conversation before its first byte.
#[derive(Debug)]
pub(crate) struct Conversation {
    conn: u32,
    agent: TcpStream,
    editor: TcpStream,
    to_editor: Shared,
    to_agent: Shared,
    ends: Arc<Ends>,
}

impl Conversation {
    /// Connects to the editor for a new agent, within [`CONNECT`].
    pub(crate) fn open(
        conn: u32,
        agent: TcpStream,
        ends: Arc<Ends>,
        recorder: &Arc<Recorder>,
    ) -> io::Result<Self> {
        recorder.record(conn, What::Open, false);
        let editor = match connect_checked("tap", LOOPBACK, ends.editor_port, CONNECT, ends.trust) {
            Ok(editor) => editor,
            Err(error) => {
                recorder.record(conn, What::Bytes(Side::Editor, NO_EDITOR.to_vec()), true);
                recorder.record(conn, What::End(Side::Editor, not_connected(&error)), true);
                refuse(agent);
                let port = ends.editor_port;
                return Err(io::Error::other(match error {
                    ConnectError::Io(error) => {
                        format!("the editor on port {port} does not answer: {error}; is it still running?")
                    }
                    not_trusted => {
                        format!("the agent is not connected to an editor: {}", not_connected(&not_trusted))
                    }
                }));
            }
        };
        // Small pieces are forwarded at once, not collected into larger ones.
        agent.set_nodelay(true)?;
        editor.set_nodelay(true)?;
        let pipe = |from, to: &TcpStream, redactor| -> io::Result<Shared> {
            let pipe = Pipe::new(conn, from, to.try_clone()?, redactor, Arc::clone(recorder));
            Ok(Arc::new(Mutex::new(pipe)))
        };
        let secrets = secrets(&ends);
        let to_editor = pipe(Side::Agent, &editor, Redactor::of_agent(&secrets, false))?;
        let to_agent = pipe(Side::Editor, &agent, Redactor::of_editor(&secrets))?;
        Ok(Self { conn, agent, editor, to_editor, to_agent, ends })
    }

    pub(crate) fn handle(&self) -> io::Result<Handle> {
        Ok(Handle {
            sockets: [self.agent.try_clone()?, self.editor.try_clone()?],
            pipes: [Arc::clone(&self.to_editor), Arc::clone(&self.to_agent)],
        })
    }

    /// Forwards everything, until both sides have ended.
    pub(crate) fn run(self, recorder: &Recorder) {
        let Self { conn, agent, editor, to_editor, to_agent, ends } = self;
        let ((agent_over, agent_ends), (editor_over, editor_ends)) = (mpsc::channel(), mpsc::channel());
        thread::scope(|scope| {
            let (editor, agent, to_agent) = (&editor, &agent, &to_agent);
            scope.spawn(move || {
                pipe::pump(editor, to_agent);
                drop(editor_over);
                follow(&agent_ends, agent);
            });
            if head(agent, &to_editor, &ends) {
                pipe::pump(agent, &to_editor);
            }
            drop(agent_over);
            follow(&editor_ends, editor);
        });
        let (up, down) = (pipe::lock(&to_editor).bytes(), pipe::lock(&to_agent).bytes());
        if recorder.forget(conn) {
            complain("tap", &format!("{conn}: over, {up} bytes to the editor and {down} to the agent"));
        }
    }
}

/// Waits for the end of a side whose peer has ended, and then ends it: half a connection is of no use, and counts
/// against the limit of connections.
fn follow(ends: &Receiver<()>, side: &TcpStream) {
    // The other thread sends nothing. It drops its sender at the end.
    if ends.recv_timeout(LINGER) == Err(RecvTimeoutError::Timeout) {
        let _ = side.shutdown(Shutdown::Both);
    }
}

/// Tells an agent that there is no editor.
fn refuse(mut agent: TcpStream) {
    // Read the bytes first: closing with unread bytes would be a reset, which can overtake the answer.
    let _ = agent.write_all(NO_EDITOR).and_then(|()| agent.shutdown(Shutdown::Write));
    let _ = agent.set_read_timeout(Some(Duration::from_millis(500)));
    let _ = pipe::read(&mut &agent, &mut [0; 8192]);
}

/// Forwards the head of the request, rewritten for the editor. Returns false if nothing will follow.
fn head(agent: &TcpStream, to_editor: &Mutex<Pipe>, ends: &Ends) -> bool {
    let (mut head, mut buf) = (Vec::new(), [0; 4096]);
    let (len, end) = loop {
        if let Some(len) = head::len(&head) {
            break (Some(len), None);
        }
        if head.len() > head::MAX_HEAD {
            break (None, None);
        }
        match pipe::read(&mut &*agent, &mut buf) {
            Ok(0) => break (None, Some("end of the stream".to_owned())),
            Ok(n) => head.extend_from_slice(buf.get(..n).unwrap_or_default()),
            Err(error) => break (None, Some(error.to_string())),
        }
    };
    let (own, rest) = head.split_at(len.unwrap_or(head.len()));
    let rewritten = ends.rewrite(own);
    let mut pipe = pipe::lock(to_editor);
    let mut handed = pipe.forward(&rewritten.sent, &rewritten.recorded);
    if len.is_some() {
        pipe.set_redactor(Redactor::of_agent(&secrets(ends), true));
        handed = handed.and_then(|()| pipe.forward(rest, rest));
    } else if end.is_none() {
        pipe.set_redactor(Redactor::of_endless_head());
    }
    let end = end
        .or_else(|| handed.err().map(|error| format!("the other side does not receive the bytes: {error}")));
    if let Some(reason) = &end {
        pipe.end(reason);
    }
    end.is_none()
}

fn secrets(ends: &Ends) -> Vec<&[u8]> {
    ends.editor_token.iter().chain([&ends.token]).map(AuthToken::as_bytes).collect()
}
