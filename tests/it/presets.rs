//! The request target of an agent.

use crate::support::ide::{PORT, config, token};
use ide_mcp::{
    Time, Wire as _,
    ide::{Client, ClientConfig, ClientEvent, Server, ServerConfig},
    mcp::Implementation,
    rpc::SessionId,
    testing::{Pair, Random},
    ws::{Closed, InvalidClientRequest, ResponseError},
};

fn client(config: ClientConfig) -> Result<Client, InvalidClientRequest> {
    Client::new(config, Random::new(1), SessionId::new(2), Time::ZERO)
}

fn server(config: ServerConfig) -> Server {
    Server::new(config, SessionId::new(1), Time::ZERO)
}

fn info() -> Implementation {
    Implementation::new("x", "1")
}

#[test]
fn agent_asks_for_its_target() {
    let head = |target: &str| {
        let mut config = ClientConfig::new(info(), PORT, None);
        config.target = target.into();
        client(config).map(|client| String::from_utf8(client.outgoing().to_vec()).unwrap())
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
        let mut pair = Pair::new(server(editor), client(agent).unwrap(), Time::ZERO);
        pair.settle();
        assert_eq!(pair.client.is_ready(), opens, "{target}");
        let refused = |event: &ClientEvent| {
            matches!(event, ClientEvent::Closed(Closed::NotAccepted(ResponseError::Status(404, _))))
        };
        assert_eq!(pair.client_events.iter().any(refused), !opens, "{target}");
    }
}
