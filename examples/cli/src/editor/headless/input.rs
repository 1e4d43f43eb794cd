//! The input that does not come from sockets: lines on standard input, and signals. A thread waits
//! for each of them, because standard input can be a file, which no poll can wait for. The threads
//! put their input into a queue and wake the loop.

use crate::support::on_signal;
use ide_mcp_mio::Waker;
use std::io::{self, BufRead as _, ErrorKind};
use std::sync::mpsc::{self, Receiver};
use std::thread;

#[derive(Debug)]
pub(crate) struct Input {
    queue: Receiver<Line>,
}

#[derive(Debug)]
pub(crate) enum Line {
    /// A line that is not blank, with its number from 1. The text is `None` if the line is not UTF-8.
    Command { number: u64, text: Option<String> },
    /// The end of the commands, with the reason: the editor ends after the commands before it.
    End(String),
    /// A signal: the editor ends at once.
    Signal,
}

impl Input {
    pub(crate) fn new(waker: Waker) -> io::Result<Self> {
        let (sender, queue) = mpsc::channel();
        let put = { move |line| sender.send(line).is_ok() && waker.wake().is_ok() };
        let put_signal = put.clone();
        on_signal(move || put_signal(Line::Signal))?;
        thread::spawn(move || {
            let mut end = "end of standard input".to_owned();
            for (number, line) in (1..).zip(io::stdin().lock().lines()) {
                let text = match line {
                    Ok(blank) if blank.trim().is_empty() => continue,
                    Ok(text) => Some(text),
                    Err(error) if error.kind() == ErrorKind::InvalidData => None,
                    Err(error) => {
                        end = format!("standard input cannot be read: {error}");
                        break;
                    }
                };
                if !put(Line::Command { number, text }) {
                    return;
                }
            }
            put(Line::End(end));
        });
        Ok(Self { queue })
    }

    /// Returns all input that has arrived.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        self.queue.try_iter()
    }
}
