//! The sidecar of an editor that is not written in Rust: lines of JSON on standard input and standard output.
//!
//! ```text
//!  stdin ──▶ thread ──▶ one line at a time ──▶ loop: ListeningEditor ──▶ at most 16 MiB ──▶ thread ──▶ stdout
//!  signals ─▶ thread ──────────────────────────▲
//! ```
//!
//! Invariant: the loop never waits for standard output. While more than [`MAX_WAITING`] bytes wait, events are
//! dropped, and each call of an agent is answered with a failure.

mod options;

use crate::support::signals::{ignore_interrupt, on_end};
use crate::support::{
    END_OF_INPUT, FAILED, Input, Line, Lines, MAX_WAITING, NOT_BEGUN, Program, Writer, json_line, read_lines,
    write_line,
};
use ide_mcp_embed::{Event, ListeningEditor, MAX_COMMAND};
#[cfg(feature = "clap")]
pub(crate) use options::{ABOUT, Options};
use std::fmt;
use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const PROGRAM: Program = Program("sidecar");

/// How often the loop checks for room for events, while there is none.
const LOOK_FOR_ROOM: Duration = Duration::from_millis(100);

/// How long the last events may wait to be read: as long as a close handshake.
const AT_THE_END: Duration = Duration::from_secs(2);

/// Runs a program that has only this command. Its only options are those that print something.
#[cfg(not(feature = "clap"))]
pub(crate) fn alone() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let status = match words.as_slice() {
        ["sidecar"] => main(),
        ["help"] | [.., "-h" | "--help"] => PROGRAM.print(&options::help()),
        [.., "-V" | "--version"] => PROGRAM.print(concat!("ide-mcp ", env!("CARGO_PKG_VERSION"))),
        _ => PROGRAM.end(NOT_BEGUN, "this program has only `ide-mcp sidecar`; see `ide-mcp --help`"),
    };
    crate::support::settle();
    status
}

pub(crate) fn main() -> ExitCode {
    // Ctrl-C in an editor's terminal is for the editor. The handler lasts as long as the process.
    let ignored = ignore_interrupt();
    let mut lines = Lines::new(io::BufReader::new(io::stdin()), MAX_COMMAND);
    let opened = ignored.map_err(|error| error.to_string()).and_then(|()| open(&mut lines));
    let done = match opened {
        Ok(editor) => Sidecar::start(editor, lines).and_then(Sidecar::run),
        Err(message) => {
            let event = Event::Error { line: Some(1), message: message.clone() };
            // The complaint has the same text.
            let _ = json_line(&event).and_then(|line| write_line(&line));
            return PROGRAM.end(NOT_BEGUN, &message);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => PROGRAM.end(FAILED, &error.to_string()),
    }
}

/// Reads the configuration, and listens.
fn open(lines: &mut Lines<impl BufRead>) -> Result<ListeningEditor, String> {
    let missing = |reason: &dyn fmt::Display| format!("the configuration is missing: {reason}");
    let line = lines.next().ok_or_else(|| missing(&END_OF_INPUT))?.map_err(|error| missing(&error))?;
    let text = line.text.map_err(|bad| format!("the configuration {bad}"))?;
    ListeningEditor::open(&text).map_err(|error| error.to_string())
}

struct Sidecar {
    editor: ListeningEditor,
    input: Receiver<Input>,
    /// The signal that ends the sidecar. A channel would add 5 KB of code.
    signal: Arc<OnceLock<&'static str>>,
    writer: Writer,
}

impl Sidecar {
    fn start(mut editor: ListeningEditor, lines: Lines<impl BufRead + Send + 'static>) -> io::Result<Self> {
        let handle = editor.handle();
        // Only the wake-up counts, and an error means that the loop is over.
        let wake = move || {
            let _ = handle.with(|_, _| ());
        };
        let signal = Arc::new(OnceLock::new());
        let (first, after_signal) = (Arc::clone(&signal), wake.clone());
        on_end(move |name| {
            let _ = first.set(name);
            after_signal();
            true
        })?;
        // One line at a time: a line may have 96 MiB.
        let (sender, input) = mpsc::sync_channel(1);
        let after_line = wake.clone();
        read_lines(lines, move |input| {
            let is_sent = sender.send(input).is_ok();
            after_line();
            is_sent
        });
        let writer = Writer::new(io::stdout(), MAX_WAITING, wake);
        Ok(Self { editor, input, signal, writer })
    }

    fn run(mut self) -> io::Result<()> {
        loop {
            self.take_input();
            self.write_events()?;
            if self.editor.is_over() {
                break;
            }
            if self.writer.failure().is_some() {
                self.editor.shutdown("standard output cannot be written");
            }
            let has_room = self.writer.has_room();
            self.editor.set_taking_events(has_room);
            self.editor.dispatch_within((!has_room).then_some(LOOK_FOR_ROOM))?;
        }
        self.write_rest().map_err(|error| {
            io::Error::new(error.kind(), format!("standard output cannot be written: {error}"))
        })
    }

    /// Writes the last events, for a limited time.
    fn write_rest(&mut self) -> io::Result<()> {
        while let Some(event) = self.editor.next_event() {
            self.writer.put(line(&event)?, AT_THE_END)?;
        }
        self.writer.flush(AT_THE_END)
    }

    fn take_input(&mut self) {
        if let Some(name) = self.signal.get() {
            self.editor.shutdown(name);
        }
        while let Ok(input) = self.input.try_recv() {
            match input {
                Input::Line(Line { number, text: Ok(text) }) => {
                    self.editor.command_line(number, text.as_bytes());
                }
                Input::Line(Line { number, text: Err(bad) }) => {
                    self.editor.fail(Some(number), format!("the line {bad}"));
                }
                Input::End => self.editor.shutdown(END_OF_INPUT),
                Input::Fault(reason) => self.editor.shutdown(&reason),
            }
        }
    }

    /// Passes the events to the thread that writes them, as long as there is room. After a failure the events are
    /// dropped.
    fn write_events(&mut self) -> io::Result<()> {
        while self.writer.has_room() {
            let Some(event) = self.editor.next_whole_event() else { break };
            let _ = self.writer.put(line(&event)?, Duration::ZERO);
        }
        Ok(())
    }
}

fn line(event: &Event) -> io::Result<Vec<u8>> {
    json_line(event).map(|line| (line + "\n").into_bytes())
}
