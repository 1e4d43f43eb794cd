//! What comes from outside of the sockets: lines on standard input, and signals. Threads wait for both, since standard
//! input may be a file, which no poll can wait for; they put what comes into a queue and wake the loop.

use ide_mcp_mio::Waker;
use mio::{Registry, Token};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, BufRead as _, ErrorKind};
use std::sync::mpsc::{self, Receiver};
use std::thread;

#[derive(Debug)]
pub(crate) struct Input {
    queue: Receiver<Line>,
}

#[derive(Debug)]
pub(crate) enum Line {
    Command(String),
    /// Standard input has ended, or a signal asks to end.
    End,
}

impl Input {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let waker = Waker::new(registry, token)?;
        let (sender, queue) = mpsc::channel();
        // A second signal while the first is being obeyed is queued as well, and obeyed again.
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let put = {
            let (sender, waker) = (sender, waker);
            move |line| sender.send(line).is_ok() && waker.wake().is_ok()
        };
        let put_signal = put.clone();
        thread::spawn(move || while signals.wait().next().is_some() && put_signal(Line::End) {});
        thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let line = match line {
                    Ok(line) => line,
                    // A line that is no text is no command, and the parser says so.
                    Err(error) if error.kind() == ErrorKind::InvalidData => error.to_string(),
                    Err(_) => break,
                };
                if !line.trim().is_empty() && !put(Line::Command(line)) {
                    return;
                }
            }
            put(Line::End);
        });
        Ok(Self { queue })
    }

    /// Everything that has come.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        self.queue.try_iter()
    }
}
