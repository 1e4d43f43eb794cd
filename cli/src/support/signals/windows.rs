//! Console events. Windows ends a process when the handler of a close, a log-off or a shutdown returns, and
//! after some seconds in any case: the handler of tokio never returns from these, and so leaves that time to the
//! program. No runtime runs.

use super::Meaning;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Break,
    Close,
    LogOff,
    ShutDown,
}

/// The event of Ctrl+C.
pub(super) const INTERRUPT: Signal = Signal::Interrupt;

/// The other events that ask a program to end.
pub(super) const ENDS: [Signal; 4] = [Signal::Break, Signal::Close, Signal::LogOff, Signal::ShutDown];

/// Ctrl+C arrives here if the console does not report it as a key, or if another process sends it.
pub(super) const ALL: [Signal; 5] =
    [Signal::Interrupt, Signal::Break, Signal::Close, Signal::LogOff, Signal::ShutDown];

/// Returns whether an event has come.
type Look = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send>;

/// Calls `act` on a thread of its own with each of these signals, until it returns false. From this call on the signals
/// do not end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_signals(
    signals: &[Signal],
    mut act: impl FnMut(Signal) -> bool + Send + 'static,
) -> io::Result<()> {
    let looks = signals.iter().map(|signal| Ok((*signal, look(*signal)?)));
    let mut looks = looks.collect::<io::Result<Vec<_>>>()?;
    thread::spawn(move || {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut goes_on = true;
        // Without this thread the signals would end the program again, so it stays.
        loop {
            for (signal, look) in &mut looks {
                while look(&mut context).is_ready() {
                    goes_on = goes_on && act(*signal);
                }
            }
            thread::park();
        }
    });
    Ok(())
}

fn look(signal: Signal) -> io::Result<Look> {
    Ok(match signal {
        Signal::Interrupt => {
            let mut events = ctrl_c()?;
            Box::new(move |context| events.poll_recv(context))
        }
        Signal::Break => {
            let mut events = ctrl_break()?;
            Box::new(move |context| events.poll_recv(context))
        }
        Signal::Close => {
            let mut events = ctrl_close()?;
            Box::new(move |context| events.poll_recv(context))
        }
        Signal::LogOff => {
            let mut events = ctrl_logoff()?;
            Box::new(move |context| events.poll_recv(context))
        }
        Signal::ShutDown => {
            let mut events = ctrl_shutdown()?;
            Box::new(move |context| events.poll_recv(context))
        }
    })
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub(super) const fn meaning(signal: Signal) -> Meaning {
    Meaning::End(name_of_end(signal))
}

pub(super) const fn name_of_end(signal: Signal) -> &'static str {
    match signal {
        Signal::Interrupt => "Ctrl+C",
        Signal::Break => "Ctrl+Break",
        Signal::Close => "the end of its console",
        Signal::LogOff => "the end of the session",
        Signal::ShutDown => "the shutdown of the system",
    }
}

/// On Windows each event is a request of its own.
pub(super) const fn is_hangup(_: Signal) -> bool {
    false
}

pub(crate) const fn is_ignored(_: Signal) -> bool {
    false
}

/// A Windows console does not stop programs.
pub(crate) const fn stop() -> io::Result<()> {
    Ok(())
}
