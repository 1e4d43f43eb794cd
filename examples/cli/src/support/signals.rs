//! Signals.

#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::{io, thread};

/// Calls `act` on a thread of its own for each SIGINT and SIGTERM, until it returns false. From
/// this call on the signals do not end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
pub(crate) fn on_signal(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    on_signals(&[SIGINT, SIGTERM], move |_| act())
}

/// Calls `act` on a thread of its own with the number of each of these signals, until it returns false. From this
/// call on the signals do not end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_signals(
    signals: &[i32],
    mut act: impl FnMut(i32) -> bool + Send + 'static,
) -> io::Result<()> {
    let mut signals = Signals::new(signals)?;
    thread::spawn(move || while signals.wait().all(&mut act) {});
    Ok(())
}
