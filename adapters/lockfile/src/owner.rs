//! Finds out who owns the socket at the other end of a connection.
//!
//! A port outlives the editor that listened on it: after a crash, another user can listen there, and the lock
//! file still names the port. So after each connect, a client must look up who owns the other end before it
//! sends its first byte. The answer stays valid, because no other program can take over the other end of a
//! connection that exists.
//!
//! ```text
//!                     the table of sockets
//!  other end ──has an inode──▶ its uid decides
//!      │                              │
//!      │ has none: not accepted yet   ├─ our uid ──▶ Us
//!      ▼                              ├─ another ──▶ Other
//!  listener ──▶ its uid decides ──────┘
//!      │
//!      └─ there is none ──▶ Unknown(NotFound), or Unknown(OtherMachine) for an address of another machine
//! ```
//!
//! Invariants:
//!
//! - Only the uid decides. A helper process may listen for an editor while the lock file names the editor, so
//!   a process id is only shown to a person ([`listening_process`]), and is never a reason to refuse.
//! - Until a process accepts the connection, its other end belongs to no process, and the listener decides.
//!   Closing the listener would end the connection, so the other end can only go to a process that holds the
//!   listener at the time of the look-up.
//! - An end that was accepted and closed has no inode either. Then the listener decides too, and no process
//!   receives what the client sends.
//! - A connection within this machine is refused if its other end is in no table ([`Unknown::NotFound`]).
//!   Otherwise another user could listen there and keep the queue of waiting connections full. The other end
//!   would then appear only after the client has sent its first bytes, and the token with them. Under WSL the
//!   other end may be in Windows, and the result is [`Unknown::OtherMachine`].
//!
//! Linux reports the owner, by `sock_diag` or by `/proc/net/tcp` and `/proc/net/tcp6`. No other system has an
//! interface for this that Rust can call without `unsafe` or a crate that we would trust (docs/decisions.md).
//! There the result is [`Unknown::Unsupported`]; show it to the person.

use std::net::SocketAddr;

use crate::sys::sockets::{self, Row, Sockets, Unknown, canonical};
use crate::{Error, system};
use ide_mcp::ide::paths::System;

/// Who owns a socket, as far as the system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Owner {
    /// The user of this process (its effective uid).
    Us,
    /// Another user.
    Other {
        /// The uid of the owner.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// The system does not tell.
    Unknown(Unknown),
}

/// Returns who owns the server at `peer`, for a client that has connected to it from `local`.
#[must_use]
pub fn server_owner(local: SocketAddr, peer: SocketAddr) -> Owner {
    decide(local, peer, true)
}

/// Returns who owns the client at `peer`, for a server that has accepted it at `local`. If the client has
/// closed its end, the result is [`Unknown::NotFound`].
#[must_use]
pub fn client_owner(local: SocketAddr, peer: SocketAddr) -> Owner {
    decide(local, peer, false)
}

/// Checks that the server at `peer` belongs to our user. Call this when you have connected to it from `local`
/// and sent nothing yet. If the owner is not known but you may go on, you get the reason; show it to the
/// person.
///
/// ```no_run
/// use std::net::TcpStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = TcpStream::connect("127.0.0.1:41111")?;
/// if let Some(unknown) = ide_mcp_lockfile::check_server(stream.local_addr()?, stream.peer_addr()?)? {
///     eprintln!("the owner of port 41111 is not known: {unknown}");
/// }
/// // Now the client can send its token.
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::PortNotOurs`] if another user listens there, [`Error::PortWithoutOwner`] if the other end has an
/// address of this machine and was not found. In both cases you must not send a byte.
pub fn check_server(local: SocketAddr, peer: SocketAddr) -> Result<Option<Unknown>, Error> {
    match server_owner(local, peer) {
        Owner::Us => Ok(None),
        Owner::Other { owner, us } => Err(Error::PortNotOurs { addr: peer, owner, us }),
        Owner::Unknown(Unknown::NotFound) => Err(Error::PortWithoutOwner { addr: peer }),
        Owner::Unknown(unknown) => Ok(Some(unknown)),
    }
}

/// Returns true if this system can tell who owns the clients of this listener. To find out, we look up the
/// listener itself: the table of sockets must list it, with our uid.
#[must_use]
pub fn can_report_clients(listener: SocketAddr) -> bool {
    let row = Sockets::new().listener(canonical(listener));
    row.is_ok_and(|row| row.is_some_and(|row| sockets::us() == Some(row.uid)))
}

/// Returns a process that holds the server's end of a connection, or its listener while the connection is not
/// accepted yet; `None` if the system does not tell. Linux tells it for the processes of our own user.
#[must_use]
pub fn listening_process(local: SocketAddr, peer: SocketAddr) -> Option<u32> {
    let mut sockets = Sockets::new();
    let (local, peer) = (canonical(local), canonical(peer));
    let row = match sockets.other_end(local, peer).ok()?.filter(Row::has_owner) {
        Some(row) => row,
        None => sockets.listener(peer).ok()??,
    };
    sockets::process_with(row.inode)
}

/// How often to look for the other end. The table is not a snapshot: a read can miss a row while others come
/// and go.
const ATTEMPTS: usize = 3;

fn decide(local: SocketAddr, peer: SocketAddr, is_server: bool) -> Owner {
    decide_by(&mut Sockets::new(), local, peer, is_server)
}

fn decide_by(sockets: &mut Sockets, local: SocketAddr, peer: SocketAddr, is_server: bool) -> Owner {
    let (local, peer) = (canonical(local), canonical(peer));
    let unknown = match find_owner(sockets, local, peer, is_server) {
        Ok(Some(owner)) => return owner,
        Ok(None) => {
            let is_here = peer.ip().is_loopback() || peer.ip() == local.ip();
            let is_on_windows = is_here && matches!(system(), System::Wsl { .. });
            if is_here && !is_on_windows { Unknown::NotFound } else { Unknown::OtherMachine }
        }
        Err(unknown) => unknown,
    };
    Owner::Unknown(unknown)
}

/// Returns the owner of the other end, or of the listener if the other end belongs to no process or if
/// another user listens; `None` if neither has an owner.
fn find_owner(
    sockets: &mut Sockets,
    local: SocketAddr,
    peer: SocketAddr,
    is_server: bool,
) -> Result<Option<Owner>, Unknown> {
    for _ in 0..ATTEMPTS {
        let end = sockets.other_end(local, peer)?;
        let us = sockets::us().ok_or(Unknown::Unreadable)?;
        let owner = |row: Row| if row.uid == us { Owner::Us } else { Owner::Other { owner: row.uid, us } };
        if let Some(row) = end.filter(Row::has_owner) {
            return Ok(Some(owner(row)));
        }
        let listener = if is_server { sockets.listener(peer)?.map(owner) } else { None };
        match listener {
            Some(listener) if end.is_some() => return Ok(Some(listener)),
            // The other end is in no table, but another user listens, which says more than `NotFound`.
            Some(Owner::Other { owner, us }) => return Ok(Some(Owner::Other { owner, us })),
            _ => {}
        }
    }
    Ok(None)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use crate::sys::sockets::connections;
    use std::net::{TcpListener, TcpStream};

    fn ends(stream: &TcpStream) -> (SocketAddr, SocketAddr) {
        (stream.local_addr().unwrap(), stream.peer_addr().unwrap())
    }

    #[test]
    fn l13_own_socket_is_ours_unaccepted_and_accepted() {
        for (listen, listener, stream) in connections() {
            let addr = listener.local_addr().unwrap();
            let (local, peer) = ends(&stream);
            assert_eq!(server_owner(local, peer), Owner::Us, "{listen}: not accepted");
            assert_eq!(listening_process(local, peer), Some(std::process::id()), "{listen}: not accepted");
            let (accepted, _) = listener.accept().unwrap();
            assert_eq!(server_owner(local, peer), Owner::Us, "{listen}: accepted");
            assert_eq!(check_server(local, peer).unwrap(), None, "{listen}");
            let (local, peer) = ends(&accepted);
            assert_eq!(client_owner(local, peer), Owner::Us, "{listen}: the client");
            assert!(can_report_clients(addr), "{listen}");
        }
    }

    #[test]
    fn l13_end_that_is_gone_has_no_owner() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let (local, peer) = ends(&accepted);
        drop(stream);
        assert_eq!(client_owner(local, peer), Owner::Unknown(Unknown::NotFound), "the client has closed");
        drop((accepted, listener));
        assert_eq!(server_owner(peer, local), Owner::Unknown(Unknown::NotFound), "nothing listens");
        assert!(matches!(check_server(peer, local), Err(Error::PortWithoutOwner { .. })));
    }

    /// Each combination of what the tables say about the other end and the listener. If the other end is in
    /// no table, only a listener of another user counts: that end can belong to anybody, and the queue of our
    /// own listener can be full of connections from others.
    #[test]
    fn l13_each_pair_of_end_and_listener_decides() {
        let (local, peer) = ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:41111".parse().unwrap());
        let us = sockets::us().unwrap();
        let (other, them) = (us.wrapping_add(1), Owner::Other { owner: us.wrapping_add(1), us });
        let end = |uid, inode| Some(Row::at(peer, Some(local), uid, inode));
        let listens = |uid| Some(Row::at(peer, None, uid, 9));
        let unknown = Owner::Unknown(Unknown::NotFound);
        // The name, the other end, the listener, the owner of a server, the owner of a client.
        let rows = [
            ("nothing", None, None, unknown, unknown),
            ("our listener alone", None, listens(us), unknown, unknown),
            ("a listener of another user alone", None, listens(other), them, unknown),
            ("an end of no process", end(0, 0), None, unknown, unknown),
            ("an end of no process, our listener", end(0, 0), listens(us), Owner::Us, unknown),
            ("an end of no process, a listener of another user", end(0, 0), listens(other), them, unknown),
            ("an end of no process with our uid", end(us, 0), listens(other), them, unknown),
            ("our end", end(us, 8), None, Owner::Us, Owner::Us),
            ("our end, our listener", end(us, 8), listens(us), Owner::Us, Owner::Us),
            ("our end, a listener of another user", end(us, 8), listens(other), Owner::Us, Owner::Us),
            ("an end of another user", end(other, 8), None, them, them),
            ("an end of another user, our listener", end(other, 8), listens(us), them, them),
            ("an end and a listener of another user", end(other, 8), listens(other), them, them),
        ];
        for (name, end, listener, server, client) in rows {
            let table: Vec<Row> = [end, listener].into_iter().flatten().collect();
            for (is_server, expected) in [(true, server), (false, client)] {
                let mut given = Sockets::Given(vec![table.clone()]);
                let found = decide_by(&mut given, local, peer, is_server);
                assert_eq!(found, expected, "{name}, is a server: {is_server}");
            }
        }
        // Sockets of other connections prove nothing, nor does the same connection seen from the other side.
        let elsewhere = "127.0.0.1:41112".parse().unwrap();
        for (name, row) in [
            ("from another port", Row::at(peer, Some(elsewhere), us, 8)),
            ("at another port", Row::at(elsewhere, Some(local), us, 8)),
            ("our own end", Row::at(local, Some(peer), us, 8)),
            ("a listener at another port", Row::at(elsewhere, None, us, 8)),
        ] {
            for is_server in [true, false] {
                let mut given = Sockets::Given(vec![vec![row]]);
                assert_eq!(decide_by(&mut given, local, peer, is_server), unknown, "{name}");
            }
        }
    }

    /// A read of the table can miss rows. A row that a later look-up finds still decides.
    #[test]
    fn l13_missed_row_is_looked_up_again() {
        let (local, peer) = ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:41111".parse().unwrap());
        let us = sockets::us().unwrap();
        let other = us.wrapping_add(1);
        let listener = Row::at(peer, None, us, 9);
        for (uid, expected) in [(us, Owner::Us), (other, Owner::Other { owner: other, us })] {
            let whole = vec![listener, Row::at(peer, Some(local), uid, 8)];
            // Each attempt looks up the end and the listener.
            for missed in 0..ATTEMPTS {
                let mut tables = vec![vec![listener]; 2 * missed];
                tables.push(whole.clone());
                let found = decide_by(&mut Sockets::Given(tables), local, peer, true);
                assert_eq!(found, expected, "after {missed} attempts");
            }
            let mut tables = vec![vec![listener]; 2 * ATTEMPTS];
            tables.push(whole);
            let found = decide_by(&mut Sockets::Given(tables), local, peer, true);
            assert_eq!(found, Owner::Unknown(Unknown::NotFound), "after the last attempt");
        }
    }

    #[test]
    fn address_of_another_machine_has_unknown_owner() {
        // Addresses for documentation (RFC 5737), which no machine has.
        let (local, peer) = ("192.0.2.1:40000".parse().unwrap(), "198.51.100.7:41111".parse().unwrap());
        assert_eq!(check_server(local, peer).unwrap(), Some(Unknown::OtherMachine));
    }
}
