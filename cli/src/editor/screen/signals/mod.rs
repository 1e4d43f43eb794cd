//! The signals that the loop handles.

#[cfg(not(unix))]
mod none;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use none::{Signals, stop};
#[cfg(unix)]
pub(crate) use unix::{Signals, stop};

#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has these"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The size of the terminal has changed.
    Resized,
    /// The process has to stop and leave the terminal to the shell.
    Stop,
    /// The process continues after a stop.
    Continued,
    /// The process has to end. The text is the name of the signal.
    End(&'static str),
}
