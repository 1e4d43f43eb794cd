//! What a dialect sets in one call, on both sides, and the request target of an agent.

use crate::support::ide::{PORT, config, token};
use ide_mcp::{
    Keepalive, Time,
    ide::{Auth, Client, ClientConfig, ClientEvent, Dialect, Policy, Server, ServerConfig},
    mcp::Implementation,
    rpc::SessionId,
    testing::{Pair, Random, pass},
    ws::{Closed, InvalidClientRequest, NotAccepted},
};

fn client(config: ClientConfig) -> Result<Client, InvalidClientRequest> {
    Client::new(config, Random::new(1).source(), SessionId::new(2), Time::ZERO)
}

/// Returns an editor and this agent, after the opening handshake.
fn settled(config: ServerConfig, client: Client) -> Pair<Server, Client> {
    let mut server = Server::new(config);
    let conn = server.connect(Time::ZERO);
    let mut pair = Pair::joined(server, conn, client, Time::ZERO);
    pair.settle();
    pair
}

fn info() -> Implementation {
    Implementation::new("x", "1")
}

#[test]
fn agent_asks_for_its_target() {
    let head = |target: &str| {
        let mut config = ClientConfig::new(info(), PORT, None);
        config.target = target.into();
        client(config).map(|mut client| {
            String::from_utf8(pass(&mut client, Time::ZERO, usize::MAX).written_bytes()).unwrap()
        })
    };
    assert!(head("/").unwrap().starts_with("GET / HTTP/1.1\r\n"));
    assert!(head("/mcp?a=b").unwrap().starts_with("GET /mcp?a=b HTTP/1.1\r\n"));
    for (name, target) in [
        ("nothing", ""),
        ("no slash in front", "mcp"),
        ("an absolute form", "http://127.0.0.1:41111/mcp"),
        ("a space", "/a b"),
        ("a line break", "/\r\nX: y"),
        ("a fragment", "/a#b"),
        ("no ASCII", "/\u{e9}"),
    ] {
        assert_eq!(head(target).err(), Some(InvalidClientRequest::Target), "{name}");
    }
    assert_eq!(ClientConfig::new(info(), PORT, None).target, "/");
}

#[test]
fn target_opens_only_its_editor() {
    for (target, opens) in [("/mcp", true), ("/", false), ("/mcp?a", false)] {
        let mut editor = config();
        editor.policy.paths = vec!["/mcp".into()];
        let mut agent = ClientConfig::new(info(), PORT, Some(token()));
        agent.target = target.into();
        let pair = settled(editor, client(agent).unwrap());
        assert_eq!(pair.client.is_ready(), opens, "{target}");
        let refused = |event: &ClientEvent| {
            matches!(event, ClientEvent::Closed(Closed::NotAccepted(NotAccepted::Status(404, _))))
        };
        assert_eq!(pair.client_events.iter().any(refused), !opens, "{target}");
    }
}

#[test]
fn dialect_brings_its_rules_for_clients() {
    let cases = [
        (Dialect::VsCode, false, "HTTP/1.1 401 ", None, "/"),
        (Dialect::JetBrains, true, "HTTP/1.1 101 ", Some(Keepalive::JSON_RPC), "/"),
        (Dialect::SnakeCase, true, "HTTP/1.1 101 ", Some(Keepalive::JSON_RPC), "/mcp"),
        (Dialect::Obsidian, false, "HTTP/1.1 401 ", None, "/"),
    ];
    assert_eq!(cases.map(|case| case.0), Dialect::ALL);
    for (dialect, subprotocol, wrong_token, ping, target) in cases {
        let editor =
            |policy| ServerConfig::new(info().name, info().version).policy(policy).for_dialect(dialect);
        let config = editor(Policy::new(PORT, Auth::Token(token())));
        assert_eq!(config.dialect, dialect);
        assert_eq!(config.policy.subprotocol_required, subprotocol, "{dialect:?}");
        assert_eq!(config.mcp.keepalive, ping, "{dialect:?}");
        // The real client asks for `/`, and two descriptions have `/mcp`.
        for pending in ["/", "/mcp"] {
            let mut agent = ClientConfig::for_dialect(dialect, info(), PORT, Some(token()));
            assert_eq!((agent.dialect, agent.target.as_str()), (dialect, target));
            agent.target = pending.into();
            let pair = settled(config.clone(), client(agent).unwrap());
            assert!(pair.client.is_ready(), "{dialect:?} {pending}");
        }
        // A client without the token.
        let mut agent = client(ClientConfig::for_dialect(dialect, info(), PORT, None)).unwrap();
        let mut editor = Server::new(config);
        let conn = editor.connect(Time::ZERO);
        editor.feed(Time::ZERO, conn, &pass(&mut agent, Time::ZERO, usize::MAX).written_bytes());
        let passed = pass(&mut editor, Time::ZERO, usize::MAX);
        assert!(passed.events.is_empty(), "{dialect:?}: {:?}", passed.events);
        let answer = passed.written_bytes();
        assert!(answer.starts_with(wrong_token.as_bytes()), "{dialect:?}");
        // 1008 follows the 101.
        let is_closed = answer.windows(2).any(|code| code == 1008_u16.to_be_bytes());
        assert_eq!(is_closed, wrong_token.contains("101"), "{dialect:?}");
    }
}
