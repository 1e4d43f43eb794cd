//! Which agents the server admits, and on which port it listens.

use crate::adapter::{Adapter, Editor};
use crate::plain::read_all;
use crate::support::{LASTING, TempDir, World, agent_with, await_port, config, diagnostics};
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::{Auth, Policy};
use ide_mcp::ws;
use ide_mcp_driver::Bind;
use ide_mcp_lockfile::{LockDir, new_token};
use std::fs;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::thread;

pub(crate) fn several_agents_attach_call_and_leave<A: Adapter>() {
    let mut world = World::<A>::new();
    assert!(world.addr().ip().is_loopback());
    assert_ne!(world.addr().port(), 0);
    let agents: Vec<_> = (0..8).map(|_| world.agent(diagnostics(), false)).collect();
    for agent in agents {
        let report = world.serve(agent);
        assert_eq!(report.answers, [["[]"]]);
        assert_eq!(report.closed, ws::Closed::Local { clean: true });
    }
    world.until(|world| world.connections() == 0);
    assert_eq!((world.seen.ready.len(), world.seen.calls), (8, 8));
    let by_peer = |closed: &ws::Closed| matches!(closed, ws::Closed::Remote { .. });
    assert!(world.seen.closed.iter().all(|(_, closed)| by_peer(closed)), "{:?}", world.seen.closed);
}

pub(crate) fn wrong_token_receives_refusal_before_the_reset<A: Adapter>() {
    let mut world = World::<A>::new();
    let wrong = new_token().unwrap();
    let report = {
        // The request is longer than what the server reads before it refuses.
        let addr = world.addr();
        let rude = thread::spawn(move || {
            let mut stream = TcpStream::connect(addr).unwrap();
            let _ = stream.write_all(&vec![b'x'; 1 << 20]);
            read_all(&mut stream)
        });
        assert!(world.serve(rude).starts_with(b"HTTP/1.1 431"));
        let agent = agent_with::<A>(addr, &wrong, diagnostics(), false);
        world.serve(agent)
    };
    assert!(report.answers.is_empty());
    assert!(matches!(report.closed, ws::Closed::NotAccepted(_)), "{:?}", report.closed);
}

pub(crate) fn n04_server_listens_as_configured<A: Adapter>() {
    let bind = |bind, policy| A::Editor::bind(bind, config(policy));
    let kind = |bound: std::io::Result<A::Editor>| bound.err().unwrap().kind();
    let token = || Policy::new(0, Auth::Generated);
    assert_ne!(bind(Bind::default(), token()).unwrap().local_addr().port(), 0);
    let first = bind(Bind::Ports(LASTING), token()).unwrap();
    let port = first.local_addr().port();
    assert_eq!(kind(bind(Bind::Port(port), token())), ErrorKind::AddrInUse);
    assert_eq!(kind(bind(Bind::Ports(port..=port), token())), ErrorKind::AddrInUse);
    if let Some(next) = port.checked_add(50) {
        let ranged = bind(Bind::Ports(port..=next), token()).unwrap().local_addr();
        assert!(ranged.port() > port && ranged.port() <= next && ranged.ip().is_loopback());
    }
    // An agent that was attached looks for the old port. If another program has it, any other port will do.
    assert_ne!(bind(Bind::Resume(port), token()).unwrap().local_addr().port(), port);
    drop(first);
    await_port(port);
    assert_eq!(bind(Bind::Resume(port), token()).unwrap().local_addr().port(), port);
    let exposed = Bind::ExposedToOtherMachines(SocketAddr::from(([0, 0, 0, 0], 0)));
    let open = || Policy::new(0, Auth::Disabled);
    assert_eq!(kind(bind(exposed.clone(), open())), ErrorKind::InvalidInput);
    assert!(bind(exposed, token()).unwrap().local_addr().ip().is_unspecified());
    assert!(bind(Bind::ExposedToOtherMachines(SocketAddr::from(([127, 0, 0, 1], 0))), open()).is_ok());
}

/// Servers that start at the same time, again and again, each get a port and a lock file of their own.
pub(crate) fn n06_parallel_starts_get_different_ports<A: Adapter>() {
    // Wine takes a tenth of a second to publish a file.
    const ROUNDS: usize = if cfg!(windows) { 100 } else { 1000 };
    let dir = TempDir::new();
    let both = Barrier::new(2);
    let start = || {
        let (mut ports, lock_dir) = (Vec::new(), LockDir::create(&dir.0).unwrap());
        for _ in 0..ROUNDS {
            both.wait();
            let mut world = World::<A>::new();
            let file = LockFile::new(1, vec!["/w".into()], "editor", world.token().clone());
            world.editor.publish(&lock_dir, &file).unwrap();
            both.wait();
            let path = world.editor.lock_path().unwrap();
            let mut read = LockFile::parse(&fs::read_to_string(path).unwrap()).unwrap();
            // Publishing adds the scope.
            read.scope = None;
            assert_eq!(read, file);
            ports.push(world.addr().port());
        }
        ports
    };
    let (one, other) = thread::scope(|scope| {
        let (one, other) = (scope.spawn(start), scope.spawn(start));
        (one.join().unwrap(), other.join().unwrap())
    });
    assert!(one.iter().zip(&other).all(|(one, other)| one != other));
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 0, "each server has removed its own lock file");
}
