//! Where an editor listens.

use ide_mcp::ide::Auth;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::RangeInclusive;

/// Where an editor listens. Any program that reaches the port can guess tokens, so every variant but the last
/// one accepts connections from this machine only.
///
/// ```
/// use ide_mcp_driver::Bind;
///
/// assert!(!Bind::Ports(41_000..=41_099).is_exposed());
/// assert!(Bind::ExposedToOtherMachines(([0, 0, 0, 0], 41_000).into()).is_exposed());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bind {
    /// A port of 127.0.0.1 that the system chooses. Right for most editors.
    #[default]
    AnyPort,
    /// This port of 127.0.0.1.
    Port(u16),
    /// A free port of this range, on 127.0.0.1. We try them in order from a random one on, so that no program
    /// can know the port in advance.
    ///
    /// After a restart the editor usually gets another port, to which no agent reconnects (measured); use
    /// [`Resume`](Self::Resume) to keep the port. The range must not be empty, nor contain port 0, which
    /// means any port ([`AnyPort`](Self::AnyPort)).
    Ports(RangeInclusive<u16>),
    /// The port of the last run, on 127.0.0.1. If another program has taken it, the system chooses one.
    ///
    /// An agent that was attached looks for the editor on the same port with the same token, and finds it
    /// again within about 12 s (measured). So keep both where no other user can read them, and give the token
    /// to the policy.
    ///
    /// While no editor listened, any user of the machine could listen on that port and receive the token from
    /// agents. The server therefore treats it as known to others: it admits a client with the token only if
    /// the client's socket belongs to our own user. It refuses everybody else as if the token were wrong,
    /// including root, other users in a container, and other machines. Only Linux reports who owns a socket.
    /// On other systems the server replaces the token by a fresh one (see
    /// [`EditorLock::token`](crate::EditorLock::token)), which agents read from the lock file. The real
    /// client does not do so by itself: the person must run `/ide` again.
    Resume(u16),
    /// Any address. Unless it is a loopback address, **other machines can reach it**, and the server then
    /// requires a token. This is for clients in a container or in WSL.
    ///
    /// `[::1]:0` is the loopback of IPv6, for clients that resolve `localhost` to IPv6 only. The real client
    /// connects to 127.0.0.1 (measured), so it does not find such an editor.
    ExposedToOtherMachines(SocketAddr),
}

/// How many connections may wait to be accepted. The standard library asks for 128; one program that floods
/// the port fills that in a moment, and every other client must then connect again a second later. Windows
/// takes more than 200 only as a negative number (`SOMAXCONN_HINT`).
const BACKLOG: i32 = if cfg!(windows) { -1024 } else { 1024 };

impl Bind {
    /// Returns true if other machines can reach the address.
    #[must_use]
    pub const fn is_exposed(&self) -> bool {
        matches!(self, Self::ExposedToOtherMachines(addr) if !addr.ip().is_loopback())
    }

    /// Binds the listener without probing the port first: another program could take it in between.
    pub(crate) fn listen(self, auth: &Auth) -> io::Result<TcpListener> {
        if self.is_exposed() && matches!(auth, Auth::Disabled) {
            let reason =
                "an editor that other machines can reach needs a token: require one, or listen on 127.0.0.1";
            return Err(io::Error::new(ErrorKind::InvalidInput, reason));
        }
        let on = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = match self {
            Self::AnyPort => on(0)?,
            Self::Port(port) => on(port)?,
            Self::Resume(port) => match on(port) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => on(0)?,
                bound => bound?,
            },
            Self::Ports(ports) => first_free(&ports, on)?,
            Self::ExposedToOtherMachines(addr) => TcpListener::bind(addr)?,
        };
        // The listener works already. If the system refuses the longer queue, the shorter one stays.
        let _ = rustix::net::listen(&listener, BACKLOG);
        Ok(listener)
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyPort => f.write_str("a port of 127.0.0.1"),
            Self::Port(port) | Self::Resume(port) => write!(f, "port {port} of 127.0.0.1"),
            Self::Ports(ports) => write!(f, "a port from {} to {} of 127.0.0.1", ports.start(), ports.end()),
            Self::ExposedToOtherMachines(addr) => write!(f, "{addr}"),
        }
    }
}

/// Tries the ports from a random one on, and returns the first success of `on`.
///
/// # Errors
///
/// `InvalidInput` for an empty range, or one with port 0. If all ports fail: the error of a port that is not
/// in use, such as `PermissionDenied` for a port below 1024; `AddrInUse` if all are in use.
fn first_free<T>(ports: &RangeInclusive<u16>, on: impl Fn(u16) -> io::Result<T>) -> io::Result<T> {
    let (first, last) = (ports.start(), ports.end());
    if *first == 0 || ports.is_empty() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!(
                "ports {first} to {last} are not a valid range: it must not be empty, nor contain port 0"
            ),
        ));
    }
    let mut failure: Option<io::Error> = None;
    for port in rotated(ports) {
        match on(port) {
            Ok(bound) => return Ok(bound),
            Err(error) => {
                // If some ports are in use and others may not be bound, report the error of the others.
                if failure.is_none() || error.kind() != ErrorKind::AddrInUse {
                    failure = Some(error);
                }
            }
        }
    }
    let error = failure.unwrap_or_else(|| ErrorKind::AddrInUse.into());
    Err(io::Error::new(error.kind(), format!("no port from {first} to {last} can be bound: {error}")))
}

/// Returns each of these ports once, beginning with a random one.
fn rotated(ports: &RangeInclusive<u16>) -> impl Iterator<Item = u16> + use<> {
    let (first, last) = (*ports.start(), *ports.end());
    let count = u64::from(last.saturating_sub(first)).saturating_add(1);
    // The hasher of std has random keys. A port is not a secret, so that is random enough.
    let random = RandomState::new().build_hasher().finish().checked_rem(count).unwrap_or_default();
    let start = first.saturating_add(u16::try_from(random).unwrap_or_default());
    (start..=last).chain(first..start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::net::Ipv6Addr;

    #[test]
    fn each_port_comes_once_from_a_random_one_on() {
        for (name, ports) in [("one", 7..=7), ("some", 10..=19), ("the last", 65_530..=65_535)] {
            let mut starts: BTreeSet<u16> = BTreeSet::new();
            for _ in 0..200 {
                let tried: Vec<u16> = rotated(&ports).collect();
                starts.extend(tried.first().copied());
                let sorted: BTreeSet<u16> = tried.iter().copied().collect();
                assert!(
                    tried.len() == ports.len() && sorted.into_iter().eq(ports.clone()),
                    "{name}: {tried:?}"
                );
            }
            assert!(starts.len() > ports.len() / 2, "{name}: begins at {starts:?}");
        }
        let all: BTreeSet<u16> = (0..20).filter_map(|_| rotated(&(0..=u16::MAX)).next()).collect();
        assert!(all.len() > 10, "{all:?}");
        #[allow(clippy::reversed_empty_ranges, reason = "an empty range has no port")]
        let none = rotated(&(2..=1)).count();
        assert_eq!(none, 0);
    }

    #[test]
    fn ports_fail_with_the_reason() {
        use ErrorKind::{AddrInUse, InvalidInput, PermissionDenied};
        // The range, the ports that may not be bound, the free ports, and the expected result.
        #[allow(clippy::reversed_empty_ranges, reason = "an empty range has no port")]
        let rows = [
            ("one is free", 10..=19, 10..=15, vec![17], Ok(17)),
            ("all are in use", 10..=19, 0..=0, vec![], Err(AddrInUse)),
            ("none is permitted", 10..=19, 10..=19, vec![], Err(PermissionDenied)),
            ("one is not permitted", 10..=19, 12..=12, vec![], Err(PermissionDenied)),
            ("port 0", 0..=9, 0..=0, vec![0, 5], Err(InvalidInput)),
            ("port 0 alone", 0..=0, 1..=1, vec![0], Err(InvalidInput)),
            ("from the first port", 1..=1, 0..=0, vec![1], Ok(1)),
            ("no port", 9..=8, 0..=0, vec![8, 9], Err(InvalidInput)),
        ];
        for (name, ports, forbidden, free, want) in rows {
            let on = |port| match port {
                port if free.contains(&port) => Ok(port),
                port if forbidden.contains(&port) => Err(PermissionDenied.into()),
                _ => Err(AddrInUse.into()),
            };
            // The order of the ports is random.
            for _ in 0..50 {
                let found = first_free(&ports, on).map_err(|error| {
                    assert!(error.to_string().contains(&format!("{} to {}", ports.start(), ports.end())));
                    error.kind()
                });
                assert_eq!(found, want, "{name}");
            }
        }
    }

    /// By default, macOS lets no more than 128 clients wait.
    #[cfg(any(windows, target_os = "linux"))]
    #[test]
    fn hundreds_of_clients_can_wait_to_be_accepted() {
        let listener = Bind::AnyPort.listen(&Auth::Disabled).unwrap();
        let (addr, patience) = (listener.local_addr().unwrap(), std::time::Duration::from_secs(10));
        let crowd: Vec<_> =
            (0..500).map(|_| std::net::TcpStream::connect_timeout(&addr, patience).unwrap()).collect();
        assert_eq!((0..500).filter(|_| listener.accept().is_ok()).count(), crowd.len());
    }

    #[test]
    fn ipv6_loopback_needs_no_token() {
        let loopback = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
        match Bind::ExposedToOtherMachines(loopback).listen(&Auth::Disabled) {
            Ok(listener) => assert!(listener.local_addr().unwrap().ip().is_loopback()),
            // This system has no IPv6.
            Err(error) => assert_ne!(error.kind(), ErrorKind::InvalidInput, "{error}"),
        }
        let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        let refused = Bind::ExposedToOtherMachines(any).listen(&Auth::Disabled);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn error_of_the_system_is_shown() {
        let full = |_| Err::<(), _>(io::Error::new(ErrorKind::AddrInUse, "the mail server has it"));
        let error = first_free(&(7..=8), full).unwrap_err();
        assert_eq!(error.to_string(), "no port from 7 to 8 can be bound: the mail server has it");
    }
}
