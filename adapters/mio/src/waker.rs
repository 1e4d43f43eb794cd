//! Lets another thread interrupt the wait of the loop.

use mio::{Registry, Token};
use std::io;
use std::sync::Arc;

/// Tells your loop, from any thread, that a queue of yours has an entry.
///
/// Put the entry into the queue first, and wake second. The loop must then read the queue until it is empty.
/// Several wakes may become one, and a wake may come for a queue that is already empty, so take it as a hint
/// only. Keep one waker for as long as the loop waits, and give clones to the threads: when the last one is
/// dropped, a wake-up that the loop has not received yet is lost.
///
/// ```
/// use ide_mcp_mio::Waker;
/// use std::sync::mpsc;
///
/// # fn main() -> std::io::Result<()> {
/// let mut poll = mio::Poll::new()?;
/// let waker = Waker::new(poll.registry(), mio::Token(0))?;
/// let (sender, queue) = mpsc::channel();
/// std::thread::spawn({
///     let waker = waker.clone();
///     move || {
///         let _ = sender.send("something to do");
///         waker.wake()
///     }
/// });
/// let mut events = mio::Events::with_capacity(64);
/// let mut done = false;
/// while !done {
///     poll.poll(&mut events, None)?;
///     for what in queue.try_iter() {
///         println!("{what}");
///         done = true;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Waker(Arc<mio::Waker>);

impl Waker {
    /// Creates a waker that wakes the `Poll` of this registry with an event that has this token.
    ///
    /// A `Poll` can have only one waker. If you already have one, pass it to `from`.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        mio::Waker::new(registry, token).map(|waker| Self(Arc::new(waker)))
    }

    /// Ends the current wait of the `Poll`, or the next one if it is not waiting.
    ///
    /// # Errors
    /// The error of the system.
    pub fn wake(&self) -> io::Result<()> {
        self.0.wake()
    }
}

impl From<Arc<mio::Waker>> for Waker {
    fn from(waker: Arc<mio::Waker>) -> Self {
        Self(waker)
    }
}
