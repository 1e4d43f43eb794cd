//! Signals.

#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
#[cfg(any(
    feature = "agent",
    feature = "bridge",
    feature = "doctor",
    feature = "editor",
    feature = "tap"
))]
use std::fs;
use std::{io, thread};

/// Calls `act` on a thread of its own for each SIGINT and SIGTERM, and for a SIGHUP that is the first signal,
/// unless the program was started with SIGHUP ignored, until it returns false. From this call on the signals do not
/// end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
pub(crate) fn on_signal(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let handled: &[i32] = if is_ignored(SIGHUP) { &[SIGINT, SIGTERM] } else { &[SIGINT, SIGTERM, SIGHUP] };
    // A terminal that closes can send SIGHUP twice, and the end of a login sends it behind SIGTERM: that is no
    // second request of the person.
    let mut is_ending = false;
    on_signals(handled, move |number| (std::mem::replace(&mut is_ending, true) && number == SIGHUP) || act())
}

/// Returns true if a signal is ignored, as SIGHUP is under `nohup`: a process inherits that. Only Linux tells it without
/// unsafe code; on other systems the answer is no.
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status =
        if cfg!(target_os = "linux") { fs::read_to_string("/proc/self/status") } else { return false };
    let status = status.unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    bits & (1 << (signal - 1)) != 0
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
