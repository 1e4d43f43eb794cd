//! The thread that reads the terminal: crossterm waits until a key is whole, and the loop must not.

use crossterm::event::{Event, poll, read};
use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

/// The number of events that wait for the loop. Above it, the terminal waits.
pub(crate) const QUEUE: usize = 256;
/// The time for which crossterm looks for another event. On Unix [`wait`] waits in its place.
const LOOK: Duration = if cfg!(unix) { Duration::from_millis(1) } else { Duration::from_secs(60) };

#[derive(Debug)]
pub(crate) struct Reader {
    events: Receiver<io::Result<Event>>,
}

impl Reader {
    /// Starts the thread, which calls `wake` after each event. It ends with the terminal or the process.
    ///
    /// # Errors
    /// Returns the error of the system if it cannot create a thread.
    pub(crate) fn new(wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (sender, events) = sync_channel(QUEUE);
        thread::Builder::new().name("editor keys".into()).spawn(move || {
            let send = |event| {
                let is_heard = sender.send(event).is_ok();
                wake();
                is_heard
            };
            if let Err(error) = read_all(|event| send(Ok(event))) {
                send(Err(error));
            }
        })?;
        Ok(Self { events })
    }

    /// Returns the next event, or `None` if no event has arrived.
    ///
    /// # Errors
    /// Returns an error if the terminal is gone.
    pub(crate) fn next(&self) -> io::Result<Option<Event>> {
        match self.events.try_recv() {
            Ok(event) => event.map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Passes each event to `send`, until `send` returns false.
fn read_all(send: impl Fn(Event) -> bool) -> io::Result<()> {
    loop {
        wait()?;
        while poll(LOOK)? {
            if !send(read()?) {
                return Ok(());
            }
        }
    }
}

/// Waits for bytes. crossterm reads a terminal that is gone again and again, so it must not wait for one.
#[cfg(unix)]
fn wait() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    let stdin = io::stdin();
    loop {
        let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
        let polled = poll(&mut terminal, None);
        let [terminal] = terminal;
        return match polled {
            Err(Errno::INTR) => continue,
            Ok(_) if terminal.revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                Err(ErrorKind::UnexpectedEof.into())
            }
            polled => polled.map(|_| ()).map_err(Into::into),
        };
    }
}

#[cfg(not(unix))]
const fn wait() -> io::Result<()> {
    Ok(())
}
