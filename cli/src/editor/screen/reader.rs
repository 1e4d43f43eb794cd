//! The thread that reads the terminal, for which the loop must not wait.

#[cfg(unix)]
use super::bytes::Bytes;
use crossterm::event::Event;
#[cfg(unix)]
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
#[cfg(unix)]
use std::time::Duration;

/// The number of events that wait for the loop. Above it, the terminal waits.
pub(crate) const QUEUE: usize = 256;

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
#[cfg(unix)]
fn read_all(send: impl Fn(Event) -> bool) -> io::Result<()> {
    let (mut bytes, mut buffer, stdin) = (Bytes::default(), [0; 4096], io::stdin());
    loop {
        let mut is_heard = true;
        let pass = |event| is_heard &= send(event);
        match wait(&stdin, bytes.patience())? {
            true => match rustix::io::read(&stdin, &mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => bytes.feed(buffer.get(..count).unwrap_or_default(), pass),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            },
            false => bytes.silence(pass),
        }
        if !is_heard {
            return Ok(());
        }
    }
}

/// Waits for bytes. Returns false if none came for this time.
#[cfg(unix)]
fn wait(stdin: &io::Stdin, most: Option<Duration>) -> io::Result<bool> {
    let most = most.and_then(|most| Timespec::try_from(most).ok());
    loop {
        let mut terminal = [PollFd::new(stdin, PollFlags::IN)];
        let polled = poll(&mut terminal, most.as_ref());
        let [terminal] = terminal;
        return match polled {
            Err(Errno::INTR) => continue,
            Ok(0) => Ok(false),
            Ok(_) if terminal.revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                Err(ErrorKind::UnexpectedEof.into())
            }
            polled => polled.map(|_| true).map_err(Into::into),
        };
    }
}

/// Passes each event to `send`, until `send` returns false. The console of Windows reports keys, not bytes.
#[cfg(not(unix))]
fn read_all(send: impl Fn(Event) -> bool) -> io::Result<()> {
    while send(crossterm::event::read()?) {}
    Ok(())
}
