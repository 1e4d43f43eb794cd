//! What a write does to the disk, step by step.

use super::system;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::Path;

/// The steps of a write. A test can watch them, let one fail, and kill the write at one.
pub(super) trait Steps {
    /// Creates a file that does not exist, for this user alone or for others too.
    fn create(&mut self, path: &Path, is_private: bool) -> io::Result<File>;
    /// Writes bytes at the current position.
    fn write(&mut self, file: &mut File, text: &[u8]) -> io::Result<()>;
    /// Gives a file a length.
    fn cut(&mut self, file: &File, length: u64) -> io::Result<()>;
    /// Gives a new file the group, the mode, the ACL and the other attributes of the old one.
    fn keep_attributes(&mut self, old: &File, metadata: &Metadata, new: &File) -> io::Result<()>;
    /// Waits until a file is on the disk.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
    /// Renames a file, and replaces another one of that name.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file of ours, unless the new name is taken.
    fn rename_new(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file of somebody else to a name of ours, unless that name is taken.
    fn set_aside(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&mut self, path: &Path) -> io::Result<()>;
}

/// The steps as the system performs them.
#[derive(Clone, Copy, Debug)]
pub(super) struct System;

impl Steps for System {
    fn create(&mut self, path: &Path, is_private: bool) -> io::Result<File> {
        system::create(path, is_private)
    }

    fn write(&mut self, file: &mut File, text: &[u8]) -> io::Result<()> {
        file.write_all(text)
    }

    fn cut(&mut self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn keep_attributes(&mut self, old: &File, metadata: &Metadata, new: &File) -> io::Result<()> {
        system::keep_attributes(old, metadata, new)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        system::sync_folder(folder)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        system::rename_new(from, to)
    }

    fn set_aside(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        system::set_aside(from, to)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}
