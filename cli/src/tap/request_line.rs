//! Removes tokens from a recorded request line, of any owner and in any spelling.
//! Text that the tap cannot tell from a token is removed too.

use crate::tap::secrets::{is_mark, secret_at};

/// Replaces possible tokens in the request line by minus signs. Keeps everything that an editor judges the line by:
/// the division into parts, the bytes that are invalid in all parts, and the version.
pub(crate) fn hide(line: &mut [u8]) {
    let mut after_spaces = (1..).zip(&*line).filter(|(_, byte)| **byte == b' ').map(|(at, _)| at);
    let mut next = || after_spaces.next().unwrap_or(line.len());
    let (target, version) = (next(), next());
    let (start, version) = line.split_at_mut(version);
    let (version, rest) = version.split_at_mut(version_len(version));
    let (method, target) = start.split_at_mut(target);
    let is_request = !version.is_empty()
        && matches!(&*rest, b"\r\n" | b"\n")
        && !method.iter().any(|byte| begins_value(*byte))
        && !target.iter().any(u8::is_ascii_control);
    if is_request {
        return in_target(target);
    }
    // A target with a space or without an end, or a field instead of the request line: we do not
    // know where a value ends.
    let mut is_value = false;
    for byte in start.iter_mut().chain(rest) {
        let begins = begins_value(*byte);
        if is_value {
            mask_byte(byte);
        }
        is_value |= begins;
    }
}

/// Hides the text after a name that suggests a token, or the whole query if its parts cannot be
/// distinguished.
fn in_target(target: &mut [u8]) {
    let len = target.trim_ascii_end().len();
    let (target, _) = target.split_at_mut(len);
    let query = target.iter().position(|byte| *byte == b'?').unwrap_or(len);
    let (path, query) = target.split_at_mut(query);
    // A segment of the path that only has such a name is not a token.
    if let Some(at) = secret_at(path).filter(|at| path.get(*at).is_some_and(|byte| is_mark(*byte))) {
        path.iter_mut().skip(at.saturating_add(1)).for_each(mask_byte);
    }
    let query = query.split_first_mut().map(|(_, query)| query).unwrap_or_default();
    let is_clear = query.split(|byte| *byte == b'&').all(|parameter| token_at(parameter).is_some());
    for parameter in query.split_mut(|byte| is_clear && *byte == b'&') {
        let at = token_at(parameter).filter(|_| is_clear);
        parameter.iter_mut().skip(at.unwrap_or_default()).for_each(mask_byte);
    }
}

/// Returns the position of a possible token in a parameter of a query, or the end of the parameter
/// if there is none; `None` if the parameter is ambiguous.
fn token_at(parameter: &[u8]) -> Option<usize> {
    let (name, value) = parameter.split_at(parameter.iter().position(|byte| *byte == b'=')?);
    let value = value.get(1..)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let is_plain = |byte: &u8| is_name(byte) || b"/:,~+".contains(byte);
    if name.is_empty() || !name.iter().all(is_name) {
        None
    } else if secret_at(name).is_some() {
        Some(parameter.len().saturating_sub(value.len()))
    } else {
        (value.iter().all(is_plain) && secret_at(value).is_none()).then_some(parameter.len())
    }
}

/// Returns true if a value can begin after this byte, such as the colon after the name of a field.
const fn begins_value(byte: u8) -> bool {
    matches!(byte, b'?' | b'=' | b':')
}

/// Returns the length of the HTTP version at the beginning, or 0.
const fn version_len(bytes: &[u8]) -> usize {
    match bytes {
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9', ..] => 8,
        _ => 0,
    }
}

/// Replaces a byte of the request line by a minus sign, unless it is invalid in every target, or in
/// the authority of a target: an editor judges the line by such bytes.
const fn mask_byte(byte: &mut u8) {
    if byte.is_ascii_graphic() && !matches!(*byte, b'#' | b'@') {
        *byte = b'-';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ide::discovery::AuthToken;
    use ide_mcp::ide::{Server, ServerConfig};

    use ide_mcp::Time;
    use ide_mcp::testing::pass;
    use std::collections::BTreeSet;

    fn hidden(line: &[u8]) -> Vec<u8> {
        let mut line = line.to_vec();
        hide(&mut line);
        line
    }

    /// Request lines as sent and as recorded.
    const REQUESTS: &[(&str, &[u8], &[u8])] = &[
        ("no query", b"GET /token/auth HTTP/1.1\r\n", b"GET /token/auth HTTP/1.1\r\n"),
        (
            "no token in path or query",
            b"GET /token/auth?a=b HTTP/1.1\r\n",
            b"GET /token/auth?a=b HTTP/1.1\r\n",
        ),
        ("a path that names no value", b"GET /authors HTTP/1.1\r\n", b"GET /authors HTTP/1.1\r\n"),
        ("nothing secret", b"GET /?a=b&c-d=/e.f&g= HTTP/1.1\r\n", b"GET /?a=b&c-d=/e.f&g= HTTP/1.1\r\n"),
        ("a token", b"GET /?authToken=secret HTTP/1.1\r\n", b"GET /?authToken=------ HTTP/1.1\r\n"),
        (
            "a token among others",
            b"GET /?a=b&X-TOKEN=se=cr?t%3d&c=d HTTP/1.1\r\n",
            b"GET /?a=b&X-TOKEN=----------&c=d HTTP/1.1\r\n",
        ),
        (
            "two tokens",
            b"GET /a?token=secret&my_cookie=x HTTP/1.1\r\n",
            b"GET /a?token=------&my_cookie=- HTTP/1.1\r\n",
        ),
        ("a value without a name", b"GET /?secret HTTP/1.1\r\n", b"GET /?------ HTTP/1.1\r\n"),
        ("an empty name", b"GET /?=secret HTTP/1.1\r\n", b"GET /?------- HTTP/1.1\r\n"),
        (
            "an ampersand in the token",
            b"GET /?token=sec&ret HTTP/1.1\r\n",
            b"GET /?------------- HTTP/1.1\r\n",
        ),
        (
            "an escape in the name",
            b"GET /?a=b&%74oken=secret HTTP/1.1\r\n",
            b"GET /?------------------ HTTP/1.1\r\n",
        ),
        (
            "a semicolon between two",
            b"GET /?a=b;token=secret HTTP/1.1\r\n",
            b"GET /?---------------- HTTP/1.1\r\n",
        ),
        (
            "a target in a target",
            b"GET /?to=/x%3FauthToken%3Dsecret HTTP/1.1\r\n",
            b"GET /?-------------------------- HTTP/1.1\r\n",
        ),
        ("a fragment", b"GET /?a=b#token=secret HTTP/1.1\r\n", b"GET /?---#------------ HTTP/1.1\r\n"),
        (
            "a character above ASCII",
            b"GET /?token=secr\xc3\xa9t HTTP/1.1\r\n",
            b"GET /?token=----\xc3\xa9- HTTP/1.1\r\n",
        ),
        ("a token in the path", b"GET /x;token=secret HTTP/1.1\r\n", b"GET /x;token=------ HTTP/1.1\r\n"),
        (
            "a token before the host",
            b"GET http://token:secret@a/ HTTP/1.1\r\n",
            b"GET http://token:------@-- HTTP/1.1\r\n",
        ),
        ("a space in the token", b"GET /?token=sec ret HTTP/1.1\r\n", b"GET /?--------- --- --------\r\n"),
        ("something after the version", b"GET /?a=b HTTP/1.1 secret\r\n", b"GET /?--- HTTP/1.1 ------\r\n"),
        ("another version", b"GET /?token=secret HTTP/1.0\r\n", b"GET /?token=------ HTTP/1.0\r\n"),
        ("no version", b"GET /?token=secret\r\n", b"GET /?------------\r\n"),
        (
            "a tab instead of the first space",
            b"GET\t/?token=secret HTTP/1.1\r\n",
            b"GET\t/?------------ --------\r\n",
        ),
        ("two spaces", b"GET  /?token=secret HTTP/1.1\r\n", b"GET  /?------------ --------\r\n"),
        (
            "after a bare carriage return",
            b"GET / HTTP/1.1\rX-Auth: secret\r\n",
            b"GET / HTTP/1.1\rX-Auth: ------\r\n",
        ),
        (
            "a field instead of the request line",
            b"X-Ide-Authorization: secret\r\n",
            b"X-Ide-Authorization: ------\r\n",
        ),
        ("not a request", b"\x16\x03\x01 abc\r\n", b"\x16\x03\x01 abc\r\n"),
        ("an incomplete target", b"GET /?authToken=sec", b"GET /?-------------"),
        ("an incomplete version", b"GET /?token=secret HTTP/1.", b"GET /?------------ -------"),
    ];

    #[test]
    fn only_tokens_of_request_lines_are_hidden() {
        for (name, line, recorded) in REQUESTS {
            assert_eq!(
                hidden(line).escape_ascii().to_string(),
                recorded.escape_ascii().to_string(),
                "{name}"
            );
        }
    }

    /// Checks that an editor judges the recorded line like the sent one. Otherwise a replay would not
    /// get the answer that the editor gave.
    #[test]
    fn recorded_line_is_judged_like_sent_line() {
        const FIELDS: &[u8] = b"Host: 127.0.0.1:41111\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let answer = |head: &[u8]| {
            let token = AuthToken::from_text("theirs").unwrap();
            let config = ServerConfig::new("editor", "1.0").listening(41111, token);
            let mut server = Server::new(config);
            let conn = server.connect(Time::ZERO);
            server.feed(Time::ZERO, conn, head);
            server.feed_eof(Time::ZERO, conn);
            String::from_utf8(pass(&mut server, Time::ZERO, usize::MAX).written_bytes()).unwrap()
        };
        let methods = ["GET", "get", "GE:T", "GET\t/", "X-Token=a", "\u{e9}", ""];
        let targets = [
            "/",
            "/?token=secret",
            "/?secret",
            "/?a#token=b",
            "token=a",
            "/token=\u{e9}",
            "/?a\u{7f}",
            "",
            "http://127.0.0.1:41111/?token=secret",
            "http://127.0.0.1:41111/token=secret",
            "http://token=secret@127.0.0.1:41111/",
        ];
        let ends_of_line =
            ["HTTP/1.1\r\n", "HTTP/1.0\r\n", "HTTP/1.1 x\r\n", "HTTP/2.0\r\n", "b HTTP/1.1\r\n", "H\r\n"];
        let built = methods.iter().flat_map(|method| {
            targets.iter().flat_map(move |target| {
                ends_of_line.map(|end| format!("{method} {target} {end}").into_bytes())
            })
        });
        let mut refusals = BTreeSet::new();
        for line in built.chain(REQUESTS.iter().map(|(_, line, _)| line.to_vec())) {
            let judged = answer(&[&line[..], FIELDS].concat());
            assert_eq!(answer(&[&hidden(&line)[..], FIELDS].concat()), judged, "{}", line.escape_ascii());
            refusals.insert(judged);
        }
        // With fewer different answers the test would compare nothing.
        assert!(refusals.len() >= 4, "{refusals:?}");
    }
}
