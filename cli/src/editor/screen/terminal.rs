//! The terminal: raw mode and the alternate screen while the editor runs, and the previous state again on every way
//! out, even after a panic.
//!
//! A thread writes to the terminal, so that one that accepts no output does not delay agents.

use super::view::frame::Frame;
use crossterm::cursor::{Hide, MoveTo, SetCursorStyle, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::style::{Print, ResetColor};
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
    EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{QueueableCommand as _, queue};
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use std::convert::Infallible;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;
use std::{panic, thread};

/// Reports of buttons and of dragging (xterm, mode 1002) in place of those of every motion (1003), which
/// crossterm switches on: each would wake the loop for nothing.
const DRAGS_ONLY: &str = "\x1b[?1003l\x1b[?1002h";
/// How long the end waits for a terminal that accepts no output.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Terminal {
    restore: Arc<Restore>,
    /// The screen that the terminal shows after all output; `None` if it is not certain.
    shown: Option<Frame>,
    /// Ends when the terminal has accepted the last frame.
    written: Receiver<Infallible>,
}

impl Terminal {
    /// Takes over the terminal of standard input and output. `wake` is called when it has accepted output.
    pub(crate) fn take(wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let restore = Arc::new(Restore { writer: Writer::new(wake)?, is_taken: AtomicBool::new(false) });
        let at_panic = restore.clone();
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            // First, because the message would disappear with the alternate screen.
            at_panic.restore();
            hook(what);
        }));
        let mut terminal = Self { restore, shown: None, written: channel().1 };
        terminal.enter()?;
        Ok(terminal)
    }

    /// Takes over the terminal, or takes it back after a stop, during which another process had it.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        // The other process may have ended the raw mode that crossterm remembers.
        let _ = terminal::disable_raw_mode();
        terminal::enable_raw_mode()?;
        self.restore.is_taken.store(true, Ordering::SeqCst);
        self.shown = None;
        let mut out = Vec::new();
        queue!(out, EnterAlternateScreen, DisableLineWrap, Hide, EnableBracketedPaste)?;
        queue!(out, EnableMouseCapture)?;
        // A Windows console reports the mouse as records.
        if cfg!(unix) {
            queue!(out, Print(DRAGS_ONLY))?;
        }
        self.written = self.restore.writer.write(out);
        Ok(())
    }

    /// Gives the terminal back for a while.
    pub(crate) fn leave(&self) {
        self.restore.restore();
    }

    /// Gives the terminal back for good, with a last line on the original screen.
    pub(crate) fn close(self, line: &str) {
        self.restore.restore();
        // The terminal may be gone.
        let _ = self.restore.writer.write(format!("{line}\n").into()).recv_timeout(PATIENCE);
    }

    /// Returns the columns and rows.
    pub(crate) fn size() -> io::Result<(u16, u16)> {
        // Some terminals report a size of 0 × 0.
        terminal::size().map(|size| if size == (0, 0) { (80, 24) } else { size })
    }

    /// Returns true if the terminal has accepted all output. Until then, screens are skipped.
    pub(crate) fn is_idle(&self) -> bool {
        self.written.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Shows a screen.
    pub(crate) fn show(&mut self, frame: Frame) -> io::Result<()> {
        let out = paint(self.shown.as_ref(), &frame)?;
        self.shown = Some(frame);
        if !out.is_empty() {
            self.written = self.restore.writer.write(out);
        }
        Ok(())
    }

    /// Marks the contents of the terminal as unknown.
    pub(crate) fn forget(&mut self) {
        self.shown = None;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore.restore();
    }
}

/// Returns the bytes that change a terminal from `before` to `after`. Without `before`, or if its size
/// differs, the contents of the terminal are unknown, and it is cleared.
pub(crate) fn paint(before: Option<&Frame>, after: &Frame) -> io::Result<Vec<u8>> {
    let before = before.filter(|before| before.cells.area() == after.cells.area());
    let is_same = |before: &Frame| before.cells == after.cells && before.cursor == after.cursor;
    let mut out = Vec::new();
    if before.is_some_and(is_same) {
        return Ok(out);
    }
    queue!(out, BeginSynchronizedUpdate, Hide)?;
    let empty;
    let cells = match before {
        Some(before) => &before.cells,
        None => {
            out.queue(Clear(ClearType::All))?;
            empty = Buffer::empty(*after.cells.area());
            &empty
        }
    };
    CrosstermBackend::new(&mut out).draw(cells.diff_iter(&after.cells))?;
    if let Some((x, y)) = after.cursor {
        queue!(out, MoveTo(x, y), Show)?;
    }
    out.queue(EndSynchronizedUpdate)?;
    Ok(out)
}

/// The thread that writes to the terminal.
#[derive(Debug)]
struct Writer {
    output: Sender<Output>,
}

#[derive(Debug)]
struct Output {
    bytes: Vec<u8>,
    /// Dropped when the bytes are written, or cannot be.
    _written: Sender<Infallible>,
}

impl Writer {
    fn new(wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (output, outputs) = channel::<Output>();
        thread::Builder::new().name("editor screen".into()).spawn(move || {
            for output in outputs {
                let mut terminal = io::stdout().lock();
                // An error means that the terminal is gone: then a signal arrives, or the input ends.
                let _ = terminal.write_all(&output.bytes).and_then(|()| terminal.flush());
                drop(output);
                wake();
            }
        })?;
        Ok(Self { output })
    }

    /// Writes bytes after all earlier ones. The channel ends when they are written.
    fn write(&self, bytes: Vec<u8>) -> Receiver<Infallible> {
        let (written, waiting) = channel();
        // Without the thread the bytes are lost, and the channel ends at once.
        let _ = self.output.send(Output { bytes, _written: written });
        waiting
    }
}

/// The original state of the terminal, which is restored once.
#[derive(Debug)]
struct Restore {
    writer: Writer,
    is_taken: AtomicBool,
}

impl Restore {
    fn restore(&self) {
        if !self.is_taken.swap(false, Ordering::SeqCst) {
            return;
        }
        // An error is ignored: without the terminal, nobody can read about it.
        let _ = farewell().map(|bytes| self.writer.write(bytes).recv_timeout(PATIENCE));
        let _ = terminal::disable_raw_mode();
        // Keys that were meant for the editor must not reach the shell.
        #[cfg(unix)]
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

/// Returns the bytes that undo all modes that were switched on.
fn farewell() -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    queue!(out, DisableMouseCapture, DisableBracketedPaste, ResetColor, EnableLineWrap)?;
    queue!(out, SetCursorStyle::DefaultUserShape, Show, LeaveAlternateScreen)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::screen::view::palette::{ColorDepth, Ink};
    use ratatui::layout::Rect;

    fn frame(rows: &[&str]) -> Frame {
        let mut frame = Frame::new((6, 3), ColorDepth::None);
        for (y, row) in (0..3).zip(rows) {
            frame.write(Rect { x: 0, y, width: 6, height: 1 }, row, Ink::Text);
        }
        frame
    }

    fn painted(before: Option<&Frame>, after: &Frame) -> String {
        crossterm::style::force_color_output(true);
        let text = String::from_utf8(paint(before, after).unwrap()).unwrap();
        let (begin, end) = ("\u{1b}[?2026h\u{1b}[?25l", "\u{1b}[?2026l");
        assert!(text.is_empty() || text.starts_with(begin) && text.ends_with(end), "{text:?}");
        let resets = "\u{1b}[39m\u{1b}[49m\u{1b}[59m\u{1b}[0m";
        text.replace(begin, "").replace(end, "").replace(resets, "")
    }

    #[test]
    fn only_different_cells_are_written() {
        let before = frame(&["abc", "def", ""]);
        let cases = [
            ("nothing", frame(&["abc", "def", ""]), ""),
            ("a letter", frame(&["abc", "dXf", ""]), "\u{1b}[2;2HX"),
            ("two in a row", frame(&["Xbc", "deYZ", ""]), "\u{1b}[1;1HX\u{1b}[2;3HYZ"),
            ("a letter that goes away", frame(&["a", "def", ""]), "\u{1b}[1;2H  "),
            (
                "wide characters, and where they end",
                frame(&["\u{6f22}cd", "def", ""]),
                "\u{1b}[1;1H\u{6f22}\u{1b}[1;4Hd",
            ),
            ("marks", frame(&["e\u{301}Bc", "def", ""]), "\u{1b}[1;1He\u{301}B"),
        ];
        for (name, after, expected) in cases {
            assert_eq!(painted(Some(&before), &after), expected, "{name}");
        }
        let mut after = frame(&["abc", "def", ""]);
        after.cursor = Some((2, 1));
        assert_eq!(painted(Some(&before), &after), "\u{1b}[2;3H\u{1b}[?25h");
        let mut other = Frame::new((1, 1), ColorDepth::None);
        other.write(Rect { x: 0, y: 0, width: 1, height: 1 }, "x", Ink::Text);
        assert_eq!(painted(Some(&before), &other), "\u{1b}[2J\u{1b}[1;1Hx", "another size");
        assert_eq!(painted(None, &Frame::new((0, 0), ColorDepth::None)), "\u{1b}[2J");
    }

    #[test]
    fn writer_tells_when_output_is_accepted() {
        let (sender, wakes) = channel();
        let writer = Writer::new(move || sender.send(()).unwrap_or_default()).unwrap();
        let written = writer.write(Vec::new());
        assert!(wakes.recv_timeout(Duration::from_secs(30)).is_ok());
        assert_eq!(written.try_recv(), Err(TryRecvError::Disconnected));
    }
}
