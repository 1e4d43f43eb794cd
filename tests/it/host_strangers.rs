//! Pending (unauthenticated) connections of a host: their limit, which of them ends first, and
//! their counts.

use ide_mcp::ide::{
    AuthFailure, AuthToken, ConnId, Policy, Server, ServerConfig, ServerEvent, Unauthenticated,
};
use ide_mcp::{Machine, Time, Wire};

fn editor(token: &str) -> ServerConfig {
    let token = AuthToken::from_text(token).unwrap();
    ServerConfig::new("editor", "1").policy(Policy::new(1, token))
}

fn request(token: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         X-Claude-Code-Ide-Authorization: {token}\r\n\r\n"
    )
}

fn counts(host: &Server) -> (u64, u64, u64) {
    let Unauthenticated { refused, wrong_tokens, ended, .. } = host.unauthenticated();
    (refused, wrong_tokens, ended)
}

#[test]
fn pending_connection_above_limit_ends_the_oldest() {
    let mut config = editor("token");
    config.max_pending_connections = 3;
    let mut host = Server::new(config);
    let ids: Vec<ConnId> = (0..10).map(|_| host.connect(Time::ZERO)).collect();
    assert!(host.poll_event().is_none(), "a pending connection has no events");
    assert_eq!(counts(&host), (0, 0, 7));
    let done: Vec<ConnId> = std::iter::from_fn(|| host.poll_transmit()).collect();
    assert_eq!(done, ids[..7], "the oldest seven are done");
}

#[test]
fn unauthenticated_ends_are_counted_by_reason() {
    let right = request("token");
    let without = right.replace("X-Claude-Code-Ide-Authorization: token\r\n", "");
    let cases: [(&str, String, bool, (u64, u64, u64)); 10] = [
        ("no byte", String::new(), false, (0, 0, 1)),
        ("a part of the head", "GET / HTTP/1.1\r\n".into(), false, (0, 0, 1)),
        ("no HTTP", "hello\r\n\r\n".into(), false, (1, 0, 0)),
        ("another host", right.replace("127.0.0.1", "evil.example"), false, (1, 0, 0)),
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
        let mut host = Server::new(config);
        let conn = host.connect(Time::ZERO);
        host.wire(conn).unwrap().feed(Time::ZERO, head.as_bytes());
        assert!(host.poll_event().is_none(), "{name}");
        host.remove(Time::ZERO, conn);
        assert!(host.poll_event().is_none() && host.poll_transmit().is_none(), "{name}");
        assert_eq!(counts(&host), expected, "{name}");
        assert_eq!((host.connections().count(), host.deadline()), (0, None), "{name}");
    }
}

#[test]
fn accepted_client_is_not_counted_as_unauthenticated() {
    let mut host = Server::new(editor("token"));
    let conn = host.connect(Time::ZERO);
    host.wire(conn).unwrap().feed(Time::ZERO, request("token").as_bytes());
    assert!(host.poll_event().is_none());
    host.remove(Time::ZERO, conn);
    let event = host.poll_event();
    assert!(matches!(event, Some(ServerEvent::Closed { .. })), "{event:?}");
    assert_eq!(host.unauthenticated().total(), 0);
}
