//! `ws_echo` as a process.

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

use getrandom::SysRng;
use ide_mcp::{Time, ws};
use ide_mcp_blocking::Conn;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The process, which would run for ever.
struct Echo(Child);

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn everything_comes_back_on_every_connection() {
    // Tests lie in target/*/deps, the programs beside it in examples.
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/ws_echo");
    let arguments = ["--port", "0", "--subprotocol", "mcp"];
    let mut echo = Echo(Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(echo.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(said["event"], "listening");
    let port = u16::try_from(said["port"].as_u64().unwrap()).unwrap();

    for offers in [true, false] {
        let mut ask = ws::Ask::new(format!("127.0.0.1:{port}"));
        if offers {
            ask = ask.subprotocol("other").subprotocol("mcp");
        }
        let machine = ws::Client::new(ask, SysRng, ws::Limits::default(), Time::ZERO).unwrap();
        let mut conn = Conn::connect(("127.0.0.1", port), machine).unwrap();
        let (text, bytes) = ("schön ".repeat(100_000), vec![0xfe; 3 << 20]);
        let mut back = Vec::new();
        while let Some(event) = conn.next_event() {
            match &event {
                ws::OwnedEvent::Open { subprotocol } => {
                    assert_eq!(subprotocol.as_deref(), offers.then_some("mcp"));
                    conn.machine_mut().sender().text(&text).unwrap();
                    conn.machine_mut().sender().binary(&bytes).unwrap();
                }
                ws::OwnedEvent::Binary(_) => {
                    conn.machine_mut().sender().close(ws::CloseCode::NORMAL, "").unwrap();
                }
                _ => {}
            }
            back.push(event);
        }
        let expected = [
            ws::OwnedEvent::Text(text),
            ws::OwnedEvent::Binary(bytes),
            ws::OwnedEvent::Closed(ws::Closed::ByUs { answered: true }),
        ];
        assert!(back.ends_with(&expected), "{} events, offering: {offers}", back.len());
    }
}
