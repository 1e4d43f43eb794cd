//! The methods that every adapter's `Conn` forwards to the `Conn` of this crate, written once.

/// Defines the methods that are equal in every adapter, for a type whose field `inner` is a
/// [`Conn`](crate::Conn) with a machine `M`.
#[doc(hidden)]
#[macro_export]
macro_rules! hand_over {
    () => {
        /// Returns the machine.
        #[must_use]
        pub const fn machine(&self) -> &M {
            self.inner.machine()
        }

        /// Returns the machine, to send something. Its output is written in the next turn.
        pub const fn machine_mut(&mut self) -> &mut M {
            self.inner.machine_mut()
        }

        /// Returns the error that ended the transport, if an error ended it.
        #[must_use]
        pub const fn error(&self) -> ::core::option::Option<&::std::io::Error> {
            self.inner.link().error()
        }

        /// Returns true if the last event was delivered and the connection has ended in order.
        #[must_use]
        pub fn is_over(&self) -> bool {
            self.inner.is_over()
        }
    };
}
