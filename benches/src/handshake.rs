//! The recorded request of the real client.

use std::sync::OnceLock;

/// Returns the opening request of the recorded session.
pub fn request() -> &'static [u8] {
    static REQUEST: OnceLock<String> = OnceLock::new();
    REQUEST
        .get_or_init(|| {
            let session = include_str!("../../tests/it/fixtures/claude-code-2.1.330.jsonl");
            let line = session.lines().find(|line| line.contains("\"http\"")).expect("a session has a head");
            let head = line.split("\"http\": \"").nth(1).and_then(|rest| rest.strip_suffix("\"}"));
            head.expect("the head ends its line").replace("\\r\\n", "\r\n")
        })
        .as_bytes()
}

/// Returns the port in the `Host` field of the request.
pub fn request_port() -> u16 {
    let head = std::str::from_utf8(request()).expect("a head is text");
    let host = head.lines().find_map(|line| line.strip_prefix("Host: ")).expect("it names its host");
    host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("with a port")
}
