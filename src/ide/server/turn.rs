use ide_mcp::ide::{Call, ConnId, OpenDiff, Server, ServerEvent, ToolCall};
use ide_mcp::{Machine, Time, Wire, rpc::CallId};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};

/// The diffs that the person has not decided. After a decision, call `host.answer(call, &diff.accept())` and `turn`.
pub type Open = BTreeMap<CallId, (Call<OpenDiff>, OpenDiff)>;

pub fn turn<S: Read + Write>(
    host: &mut Server,
    sockets: &mut BTreeMap<ConnId, S>,
    open: &mut Open,
    now: Time,
) {
    for (id, socket) in sockets.iter_mut() {
        let Some(mut wire) = host.wire(*id) else { continue };
        while wire.wants_input() {
            match socket.read(wire.space()) {
                Ok(0) => wire.feed_eof(now),
                Ok(n) => wire.filled(now, n),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => wire.feed_eof(now),
            }
        }
    }
    host.tick(now);
    while let Some(event) = host.poll_event() {
        match event {
            // Do not write the file after an accepted diff: the agent writes it.
            ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
                drop(open.insert(call.id(), (call, diff)))
            }
            ServerEvent::DiffClosed { call, .. } => drop(open.remove(&call)),
            _ => {}
        }
    }
    // The names that `poll_transmit` returns are not used here: every socket is tried, also one that was full the
    // last time.
    while host.poll_transmit().is_some() {}
    let ids: Vec<ConnId> = sockets.keys().copied().collect();
    for id in ids {
        let (Some(mut wire), Some(socket)) = (host.wire(id), sockets.get_mut(&id)) else { continue };
        let mut is_lost = false;
        while !is_lost && !wire.outgoing().is_empty() {
            match socket.write(wire.outgoing()) {
                Ok(n) if n > 0 => wire.sent(n),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The output is not `sent`, so the host passes a mention in it on to another agent.
                Ok(_) | Err(_) => is_lost = true,
            }
        }
        if is_lost || wire.is_done() {
            // An adapter keeps the socket for another second: a socket that is dropped while the peer still sends is
            // reset, and the peer can lose the last message.
            sockets.remove(&id);
            host.remove(now, id);
        }
    }
}
