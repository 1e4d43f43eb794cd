//! Signals that ask a program to end.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::{io, thread};

/// Calls this on a thread of its own for each SIGINT and SIGTERM, until it says false. From here on they do not end the
/// program by themselves.
///
/// # Errors
/// Whatever the system reports of setting it up.
pub(crate) fn on_signal(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || while signals.wait().next().is_some() && act() {});
    Ok(())
}
