//! The signals that ask a program to end.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::{io, thread};

/// Calls `act` on a thread of its own for each SIGINT and SIGTERM, until it returns false. From
/// this call on the signals do not end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_signal(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || while signals.wait().next().is_some() && act() {});
    Ok(())
}
