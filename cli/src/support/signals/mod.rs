//! Requests to end the program, and what else its terminal reports: signals on Unix, console events on Windows.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::io;
use system::{ALL, ENDS, INTERRUPT, is_hangup, meaning, name_of_end};
pub(crate) use system::{is_ignored, on_signals, stop};

/// What a signal means to a program that has the whole terminal.
#[cfg_attr(windows, allow(dead_code, reason = "a console reports its size as input, and stops no program"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The size of the terminal has changed.
    Resized,
    /// The process must stop and leave the terminal to the shell.
    Stop,
    /// The process continues after a stop.
    Continued,
    /// The process must end. The text is the name of the signal.
    End(&'static str),
}

/// Calls `act` on a thread of its own for each request to end, such as Ctrl+C, until it returns false. From this call
/// on such a request does not end the program by itself. A hangup counts only as the first request, and never if the
/// program was started with hangups ignored.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_signal(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let mut handled = vec![INTERRUPT];
    handled.extend(ENDS.into_iter().filter(|signal| !(is_hangup(*signal) && is_ignored(*signal))));
    // A terminal that closes can send SIGHUP twice, and the end of a login session sends it after SIGTERM: that is not
    // a second request of the user.
    let mut is_ending = false;
    on_signals(&handled, move |signal| {
        (std::mem::replace(&mut is_ending, true) && is_hangup(signal)) || act()
    })
}

/// Calls `act` on a thread of its own with the meaning of each signal to a program that has the whole terminal, until
/// it returns false.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_every(mut act: impl FnMut(Meaning) -> bool + Send + 'static) -> io::Result<()> {
    on_signals(&ALL, move |signal| act(meaning(signal)))
}

/// Calls `act` like [`on_signal`], with the name of each request but Ctrl+C.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_end(mut act: impl FnMut(&'static str) -> bool + Send + 'static) -> io::Result<()> {
    on_signals(&ENDS, move |signal| act(name_of_end(signal)))
}

/// Ignores Ctrl+C, because it is for another program at the same terminal. This lasts until the process ends.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn ignore_interrupt() -> io::Result<()> {
    on_signals(&[INTERRUPT], |_| true)
}
