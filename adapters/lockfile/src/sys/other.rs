//! The counterpart of `unix.rs` with what the standard library has: no modes, no owners, and paths in place of a
//! descriptor.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

#[derive(Debug)]
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn make(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self(path.to_path_buf())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(crate) fn secure(&self, _: &Path) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    pub(crate) fn open_file(&self, name: &OsStr, path: &Path) -> Result<File, Error> {
        let full = self.0.join(name);
        let kind = fs::symlink_metadata(&full).map_err(Error::io("look at", path))?.file_type();
        if kind.is_symlink() {
            return Err(Error::Symlink { path: path.to_path_buf() });
        }
        if !kind.is_file() {
            return Err(Error::NotRegular { path: path.to_path_buf() });
        }
        File::open(full).map_err(Error::io("open", path))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }
}

pub(crate) fn is_ours(_: &Metadata, _: &Path) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}
