//! Signals.

#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
use std::process::{Command, Stdio};
use std::{io, thread};

/// Calls `act` on a thread of its own for each SIGINT and SIGTERM, and for a SIGHUP that is the first signal,
/// unless the program was started with SIGHUP ignored, until it returns false. From this call on the signals do not
/// end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
pub(crate) fn on_signal(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let handled: &[i32] = if ignores_hangup() { &[SIGINT, SIGTERM] } else { &[SIGINT, SIGTERM, SIGHUP] };
    // A terminal that closes can send SIGHUP twice, and the end of a login sends it behind SIGTERM: that is no
    // second request of the person.
    let mut is_ending = false;
    on_signals(handled, move |number| (std::mem::replace(&mut is_ending, true) && number == SIGHUP) || act())
}

/// Returns true if SIGHUP is ignored, as under `nohup`. A process inherits that, so a shell tells it: no safe
/// function of Rust does.
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
fn ignores_hangup() -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -HUP $$"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
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
