//! The defaults that pages give in words: without this test, a page would keep an old figure.

use ide_mcp::ide::ServerConfig;
use ide_mcp::mcp::Timeout;
use ide_mcp::ws::Limits;
use std::time::Duration;
use std::{fs, path::Path};

#[test]
fn pages_name_the_defaults() {
    let seconds = |time: Duration| format!("{} s", time.as_secs());
    let server = ServerConfig::new("editor", "1");
    let limits = Limits::default();
    let (call, request) = (seconds(Timeout::CALL), seconds(Timeout::REQUEST));
    let mention = seconds(server.mention_timeout);
    let rows = [
        ("docs/context.md", format!("you do not answer within {call} ")),
        ("docs/errors.md", format!("the session answered for you, after {call} ")),
        ("docs/errors.md", format!("after {request}, or your timeout")),
        ("docs/errors.md", format!("was not complete within {} ", seconds(limits.handshake))),
        ("docs/errors.md", format!("less than 8 MiB in {} ", seconds(limits.stalled))),
        ("docs/errors.md", format!("close frame within {} ", seconds(limits.close))),
        ("docs/sidecar.md", format!("and {call} for every other tool")),
        ("docs/sidecar.md", format!("waits {call} for `respond`")),
        ("docs/selections.md", format!("accepts it within {mention}, ")),
    ];
    for (page, text) in rows {
        let page_text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&page_text).contains(words(&text).trim()), "{page} does not say {text:?}");
    }
}
