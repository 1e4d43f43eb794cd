//! The threats to an editor that accepts clients, and the files with the tests against each threat. A
//! test fails if one of these files has lost its test. Threats that belong to no single file are tested
//! below.
//!
//! The first letter of an id is the topic: N is access to the socket, H the opening handshake, F frames,
//! P paths, L lock files and discovery, E embedding. `mcp_invariants.rs` checks J, the JSON rows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::ide::{
    ACCEPTED, CLOSE, Editor, HEAD, INITIALIZE, PORT, at, config, masked, read, shown, text,
};
use ide_mcp::Time;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::{Auth, AuthFailure, Client, ClientConfig, Policy, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::{Random, pass, pass_with};
use ide_mcp::ws::{CloseCode, Closed, ProtocolError};

/// Each threat, and the files with tests whose names have its mark, such as `h04_…`.
const LEDGER: &[(&str, &[&str])] = &[
    ("n01", &["tests/it/ide_refusals.rs"]),
    ("n02", &["tests/it/ide_refusals.rs"]),
    ("n03", &["tests/it/ide_refusals.rs"]),
    ("n04", &["adapters/tests/main.rs", "tests/it/threats.rs"]),
    ("n05", &["adapters/tests/main.rs", "adapters/driver/tests/it/steps.rs", "tests/it/server_pressure.rs"]),
    ("n06", &["adapters/tests/main.rs"]),
    ("n07", &["tests/it/ide_consent.rs", "tests/it/server_consent.rs"]),
    ("h01", &["tests/it/ide_refusals.rs"]),
    ("h02", &["tests/it/ide_refusals.rs", "tests/it/ws_handshake.rs"]),
    ("h03", &["tests/it/ws_handshake.rs"]),
    ("h04", &["tests/it/ide_refusals.rs"]),
    ("h05", &["src/ws/request.rs"]),
    ("h06", &["tests/it/ide_refusals.rs"]),
    ("h07", &["src/ws/request.rs"]),
    ("h08", &["tests/it/ide_refusals.rs", "src/ide/discovery/token.rs"]),
    ("h09", &["tests/it/ide_refusals.rs", "tests/it/threats.rs"]),
    ("h10", &["tests/it/ws_handshake.rs"]),
    ("h11", &["tests/it/ide_refusals.rs"]),
    ("f21", &["tests/it/threats.rs"]),
    ("p01", &["src/ide/paths/tests.rs"]),
    ("p02", &["adapters/lockfile/tests/it/resolve.rs"]),
    ("p03", &["adapters/lockfile/tests/it/resolve.rs"]),
    ("p04", &["src/ide/paths/tests.rs"]),
    ("p05", &["src/ide/paths/tests.rs"]),
    ("p06", &["src/ide/paths/tests.rs"]),
    ("p07", &["src/ide/paths/tests.rs"]),
    ("p08", &["src/ide/kit/display.rs"]),
    ("l01", &["adapters/lockfile/tests/umask.rs", "adapters/lockfile/tests/it/planted.rs"]),
    ("l02", &["adapters/lockfile/tests/it/publish.rs"]),
    ("l03", &["adapters/lockfile/tests/it/publish.rs"]),
    ("l04", &["adapters/lockfile/tests/it/planted.rs", "adapters/lockfile/tests/it/scan.rs"]),
    ("l05", &["adapters/tests/main.rs"]),
    (
        "l06",
        &[
            "src/ide/discovery/leftover.rs",
            "adapters/lockfile/tests/it/leftovers.rs",
            "adapters/tests/main.rs",
        ],
    ),
    ("l07", &["src/ide/discovery/locate.rs"]),
    ("l08", &["adapters/lockfile/tests/it/folders.rs"]),
    ("l09", &["src/ide/discovery/lock_file/form.rs"]),
    (
        "l10",
        &[
            "src/ide/discovery/token.rs",
            "src/ide/discovery/mcp_config.rs",
            "adapters/lockfile/tests/it/environment.rs",
        ],
    ),
    ("l11", &["tests/it/threats.rs"]),
    ("l12", &["src/ide/discovery/launch_env.rs"]),
    ("l13", &["adapters/lockfile/src/owner.rs", "cli/tests/it/impostor.rs"]),
    (
        "l14",
        &["tests/it/threats.rs", "adapters/driver/src/server/proof.rs", "adapters/mio/tests/it/resume.rs"],
    ),
    ("l15", &["adapters/lockfile/tests/it/planted.rs"]),
    ("l16", &["adapters/lockfile/src/published.rs"]),
    ("l17", &["adapters/lockfile/tests/it/scopes.rs"]),
    ("l18", &["adapters/lockfile/tests/it/publish.rs"]),
    ("e01", &["tests/it/server_pressure.rs"]),
    ("e02", &["tests/it/server_pressure.rs"]),
    ("e03", &["adapters/tests/main.rs", "adapters/mio/tests/it/pressure.rs"]),
    ("e04", &["adapters/tests/main.rs"]),
    ("e05", &["tests/it/threats.rs"]),
    ("e06", &["tests/it/threats.rs"]),
    ("e07", &["tests/it/threats.rs", "adapters/lockfile/tests/it/publish.rs", "cli/tests/it/tap/mod.rs"]),
    ("e08", &["tests/it/threats.rs"]),
    ("e09", &["tests/it/server_pressure.rs"]),
    ("e10", &["tests/it/server_pressure.rs"]),
];

fn file(path: &str) -> String {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

/// Returns the words in the names of the tests of a file. Marks are among them.
fn marks(source: &str) -> BTreeSet<String> {
    let mut marks = BTreeSet::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
            if is_test {
                marks.extend(name.split('_').map(str::to_owned));
            }
            is_test = false;
        } else {
            is_test = line == "#[test]" || (is_test && line.starts_with("#["));
        }
    }
    marks
}

#[test]
fn every_threat_has_its_tests() {
    let all: [(char, u32, u32); 6] =
        [('n', 1, 7), ('h', 1, 11), ('f', 21, 21), ('p', 1, 8), ('l', 1, 18), ('e', 1, 10)];
    let all: Vec<String> = all
        .into_iter()
        .flat_map(|(letter, first, last)| (first..=last).map(move |number| format!("{letter}{number:02}")))
        .collect();
    let listed: Vec<&str> = LEDGER.iter().map(|row| row.0).collect();
    assert_eq!(listed, all, "each threat has a row");
    let mut missing = Vec::new();
    for (id, files) in LEDGER {
        assert!(!files.is_empty(), "{id}");
        for path in *files {
            if !marks(&file(path)).contains(*id) {
                missing.push(format!("{id} in {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "no test has the mark of {missing:#?}");
}

#[test]
fn every_threat_has_a_row_on_the_page() {
    let page = file("docs/SECURITY.md");
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let is_id = |word: &&str| matches!(word.as_bytes(), [b'a'..=b'z', b'0'..=b'9', b'0'..=b'9']);
    let mut listed: Vec<&str> = cells.flat_map(|cell| cell.split(", ")).filter(is_id).collect();
    let rows: Vec<String> = (1..=13).map(|number| format!("j{number:02}")).collect();
    let mut all: Vec<&str> = LEDGER.iter().map(|row| row.0).chain(rows.iter().map(String::as_str)).collect();
    listed.sort_unstable();
    all.sort_unstable();
    assert_eq!(listed, all, "one row each");
}

#[test]
fn a_mark_counts_only_on_a_test() {
    let source = "fn h01_helper() {}\n#[test]\nfn h02_h03_x() {}\n// fn h04_x() {}\n#[test]\n#[cfg(unix)]\nfn h05() {}";
    let found = marks(source);
    for (mark, counts) in [("h01", false), ("h02", true), ("h03", true), ("h04", false), ("h05", true)] {
        assert_eq!(found.contains(mark), counts, "{mark}");
    }
}

#[test]
fn n04_no_empty_token_and_no_accidental_exposure() {
    assert!(AuthToken::from_text("").is_err());
    // The core opens no listener. The driver has two calls that bind one: one for 127.0.0.1, and one for
    // the address of `Bind::ExposedToOtherMachines`.
    let listener = file("adapters/driver/src/server/bind.rs");
    let binds: Vec<&str> = listener.lines().filter(|line| line.contains("TcpListener::bind(")).collect();
    assert_eq!(binds.len(), 2, "{binds:#?}");
    assert!(
        binds[0].contains("Ipv4Addr::LOCALHOST") && binds[1].contains("ExposedToOtherMachines"),
        "{binds:#?}"
    );
}

#[test]
fn h09_closing_after_upgrade_delivers_no_message() {
    let mut config = config();
    config.policy.auth_failure = AuthFailure::CloseAfterUpgrade;
    let mut answers = Vec::new();
    let right = HEAD.to_owned();
    let field = format!("X-Claude-Code-Ide-Authorization: {}\r\n", crate::support::ide::TOKEN);
    for (name, head) in [
        ("wrong", right.replace("Authorization: tok", "Authorization: kot")),
        ("missing", right.replace(&field, "")),
        ("doubled", right.replace(&field, &format!("{field}{field}"))),
    ] {
        let mut editor = Editor::new(config.clone());
        let mut bytes = head.into_bytes();
        bytes.extend(text(INITIALIZE));
        assert_eq!(shown(&editor.feed(&bytes)), [""; 0], "{name}");
        assert_eq!(shown(&editor.receive(INITIALIZE)), [""; 0], "{name}");
        let answer = editor.written();
        let frames = answer.strip_prefix(ACCEPTED.as_bytes()).unwrap();
        let frames = read(frames);
        assert_eq!(frames.len(), 1, "{name}: {frames:?}");
        let reason = [&[0x03, 0xf0], &b"Invalid or missing authentication token"[..]].concat();
        assert_eq!((frames[0].first, &frames[0].payload), (CLOSE, &reason), "{name}");
        assert!(!editor.is_attached() && !editor.is_over(), "{name}");
        assert_eq!(shown(&editor.feed(&masked(CLOSE, &[0x03, 0xf0]))), [""; 0], "{name}");
        assert!(editor.is_over(), "{name}: the client has answered the close frame");
        assert_eq!(editor.server.unauthenticated().refused, 1, "{name}");
        answers.push(answer);
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]), "all three get the same answer");
    // A connection whose client does not answer the close frame ends after 2 s. Until then it counts as
    // a pending connection, and makes room for a new one.
    let mut config = config;
    config.max_pending_connections = 1;
    let mut server = Server::new(config);
    let conn = server.connect(at(0));
    let wrong = right.replace("Authorization: tok", "Authorization: kot");
    server.feed(at(0), conn, wrong.as_bytes());
    assert!(pass(&mut server, at(0), usize::MAX).events.is_empty());
    server.connect(at(1));
    assert!(pass(&mut server, at(1), usize::MAX).events.is_empty());
    assert_eq!(server.unauthenticated().wrong_tokens, 1, "the pending connection has made room");
    // A wrong Host field is refused as usual.
    let mut editor = Editor::new(crate::support::ide::config());
    editor.feed(right.replace("Host: 127", "Host: 128").as_bytes());
    assert!(editor.written().starts_with(b"HTTP/1.1 403 "));
}

/// A resumed token has outlived its process. A client that presents it waits until the application
/// has checked which process owns the client's socket.
#[test]
fn l14_resumed_token_alone_opens_nothing() {
    let mut config = config();
    config.policy = Policy::new(PORT, Auth::Resumed(crate::support::ide::token()));
    let first_line = |editor: &mut Editor| {
        String::from_utf8_lossy(&editor.written()).lines().next().unwrap_or_default().to_owned()
    };
    let query = || {
        let mut editor = Editor::new(config.clone());
        assert_eq!(shown(&editor.feed(HEAD.as_bytes())), ["AdmissionPending"]);
        assert_eq!(shown(&editor.receive(INITIALIZE)), [""; 0], "the client waits");
        assert_eq!(editor.written(), b"", "the server sends nothing");
        editor
    };
    let mut editor = query();
    assert!(editor.server.admit(editor.conn));
    assert_eq!(first_line(&mut editor), "HTTP/1.1 101 Switching Protocols");
    assert!(editor.is_attached() && !editor.server.refuse(editor.conn), "the decision is final");

    let mut editor = query();
    assert!(editor.server.refuse(editor.conn));
    let refused = editor.written();
    let mut other = Editor::new(config.clone());
    let wrong = HEAD.replace("Authorization: tok", "Authorization: kot");
    assert_eq!(shown(&other.feed(wrong.as_bytes())), [""; 0]);
    assert_eq!(refused, other.written(), "the answer equals that to a wrong token");
    assert_eq!(editor.server.unauthenticated(), other.server.unauthenticated());

    let mut limited = config.clone();
    limited.max_clients = 1;
    let mut server = Server::new(limited);
    let both = [server.connect(at(0)), server.connect(at(0))];
    for conn in both {
        server.feed(at(0), conn, HEAD.as_bytes());
    }
    let pending = pass(&mut server, at(0), usize::MAX).events;
    assert!(matches!(
        &pending[..],
        [ServerEvent::AdmissionPending { .. }, ServerEvent::AdmissionPending { .. }]
    ));
    assert!(server.admit(both[0]) && server.admit(both[1]));
    let written = pass(&mut server, at(0), usize::MAX).written;
    let [(first, accepted), (second, refused)] = &written[..] else { panic!("{written:?}") };
    assert_eq!([*first, *second], both);
    assert!(accepted.starts_with(b"HTTP/1.1 101 "));
    assert!(refused.starts_with(b"HTTP/1.1 503 "), "the first client has taken the place");

    // The application decides as soon as it gets each event, as the adapters do.
    let mut limited = config.clone();
    limited.max_clients = 1;
    let mut server = Server::new(limited);
    for conn in [server.connect(at(0)), server.connect(at(0))] {
        server.feed(at(0), conn, HEAD.as_bytes());
    }
    let passed = pass_with(&mut server, at(0), usize::MAX, |server, event| {
        if let ServerEvent::AdmissionPending { conn } = event {
            assert!(server.admit(*conn));
        }
    });
    let statuses: Vec<&[u8]> = passed.written.iter().map(|(_, bytes)| &bytes[..13]).collect();
    assert_eq!(statuses, [b"HTTP/1.1 101 ", b"HTTP/1.1 503 "], "admitted in one pass");

    // In the first round the client leaves before the decision; in the second the application decides
    // after a minute.
    let mut server = Server::new(config);
    for (begin, ends, admitted) in [(0, true, false), (60_000, false, true)] {
        let conn = server.connect(at(begin));
        server.feed(at(begin), conn, HEAD.as_bytes());
        let events = pass(&mut server, at(begin), usize::MAX).events;
        assert!(matches!(&events[..], [ServerEvent::AdmissionPending { .. }]), "{events:?}");
        if ends {
            server.feed_eof(at(begin), conn);
        }
        pass(&mut server, at(begin + 60_000), usize::MAX);
        assert_eq!(server.admit(conn), admitted, "ends: {ends}");
    }
}

#[test]
fn f21_binary_message_ends_the_connection() {
    for payload in [&b"\0"[..], INITIALIZE.as_bytes()] {
        let mut editor = Editor::open(config());
        let events = editor.feed(&masked(0x82, payload));
        assert!(
            matches!(
                &events[..],
                [ServerEvent::Closed { reason: Closed::ProtocolError(ProtocolError::UnexpectedBinary), .. }]
            ),
            "{events:?}"
        );
        let frames = read(&editor.written());
        assert_eq!(
            (frames.len(), &frames[0].payload[..2]),
            (1, &CloseCode::UNSUPPORTED.get().to_be_bytes()[..])
        );
    }
}

/// Checks the options of all commands. They read the token from lock files; as an argument, the token
/// would be visible in the list of processes.
#[test]
fn l11_no_program_takes_a_token_argument() {
    let programs = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/src")).unwrap();
    let mut seen = 0;
    for program in programs {
        let options = program.unwrap().path().join("options.rs");
        let Ok(source) = fs::read_to_string(&options) else { continue };
        seen += 1;
        assert!(!source.contains("Long(\"token\")"), "{}", options.display());
    }
    assert!(seen >= 6, "{seen} commands");
}

#[test]
fn e05_lints_forbid_panics_outside_tests() {
    let manifest = file("Cargo.toml");
    for lint in
        ["unwrap_used", "expect_used", "panic", "indexing_slicing", "string_slice", "todo", "unimplemented"]
    {
        assert!(manifest.contains(&format!("\n{lint} = \"warn\"\n")), "{lint}");
    }
    assert!(manifest.contains("\nunsafe_code = \"forbid\"\n"));
    assert!(file(".ci/run").contains("cargo clippy --workspace --all-targets -- -D warnings"));
    for package in ["driver", "lockfile", "mio", "smol", "blocking"] {
        assert!(
            file(&format!("adapters/{package}/Cargo.toml")).contains("[lints]\nworkspace = true"),
            "{package}"
        );
    }
}

#[test]
fn e06_no_length_is_cut_to_32_bits() {
    let manifest = file("Cargo.toml");
    for lint in ["cast_possible_truncation", "cast_sign_loss"] {
        assert!(manifest.contains(&format!("\n{lint} = \"warn\"\n")), "{lint}");
    }
    // The low 32 bits of the first length are a valid length, but the server refuses the whole length.
    for claimed in [(1_u64 << 32) + 2, (1 << 63) - 1] {
        let mut editor = Editor::open(config());
        let mut bytes = vec![0x81, 0xff];
        bytes.extend(claimed.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(b"{}");
        let events = editor.feed(&bytes);
        assert!(
            matches!(&events[..], [ServerEvent::Closed { reason: Closed::ProtocolError(_), .. }]),
            "{claimed}: {events:?}"
        );
    }
}

/// A token whose parts occur nowhere else in the output of this test.
const CANARY: &str = "Qz7Qz7Qz7Qz7";

#[test]
fn e07_nothing_shows_a_token() {
    let token = AuthToken::from_text(CANARY).unwrap();
    let policy = Policy::new(PORT, Auth::Token(token.clone()));
    let server = ServerConfig::new("editor", "1").policy(policy).tools(crate::support::ide::tools());
    let client = ClientConfig::new(Implementation::new("agent", "1"), PORT, Some(token.clone()));
    let lock = LockFile::new(1, vec!["/w".into()], "editor", token.clone());
    let mut shown = vec![format!("{token:?} {server:?} {client:?} {lock:?} {:?}", server.clone())];

    // A whole session, a refused session, and a session that sends the token in wrong places.
    let good = HEAD.replace(crate::support::ide::TOKEN, CANARY);
    for head in
        [good.clone(), good.replace("Qz7\r\n", "Qz8\r\n"), good.replace("GET / ", &format!("GET /{CANARY} "))]
    {
        let mut server = Server::new(server.clone());
        let conn = server.connect(at(0));
        // A second connection, with an unfinished request in its receive buffer.
        let half = server.connect(at(0));
        server.feed(at(0), half, &head.as_bytes()[..head.len() - 2]);
        shown.push(format!("{server:?} {server:#?}"));
        for bytes in [head.as_bytes().to_vec(), text(INITIALIZE), text(CANARY)] {
            if server.wants_input(conn) {
                server.feed(at(0), conn, &bytes);
            }
            let passed = pass(&mut server, at(0), 0);
            shown.push(format!("{:?} {server:?}", passed.events));
            shown.push(String::from_utf8_lossy(&passed.unwritten_bytes()).into_owned());
        }
    }
    let mut agent = Client::new(client, Random::new(1).source(), SessionId::new(1), Time::ZERO).unwrap();
    shown.push(format!("{agent:?} {agent:#?}"));
    pass(&mut agent, at(0), usize::MAX);
    shown.push(format!("{agent:?}"));
    agent.feed(at(0), b"HTTP/1.1 401 Unauthorized\r\n\r\n");
    shown.push(format!("{:?}", pass(&mut agent, at(0), usize::MAX).events));
    shown.push(format!("{agent:?}"));
    for broken in
        ["{\"authToken\":\"Qz7 Qz7\"}", "{\"authToken\":[\"Qz7\"]}", "{\"authToken\":\"Qz7\",}", "Qz7"]
    {
        let error = LockFile::parse(broken).unwrap_err();
        shown.push(format!("{error:?} {error}"));
    }
    // `Debug` shows bytes as a list of numbers.
    let digits = |text: &str| -> String {
        text.split(|character: char| !character.is_ascii_digit())
            .filter(|number| !number.is_empty())
            .fold(String::new(), |list, number| list + "," + number)
    };
    let bytes = digits(&format!("{:?}", &CANARY.as_bytes()[..4]));
    for text in &shown {
        assert!(!text.contains("Qz") && !digits(text).contains(&bytes), "{text}");
    }
    assert!(lock.to_json().contains(CANARY), "the lock file shows the token");
}

/// Checks that the lab tests these features of serde_json. Any dependency of an application can enable
/// them for all crates.
#[test]
fn e08_enabled_serde_json_features_are_tested() {
    let lab = file("tests/lab/run");
    for feature in ["arbitrary_precision", "preserve_order", "unbounded_depth"] {
        assert!(lab.contains(&format!("serde_json/{feature}")), "{feature}");
    }
}
