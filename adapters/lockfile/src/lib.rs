//! The lock files of [`ide_mcp`] on disk, for an editor that publishes and for a client that scans.
//!
//! The rules: a lock file is created with mode 0600 in a directory of our own with mode 0700. It appears
//! whole, by renaming. Its guard restores it if it vanishes, and only its publisher removes it. This
//! crate refuses a directory of lock files if a user other than ours and root owns a directory above it,
//! or if everybody can replace the entries of a directory above it. It accepts a directory above it to
//! which a group can write. [`weak_parents`] lists all of these. A scan follows no symbolic link, waits for
//! no pipe, reads no file of another user, and deletes nothing. [`LockDir::remove_leftovers`] removes on
//! request the files that our own editor left behind when it was killed.
//!
//! [`find_editor`] finds the editor of an agent, and [`EditorSearch`] has the options of the search.
//!
//! A port outlives the editor that listened on it, and another user can take it. So a client looks up
//! the owner of the server's socket with [`check_server`], after it has connected and before it sends
//! its token.
//!
//! [`write_private`] writes a file with the token for a client that gives tools of the editor to its model, and
//! [`read_private`] reads a file with a token that our own program has kept.
//!
//! [`classify`] checks if a path of a peer lies in the open folders once symbolic links are resolved.
//!
//! [`ide_mcp::ide`] reads the contents of the files and chooses among them, without a disk.
//!
//! On Windows the access rights (ACL) take the place of modes. They are read and never changed: no lock file is
//! published in a directory that all users can read, as one directly below `C:\` is. The directory of a profile is
//! closed by default. The owner of a port is not known there.
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
