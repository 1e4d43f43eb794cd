//! The TCP sockets of the system and who owns them. On Linux we ask `sock_diag`, which answers for one socket
//! in constant time (some 30 µs). If a sandbox forbids that, we read the table in `/proc/net/tcp` and
//! `/proc/net/tcp6` (some 10 ms with a thousand sockets).

use core::fmt;
use std::net::SocketAddr;
#[cfg(any(target_os = "linux", test))]
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why we do not know who owns a socket.
///
/// [Causes and reactions](ide_mcp::guide::errors#lock-files-tokens-paths).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// The system has no interface for this that Rust can call without `unsafe`.
    Unsupported,
    /// The system did not answer, or the process has no uid of its own in its user namespace.
    Unreadable,
    /// The peer is on another machine, or on the Windows side if this program runs under WSL.
    OtherMachine,
    /// The socket has an address of this machine, but is in no table.
    NotFound,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "this system does not report the owner of a socket",
            Self::Unreadable => "neither sock_diag nor /proc/net/tcp reports the owner of the socket",
            Self::OtherMachine => "the other end is not on this machine",
            Self::NotFound => "the other end is in no table of sockets",
        })
    }
}

/// The state of a listening socket.
#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "no other system has rows"))]
const LISTEN: u8 = 0x0a;

/// One socket.
#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "no other system has rows"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) local: SocketAddr,
    remote: SocketAddr,
    state: u8,
    pub(crate) uid: u32,
    /// 0 for a socket that no process holds: not accepted yet, or closed.
    pub(crate) inode: u64,
}

#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "no other system has rows"))]
impl Row {
    pub(crate) const fn is_listener(&self) -> bool {
        self.state == LISTEN
    }

    /// Returns true if a process holds the socket, so that its uid means something.
    pub(crate) const fn has_owner(&self) -> bool {
        self.inode != 0
    }

    /// Returns the socket at `local`, which listens or is connected to `remote`.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn at(local: SocketAddr, remote: Option<SocketAddr>, uid: u32, inode: u64) -> Self {
        let state = if remote.is_some() { 1 } else { LISTEN };
        Self { local, remote: remote.unwrap_or(local), state, uid, inode }
    }
}

/// All sockets of this network namespace.
#[cfg(any(target_os = "linux", test))]
#[derive(Debug)]
struct Table(Vec<Row>);

#[cfg(any(target_os = "linux", test))]
impl Table {
    /// Returns the other end of the connection from `local` to `peer`, in any state.
    fn other_end(&self, local: SocketAddr, peer: SocketAddr) -> Option<Row> {
        self.0.iter().find(|row| !row.is_listener() && row.local == peer && row.remote == local).copied()
    }

    /// Returns the socket that listens at this address, chosen as the system does. A listener at exactly this
    /// address comes before one at an unspecified address. Of the unspecified addresses, IPv4 comes first: if
    /// both have a listener, the one at the IPv6 address does not take IPv4 connections.
    fn listener(&self, addr: SocketAddr) -> Option<Row> {
        let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
        let choices = [addr.ip(), any[0], any[1]];
        let listens = |ip| {
            let at = SocketAddr::new(ip, addr.port());
            self.0.iter().find(|row| row.is_listener() && row.local == at).copied()
        };
        choices.into_iter().find_map(listens)
    }
}

/// Parses one line of a table; `None` for the header and for any other form.
#[cfg(any(target_os = "linux", test))]
fn row(line: &str) -> Option<Row> {
    let mut words = line.split_ascii_whitespace();
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    let local = address(words.nth(1)?)?;
    let remote = address(words.next()?)?;
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let uid = words.nth(3)?.parse().ok()?;
    let inode = words.nth(1)?.parse().ok()?;
    Some(Row { local, remote, state, uid, inode })
}

/// Parses an address: hexadecimal words of 32 bits, each in the byte order of the machine, a colon and the
/// port.
#[cfg(any(target_os = "linux", test))]
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let digits = ip.get(at.checked_mul(8)?..at.checked_add(1)?.checked_mul(8)?)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let mut bytes = [0; 16];
            for (at, four) in bytes.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&word(at)?);
            }
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, port)))
}

#[cfg(all(test, target_os = "linux"))]
pub(crate) use linux::connections;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Sockets, process_with, us};

#[cfg(target_os = "linux")]
mod linux;

/// Stands in on systems that do not tell who owns a socket, see [`Unknown::Unsupported`].
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Sockets;

#[cfg(not(target_os = "linux"))]
impl Sockets {
    pub(crate) const fn new() -> Self {
        Self
    }

    pub(crate) const fn other_end(&mut self, _: SocketAddr, _: SocketAddr) -> Result<Option<Row>, Unknown> {
        Err(Unknown::Unsupported)
    }

    pub(crate) const fn listener(&mut self, _: SocketAddr) -> Result<Option<Row>, Unknown> {
        Err(Unknown::Unsupported)
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) const fn us() -> Option<u32> {
    Some(0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) const fn process_with(_: u64) -> Option<u32> {
    None
}

/// Turns an IPv4-mapped IPv6 address into the IPv4 address.
pub(crate) fn canonical(addr: SocketAddr) -> SocketAddr {
    SocketAddr::new(addr.ip().to_canonical(), addr.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an address as in the table: words of 32 bits in the byte order of the machine.
    fn hex(ip: &str) -> String {
        let bytes = match ip.parse().unwrap() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let word = |four: &[u8]| u32::from_ne_bytes(four.try_into().unwrap());
        bytes.chunks_exact(4).map(|four| format!("{:08X}", word(four))).collect()
    }

    fn line(local: (&str, u16), remote: (&str, u16), state: &str, uid: u32, inode: u64) -> String {
        let ((local, port), (remote, to)) = ((hex(local.0), local.1), (hex(remote.0), remote.1));
        let queues = "00000000:00000000 00:00000000 00000000";
        format!(
            "   0: {local}:{port:04X} {remote}:{to:04X} {state} {queues} {uid:>5}        0 {inode} 1 x 100 0 0 10 0"
        )
    }

    fn table(lines: &[String]) -> Table {
        Table(lines.iter().filter_map(|line| row(line)).collect())
    }

    #[test]
    fn line_of_either_table_is_read() {
        let addr = |text: &str| text.parse::<SocketAddr>().unwrap();
        let cases = [
            ("IPv4", ("127.0.0.1", 41111), ("127.0.0.1", 40000), "127.0.0.1:41111"),
            ("IPv6", ("::1", 41111), ("::1", 40000), "[::1]:41111"),
            ("IPv4 in IPv6", ("::ffff:127.0.0.1", 41111), ("::ffff:127.0.0.1", 40000), "127.0.0.1:41111"),
        ];
        for (name, local, remote, expected) in cases {
            let row = row(&line(local, remote, "01", 1002, 77)).unwrap();
            assert_eq!((row.local, row.state, row.uid, row.inode), (addr(expected), 1, 1002, 77), "{name}");
            assert_eq!(row.remote.port(), 40000, "{name}");
        }
    }

    #[test]
    fn line_of_another_form_is_ignored() {
        let whole = line(("127.0.0.1", 1), ("127.0.0.1", 2), "01", 1, 2);
        let header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
        for text in [
            "",
            header,
            "0: 0100007F:0001",
            &whole.replace("0001 ", "10001 "),
            &whole.replace(" 01 ", " xx "),
        ] {
            assert_eq!(row(text), None, "{text}");
        }
        arbtest::arbtest(|u| {
            let _ = row(u.arbitrary()?);
            Ok(())
        });
    }

    #[test]
    fn closest_listener_decides() {
        let listen = |ip, uid| line((ip, 5), ("0.0.0.0", 0), "0A", uid, 9);
        let uid = |table: &Table| table.listener("127.0.0.1:5".parse().unwrap()).map(|row| row.uid);
        let (exact, any, any6) = (listen("127.0.0.1", 1), listen("0.0.0.0", 2), listen("::", 3));
        assert_eq!(uid(&table(&[any6.clone(), any.clone(), exact])), Some(1));
        assert_eq!(uid(&table(&[any6.clone(), any])), Some(2));
        assert_eq!(uid(&table(&[any6])), Some(3));
        assert_eq!(uid(&table(&[listen("127.0.0.2", 4)])), None);
    }

    /// A peer that has shut down one direction, and still reads the other.
    #[test]
    fn other_end_is_found_in_any_state() {
        let (local, peer) = ("127.0.0.1:7".parse().unwrap(), "127.0.0.1:5".parse().unwrap());
        for state in ["01", "03", "05", "08"] {
            let table = table(&[line(("127.0.0.1", 5), ("127.0.0.1", 7), state, 3, 9)]);
            assert_eq!(
                table.other_end(local, peer).map(|row| (row.uid, row.has_owner())),
                Some((3, true)),
                "{state}"
            );
        }
        let gone = table(&[line(("127.0.0.1", 5), ("127.0.0.1", 7), "06", 0, 0)]);
        assert_eq!(gone.other_end(local, peer).map(|row| row.has_owner()), Some(false));
    }
}
