//! Bounded reading of a text file.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// The size limit: more than a person edits. A larger file is not read into memory.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Returns the text of a file. A file above the size limit is an error.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let says = |error: std::io::Error| match error.kind() {
        ErrorKind::InvalidData => format!("{} is not UTF-8", path.display()),
        _ => format!("{}: {error}", path.display()),
    };
    // Opening a pipe would block until a program opens it for writing.
    if !fs::metadata(path).map_err(says)?.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mut text = String::new();
    // Some files do not report their length, for example those of /proc.
    let bounded = File::open(path).map_err(says)?.take(MAX_FILE.saturating_add(1)).read_to_string(&mut text);
    // If the limit cuts a character, the text is invalid UTF-8. So a file above the limit is
    // reported as too large, even if it also has invalid bytes.
    match bounded {
        Err(error) if error.kind() != ErrorKind::InvalidData => Err(says(error)),
        Ok(length) if u64::try_from(length).is_ok_and(|length| length <= MAX_FILE) => Ok(text),
        Err(error) if fs::metadata(path).is_ok_and(|now| now.len() <= MAX_FILE) => Err(says(error)),
        _ => Err(format!("{} is larger than {} MiB", path.display(), MAX_FILE / 1024 / 1024)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_the_limit() {
        let dir = std::env::temp_dir().join(format!("ide-mcp-read-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("file");
        let longest = "x".repeat(usize::try_from(MAX_FILE).unwrap());
        let cases = [
            ("empty", Vec::new(), Ok(0)),
            ("at the limit", longest.clone().into_bytes(), Ok(longest.len())),
            ("behind it", format!("{longest}x").into_bytes(), Err("larger than 16 MiB")),
            ("cut in a character", format!("{longest}✻").into_bytes(), Err("larger than 16 MiB")),
            ("no text", vec![0xff], Err("is not UTF-8")),
        ];
        for (name, bytes, expected) in cases {
            fs::write(&path, bytes).unwrap();
            match (read(&path), expected) {
                (Ok(text), Ok(length)) => assert_eq!(text.len(), length, "{name}"),
                (Err(message), Err(expected)) => assert!(message.contains(expected), "{name}: {message}"),
                (other, _) => panic!("{name}: {:?}", other.map(|text| text.len())),
            }
        }
        assert!(read(&dir).unwrap_err().ends_with("is no file"));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_without_a_length_is_read() {
        assert_eq!(fs::metadata("/proc/self/status").unwrap().len(), 0);
        assert!(read(Path::new("/proc/self/status")).unwrap().contains("Pid:"));
    }
}
