//! Reads the terminal on a thread, because the loop must not wait for it.

use crate::support::keys::Keys;
use crossterm::event::Event;
use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// The maximum number of events that wait for the loop; with more, the terminal waits. A turn costs more the longer the
/// typed line is, so each turn takes many keys. A full queue takes 384 KiB.
const QUEUE: usize = 16 << 10;

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
                let is_received = sender.send(event).is_ok();
                wake();
                is_received
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
    let mut keys = Keys::default();
    while keys.next(None)?.is_none_or(&send) {}
    Ok(())
}
