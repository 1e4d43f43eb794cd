//! The wake-up by which another thread interrupts the wait of the loop.

use mio::{Registry, Token};
use std::io;
use std::sync::Arc;

/// A handle that notifies the loop from any thread that a queue of the application has an entry.
///
/// Put something into the queue first, and wake second. The loop, once woken, drains the queue until it
/// is empty. Several wakes can become one, and a wake can come for a queue that is already empty. So the
/// loop reads the queue to learn what there is to do; the wake is only a hint. Keep one waker for as
/// long as the loop waits, and give clones to threads: if the last waker is dropped, a wake-up that the
/// loop has not received yet is lost.
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
    /// A `Poll` can have only one waker. If the application has its own, pass that to `from`.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        mio::Waker::new(registry, token).map(|waker| Self(Arc::new(waker)))
    }

    /// Ends the current wait of the `Poll`, or the next wait if it does not wait now.
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
