//! The signals that the loop handles.

use crate::support::signals::{Meaning, on_every};
use std::io;
use std::sync::mpsc::{Receiver, channel};

#[derive(Debug)]
pub(crate) struct Signals {
    received: Receiver<Meaning>,
}

impl Signals {
    /// Takes over the signals. `wake` is called after each.
    ///
    /// # Errors
    /// Every error of the system during the setup.
    pub(crate) fn new(wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (sender, received) = channel();
        on_every(move |signal| {
            let is_received = sender.send(signal).is_ok();
            wake();
            is_received
        })?;
        Ok(Self { received })
    }

    /// Returns the signals that have arrived since the last call.
    pub(crate) fn take(&self) -> Vec<Meaning> {
        self.received.try_iter().collect()
    }
}
