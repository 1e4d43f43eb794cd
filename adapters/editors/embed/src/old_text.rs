//! The files that agents name, on the disk: what they are, and what a proposal would replace.

use crate::output::{Output, Value};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::sync::{Arc, OnceLock};

/// The maximum size of a file that an editor loads for an agent, in bytes. No message of an agent is larger,
/// so the agent could not propose a whole text for a larger file.
pub(crate) const MAX_FILE: u64 = 16 << 20;

/// The maximum length of an old text as JSON, in bytes. Escapes at most double the length of real text, so
/// only a file that is not text exceeds this.
#[cfg(feature = "listen")]
const MAX_JSON: u64 = 2 * MAX_HELD;

/// The maximum number of bytes of old texts in all open proposals of an editor that gets them as JSON, and so
/// keeps them in memory: hundreds of typical files, or one file of this size, which makes an editor grow by
/// some 150 MB (measured). Without a limit, agents could fill its memory with short messages.
#[cfg(feature = "listen")]
pub(crate) const MAX_HELD: u64 = 8 << 20;

/// The text of a file before a change, which is read only when it is asked for.
///
/// The file is opened without blocking and checked by its descriptor, so that we notice if a FIFO has taken
/// its place.
#[derive(Clone, Debug)]
pub struct OldText(Arc<Source>);

#[derive(Debug)]
struct Source {
    path: String,
    /// How many bytes the file had when we first looked at it.
    #[cfg(feature = "listen")]
    size: u64,
    text: OnceLock<Result<String, String>>,
}

impl OldText {
    /// Returns how many bytes the file has, and so about how many the text will have.
    #[cfg(feature = "listen")]
    pub(crate) fn size(&self) -> u64 {
        self.0.size
    }

    /// Returns the text, or why there is none.
    pub(crate) fn read(&self) -> Result<&str, &str> {
        let text = self.0.text.get_or_init(|| read(&self.0.path));
        text.as_ref().map(String::as_str).map_err(String::as_str)
    }

    /// Reads the text for an event in JSON, and returns its length, or why it cannot be part of one. Bytes
    /// that are not text take up to six times their size there; nothing else in an event grows like that.
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
    const KIND: &'static str = "a string";
    const IS_ALWAYS: bool = false;

    fn value(&self) -> Option<Value<'_>> {
        self.read().ok().map(Value::Text)
    }
}

/// What an editor does with a file that an agent names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Checks whether it is open, or what is known about it.
    Query,
    /// Reads it. Above [`MAX_FILE`] the call fails.
    Load,
}

/// Looks at a file that an agent has named, without opening it. Returns its text, still unread. A path
/// without a file is fine.
pub(crate) fn look(path: &str, purpose: Use) -> Result<Option<OldText>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("the file cannot be used: {error}")),
    };
    match purpose {
        Use::Query => check_plain(path, &metadata)?,
        Use::Load => check_size(path, &metadata)?,
    }
    Ok(Some(OldText(Arc::new(Source {
        path: path.into(),
        #[cfg(feature = "listen")]
        size: metadata.len(),
        text: OnceLock::new(),
    }))))
}

/// Reads a file as text. Another file may have replaced it since [`look`].
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

/// Opens a file for reading. A FIFO does not block, even if no program writes to it.
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

/// Returns true if the kernel generates the contents of this file, wherever its file system is mounted. To
/// read such a file may block forever, or consume what is read.
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

/// Returns the length of a string in JSON, in bytes.
#[cfg(feature = "listen")]
pub(crate) fn json_len(text: &str) -> u64 {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..32 => 6,
        _ => 1_u64,
    };
    text.bytes().map(escaped).fold(0, u64::saturating_add)
}

/// Returns the text of a file without its byte order mark. Bytes that are not text become U+FFFD, as in the
/// agent that has read the file.
fn decode(bytes: Vec<u8>) -> String {
    // Half a code unit at the end is as invalid as half a surrogate pair: both become U+FFFD.
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
