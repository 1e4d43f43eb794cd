//! The test tools of this crate, for the tests of programs that build on it: two machines joined in
//! virtual time, numbers that look random, and scripts that a fuzzer can write. Enable the feature
//! `testing` for tests alone.
//!
//! ```text
//!            ┌───────── to_server: Link ◀────────┐
//!            ▼                                   │
//!  server (Wire + Machine)      now      client (Wire + Machine)
//!            │                                   ▲
//!            └───────▶ to_client: Link ──────────┘
//!
//!  Step ── Act: an application does something
//!       ── Link: bytes come in pieces, late, not for a while, or never again
//!       ── Wait, Sleep, Due: the time moves on
//! ```
//!
//! A [`Pair`] owns both machines and the time. Nothing happens by itself: [`settle`](Pair::settle)
//! moves bytes and events until both are idle, and [`advance`](Pair::advance) lets time pass,
//! deadline by deadline. So a virtual day takes no longer than a second, and a seed or the bytes of
//! a script repeat every run.
//!
//! # A fuzz target of your own
//!
//! The body of a fuzz target is a function of bytes, which `cargo test` can replay as well. One
//! line makes the function a target:
//! `libfuzzer_sys::fuzz_target!(|data: &[u8]| an_editor_answers(data));`
//!
//! ```
//! use ide_mcp::ide::{Client, ClientConfig, ClientEvent, DiffOutcome, Policy, Server, ServerConfig, ServerEvent};
//! use ide_mcp::ide::{Tool, ToolCall, ToolSet};
//! use ide_mcp::mcp::{Implementation, ToolResult};
//! use ide_mcp::rpc::SessionId;
//! use ide_mcp::testing::{AgentAct, Pair, Random, script};
//! use ide_mcp::Time;
//!
//! fn an_editor_answers(data: &[u8]) {
//!     let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
//!     let policy = Policy::without_authentication(1);
//!     let server = ServerConfig::new(Implementation::new("my editor", "1"), policy, tools);
//!     let client = ClientConfig::new(Implementation::new("agent", "1"), 1, None);
//!     let mut pair = Pair::new(
//!         Server::new(server, SessionId::new(1), Time::ZERO),
//!         Client::new(client, Random::new(1), SessionId::new(2), Time::ZERO).unwrap(),
//!         Time::ZERO,
//!     );
//!     // This stands for the application under test.
//!     let mut editor = |server: &mut Server, event: &ServerEvent| match event {
//!         ServerEvent::Call(ToolCall::OpenDiff(call, diff)) => {
//!             let verdict = DiffOutcome::Accepted { contents: diff.new_file_contents.clone() };
//!             server.call(call.id()).respond(&ToolResult::diff(&verdict)).unwrap();
//!         }
//!         ServerEvent::Call(call) => server.call(call.id()).respond(&ToolResult::diagnostics(&[])).unwrap(),
//!         _ => {}
//!     };
//!     let mut asked = Vec::new();
//!     for step in script::<AgentAct>(data) {
//!         if let Some(act) = pair.play(&step, &mut editor, |_, _| {}) {
//!             act.on(&mut pair.client, &mut asked);
//!         }
//!         pair.settle_with(&mut editor, |_, _| {});
//!     }
//!     pair.finish_with(&mut editor, |_, _| {});
//!     // On any link, each request has ended once.
//!     for request in asked {
//!         let ends = |event: &&ClientEvent| matches!(event, ClientEvent::Outcome { request: r, .. } if *r == request);
//!         assert_eq!(pair.client_events.iter().filter(ends).count(), 1);
//!     }
//! }
//!
//! an_editor_answers(b"any bytes are a script, and the same bytes are the same script");
//! ```

#[cfg(feature = "ide")]
mod agent;
mod link;
#[cfg(feature = "mcp")]
mod message;
#[cfg(feature = "mcp")]
mod messages;
mod pair;
mod random;
mod script;
#[cfg(feature = "ide")]
mod tracer;

#[cfg(feature = "ide")]
pub use agent::AgentAct;
pub use arbitrary;
pub use link::Link;
#[cfg(feature = "mcp")]
pub use message::Said;
#[cfg(feature = "mcp")]
pub use messages::Messages;
pub use pair::Pair;
pub use random::Random;
pub use script::{Change, Span, Step, Way, script};
#[cfg(feature = "ide")]
pub use tracer::Tracer;
