//! Signals.

use super::Meaning;
use signal_hook::consts::{
    SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGWINCH, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, signal_name};
use std::{fs, io, thread};

/// The number of a signal.
pub(crate) type Signal = i32;

/// The signal of Ctrl+C.
pub(super) const INTERRUPT: Signal = SIGINT;

/// The other signals that ask a program to end.
pub(super) const ENDS: [Signal; 2] = [SIGTERM, SIGHUP];

/// The signals of the terminal, and those that end a process and can be handled as events. SIGABRT
/// and SIGSEGV end the process at once, and SIGKILL cannot be caught.
pub(super) const ALL: [Signal; 14] = [
    SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
    SIGPROF, SIGXCPU, SIGXFSZ,
];

/// Calls `act` on a thread of its own with each of these signals, until it returns false. From this call on the signals
/// do not end the program by themselves.
///
/// # Errors
/// Every error of the system during the setup.
pub(crate) fn on_signals(
    signals: &[Signal],
    mut act: impl FnMut(Signal) -> bool + Send + 'static,
) -> io::Result<()> {
    let mut signals = Signals::new(signals)?;
    thread::spawn(move || while signals.wait().all(&mut act) {});
    Ok(())
}

pub(super) fn meaning(signal: Signal) -> Meaning {
    match signal {
        SIGWINCH => Meaning::Resized,
        SIGTSTP => Meaning::Stop,
        SIGCONT => Meaning::Continued,
        other => Meaning::End(signal_name(other).unwrap_or("a signal")),
    }
}

/// Returns the name of one of [`ENDS`], without the table of all names.
pub(super) const fn name_of_end(signal: Signal) -> &'static str {
    if signal == SIGHUP { "SIGHUP" } else { "SIGTERM" }
}

pub(super) const fn is_hangup(signal: Signal) -> bool {
    signal == SIGHUP
}

/// Returns true if a signal is ignored, as SIGHUP is under `nohup`: a process inherits that. Only Linux shows it
/// without unsafe code; on other systems this returns false.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let status =
        if cfg!(target_os = "linux") { fs::read_to_string("/proc/self/status") } else { return false };
    let status = status.unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    bits & (1 << (signal - 1)) != 0
}

/// Stops this process until it receives SIGCONT.
///
/// # Errors
/// Every error of the system.
pub(crate) fn stop() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}
