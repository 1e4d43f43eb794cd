//! What the user at the terminal does: keys, the mouse and pasted text, as events of crossterm.
//!
//! crossterm itself reads the Windows console. On Unix its reader holds up every key after an unfinished sequence,
//! so we use [`Bytes`] instead.

#[cfg(any(unix, test))]
mod bytes;

#[cfg(any(unix, test))]
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
    /// Returns the next event; `None` if none comes within this time.
    ///
    /// # Errors
    /// Returns an error if the terminal is gone.
    #[allow(clippy::unused_self, reason = "on Unix it keeps the bytes of unfinished sequences")]
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
    use ide_mcp::{Clock, Time};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, read};
    use std::collections::VecDeque;
    use std::io::ErrorKind;

    /// The events of standard input, which is a terminal in raw mode.
    #[derive(Debug, Default)]
    pub(crate) struct Keys {
        bytes: Bytes,
        events: VecDeque<Event>,
        clock: Clock,
        /// The time of the last bytes that interrupted a silence.
        interrupted: Time,
    }

    impl Keys {
        /// Returns the next event; `None` if none comes within this time.
        ///
        /// # Errors
        /// Returns an error if the terminal is gone.
        pub(crate) fn next(&mut self, most: Option<Duration>) -> io::Result<Option<Event>> {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            let (mut buffer, begin) = ([0; 4096], self.clock.now());
            let until = most.map(|most| begin.saturating_add(most));
            loop {
                let silent = self.bytes.patience().map(|patience| self.interrupted.saturating_add(patience));
                let next = until.into_iter().chain(silent).min();
                let has_bytes = wait(next.map(|next| next.saturating_since(self.clock.now())))?;
                let now = self.clock.now();
                let events = |event| self.events.push_back(event);
                if has_bytes {
                    match read(io::stdin(), &mut buffer) {
                        Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                        Ok(count) => self.bytes.feed(buffer.get(..count).unwrap_or_default(), events),
                        Err(Errno::INTR | Errno::AGAIN) => {}
                        Err(error) => return Err(error.into()),
                    }
                    if self.bytes.begins_silence() {
                        self.interrupted = now;
                    }
                } else if silent.is_some_and(|silent| silent <= now) {
                    self.bytes.silence(events);
                } else if until.is_some_and(|until| until <= now) {
                    return Ok(None);
                }
                if let Some(event) = self.events.pop_front() {
                    return Ok(Some(event));
                }
            }
        }
    }

    /// Waits for bytes. Returns false if none come within this time.
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
