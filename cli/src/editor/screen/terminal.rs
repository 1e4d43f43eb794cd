//! The terminal: raw mode and the alternate screen while the editor runs, and the previous state
//! again on every way out, including a panic.
//!
//! The terminal is opened again as a separate, nonblocking file, so that neither an incomplete
//! sequence nor a terminal that accepts no output delays the agents. On standard output, the
//! nonblocking flag would affect the shell too.

use super::paint::paint;
use super::theme::Theme;
use super::view::canvas::Canvas;
use crossterm::QueueableCommand as _;
use crossterm::cursor::{Hide, SetCursorStyle, Show};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr, ttyname,
};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The modes for buttons, dragging, and columns above 223 (xterm, modes 1000, 1002, 1006), and for
/// pasted text (2004). The focus (1004) is left out: terminals send its reports on their own,
/// and the last report would reach the shell.
const REPORTS_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?2004h";
const REPORTS_OFF: &str = "\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// The number of bytes after which a turn stops reading.
const BUDGET: usize = 64 * 1024;
/// The time for which the end waits for a terminal that accepts no output.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    restore: Arc<Restore>,
    theme: Theme,
    /// The screen that the terminal shows after all output; `None` if it is not certain.
    shown: Option<Canvas>,
    out: Vec<u8>,
    readable: bool,
    writable: bool,
}

impl Terminal {
    /// Takes over the terminal of standard output.
    pub(crate) fn take(registry: &Registry, token: Token, theme: Theme) -> io::Result<Self> {
        let tty = open()?;
        let original = tcgetattr(&tty)?;
        let descriptor = tty.as_raw_fd();
        let mut source = SourceFd(&descriptor);
        registry.register(&mut source, token, Interest::READABLE | Interest::WRITABLE)?;
        let restore = Arc::new(Restore { tty: tty.try_clone()?, original, is_taken: AtomicBool::new(false) });
        let at_panic = restore.clone();
        let says = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            // First, because the message would disappear with the alternate screen.
            at_panic.restore();
            says(what);
        }));
        let mut terminal =
            Self { tty, restore, theme, shown: None, out: Vec::new(), readable: true, writable: true };
        terminal.enter()?;
        Ok(terminal)
    }

    /// Takes over the terminal, or takes it back after a stop, during which another process had it.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        let mut raw = self.restore.original.clone();
        raw.make_raw();
        tcsetattr(&self.tty, OptionalActions::Now, &raw)?;
        self.restore.is_taken.store(true, Ordering::SeqCst);
        self.shown = None;
        self.out.clear();
        self.out
            .queue(EnterAlternateScreen)?
            .queue(DisableLineWrap)?
            .queue(Hide)?
            .queue(Print(REPORTS_ON))?
            .queue(Clear(ClearType::All))?;
        self.flush()
    }

    /// Gives the terminal back for a while.
    pub(crate) fn leave(&self) {
        self.restore.restore();
    }

    /// Gives the terminal back for good, with a last line on the original screen.
    pub(crate) fn close(self, line: &str) {
        self.restore.restore();
        // An error is ignored, because the terminal can be gone.
        let _ = self.restore.write(format!("{line}\n").as_bytes());
    }

    /// Returns the columns and rows.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        let size = tcgetwinsize(&self.tty)?;
        // Some terminal lines report no size.
        Ok(if (size.ws_col, size.ws_row) == (0, 0) { (80, 24) } else { (size.ws_col, size.ws_row) })
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
    }

    /// Passes the bytes that have arrived to `take`.
    pub(crate) fn read(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let mut left = BUDGET;
        while self.readable && left > 0 {
            match self.tty.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    take(buffer.get(..length).unwrap_or_default());
                    left = left.saturating_sub(length);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns true if a read would not wait.
    pub(crate) const fn is_due(&self) -> bool {
        self.readable
    }

    /// Shows a screen after the terminal has accepted the previous one. The screens between them are
    /// left out.
    pub(crate) fn show(&mut self, canvas: Canvas) -> io::Result<()> {
        self.flush()?;
        if self.out.is_empty() {
            paint(self.shown.as_ref(), &canvas, &self.theme, &mut self.out)?;
            self.shown = Some(canvas);
            self.flush()?;
        }
        Ok(())
    }

    /// Returns true if the terminal has accepted all output.
    pub(crate) fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    /// Marks the contents of the terminal as unknown.
    pub(crate) fn forget(&mut self) {
        self.shown = None;
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.writable && !self.out.is_empty() {
            match self.tty.write(&self.out) {
                Ok(length) => drop(self.out.drain(..length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore.restore();
    }
}

/// The original state of the terminal, which is restored once.
#[derive(Debug)]
struct Restore {
    tty: File,
    original: Termios,
    is_taken: AtomicBool,
}

impl Restore {
    fn restore(&self) {
        if !self.is_taken.swap(false, Ordering::SeqCst) {
            return;
        }
        // An error is ignored: without the terminal, nobody can read about it.
        let _ = farewell().and_then(|bytes| self.write(&bytes));
        let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.original);
        // Keys that were meant for the editor have to stay away from the shell.
        let _ = tcflush(&self.tty, QueueSelector::IFlush);
    }

    /// Writes all bytes. Waits for a terminal that accepts no output, for a limited time.
    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match (&self.tty).write(bytes) {
                Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if poll(&mut [PollFd::new(&self.tty, PollFlags::OUT)], Some(&PATIENCE))? == 0 {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns the bytes that undo all modes that were switched on.
fn farewell() -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    // CAN ends a sequence that is half written.
    out.queue(Print("\x18"))?
        .queue(Print(REPORTS_OFF))?
        .queue(SetAttribute(Attribute::Reset))?
        .queue(EnableLineWrap)?
        .queue(SetCursorStyle::DefaultUserShape)?
        .queue(Show)?
        .queue(LeaveAlternateScreen)?;
    Ok(out)
}

/// Opens the terminal by its name, or, if the name is unknown, as `/dev/tty`.
fn open() -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let named =
        ttyname(io::stdout(), Vec::new()).and_then(|name| rustix::fs::open(name, flags, Mode::empty()));
    let tty = named.or_else(|_| rustix::fs::open("/dev/tty", flags, Mode::empty()))?;
    Ok(tty.into())
}
