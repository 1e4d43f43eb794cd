//! What every adapter's `Conn` hands to the one of this crate, written once.

/// The methods that are the same in every adapter, of a type whose field `inner` is a [`Conn`](crate::Conn) with a
/// machine `M`.
#[doc(hidden)]
#[macro_export]
macro_rules! hand_over {
    () => {
        /// The machine.
        #[must_use]
        pub const fn machine(&self) -> &M {
            self.inner.machine()
        }

        /// The machine, to send something: it goes out with the next turn.
        pub const fn machine_mut(&mut self) -> &mut M {
            self.inner.machine_mut()
        }

        /// The error that ended the transport, if it was one.
        #[must_use]
        pub const fn error(&self) -> ::core::option::Option<&::std::io::Error> {
            self.inner.link().error()
        }

        /// Whether all is done: the last event was delivered, and the connection has ended in order.
        #[must_use]
        pub fn is_over(&self) -> bool {
            self.inner.is_over()
        }
    };
}
