//! The files that agents name, on the disk: what they are, and what a proposal would replace.

use crate::output::{Output, Value};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::sync::{Arc, OnceLock};

/// The largest file that an editor loads for an agent, in bytes. No message of an agent is larger, so a proposal for a
/// larger file could only be a part of it.
pub(crate) const MAX_FILE: u64 = 16 << 20;

/// The longest old text as JSON, in bytes. Every escape of a text takes at most two bytes for one, so that only a file
/// which is not text is too long.
#[cfg(feature = "listen")]
const MAX_JSON: u64 = 2 * MAX_HELD;

/// The most bytes of old texts in the open proposals of an editor that receives them whole, and so keeps them: hundreds of
/// usual files, or one of this size, by which an editor grows by some 150 MB (measured). No message of an agent pays for
/// these bytes.
#[cfg(feature = "listen")]
pub(crate) const MAX_HELD: u64 = 8 << 20;

/// The text of a file before a change, read when it is asked for the first time.
///
/// The file is opened without waiting and judged by its descriptor, so a FIFO that takes its place meanwhile is found.
#[derive(Clone, Debug)]
pub struct OldText(Arc<Source>);

#[derive(Debug)]
struct Source {
    path: String,
    /// The size of the file when it was first looked at, in bytes.
    #[cfg(feature = "listen")]
    size: u64,
    text: OnceLock<Result<String, String>>,
}

impl OldText {
    /// Returns the size of the file in bytes, which is about that of the text.
    #[cfg(feature = "listen")]
    pub(crate) fn size(&self) -> u64 {
        self.0.size
    }

    /// Returns the text, or the reason for which there is none.
    pub(crate) fn read(&self) -> Result<&str, &str> {
        let text = self.0.text.get_or_init(|| read(&self.0.path));
        text.as_ref().map(String::as_str).map_err(String::as_str)
    }

    /// Reads the text for an event in JSON, and returns its length, or the reason for which it cannot be a part of one.
    /// Bytes that are not text need up to six times their size there, and no other part of an event grows like that.
    #[cfg(feature = "listen")]
    pub(crate) fn read_for_json(&self) -> Result<u64, String> {
        let text = self.read().map_err(String::from)?;
        if json_len(text) > MAX_JSON {
            return Err(format!("the file is not text: as JSON it has more than {} MiB", MAX_JSON >> 20));
        }
        Ok(u64::try_from(text.len()).unwrap_or(u64::MAX))
    }
}

impl Output for OldText {
    const KIND: &'static str = "a text";
    const IS_ALWAYS: bool = false;

    fn value(&self) -> Option<Value<'_>> {
        self.read().ok().map(Value::Text)
    }
}

/// What an editor does with a file that an agent names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Looks whether it is open, or what is known about it.
    Ask,
    /// Reads it. Above [`MAX_FILE`] the call fails.
    Load,
}

/// Looks at a file that an agent has named, without opening it. Returns its text, unread; a path without a file passes.
pub(crate) fn look(path: &str, purpose: Use) -> Result<Option<OldText>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("the file cannot be used: {error}")),
    };
    match purpose {
        Use::Ask => check_plain(path, &metadata)?,
        Use::Load => check_size(path, &metadata)?,
    }
    Ok(Some(OldText(Arc::new(Source {
        path: path.into(),
        #[cfg(feature = "listen")]
        size: metadata.len(),
        text: OnceLock::new(),
    }))))
}

/// Reads a file as text. The file can have become another one since [`look`].
fn read(path: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("the file cannot be read: {error}");
    // Opening a device can already do something, so look first.
    check_size(path, &fs::metadata(path).map_err(failed)?)?;
    let file = open(path).map_err(failed)?;
    check_size(path, &file.metadata().map_err(failed)?)?;
    let mut bytes = Vec::new();
    // Some files grow, or do not report their size.
    file.take(MAX_FILE.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(too_large());
    }
    Ok(decode(bytes))
}

/// Opens a file for reading, and does not wait for a program at the other end of a FIFO.
fn open(path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        options.custom_flags(i32::from_ne_bytes(flags.to_ne_bytes()));
    }
    options.open(path)
}

fn check_size(path: &str, metadata: &fs::Metadata) -> Result<(), String> {
    check_plain(path, metadata)?;
    if metadata.len() > MAX_FILE { Err(too_large()) } else { Ok(()) }
}

fn check_plain(path: &str, metadata: &fs::Metadata) -> Result<(), String> {
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "the path is a directory" } else { "the path is not a plain file" };
        return Err(kind.into());
    }
    if is_virtual(path) { Err("the path is not a plain file".into()) } else { Ok(()) }
}

/// Returns true for a file that the kernel makes up, wherever its file system is mounted: reading one can wait for ever, or
/// take something away.
#[cfg(target_os = "linux")]
fn is_virtual(path: &str) -> bool {
    /// `statfs(2)`: procfs, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2.
    const TYPES: [u32; 7] =
        [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];
    let kind = rustix::fs::statfs(path).ok().and_then(|system| u32::try_from(system.f_type).ok());
    kind.is_some_and(|kind| TYPES.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
const fn is_virtual(_: &str) -> bool {
    false
}

fn too_large() -> String {
    format!("the file has more than {} MiB", MAX_FILE >> 20)
}

/// Returns the length of a text as JSON writes it, in bytes.
#[cfg(feature = "listen")]
pub(crate) fn json_len(text: &str) -> u64 {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..32 => 6,
        _ => 1_u64,
    };
    text.bytes().map(escaped).fold(0, u64::saturating_add)
}

/// Returns the text of a file without its byte order mark. Bytes that are not text become U+FFFD, as in the agent that
/// has read the file.
fn decode(bytes: Vec<u8>) -> String {
    // Half of a unit at the end is as broken as half of a pair: both become U+FFFD.
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks(2).map(|pair| <[u8; 2]>::try_from(pair).map_or(0xfffd, unit));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}
