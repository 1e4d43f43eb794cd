//! All connections on one thread and one `Poll`.

use ide_mcp::{Clock, ws};
use ide_mcp_examples::on_signal;
use ide_mcp_mio::{Conn, Waker};
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LISTENER: Token = Token(0);
const SIGNAL: Token = Token(1);
const FIRST: usize = 2;

/// Serves until a signal asks to end.
pub(crate) fn serve(address: SocketAddr, subprotocol: Option<&str>) -> io::Result<()> {
    let mut poll = Poll::new()?;
    let mut listener = TcpListener::bind(address)?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let stop = Stop::on_signal(&poll)?;
    super::say_listening(listener.local_addr()?);

    let (clock, mut events) = (Clock::new(), Events::with_capacity(256));
    let (mut conns, mut next) = (BTreeMap::<Token, Conn<ws::Server>>::new(), FIRST);
    let mut listener = Some(listener);
    while listener.is_some() || !conns.is_empty() {
        // Wait for a socket, or for the first thing that is due.
        let deadline = conns.values().filter_map(|conn| conn.deadline(clock.now())).min();
        match poll.poll(&mut events, clock.until(deadline)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &events {
            if let Some(conn) = conns.get_mut(&event.token()) {
                conn.handle(event);
            }
        }
        let now = clock.now();
        if stop.is_asked() && listener.take().is_some() {
            // Those who are in are told; the loop goes on until they have answered or had their time.
            conns.retain(|_, conn| super::say_goodbye(conn.machine_mut()));
        }
        // Readiness comes once for all that wait.
        while let Some(Ok((stream, _))) = listener.as_ref().map(TcpListener::accept) {
            let token = Token(next);
            next = next.wrapping_add(1).max(FIRST);
            let machine = ws::Server::new(ws::Limits::default(), now);
            if let Ok(conn) = Conn::new(stream, machine, poll.registry(), token) {
                conns.insert(token, conn);
            }
        }
        for conn in conns.values_mut() {
            conn.turn(now, |machine, event| super::echo(machine, event, subprotocol));
        }
        conns.retain(|_, conn| !conn.is_over());
    }
    Ok(())
}

/// What a signal sets, and then interrupts the wait of the `Poll`.
struct Stop {
    asked: Arc<AtomicBool>,
    /// The thread that waits for the signal ends once it has woken us. Were its waker the last, the wake would go with
    /// it, unseen.
    _waker: Waker,
}

impl Stop {
    fn on_signal(poll: &Poll) -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let waker = Waker::new(poll.registry(), SIGNAL)?;
        let (set, wake) = (Arc::clone(&asked), waker.clone());
        on_signal(move || {
            set.store(true, Ordering::Release);
            // It fails if the `Poll` has gone, and then all is over.
            wake.wake().is_ok()
        })?;
        Ok(Self { asked, _waker: waker })
    }

    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }
}
