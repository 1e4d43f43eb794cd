//! A thread for each connection, which waits for it.

use ide_mcp::{Time, ws};
use ide_mcp_blocking::Conn;
use ide_mcp_examples::on_signal;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A thread that waits for its socket cannot be woken: this is how often it looks whether it should stop.
const SLICE: Duration = Duration::from_millis(200);

/// Serves until a signal asks to end.
pub(crate) fn serve(address: SocketAddr, subprotocol: Option<&str>) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let stopping = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stopping);
    on_signal(move || {
        set.store(true, Ordering::Release);
        // The listener is woken by a connection. Where that fails it was woken by another.
        TcpStream::connect(address).is_ok()
    })?;
    super::say_listening(address);

    // The scope ends when the last connection has.
    thread::scope(|scope| {
        for stream in listener.incoming() {
            if stopping.load(Ordering::Acquire) {
                break;
            }
            let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
            if let Ok(conn) = stream.and_then(|stream| Conn::from_stream(stream, machine)) {
                scope.spawn(|| serve_one(conn, subprotocol, &stopping));
            }
        }
    });
    Ok(())
}

fn serve_one(mut conn: Conn<ws::Server>, subprotocol: Option<&str>, stopping: &AtomicBool) {
    let mut told = false;
    while !conn.is_over() {
        if let Some(event) = conn.poll(SLICE) {
            super::echo(conn.machine_mut(), event, subprotocol);
        }
        if !told && stopping.load(Ordering::Acquire) {
            told = true;
            if !super::say_goodbye(conn.machine_mut()) {
                return;
            }
        }
    }
}
