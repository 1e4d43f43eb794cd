//! What the person at the terminal does: keys, the mouse and pasted text, as events of crossterm.
//!
//! crossterm itself reads the console of Windows. On Unix its reader holds up every key behind an unfinished sequence, so
//! [`Bytes`] is in its place.

#[cfg(unix)]
mod bytes;

#[cfg(unix)]
pub(crate) use bytes::Bytes;
use crossterm::event::Event;
use std::io;
use std::time::Duration;

#[cfg(unix)]
pub(crate) use unix::Keys;

/// The events of standard input, which is a terminal in raw mode.
#[cfg(not(unix))]
#[derive(Debug, Default)]
pub(crate) struct Keys;

#[cfg(not(unix))]
impl Keys {
    /// Returns the next event; `None` if none comes for this time.
    ///
    /// # Errors
    /// Returns an error if the terminal is gone.
    #[allow(clippy::unused_self, reason = "the other systems keep what is not whole yet")]
    pub(crate) fn next(&mut self, most: Option<Duration>) -> io::Result<Option<Event>> {
        match most {
            Some(most) if !crossterm::event::poll(most)? => Ok(None),
            _ => crossterm::event::read().map(Some),
        }
    }
}

#[cfg(unix)]
mod unix {
    use super::{Bytes, Duration, Event, io};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, read};
    use std::collections::VecDeque;
    use std::io::ErrorKind;

    /// The events of standard input, which is a terminal in raw mode.
    #[derive(Debug, Default)]
    pub(crate) struct Keys {
        bytes: Bytes,
        events: VecDeque<Event>,
    }

    impl Keys {
        /// Returns the next event; `None` if none comes for this time. The silence that ends a sequence can take longer, at
        /// most a second.
        ///
        /// # Errors
        /// Returns an error if the terminal is gone.
        pub(crate) fn next(&mut self, most: Option<Duration>) -> io::Result<Option<Event>> {
            let mut buffer = [0; 4096];
            loop {
                if let Some(event) = self.events.pop_front() {
                    return Ok(Some(event));
                }
                let patience = self.bytes.patience();
                let events = |event| self.events.push_back(event);
                match (wait(patience.or(most))?, patience) {
                    (false, None) => return Ok(None),
                    (false, Some(_)) => self.bytes.silence(events),
                    (true, _) => match read(io::stdin(), &mut buffer) {
                        Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                        Ok(count) => self.bytes.feed(buffer.get(..count).unwrap_or_default(), events),
                        Err(Errno::INTR | Errno::AGAIN) => {}
                        Err(error) => return Err(error.into()),
                    },
                }
            }
        }
    }

    /// Waits for bytes. Returns false if none come for this time.
    fn wait(most: Option<Duration>) -> io::Result<bool> {
        let (stdin, most) = (io::stdin(), most.and_then(|most| Timespec::try_from(most).ok()));
        loop {
            let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
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
}
