//! Signals as an event source of a poll.

use super::Signal;
use mio::net::UnixStream;
use mio::{Interest, Registry, Token};
use signal_hook::consts::{
    SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGWINCH, SIGXCPU, SIGXFSZ,
};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals of the terminal, and those that end a process and can be handled as events. SIGABRT
/// and SIGSEGV end the process at once, and SIGKILL cannot be caught.
const ALL: [(i32, Signal); 14] = [
    (SIGWINCH, Signal::Resized),
    (SIGTSTP, Signal::Stop),
    (SIGCONT, Signal::Continued),
    (SIGTERM, Signal::End("SIGTERM")),
    (SIGINT, Signal::End("SIGINT")),
    (SIGHUP, Signal::End("SIGHUP")),
    (SIGQUIT, Signal::End("SIGQUIT")),
    (SIGUSR1, Signal::End("SIGUSR1")),
    (SIGUSR2, Signal::End("SIGUSR2")),
    (SIGALRM, Signal::End("SIGALRM")),
    (SIGVTALRM, Signal::End("SIGVTALRM")),
    (SIGPROF, Signal::End("SIGPROF")),
    (SIGXCPU, Signal::End("SIGXCPU")),
    (SIGXFSZ, Signal::End("SIGXFSZ")),
];

#[derive(Debug)]
pub(crate) struct Signals {
    came: Vec<(Arc<AtomicBool>, Signal)>,
    wakes: UnixStream,
}

/// Stops this process until it receives SIGCONT.
pub(crate) fn stop() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}

impl Signals {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut came = Vec::new();
        for (number, signal) in ALL {
            let flag = Arc::new(AtomicBool::new(false));
            // The flag is registered first, so that it is set when the pipe wakes the loop.
            flag::register(number, flag.clone())?;
            pipe::register(number, theirs.try_clone()?)?;
            came.push((flag, signal));
        }
        let mut wakes = UnixStream::from_std(ours);
        registry.register(&mut wakes, token, Interest::READABLE)?;
        Ok(Self { came, wakes })
    }

    /// Returns the signals that have arrived since the last call.
    pub(crate) fn take(&mut self) -> Vec<Signal> {
        let mut bytes = [0; 64];
        loop {
            match self.wakes.read(&mut bytes) {
                Ok(length) if length > 0 => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => break,
            }
        }
        let came = self.came.iter().filter(|(flag, _)| flag.swap(false, Ordering::SeqCst));
        came.map(|(_, signal)| *signal).collect()
    }
}
