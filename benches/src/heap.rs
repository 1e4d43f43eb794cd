//! How much heap memory one connection takes, and one session of an editor.

use crate::ours::{drive, open_server};
use crate::workload::{Script, Workload, push_frame};
use ide_mcp::Time;
use ide_mcp::ws::{Limits, Server};

/// The numbers of sessions to compare. The tables of a server double when they grow, so both are powers of
/// two.
const SESSIONS: [usize; 2] = [64, 128];

/// Returns how many bytes a connection holds in several states and at its peak, and how many an idle
/// session holds.
pub fn held() -> Vec<(String, f64)> {
    let small = Workload::new(125, Script::Ascii);
    let large = Workload::new(1024 * 1024, Script::Ascii);
    let mut promise = Vec::new();
    push_frame(&mut promise, &vec![b'x'; 64 * 1024 * 1024 - 1], [0; 4]);
    let promised = &promise[..1024];
    let rows: [(&str, &dyn Fn(&mut Server)); 6] = [
        ("fresh", &|_| {}),
        ("open", &|server| *server = open_server()),
        ("after 125 B texts and trim", &|server| {
            *server = open_server();
            drive(server, &small.wire, usize::MAX);
            server.trim();
        }),
        ("after a 1 MiB text and trim", &|server| {
            *server = open_server();
            drive(server, &large.wire, 4096);
            server.trim();
        }),
        ("after a 1 MiB text", &|server| {
            *server = open_server();
            drive(server, &large.wire, 4096);
        }),
        ("after 1 KiB of a 64 MiB text", &|server| {
            *server = open_server();
            drive(server, promised, usize::MAX);
        }),
    ];
    let mut counts = Vec::new();
    for (name, act) in rows {
        let mut kept = None;
        let heap = allocation_counter::measure(|| {
            let mut server = Box::new(Server::new(Limits::default(), Time::ZERO));
            act(&mut server);
            kept = Some(server);
        });
        counts.push((format!("heap {name}: bytes"), heap.bytes_current as f64));
        counts.push((format!("heap {name}: bytes at the peak"), heap.bytes_max as f64));
    }
    let [few, many] = SESSIONS.map(|sessions| {
        let mut kept = None;
        allocation_counter::measure(|| kept = Some(crate::mcp::ours::resting(sessions))).bytes_current as f64
    });
    let each = (many - few) / (SESSIONS[1] - SESSIONS[0]) as f64;
    counts.push(("heap of an idle session: bytes".into(), each));
    counts
}
