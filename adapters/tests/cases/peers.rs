//! Peers that take more than their share.

use crate::adapter::{Adapter, Editor};
use crate::plain::{PATIENCE, Upto, frame, read_all};
use crate::support::{World, diagnostics};
use cpu_time::ThreadTime;
use ide_mcp::ide::AgentId;
use ide_mcp::ide::tool::DiffOutcome;
use ide_mcp::{Clock, Time, ws};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub(crate) fn n05_a_thousand_unauthenticated_peers_keep_nobody_out<A: Adapter>() {
    const PEERS: usize = 1000;
    #[cfg(unix)]
    raise_the_limit(3 * (PEERS as u64 + 100));
    let mut world = World::<A>::new();
    let addr = world.addr();
    let (done, finished) = mpsc::channel::<()>();
    let crowd = thread::spawn(move || {
        let connect = |_| {
            let mut peer = TcpStream::connect(addr).unwrap();
            peer.write_all(b"G").unwrap();
            peer
        };
        let crowd: Vec<TcpStream> = (0..PEERS).map(connect).collect();
        drop(done);
        crowd
    });
    let mut most = 0;
    while finished.try_recv() == Err(mpsc::TryRecvError::Empty) {
        world.step();
        most = most.max(world.connections());
    }
    let crowd = crowd.join().unwrap();
    let (agent, before) = (world.agent(diagnostics(), false), ThreadTime::now());
    let report = world.serve(agent);
    assert_eq!(report.answers, [["[]"]]);
    assert_eq!(report.closed, ws::Closed::Local { clean: true });
    assert_served(before);
    world.until(|world| world.connections() <= 8);
    assert!(most <= 8 + 4, "{most} connections at once");
    let is_gone = |peer: &mut TcpStream| {
        peer.set_nonblocking(true).unwrap();
        !matches!(peer.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    let mut rest = crowd;
    let clock = Clock::new();
    while rest.len() > 8 {
        assert!(clock.now() < Time::ZERO.saturating_add(PATIENCE), "{} are still there", rest.len());
        world.step();
        rest.retain_mut(|peer| !is_gone(peer));
    }
}

/// Raises the soft limit of file descriptors to the hard limit if it is below `limit`. The sockets of all
/// these peers belong to this process, which may run three of these tests at once.
#[cfg(unix)]
fn raise_the_limit(limit: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < limit) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let enough = maximum.is_none_or(|maximum| maximum >= limit);
        assert!(raised.is_ok() && enough, "the test needs {limit} file descriptors: ulimit -n {limit}");
    }
}

pub(crate) fn peer_that_never_reads_delays_no_other<A: Adapter>() {
    // Far longer than an agent waits for its answer, even on a busy machine.
    let mut world = World::<A>::with(|config| config.ws.stalled = Duration::from_secs(3));
    let peer = world.plain(Upto::OpenDiff);
    world.until(|world| !world.seen.open.is_empty());
    let (call, _) = world.seen.open.pop().unwrap();
    let deaf = AgentId::of_call(call.id());
    let text = "x".repeat(1 << 20);
    // The editor sends notifications until the send buffer is at its high-water mark, and then an answer,
    // which the buffer takes even above the mark.
    while world.editor.machine_mut().agent_mut(deaf).notify("much", Some(&[&text])).is_ok() {
        world.step_for(Duration::from_millis(1));
    }
    let outcome = DiffOutcome::Accepted { contents: text.repeat(16) };
    world.editor.machine_mut().answer(call, &outcome).unwrap();
    let agent = world.agent(diagnostics(), false);
    let report = world.serve(agent);
    assert_eq!(report.answers, [["[]"]]);
    assert!(!world.has_stalled(), "the answer came before the end of the peer that does not read");
    world.until(World::has_stalled);
    world.until(|world| world.seen.closed.len() == 2 && world.connections() == 0);
    drop(peer);
}

/// The server must not have worked for a second before it served an agent. A busy machine takes time from the
/// clock, but not from the thread's processor time.
#[track_caller]
fn assert_served(before: ThreadTime) {
    let spent = before.elapsed();
    assert!(spent < Duration::from_secs(1), "{spent:?}");
}

impl<A: Adapter> World<A> {
    fn has_stalled(&mut self) -> bool {
        self.seen.closed.iter().any(|(_, closed)| *closed == ws::Closed::Stalled)
    }
}

pub(crate) fn peer_that_never_finishes_handshake_is_dropped<A: Adapter>() {
    let mut world = World::<A>::with(|config| config.ws.handshake = Duration::from_millis(300));
    let clock = Clock::new();
    let mut slow = world.plain(Upto::HalfRequest);
    let agent = world.agent(diagnostics(), false);
    assert_eq!(world.serve(agent).answers, [["[]"]]);
    // A further byte must not extend the deadline.
    while world.editor.machine_mut().unauthenticated().refused == 0 {
        world.step();
        thread::sleep(Duration::from_millis(5));
        let _ = slow.write_all(b"x");
    }
    assert!(clock.now() >= Time::from_millis(300));
    let reader = thread::spawn(move || read_all(&mut slow));
    assert!(world.serve(reader).starts_with(b"HTTP/1.1 408"));
    world.until(|world| world.connections() == 0);
}

pub(crate) fn e03_noisy_peer_never_starves_a_quiet_one<A: Adapter>() {
    const ROUNDS: usize = 50;
    let mut world = World::<A>::new();
    let mut noisy = world.plain(Upto::Initialized);
    let noise = thread::spawn(move || {
        // The peer sends notifications as fast as the server takes them.
        let note = frame(0x81, br#"{"jsonrpc":"2.0","method":"noise"}"#).repeat(500);
        while noisy.write_all(&note).is_ok() {}
    });
    world.until(|world| world.seen.notifications > 0);
    let (mut quiet_rounds, mut noisy_rounds) = (0, 0);
    while quiet_rounds < ROUNDS {
        let earlier = world.seen.notifications;
        let (agent, before) = (world.agent(diagnostics(), false), ThreadTime::now());
        let report = world.serve(agent);
        assert_eq!(report.answers, [["[]"]]);
        assert_served(before);
        quiet_rounds += 1;
        noisy_rounds += usize::from(world.seen.notifications > earlier);
    }
    // On a busy machine the noisy thread does not run in each round.
    assert!(noisy_rounds > ROUNDS / 2, "there was noise in {noisy_rounds} rounds");
    drop(world);
    noise.join().unwrap();
}
