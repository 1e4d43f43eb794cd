//! Asks Windows about processes, its own name, and the access rights of files, through crates whose `unsafe`
//! is not ours.

use std::path::Path;
use std::sync::OnceLock;

use windows_permissions::constants::{SeObjectType, SecurityInformation};
use windows_permissions::utilities::current_process_sid;
use windows_permissions::wrappers::GetNamedSecurityInfo;
use winsafe::prelude::*;
use winsafe::{GetComputerName, HPROCESS, co};

use super::acl::{Access, Descriptor, rid};

/// Returns whether a process with this id runs. A process that we may not open counts as alive.
pub(crate) fn pid_alive(pid: u32) -> Option<bool> {
    match HPROCESS::OpenProcess(co::PROCESS::SYNCHRONIZE, false, pid) {
        // An ended process can be opened as long as somebody holds a handle to it.
        Ok(process) => match process.WaitForSingleObject(Some(0)) {
            Ok(co::WAIT::TIMEOUT) => Some(true),
            Ok(co::WAIT::OBJECT_0) => Some(false),
            Ok(_) | Err(_) => None,
        },
        Err(co::ERROR::INVALID_PARAMETER) => Some(false),
        Err(co::ERROR::ACCESS_DENIED) => Some(true),
        Err(_) => None,
    }
}

/// Returns the name of this machine, or of this container.
pub(crate) fn machine() -> Option<String> {
    GetComputerName().ok()
}

/// Returns what we know of the access rights of a file or directory; `None` if the system does not tell.
pub(crate) fn access(path: &Path) -> Option<Access> {
    let us = us()?;
    let parts = SecurityInformation::Owner | SecurityInformation::Dacl;
    let descriptor = GetNamedSecurityInfo(path.as_os_str(), SeObjectType::SE_FILE_OBJECT, parts).ok()?;
    let text = descriptor.as_sddl().ok()?.into_string().ok()?;
    let descriptor = Descriptor::parse(&text)?;
    let other_owner = descriptor.other_owner(us).map(|owner| (owner, rid(us)));
    Some(Access { others: descriptor.others(us, path.parent().is_none()), other_owner })
}

/// Returns the SID of our account.
fn us() -> Option<&'static str> {
    static US: OnceLock<Option<String>> = OnceLock::new();
    US.get_or_init(|| current_process_sid().ok().map(|account| account.to_string())).as_deref()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use crate::temp_dir::TempDir;
    use crate::{
        Error, LockDir, WeakParent, Weakness, new_token, open_to_others, read_private, scan, weak_parents,
        write_private,
    };
    use ide_mcp::ide::discovery::LockFile;
    use std::fs;
    use windows_permissions::wrappers::SetNamedSecurityInfo;
    use windows_permissions::{LocalBox, SecurityDescriptor};

    /// Gives a file or directory these entries, besides full access for our account.
    fn allow(path: &Path, entries: &str) {
        let text = format!("D:P(A;OICI;FA;;;{}){entries}", us().unwrap());
        let descriptor: LocalBox<SecurityDescriptor> = text.parse().unwrap();
        let parts = SecurityInformation::Dacl | SecurityInformation::ProtectedDacl;
        let list = descriptor.dacl();
        SetNamedSecurityInfo(path.as_os_str(), SeObjectType::SE_FILE_OBJECT, parts, None, None, list, None)
            .unwrap();
    }

    const READ: &str = "(A;OICI;0x1200a9;;;WD)";
    const MODIFY: &str = "(A;OICI;0x1301bf;;;WD)";

    #[test]
    fn account_and_machine_have_names() {
        assert!(us().unwrap().starts_with("S-1-5-"), "{:?}", us());
        assert!(!machine().unwrap().is_empty());
    }

    /// Wine shows the modes of Unix as access rights: run this with `umask 077`, also for wine's server.
    #[test]
    fn l01_directory_that_all_can_read_gets_no_token() {
        let temp = TempDir::new();
        assert_eq!(
            open_to_others(temp.path()),
            None,
            "other users cannot read a new directory in the profile"
        );
        let file = LockFile::new(1, vec!["/w".into()], "me", new_token().unwrap());
        let ide = temp.join("ide");
        let dir = LockDir::create(&ide).unwrap();
        drop(dir.publish(1, &file).unwrap());
        write_private(ide.join("private"), "text").unwrap();
        assert_eq!(read_private(ide.join("private")).unwrap(), "text");
        allow(&ide, READ);
        assert!(open_to_others(&ide).is_some_and(|mode| mode & 0o004 != 0));
        for refused in [
            LockDir::open(&ide).map(drop),
            LockDir::create(&ide).map(drop),
            write_private(ide.join("other"), "text"),
        ] {
            assert!(matches!(refused, Err(Error::TooOpen { .. })), "{refused:?}");
        }
        assert!(!ide.join("other").exists());
        // A client still reads such a directory, as on Unix.
        assert_eq!(scan(&ide).unwrap().len(), 0);
        allow(&ide.join("private"), READ);
        let refused = read_private(ide.join("private"));
        assert!(matches!(refused, Err(Error::TooOpen { .. })), "{refused:?}");
    }

    #[test]
    fn l15_directory_that_all_can_replace_is_refused() {
        let temp = TempDir::new();
        let ide = temp.join("above").join("ide");
        drop(LockDir::create(&ide).unwrap());
        let weak = || -> Vec<WeakParent> {
            let weak = weak_parents(&ide).unwrap().into_iter();
            weak.filter(|weak| weak.path.starts_with(temp.path())).collect()
        };
        assert_eq!(weak(), []);
        allow(&temp.join("above"), MODIFY);
        assert!(
            matches!(weak()[..], [WeakParent { weakness: Weakness::WritableByAll { .. }, .. }]),
            "{:?}",
            weak()
        );
        for refused in [LockDir::open(&ide).map(drop), scan(&ide).map(drop)] {
            let error = refused.unwrap_err();
            assert!(matches!(error, Error::ParentTooOpen { .. }), "{error:?}");
            assert!(error.to_string().contains("Authenticated Users"), "{error}");
        }
        fs::remove_dir_all(temp.join("above")).unwrap();
    }

    #[test]
    fn path_without_readable_rights_is_not_judged() {
        assert!(access(Path::new(r"C:\no\such\directory")).is_none());
        assert!(access(Path::new(r"C:\")).is_some());
    }
}
