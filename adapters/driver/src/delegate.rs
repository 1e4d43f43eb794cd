//! The methods that every adapter's `Conn`, `Agent` and `Server` forward to the types of this crate, written
//! once.

/// Defines the methods that are equal in every adapter, for a type whose field `inner` is a
/// [`Conn`](crate::Conn) with a machine `M`.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate_conn {
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

        /// Returns true if the last event was delivered and nothing is left to do.
        #[must_use]
        pub fn is_over(&self) -> bool {
            self.inner.is_over()
        }
    };
}

/// Defines the methods that are equal in every adapter, for a type whose field `session` is an
/// [`AgentSession`](crate::AgentSession), and whose field `conn` is an optional connection.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate_agent {
    () => {
        /// Returns the machine of the connection, for every request, answer and notification. Its output
        /// is written in the next turn.
        ///
        /// # Errors
        /// [`NotSent::NotReady`](ide_mcp::rpc::NotSent::NotReady) while the agent is not attached.
        pub fn client_mut(&mut self) -> ::core::result::Result<&mut $crate::Client, $crate::NotSent> {
            let client = self.conn.as_mut().filter(|_| self.session.is_attached()).map(Conn::machine_mut);
            client.ok_or($crate::NotSent::NotReady)
        }

        /// Returns the editor, as its lock file was at the last attempt to attach.
        #[must_use]
        pub const fn editor(&self) -> &$crate::FoundEditor {
            self.session.editor()
        }

        /// Returns the answer of the editor at the last handshake; `None` before the first.
        #[must_use]
        pub const fn server(&self) -> ::core::option::Option<&$crate::ServerInfo> {
            self.session.server()
        }

        /// Returns the reason why the system does not report the owner of the editor's port; `None` if the owner
        /// is our user, or if the agent [trusts every user](crate::Trust::EveryUser). Show it to the person: the
        /// agent has sent its token there.
        #[must_use]
        pub const fn unknown_owner(&self) -> ::core::option::Option<$crate::Unknown> {
            self.session.unknown_owner()
        }

        /// Returns true if the agent is attached, so that requests are sent.
        #[must_use]
        pub fn is_attached(&self) -> bool {
            self.session.is_attached()
        }

        /// Returns true if the agent has ended, and its last event and its error were delivered.
        #[must_use]
        pub fn is_over(&self) -> bool {
            self.session.is_over()
        }
    };
}

/// Defines the methods that are equal in every adapter, for a type whose field `inner` is a
/// [`Server`](crate::Server).
#[doc(hidden)]
#[macro_export]
macro_rules! delegate_server {
    () => {
        /// Publishes a lock file for the port, with the [token](Self::token) that the server requires, and
        /// waits for the disk. The guard restores the file if it vanishes, and the server removes it before
        /// the listener closes. Changes of the file are reported by
        /// [`ServerEvent::LockFile`](ide_mcp::ide::ServerEvent::LockFile). A previously published lock file is
        /// removed.
        ///
        /// # Errors
        /// The errors of [`ide_mcp_lockfile::LockDir::publish`], and
        /// [`PortZero`](ide_mcp_lockfile::Error::PortZero) after [`shutdown`](Self::shutdown), when
        /// nothing listens any more. Nothing is published then.
        pub fn publish(
            &mut self,
            dir: &$crate::LockDir,
            file: &$crate::LockFile,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.publish(dir, file)
        }

        /// Returns the token that clients have to present, for an editor that keeps the token for its
        /// next run. The token is a fresh one if the token of the configuration is from an earlier
        /// process and the system does not report the owners of sockets
        /// ([`Bind::Resume`](crate::Bind::Resume)).
        #[must_use]
        pub const fn token(&self) -> ::core::option::Option<&$crate::AuthToken> {
            self.inner.token()
        }

        /// Publishes a lock file as [`publish`](Self::publish) does, with a guard that runs as
        /// `guarding` requires.
        ///
        /// # Errors
        /// The errors of [`publish`](Self::publish), and [`Io`](ide_mcp_lockfile::Error::Io) if the
        /// guard gets no thread.
        pub fn publish_guarded(
            &mut self,
            dir: &$crate::LockDir,
            file: &$crate::LockFile,
            guarding: $crate::Guarding,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.publish_guarded(dir, file, guarding)
        }

        /// Returns the path of the lock file.
        #[must_use]
        pub fn lock_path(&self) -> ::core::option::Option<&::std::path::Path> {
            self.inner.lock_path()
        }

        /// Replaces the contents of the lock file but its token and its scope, for example after folders were
        /// opened or closed. A guard on a thread writes them soon, and reports a failure as an event. Without
        /// such a thread, this method writes them and waits for the disk. Nothing happens if no lock file is
        /// published.
        ///
        /// # Errors
        /// The errors of [`Published::update`](ide_mcp_lockfile::Published::update).
        pub fn update_lock_file(
            &mut self,
            file: &$crate::LockFile,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.update_lock_file(file)
        }

        /// Replaces the folders in the lock file, after the application opened or closed folders. Agents
        /// that attach later find the editor by the new folders; attached agents stay. Waits for the disk
        /// as [`update_lock_file`](Self::update_lock_file) does. Nothing happens if no lock file is published.
        ///
        /// # Errors
        /// The errors of [`workspace_folders`](ide_mcp_lockfile::workspace_folders) and
        /// [`update_lock_file`](Self::update_lock_file).
        pub fn set_folders<P: ::core::convert::AsRef<::std::path::Path>>(
            &mut self,
            folders: impl ::core::iter::IntoIterator<Item = P>,
        ) -> ::core::result::Result<(), $crate::LockError> {
            self.inner.set_folders(folders)
        }

        /// Returns the address of the listener, also after it has closed.
        #[must_use]
        pub const fn local_addr(&self) -> ::std::net::SocketAddr {
            self.inner.local_addr()
        }

        /// Returns the port of [`local_addr`](Self::local_addr).
        #[must_use]
        pub const fn port(&self) -> u16 {
            self.inner.local_addr().port()
        }

        /// Returns the machine, which has the connections and their shared state.
        #[must_use]
        pub const fn machine(&self) -> &$crate::ide::Server {
            self.inner.machine()
        }

        /// Returns the machine, to answer a call or to report what the person does. Its output is
        /// written in the next turn.
        pub const fn machine_mut(&mut self) -> &mut $crate::ide::Server {
            self.inner.machine_mut()
        }

        /// Returns true if the server was shut down and nothing is left to do.
        #[must_use]
        pub fn is_over(&self) -> bool {
            self.inner.is_over()
        }
    };
}
