//! Checks the directories above the directory of lock files.
//!
//! A user who can rename the entries of such a directory can put another directory in place of ours. So we
//! check each directory on the way, including those that symbolic links lead to:
//!
//! | a directory above | a program that publishes or scans | the doctor |
//! | --- | --- | --- |
//! | belongs to our user or to root, and nobody else can write to it | goes on | |
//! | is writable by everybody and has the sticky bit, as `/tmp` has: entries stay with their owner | goes on | |
//! | is writable by its group, without the sticky bit | goes on | reports it |
//! | is writable by everybody, without the sticky bit | refuses | reports it |
//! | belongs to any other user, or is a symbolic link of such a user | refuses | reports it |
//!
//! Windows has access rights (ACL) instead of modes. There "everybody" means the accounts that stand for all
//! users (Everyone, Users, Authenticated Users and the like), and an account can replace a directory if it
//! may delete the directory or what is in it, or change its rights or owner. Single accounts and groups with
//! such a right are reported like a group, and so is an owner that is another account of the machine or
//! domain. We trust the system and the administrators. On a file system without access rights, such as FAT,
//! everybody can replace everything. A drive or share whose access rights Windows cannot read is not judged.
//!
//! Under WSL, the mode and owner of a directory on a Windows drive mean nothing, because Windows decides who
//! has access to it. So it is not judged.
//!
//! In a user namespace that does not map all users, one uid stands for all the others, perhaps including
//! root. There a directory that this uid owns counts as root's.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, sys};

/// A directory or symbolic link on the way to the lock files that a user other than ours and root can change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WeakParent {
    /// The path without symbolic links.
    pub path: PathBuf,
    /// What is weak about it.
    pub weakness: Weakness,
}

/// Why a directory above the lock files does not protect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weakness {
    /// Its owner is neither our user nor root.
    Owner {
        /// The uid of the owner.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// Everybody can write to it, and it has no sticky bit.
    WritableByAll {
        /// Its permission bits; on Windows, those that mean the same as its access rights.
        mode: u32,
    },
    /// Its group can write to it, and it has no sticky bit; on Windows, single accounts can. This alone is no
    /// reason to refuse: on many systems each user is alone in their group.
    WritableByGroup {
        /// Its permission bits; on Windows, those that mean the same as its access rights.
        mode: u32,
    },
}

/// Returns the directories and links above `dir`, from the root down, that users other than ours and root can
/// change. The list ends at a directory that is missing, and is always empty on systems other than Unix and
/// Windows.
///
/// # Errors
/// [`Error::Io`] if one of them cannot be inspected.
pub fn weak_parents(dir: impl AsRef<Path>) -> Result<Vec<WeakParent>, Error> {
    sys::weak_parents(dir.as_ref())
}

/// Returns the permission bits of a file or directory if other users have any, and so can read a token in it;
/// `None` also if the system does not tell. On Windows, the bits that mean the same as its access rights.
#[must_use]
pub fn open_to_others(path: impl AsRef<Path>) -> Option<u32> {
    let path = path.as_ref();
    sys::open_to_others(path, &fs::metadata(path).ok()?)
}

/// Refuses a directory that others can replace.
pub(crate) fn check(dir: &Path) -> Result<(), Error> {
    for WeakParent { path, weakness } in weak_parents(dir)? {
        match weakness {
            Weakness::Owner { owner, us } => return Err(Error::ParentNotOurs { path, owner, us }),
            Weakness::WritableByAll { mode } => return Err(Error::ParentTooOpen { path, mode }),
            Weakness::WritableByGroup { .. } => {}
        }
    }
    Ok(())
}
