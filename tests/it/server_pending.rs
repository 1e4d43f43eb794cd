//! Pending (unauthenticated) connections of a server: their limit, which of them ends first, and
//! their counts.

use crate::support::passes::lose;
use ide_mcp::Time;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::{Auth, AuthFailure, ConnId, Policy, Server, ServerConfig, ServerEvent, Unauthenticated};
use ide_mcp::testing::pass;

fn editor(token: &str) -> ServerConfig {
    let token = AuthToken::from_text(token).unwrap();
    ServerConfig::new("editor", "1").policy(Policy::new(1, Auth::Token(token)))
}

fn request(token: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         X-Claude-Code-Ide-Authorization: {token}\r\n\r\n"
    )
}

fn counts(server: &Server) -> (u64, u64, u64) {
    let Unauthenticated { refused, wrong_tokens, ended, .. } = server.unauthenticated();
    (refused, wrong_tokens, ended)
}

#[test]
fn pending_connection_above_limit_ends_the_oldest() {
    let mut config = editor("token");
    config.max_pending_connections = 3;
    let mut server = Server::new(config);
    let ids: Vec<ConnId> = (0..10).map(|_| server.connect(Time::ZERO)).collect();
    let passed = pass(&mut server, Time::ZERO, usize::MAX);
    assert!(passed.events.is_empty(), "a pending connection has no events");
    assert_eq!(counts(&server), (0, 0, 7));
    assert_eq!(passed.closed, ids[..7], "the oldest seven are over");
}

#[test]
fn unauthenticated_ends_are_counted_by_reason() {
    let right = request("token");
    let without = right.replace("X-Claude-Code-Ide-Authorization: token\r\n", "");
    let cases: [(&str, String, bool, (u64, u64, u64)); 10] = [
        ("no byte", String::new(), false, (0, 0, 1)),
        ("a part of the head", "GET / HTTP/1.1\r\n".into(), false, (0, 0, 1)),
        ("no HTTP", "hello\r\n\r\n".into(), false, (1, 0, 0)),
        ("another server", right.replace("127.0.0.1", "evil.example"), false, (1, 0, 0)),
        ("a wrong token", request("kot"), false, (1, 1, 0)),
        ("a wrong token, closed after the upgrade", request("kot"), true, (1, 1, 0)),
        ("an empty token", request(""), false, (1, 1, 0)),
        (
            "two tokens",
            right.replace("\r\n\r\n", "\r\nX-Claude-Code-Ide-Authorization: token\r\n\r\n"),
            false,
            (1, 1, 0),
        ),
        ("no token", without.clone(), false, (1, 0, 0)),
        ("no token, closed after the upgrade", without, true, (1, 0, 0)),
    ];
    for (name, head, after_upgrade, expected) in cases {
        let mut config = editor("token");
        if after_upgrade {
            config.policy.auth_failure = AuthFailure::CloseAfterUpgrade;
        }
        let mut server = Server::new(config);
        let conn = server.connect(Time::ZERO);
        server.feed(Time::ZERO, conn, head.as_bytes());
        assert!(pass(&mut server, Time::ZERO, 0).events.is_empty(), "{name}");
        lose(&mut server, Time::ZERO, conn);
        let passed = pass(&mut server, Time::ZERO, 0);
        assert!(passed.events.is_empty() && passed.unwritten.is_empty(), "{name}: {passed:?}");
        assert_eq!(passed.closed, [conn], "{name}");
        assert_eq!(counts(&server), expected, "{name}");
        assert_eq!((server.connections().count(), server.deadline()), (0, None), "{name}");
    }
}

#[test]
fn accepted_client_is_not_counted_as_unauthenticated() {
    let mut server = Server::new(editor("token"));
    let conn = server.connect(Time::ZERO);
    server.feed(Time::ZERO, conn, request("token").as_bytes());
    assert!(pass(&mut server, Time::ZERO, 0).events.is_empty());
    lose(&mut server, Time::ZERO, conn);
    let events = pass(&mut server, Time::ZERO, 0).events;
    assert!(matches!(events[..], [ServerEvent::Closed { .. }]), "{events:?}");
    assert_eq!(server.unauthenticated().total(), 0);
}
