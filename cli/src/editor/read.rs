//! Reads a file up to a size limit.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The size limit: no user edits a larger file. Such a file is not read into memory.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Returns the text of a file. A file above the size limit is an error.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| format!("{} is not UTF-8", path.display()))
}

/// Returns the bytes of a file. A file above the size limit is an error.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    read_limited(path, MAX_FILE)
}

/// Returns the bytes of a file. A file of more than `most` bytes, which are whole KiB, is an error.
pub(crate) fn read_limited(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    const MIB: u64 = 1024 * 1024;
    let fails = |error: std::io::Error| format!("{}: {error}", path.display());
    let too_large = || {
        let (size, unit) = if most < MIB { (most / 1024, "KiB") } else { (most / MIB, "MiB") };
        format!("{} is larger than {size} {unit}", path.display())
    };
    // Opening a pipe would block until a program opens it for writing.
    let metadata = fs::metadata(path).map_err(fails)?;
    if !metadata.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    if metadata.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // Some files do not report their length, for example those of /proc.
    let read = File::open(path).map_err(fails)?.take(most.saturating_add(1)).read_to_end(&mut bytes);
    let length = u64::try_from(read.map_err(fails)?).unwrap_or(u64::MAX);
    if length <= most { Ok(bytes) } else { Err(too_large()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_the_limit() {
        let temp = crate::support::temp::private_temp_dir();
        let dir = temp.path().join("read");
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("file");
        let longest = "x".repeat(usize::try_from(MAX_FILE).unwrap());
        let cases = [
            ("empty", Vec::new(), Ok(0)),
            ("at the limit", longest.clone().into_bytes(), Ok(longest.len())),
            ("one byte above it", format!("{longest}x").into_bytes(), Err("larger than 16 MiB")),
            ("a character across the limit", format!("{longest}✻").into_bytes(), Err("larger than 16 MiB")),
            ("not UTF-8", vec![0xff], Err("is not UTF-8")),
        ];
        for (name, bytes, expected) in cases {
            fs::write(&path, bytes).unwrap();
            match (read(&path), expected) {
                (Ok(text), Ok(length)) => assert_eq!(text.len(), length, "{name}"),
                (Err(message), Err(expected)) => assert!(message.contains(expected), "{name}: {message}"),
                (other, _) => panic!("{name}: {:?}", other.map(|text| text.len())),
            }
        }
        assert!(read(&dir).unwrap_err().ends_with("is not a file"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_without_a_length_is_read() {
        assert_eq!(fs::metadata("/proc/self/status").unwrap().len(), 0);
        assert!(read(Path::new("/proc/self/status")).unwrap().contains("Pid:"));
    }
}
