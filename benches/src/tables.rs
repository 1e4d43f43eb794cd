//! The tables in memory: decoding, encoding and the handshake, each a race of all contestants.

use crate::cases::{READS, SIZES, decoder};
use crate::floor::{self, Passes};
use crate::handshake::request;
use crate::measure::{Contestant, race};
use crate::ours;
#[cfg(feature = "peers")]
use crate::peers;
use crate::table::{OURS, Table};
use crate::tally::Tally;
use crate::workload::{Drain, Script, Workload};

type Decode = Box<dyn FnMut(&mut Tally, usize)>;

/// Measures receiving as a server.
pub fn decode(rounds: usize) -> Vec<Table> {
    let mut tables = Vec::new();
    for (reads, limit) in READS {
        let mut table = Table::new(format!("decode, {reads}"));
        // With single bytes, the slowest contestant takes a second for a text of 1 MiB, so leave that size
        // out.
        let sizes = if limit == 1 { &SIZES[..4] } else { &SIZES[..] };
        for (size, bytes) in sizes {
            let workload = Workload::new(*bytes, Script::Ascii);
            table.add(size, race(decoders(workload, limit), rounds));
        }
        tables.push(table);
    }
    let mut table = Table::new("decode, multi-byte".into());
    for (size, bytes) in &SIZES[2..] {
        let workload = Workload::new(*bytes, Script::Mixed);
        table.add(size, race(decoders(workload, usize::MAX), rounds));
    }
    tables.push(table);
    tables
}

/// Measures sending, with each message written at once.
pub fn encode(rounds: usize) -> Vec<Table> {
    let roles: [(&str, fn(&'static Workload) -> Vec<Contestant>); 2] =
        [("server encode", server_encoders), ("client encode", client_encoders)];
    let mut tables = Vec::new();
    for (name, encoders) in roles {
        let mut table = Table::new(name.into());
        for (size, bytes) in SIZES {
            table.add(size, race(encoders(Workload::new(bytes, Script::Ascii)), rounds));
        }
        tables.push(table);
    }
    tables
}

/// Measures opening as a server.
pub fn handshake(rounds: usize) -> Vec<Table> {
    let mut table = Table::new("handshake".into());
    let contestants = vec![
        Contestant::new("floor: httparse + sha1 + base64", floor::handshake(request())),
        Contestant::new(OURS, ours::handshake(request())),
        #[cfg(feature = "peers")]
        Contestant::new("tungstenite", peers::tungstenite::handshake(request())),
        #[cfg(feature = "peers")]
        Contestant::new("tokio-websockets", peers::tokio_websockets::handshake(request())),
        #[cfg(feature = "peers")]
        Contestant::new("soketto", peers::soketto::handshake(request())),
        #[cfg(feature = "peers")]
        Contestant::new("sockudo-ws (functions)", peers::sockudo_ws::handshake(request())),
        #[cfg(feature = "peers")]
        Contestant::new("websocket-codec + httparse", peers::websocket_codec::handshake(request())),
    ];
    table.add("request", race(contestants, rounds));
    vec![table]
}

/// Returns all decoders, after checking that each receives the texts that were sent.
fn decoders(workload: &'static Workload, limit: usize) -> Vec<Contestant> {
    let floor = |passes| Box::new(floor::decode(workload, limit, passes));
    let all: Vec<(&'static str, Decode)> = vec![
        ("floor: copy", floor(Passes::Copy)),
        ("floor: copy + xor + utf8", floor(Passes::CopyXorUtf8)),
        ("floor: copy + xor + simdutf8", floor(Passes::CopyXorSimdUtf8)),
        (OURS, Box::new(ours::decode(workload, limit))),
        #[cfg(feature = "peers")]
        ("tungstenite", Box::new(peers::tungstenite::decode(workload, limit))),
        #[cfg(feature = "peers")]
        ("fastwebsockets", Box::new(peers::fastwebsockets::decode(workload, limit))),
        #[cfg(feature = "peers")]
        ("tokio-websockets", Box::new(peers::tokio_websockets::decode(workload, limit))),
        #[cfg(feature = "peers")]
        ("sockudo-ws", Box::new(peers::sockudo_ws::decode(workload, limit))),
        #[cfg(feature = "peers")]
        ("sockudo-ws (protocol)", Box::new(peers::sockudo_ws::decode_protocol(workload, limit))),
        #[cfg(feature = "peers")]
        ("websocket-codec", Box::new(peers::websocket_codec::decode(workload, limit))),
        #[cfg(feature = "peers")]
        ("websocket-codec (bare)", Box::new(peers::websocket_codec::decode_bare(workload, limit))),
    ];
    all.into_iter()
        .map(|(name, mut decode)| {
            // Some decoders return all messages of a read at once, so the next pass may begin in the middle
            // of a cycle.
            let mut tally = workload.checking();
            decode(&mut tally, 2 * workload.texts.len());
            Contestant { name, run: decoder(decode) }
        })
        .collect()
}

fn server_encoders(workload: &'static Workload) -> Vec<Contestant> {
    let mut drain = Drain::default();
    vec![
        Contestant::new("floor: memcpy", floor::encode(workload)),
        Contestant::new(OURS, ours::encode_server(workload, move |bytes| drain.write(bytes))),
        #[cfg(feature = "peers")]
        Contestant::new(
            "tungstenite",
            peers::tungstenite::encode(workload, ::tungstenite::protocol::Role::Server),
        ),
        #[cfg(feature = "peers")]
        Contestant::new(
            "fastwebsockets",
            peers::fastwebsockets::encode(workload, ::fastwebsockets::Role::Server),
        ),
        #[cfg(feature = "peers")]
        Contestant::new("tokio-websockets", peers::tokio_websockets::encode_server(workload)),
        #[cfg(feature = "peers")]
        Contestant::new("sockudo-ws", peers::sockudo_ws::encode(workload, ::sockudo_ws::Role::Server)),
        #[cfg(feature = "peers")]
        Contestant::new(
            "websocket-codec",
            peers::websocket_codec::encode(workload, ::websocket_codec::MessageCodec::server()),
        ),
    ]
}

fn client_encoders(workload: &'static Workload) -> Vec<Contestant> {
    let mut drain = Drain::default();
    vec![
        Contestant::new("floor: memcpy", floor::encode(workload)),
        Contestant::new(OURS, ours::encode_client(workload, move |bytes| drain.write(bytes))),
        #[cfg(feature = "peers")]
        Contestant::new(
            "tungstenite",
            peers::tungstenite::encode(workload, ::tungstenite::protocol::Role::Client),
        ),
        #[cfg(feature = "peers")]
        Contestant::new(
            "fastwebsockets",
            peers::fastwebsockets::encode(workload, ::fastwebsockets::Role::Client),
        ),
        #[cfg(feature = "peers")]
        Contestant::new("tokio-websockets", peers::tokio_websockets::encode_client(workload)),
        #[cfg(feature = "peers")]
        Contestant::new("sockudo-ws", peers::sockudo_ws::encode(workload, ::sockudo_ws::Role::Client)),
        #[cfg(feature = "peers")]
        Contestant::new(
            "websocket-codec",
            peers::websocket_codec::encode(workload, ::websocket_codec::MessageCodec::client()),
        ),
    ]
}
