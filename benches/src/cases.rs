//! The cases whose instructions and allocations we count, and the floors to compare them with.

use crate::case::Case;
use crate::floor::{self, Passes};
use crate::handshake::request;
use crate::ours;
use crate::tally::Tally;
use crate::workload::{Script, Workload};

/// The kinds of reads: their names, and how many bytes a read may have.
pub const READS: [(&str, usize); 3] = [("whole", usize::MAX), ("4 KiB reads", 4096), ("single bytes", 1)];

/// The sizes of texts, in bytes.
pub const SIZES: [(&str, usize); 5] =
    [("16 B", 16), ("125 B", 125), ("1 KiB", 1024), ("16 KiB", 16 * 1024), ("1 MiB", 1024 * 1024)];

/// Returns all cases, in the order of the baseline.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (reads, limit) in READS {
        for (size, bytes) in SIZES {
            let workload = Workload::new(bytes, Script::Ascii);
            let times = if limit == 1 { (16 * 1024 / bytes).max(1) } else { 2 * workload.frames.len() };
            push_decoders(&mut cases, &format!("decode {size}, {reads}"), workload, limit, times);
        }
    }
    for (size, bytes) in &SIZES[2..] {
        let workload = Workload::new(*bytes, Script::Mixed);
        let times = 2 * workload.frames.len();
        push_decoders(&mut cases, &format!("decode {size}, multi-byte"), workload, usize::MAX, times);
    }
    for (size, bytes) in &SIZES[..4] {
        let workload = Workload::new(*bytes, Script::Ascii);
        let times = workload.frames.len().next_multiple_of(64);
        let mut push = |name: &str, run: Box<dyn FnMut(usize)>| {
            cases.push(Case { name: format!("{name} {size}"), run, times });
        };
        push("floor: encode", Box::new(floor::encode(workload)));
        push("server encode", Box::new(ours::encode_server(workload, |_| {})));
        push("server encode, 64 a write,", Box::new(ours::encode_server_batched(workload, 64)));
        push("client encode", Box::new(ours::encode_client(workload, |_| {})));
        cases.push(Case {
            name: format!("echo {size}"),
            run: Box::new(ours::echo(workload)),
            times: 4 * workload.frames.len(),
        });
    }
    let mut push = |name: &str, run: Box<dyn FnMut(usize)>| {
        cases.push(Case { name: name.into(), run, times: 64 });
    };
    push("floor: handshake", Box::new(floor::handshake(request())));
    push("handshake", Box::new(ours::handshake(request())));
    #[cfg(feature = "check")]
    cases.extend(crate::mcp::counted::cases());
    cases
}

fn push_decoders(cases: &mut Vec<Case>, name: &str, workload: &'static Workload, limit: usize, times: usize) {
    let floor = decoder(floor::decode(workload, limit, Passes::CopyXorUtf8));
    cases.push(Case { name: format!("floor: {name}"), run: floor, times });
    cases.push(Case { name: name.into(), run: decoder(ours::decode(workload, limit)), times });
}

/// Returns a function that makes a decoder receive this many more messages.
pub fn decoder(mut decode: impl FnMut(&mut Tally, usize) + 'static) -> Box<dyn FnMut(usize)> {
    let mut tally = Tally::default();
    Box::new(move |times| {
        let until = tally.messages() + times;
        decode(&mut tally, until);
    })
}
