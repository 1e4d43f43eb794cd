//! Connections of a host that have not been let in: how many there may be, and who goes first.
#![cfg(feature = "ide")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

use ide_mcp::ide::{
    AuthToken, ConnId, Host, HostConfig, HostEvent, Policy, ServerConfig, ServerEvent, ToolSet,
};
use ide_mcp::mcp::Implementation;
use ide_mcp::{Machine, Time};

#[test]
fn each_stranger_above_the_limit_ends_the_oldest_even_before_anything_is_polled() {
    let token = AuthToken::from_text("token").unwrap();
    let server = ServerConfig::new(Implementation::new("editor", "1"), Policy::new(1, token), ToolSet::new());
    let mut config = HostConfig::new(server);
    config.strangers = 3;
    let mut host = Host::new(config);
    let ids: Vec<ConnId> = (0..10).map(|_| host.connect(Time::ZERO)).collect();
    let mut ended = Vec::new();
    while let Some(event) = host.poll_event() {
        match event {
            HostEvent::Connection { conn, event: ServerEvent::Closed(_) } => ended.push(conn),
            other => panic!("{other:?}"),
        }
    }
    ended.sort();
    assert_eq!(ended, ids[..7]);
}
