//! Does anybody listen on a port?

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

/// How long to wait for a connection. A port without a listener refuses at once; on Windows that takes 2 s,
/// because a client there retries after each refusal. A port that does not answer at all may still have a
/// listener.
const PATIENCE: Duration = if cfg!(windows) { Duration::from_secs(4) } else { Duration::from_millis(200) };

/// How many ports are tried at the same time.
const AT_ONCE: usize = 32;

/// Returns for each port true if a server accepts connections there, false if the port refuses them, and
/// `None` if we cannot know. Several ports take as long as one, 32 at a time.
pub(crate) fn listening(host: IpAddr, ports: &[u16]) -> Vec<Option<bool>> {
    let try_port = |port: &u16| is_listening(SocketAddr::new(host, *port));
    if let [port] = ports {
        return vec![try_port(port)];
    }
    let mut answers = Vec::with_capacity(ports.len());
    for ports in ports.chunks(AT_ONCE) {
        thread::scope(|scope| {
            // A port for which no thread could be started stays unknown.
            let start = |port| thread::Builder::new().spawn_scoped(scope, move || try_port(port)).ok();
            let attempts: Vec<_> = ports.iter().map(start).collect();
            answers.extend(attempts.into_iter().map(|thread| thread?.join().ok().flatten()));
        });
    }
    answers
}

fn is_listening(addr: SocketAddr) -> Option<bool> {
    match TcpStream::connect_timeout(&addr, PATIENCE) {
        // If nothing listens on the port, the system may give it to the very socket that connects.
        Ok(stream) => Some(stream.local_addr().ok()? != stream.peer_addr().ok()?),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn results_keep_the_order_of_the_ports() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap().port();
        let host = Ipv4Addr::LOCALHOST.into();
        assert_eq!(listening(host, &[]), []);
        // Nothing listens on ports 1 to 40 of a test machine, since the system assigns higher ones.
        assert_eq!(listening(host, &[1]), [Some(false)]);
        assert_eq!(listening(host, &[open]), [Some(true)]);
        let mut ports: Vec<u16> = (1..=20).chain(24..=40).collect();
        ports.insert(33, open);
        let expected: Vec<_> = ports.iter().map(|port| Some(*port == open)).collect();
        assert_eq!(listening(host, &ports), expected);
    }
}
