//! What every adapter's `Server` hands to the one of this crate, written once.

/// The methods that are the same in every adapter, of a type whose field `inner` is a [`Server`](crate::Server).
#[doc(hidden)]
#[macro_export]
macro_rules! hand_over {
    () => {
        /// Publishes a lock file for the port, with the [token](Self::token) that the server asks for, and waits for the disk.
        /// It is brought back if it vanishes, and removed before the listener closes; what happens to it is a
        /// [`HostEvent::LockFile`](ide_mcp::ide::HostEvent::LockFile). One that was published before is removed.
        ///
        /// # Errors
        /// As [`ide_mcp_lockfile::LockDir::publish`], and
        /// [`PortZero`](ide_mcp_lockfile::Error::PortZero) after [`shutdown`](Self::shutdown), when nothing listens any
        /// more; nothing is published then.
        pub fn publish(
            &mut self,
            dir: &$crate::LockDir,
            file: &$crate::LockFile,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.publish(dir, file)
        }

        /// Returns the token that clients have to know, for an editor that keeps it for its next run. It is a fresh one where
        /// the token of the configuration outlived its process and the system does not tell whose a socket is
        /// ([`Bind::Resume`](crate::Bind::Resume)).
        #[must_use]
        pub const fn token(&self) -> ::core::option::Option<&$crate::AuthToken> {
            self.inner.token()
        }

        /// Publishes a lock file as [`publish`](Self::publish) does, with a guard that runs where and when `guarding`
        /// says.
        ///
        /// # Errors
        /// As [`publish`](Self::publish), and [`Io`](ide_mcp_lockfile::Error::Io) where the guard gets no thread.
        pub fn publish_guarded(
            &mut self,
            dir: &$crate::LockDir,
            file: &$crate::LockFile,
            guarding: $crate::Guarding,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.publish_guarded(dir, file, guarding)
        }

        /// Returns where the lock file is.
        #[must_use]
        pub fn lock_path(&self) -> ::core::option::Option<&::std::path::Path> {
            self.inner.lock_path()
        }

        /// Publishes other contents, when folders were opened or closed. A guard on a thread does so soon, and reports a
        /// failure as an event; otherwise this waits for the disk. Nothing happens where nothing is published.
        ///
        /// # Errors
        /// As [`Published::update`](ide_mcp_lockfile::Published::update).
        pub fn update_lock_file(
            &mut self,
            file: &$crate::LockFile,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.update_lock_file(file)
        }

        /// Where it listens, or did.
        #[must_use]
        pub const fn local_addr(&self) -> ::std::net::SocketAddr {
            self.inner.local_addr()
        }

        /// The port of [`local_addr`](Self::local_addr).
        #[must_use]
        pub const fn port(&self) -> u16 {
            self.inner.local_addr().port()
        }

        /// The connections and what they share.
        #[must_use]
        pub const fn host(&self) -> &$crate::Host {
            self.inner.host()
        }

        /// The host, to answer a call or to tell what the person does. What comes of it goes out with the next turn.
        pub const fn host_mut(&mut self) -> &mut $crate::Host {
            self.inner.host_mut()
        }

        /// Whether it was shut down and nothing is left to do.
        #[must_use]
        pub fn is_over(&self) -> bool {
            self.inner.is_over()
        }
    };
}
