//! The fuzz targets. Each takes arbitrary bytes, and panics if a property does not hold.
//! [`Run`](crate::support::run::Run) asserts the laws of `src/machine.rs` that concern a single step.

mod answers;
mod calls;
mod differential;
mod discovery;
mod expectations;
mod foreign;
mod frames;
mod handshake;
mod ide_client;
mod ide_server;
mod pair;
mod peer_text;
mod rpc;
mod rpc_script;
mod script;

pub use crate::sessions::{mcp_client_script, mcp_server_script};
pub use differential::against_tungstenite;
pub use discovery::{lockfile, paths};
pub use frames::frames;
pub use handshake::{handshake_client, handshake_server};
pub use ide_client::{ide_client_script, ide_client_script_hits, random_ide_client_script};
pub use ide_server::ide_server_script;
pub use pair::pair;
pub use rpc::rpc_text;
pub use rpc_script::{rpc_script, rpc_script_hits};
pub use script::{ws_client_script, ws_server_script};

use crate::support::laws::{EventOf, Subject};
use crate::support::run::Run;
use ide_mcp::ws::OwnedEvent;

/// Checks that every event of a connection can be shown, and that the reason for its end is one line.
fn check_display(events: &[OwnedEvent]) {
    for event in events {
        assert!(!format!("{event:?}").is_empty());
        if let OwnedEvent::Closed(closed) = event {
            let reason = closed.to_string();
            assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}");
        }
    }
}

/// The results of a run.
#[derive(Debug)]
pub struct Outcome<E> {
    pub events: Vec<E>,
    pub shown: Vec<String>,
    pub output: Vec<u8>,
}

/// Feeds each round in pieces while the machine wants input, writes all output before each round, and ends the run.
/// According to law 2, the result must not depend on the pieces within a round.
fn outcome<S: Subject>(subject: &S, rounds: &[&[u8]], piece: usize, app: u64) -> Outcome<EventOf<S>>
where
    EventOf<S>: Clone,
{
    let mut run = Run::new(subject, app, app);
    for round in rounds {
        run.write(usize::MAX);
        run.settle();
        for piece in round.chunks(piece.max(1)) {
            if run.wants_input() {
                run.feed(run.now(), piece);
                run.settle();
            }
        }
    }
    run.finish();
    Outcome {
        events: run.record().events.clone(),
        shown: run.shown().to_vec(),
        output: run.record().output.clone(),
    }
}

/// Runs [`outcome`] with several sizes of pieces, which must give the same results. Returns the first outcome.
fn outcome_of_any_cut<S: Subject>(subject: &S, rounds: &[&[u8]], app: u64) -> Outcome<EventOf<S>>
where
    EventOf<S>: Clone,
{
    let whole = outcome(subject, rounds, usize::MAX, app);
    for piece in [1, 7] {
        let cut = outcome(subject, rounds, piece, app);
        assert_eq!(whole.shown, cut.shown, "cut into pieces of {piece}");
        assert_eq!(whole.output.escape_ascii().to_string(), cut.output.escape_ascii().to_string(), "{piece}");
    }
    whole
}
