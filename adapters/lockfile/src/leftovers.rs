//! Removing what our own editor left behind when it was killed (L6).

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use ide_mcp::ide::{Kept, is_left_over};

use crate::{Error, Found, LockDir, scan};

/// A port of this machine refuses at once; one that does not answer at all is not known to be free.
const PATIENCE: Duration = Duration::from_millis(200);

/// What became of a lock file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Leftover {
    /// The file.
    pub found: Found,
    /// Whether it was removed, or why not.
    pub removed: Result<(), Kept>,
}

impl LockDir {
    /// Removes the lock files that an editor of this name left behind, and says of every file what became of it.
    ///
    /// Only what is surely left over goes ([`is_left_over`]): its process is dead, and its port refuses connections. An
    /// editor calls it before it publishes, if it likes.
    ///
    /// # Errors
    /// As [`scan`], and [`Error::Io`] if a file cannot be removed.
    pub fn remove_leftovers(&self, ide_name: &str) -> Result<Vec<Leftover>, Error> {
        scan(self.path())?.into_iter().map(|found| self.remove_leftover(found, ide_name)).collect()
    }

    fn remove_leftover(&self, found: Found, ide_name: &str) -> Result<Leftover, Error> {
        let Some(listed) = found.listed() else {
            return Ok(Leftover { found, removed: Err(Kept::NotUnderstood) });
        };
        // Nobody is disturbed by a connection unless all the rest says that the file is left over.
        let removed = is_left_over(&listed, ide_name, Some(false))
            .and_then(|()| is_left_over(&listed, ide_name, is_listening(listed.port)));
        if removed.is_ok() {
            let name = found.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match self.handle().remove(name) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io("remove", &found.path)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(Leftover { found, removed })
    }
}

/// Whether somebody accepts connections there.
fn is_listening(port: u16) -> Option<bool> {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match TcpStream::connect_timeout(&addr, PATIENCE) {
        Ok(_) => Some(true),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Some(false),
        Err(_) => None,
    }
}
