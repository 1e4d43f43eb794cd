//! Lock files on disk: an editor publishes one, and an agent finds the editor by it. What is in them, and
//! which one to choose, is decided by [`ide_mcp::ide`], which never touches a disk.
//!
//! ```no_run
//! use ide_mcp::ide::discovery::LockFile;
//! use ide_mcp_lockfile::{LockDir, new_token, workspace_folders};
//!
//! # fn main() -> Result<(), ide_mcp_lockfile::Error> {
//! let listening_on = 12345; // Listen first, then publish.
//! let folders = workspace_folders(["."])?;
//! let file = LockFile::new(std::process::id(), folders, "My Editor", new_token()?);
//! let published = LockDir::from_environment()?.publish(listening_on, &file)?;
//! published.remove()?; // Or drop it; then close the listener.
//! # Ok(())
//! # }
//! ```
//!
//! - **You publish**: [`LockDir`]. The file has mode 0600 in a directory of our own with mode 0700, and
//!   appears whole, by renaming. Only its publisher removes it, and a [`Guard`] restores it if it vanishes.
//!   [`LockDir::remove_leftovers`] removes, on request, what our own editor left behind when it was killed.
//! - **You look for an editor**: [`find_editor`], or [`EditorSearch`] with its options. A [`scan`] does not
//!   follow symbolic links, block on pipes, read files of other users, or delete anything.
//! - **You are about to send the token**: [`check_server`], after you have connected and before the first
//!   byte. A port outlives the editor that listened on it, and another user can take it.
//! - **You keep a token in a file**: [`write_private`] and [`read_private`].
//! - **A peer sends you a path**: [`classify`] tells whether it lies in the open folders once symbolic links
//!   are resolved.
//!
//! The lock files are only as safe as the directories above them. We refuse a directory if any directory above
//! it belongs to a user other than ours and root, or lets everybody replace its entries. A directory above it
//! that a group can write to is accepted. [`weak_parents`] lists all of these.
//!
//! Windows has access rights (ACL) instead of modes. We read them and never change them: no lock file is
//! published in a directory that all users can read, such as one directly below `C:\`. By default, other
//! users cannot read a user's profile. On Windows we cannot find out who owns a port.

mod dir;
mod environment;
mod error;
mod find;
mod folders;
mod guard;
mod leftovers;
mod links;
mod owner;
mod parents;
#[cfg(any(not(unix), test))]
mod patience;
mod ports;
mod private;
mod process;
mod published;
mod read;
mod resolve;
mod scan;
mod scope;
mod sys;
mod system;
#[cfg(test)]
mod temp_dir;

pub use dir::LockDir;
pub use environment::{client_env, from_environment, launch_env, new_token};
pub use error::Error;
pub use find::{
    EditorSearch, FoundEditor, NoEditor, NoEditorReason, RefusedFile, WorkingDir, ago, find_editor,
};
pub use folders::workspace_folders;
pub use guard::{Guard, GuardMode, GuardThread, Keep};
pub use leftovers::{Leftover, Stays, tools_name};
pub use owner::{Owner, can_report_clients, check_server, client_owner, listening_process, server_owner};
pub use parents::{WeakParent, Weakness, open_to_others, weak_parents};
pub use private::{read_private, write_private};
pub use process::pid_alive;
pub use published::{Published, Watch};
pub use resolve::{classify, resolve};
pub use scan::{Found, scan, scan_for};
pub use scope::process_scope;
pub use sys::sockets::Unknown;
pub use system::system;

/// The code of the README, which is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
