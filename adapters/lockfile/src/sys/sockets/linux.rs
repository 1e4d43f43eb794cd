//! The sockets of Linux, looked up one by one or read from the table.

use super::{LISTEN, Row, Table, Unknown, row};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
#[cfg(test)]
use std::net::{TcpListener, TcpStream};

/// Where we look up a socket.
#[derive(Debug)]
pub(crate) enum Sockets {
    Diag(OwnedFd),
    Table,
    /// The tables of a test, one for each look-up. The last one is used again and again.
    #[cfg(test)]
    Given(Vec<Vec<Row>>),
}

impl Sockets {
    pub(crate) fn new() -> Self {
        let kind = (AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC);
        socket_with(kind.0, kind.1, kind.2, Some(SOCK_DIAG)).map_or(Self::Table, Self::Diag)
    }

    /// Returns the other end of the connection from `local` to `peer`, in any state.
    pub(crate) fn other_end(&mut self, local: SocketAddr, peer: SocketAddr) -> Result<Option<Row>, Unknown> {
        match self.ask(peer, local) {
            // If there is no such socket, the kernel returns the listener that would get a new connection.
            Some(row) => Ok(row.filter(|row| !row.is_listener())),
            None => Ok(self.table()?.other_end(local, peer)),
        }
    }

    /// Returns the socket that would get a new connection to this address.
    pub(crate) fn listener(&mut self, addr: SocketAddr) -> Result<Option<Row>, Unknown> {
        // No client connects from port 0, so this finds the listener and never a connection.
        let nobody = match addr.ip() {
            IpAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            IpAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
        };
        match self.ask(addr, nobody) {
            Some(row) => Ok(row.filter(Row::is_listener)),
            None => Ok(self.table()?.listener(addr)),
        }
    }

    /// Returns the current table.
    fn table(&mut self) -> Result<Table, Unknown> {
        match self {
            #[cfg(test)]
            Self::Given(tables) if tables.len() > 1 => Ok(Table(tables.remove(0))),
            #[cfg(test)]
            Self::Given(tables) => Ok(Table(tables.concat())),
            Self::Diag(_) | Self::Table => table(),
        }
    }

    /// Queries `sock_diag`. If that does not answer, returns `None`, and from now on all look-ups use the
    /// table.
    fn ask(&mut self, local: SocketAddr, remote: SocketAddr) -> Option<Option<Row>> {
        let Self::Diag(socket) = self else { return None };
        let answer = ask(socket, local, remote);
        if answer.is_err() {
            *self = Self::Table;
        }
        answer.ok()
    }
}

// linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
const NLMSG_ERROR: u16 = 2;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const HEADER: usize = 16;
const REQUEST: usize = HEADER + 56;

/// Looks up the socket with these addresses.
fn ask(socket: &OwnedFd, local: SocketAddr, remote: SocketAddr) -> Result<Option<Row>, Errno> {
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(socket, &request(local, remote).ok_or(Errno::INVAL)?, SendFlags::empty(), &kernel)?;
    let mut answer = [0_u8; 512];
    // The kernel has answered before `sendto` returns.
    let (len, _) = recv(socket, &mut answer[..], RecvFlags::DONTWAIT)?;
    read(answer.get(..len).unwrap_or_default(), local, remote)
}

/// Returns an `nlmsghdr`, followed by an `inet_diag_req_v2`.
fn request(local: SocketAddr, remote: SocketAddr) -> Option<Vec<u8>> {
    let (family, local_ip, remote_ip) = match (local.ip(), remote.ip()) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => (AF_INET, padded(local), padded(remote)),
        (IpAddr::V6(local), IpAddr::V6(remote)) => (AF_INET6, local.octets(), remote.octets()),
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(REQUEST);
    bytes.extend(u32::try_from(REQUEST).ok()?.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST.to_ne_bytes());
    // The sequence number and the port of the sender are zero.
    bytes.extend([0; 8]);
    bytes.extend([family, IPPROTO_TCP, 0, 0]);
    // All states.
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    bytes.extend(local_ip);
    bytes.extend(remote_ip);
    // Any interface, and no cookie, which is all ones.
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    Some(bytes)
}

fn padded(ip: Ipv4Addr) -> [u8; 16] {
    (u128::from(u32::from(ip)) << 96).to_be_bytes()
}

/// Parses an `nlmsghdr` and the `inet_diag_msg` after it.
fn read(answer: &[u8], local: SocketAddr, remote: SocketAddr) -> Result<Option<Row>, Errno> {
    let four = |at: usize| {
        let bytes = answer.get(at..at.checked_add(4)?)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let kind = answer.get(4..6).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?)));
    match kind {
        Some(NLMSG_ERROR) => {
            // The field holds the negated error number.
            let error = four(HEADER).map(u32::wrapping_neg).and_then(|error| i32::try_from(error).ok());
            match error.map(Errno::from_raw_os_error) {
                Some(Errno::NOENT) => Ok(None),
                error => Err(error.unwrap_or(Errno::PROTO)),
            }
        }
        Some(SOCK_DIAG_BY_FAMILY) => {
            let state = answer.get(HEADER.saturating_add(1)).copied();
            let row = state.zip(four(HEADER + 64)).zip(four(HEADER + 68)).map(|((state, uid), inode)| {
                let remote = if state == LISTEN { SocketAddr::new(local.ip(), 0) } else { remote };
                Row { local, remote, state, uid, inode: inode.into() }
            });
            row.map(Some).ok_or(Errno::PROTO)
        }
        _ => Err(Errno::PROTO),
    }
}

/// Reads the table of the kernel.
fn table() -> Result<Table, Unknown> {
    let mut rows = Vec::new();
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let file = match File::open(path) {
            Ok(file) => file,
            // The kernel has no IPv6.
            Err(error) if error.kind() == ErrorKind::NotFound && path.ends_with('6') => continue,
            Err(_) => return Err(Unknown::Unreadable),
        };
        for line in BufReader::with_capacity(64 * 1024, file).lines() {
            rows.extend(row(&line.map_err(|_| Unknown::Unreadable)?));
        }
    }
    Ok(Table(rows))
}

/// Returns our uid, unless it stands for all users that this user namespace does not map.
pub(crate) fn us() -> Option<u32> {
    let us = rustix::process::geteuid().as_raw();
    (!crate::sys::stands_for_others(us)).then_some(us)
}

/// Returns a process that holds the socket with this inode.
pub(crate) fn process_with(inode: u64) -> Option<u32> {
    let target = format!("socket:[{inode}]");
    let holds = |pid: &u32| {
        let mut files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.any(|file| fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == target.as_str()))
    };
    let entries = fs::read_dir("/proc").ok()?;
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(holds)
}

/// Returns, for each kind of listener, a connection that is not accepted yet, with the listener and the
/// address to which it was bound.
#[cfg(test)]
pub(crate) fn connections() -> impl Iterator<Item = (&'static str, TcpListener, TcpStream)> {
    let kinds = [
        ("127.0.0.1:0", "127.0.0.1"),
        ("0.0.0.0:0", "127.0.0.1"),
        ("[::]:0", "127.0.0.1"),
        ("[::1]:0", "::1"),
    ];
    kinds.into_iter().filter_map(|(listen, connect)| {
        let Ok(listener) = TcpListener::bind(listen) else {
            eprintln!("notice: skipped {listen}, which this machine does not have");
            return None;
        };
        let stream = TcpStream::connect((connect, listener.local_addr().unwrap().port())).unwrap();
        Some((listen, listener, stream))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sources give the same answer about a connection, before and after it is accepted, and about its
    /// listener.
    #[test]
    fn l13_both_sources_agree() {
        for (listen, listener, stream) in connections() {
            let (local, peer) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            let look = |mut sockets: Sockets| {
                let seen = |row: Row| (row.uid, row.inode, row.state);
                let other = sockets.other_end(local, peer).unwrap().map(seen);
                (other, sockets.listener(peer).unwrap().map(seen))
            };
            assert!(matches!(Sockets::new(), Sockets::Diag(_)), "this test needs a kernel with sock_diag");
            let waiting = look(Sockets::new());
            assert_eq!(waiting, look(Sockets::Table), "{listen}, not accepted");
            let accepted = listener.accept().unwrap();
            let held = look(Sockets::new());
            assert_eq!(held, look(Sockets::Table), "{listen}, accepted");
            let inodes = |(other, listener): (Option<(u32, u64, u8)>, Option<(u32, u64, u8)>)| {
                (other.unwrap().1 != 0, listener.unwrap().1 != 0)
            };
            assert_eq!((inodes(waiting), inodes(held)), ((false, true), (true, true)), "{listen}");
            drop(accepted);
        }
    }

    #[test]
    fn answer_of_another_form_is_an_error() {
        let addr = SocketAddr::from(([127, 0, 0, 1], 1));
        for (name, bytes) in [("nothing", &[][..]), ("half a header", &[0; 5]), ("another kind", &[7; 88])] {
            assert!(read(bytes, addr, addr).is_err(), "{name}");
        }
        arbtest::arbtest(|u| {
            let _ = read(u.arbitrary()?, addr, addr);
            Ok(())
        });
        let v6 = SocketAddr::from(([0_u16; 8], 1));
        assert_eq!(request(addr, v6), None, "both ends of a connection have the same address family");
        assert_eq!(request(addr, addr).map(|bytes| bytes.len()), Some(REQUEST));
    }
}
