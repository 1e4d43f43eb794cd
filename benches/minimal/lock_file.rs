//! The lock file of the hand-written servers, from which an agent reads the port and the token.

use serde_json::json;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::{env, fs, process};

/// A published lock file, removed when it is dropped.
pub struct LockFile(PathBuf);

impl LockFile {
    pub fn publish(port: u16, token: &str) -> io::Result<Self> {
        let config = env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".claude"));
        let dir = config.or(home).ok_or(io::ErrorKind::NotFound)?.join("ide");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let path = dir.join(format!("{port}.lock"));
        let text = json!({
            "pid": process::id(),
            "workspaceFolders": [env::current_dir()?],
            "ideName": "Minimal",
            "transport": "ws",
            "authToken": token,
        });
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(text.to_string().as_bytes())?;
        Ok(Self(path))
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

pub fn new_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
