//! Passes over `ide::Server`, for tests that look at what a single client reads.

use ide_mcp::ide::{ConnId, Server, ServerEvent};
use ide_mcp::{Output, Time};

/// Returns the events of a pass in which no socket takes anything. Copies no output, so that tests of the memory can use
/// it. Checks laws 4 and 5.
pub fn events(server: &mut Server, now: Time) -> Vec<ServerEvent> {
    let mut events = Vec::new();
    loop {
        let due = server.deadline();
        match server.poll(now) {
            Output::Event(event) => {
                assert!(
                    due.is_some_and(|due| due <= now),
                    "at {now:?}, due {due:?}, an event waits unseen: {event:?}"
                );
                events.push(event);
            }
            // A write that is not reported counts as one that found no room.
            Output::Write { .. } | Output::Close(_) => {}
            Output::Wait(until) => {
                assert!(until.is_none_or(|until| until > now), "law 4 at {now:?}: {until:?}");
                return events;
            }
        }
    }
}

/// Returns all that the client of this connection reads in a pass, with everything that comes once there is room. The
/// other sockets take nothing. All earlier events must have been polled.
pub fn read_by(server: &mut Server, conn: ConnId) -> Vec<u8> {
    let mut read = Vec::new();
    loop {
        match server.poll(Time::ZERO) {
            Output::Event(event) => panic!("{event:?} was not polled"),
            Output::Write { conn: of, bytes } if of == conn => {
                let len = bytes.len();
                read.extend_from_slice(bytes);
                server.written(conn, len);
            }
            Output::Write { .. } | Output::Close(_) => {}
            Output::Wait(_) => return read,
        }
    }
}

/// Ends a connection whose socket is gone: nothing comes, and nothing can be written.
pub fn lose(server: &mut Server, now: Time, conn: ConnId) {
    server.feed_eof(now, conn);
    server.feed_eof(now, conn);
}
