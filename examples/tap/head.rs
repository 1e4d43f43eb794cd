//! What of a request to open is another thing to the editor than to the tap: where it goes, and the token.
//!
//! Nobody is judged here. A request that is right for the tap is made right for the editor; every other one goes through
//! as it is, and the editor refuses it. But whatever could be a token, of whomever and however it is spelt, is not written
//! down.

use ide_mcp::ide::AuthToken;

/// More than any editor takes; a head that is longer goes through as it is.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

const TOKEN_FIELD: &str = "x-claude-code-ide-authorization";

/// What stands behind one of these in a line of the head may be a token.
const SECRETIVE: [&[u8]; 3] = [b"auth", b"cookie", b"token"];

/// Who stands on which side of the tap.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// What agents say.
    pub(crate) token: AuthToken,
    pub(crate) port: u16,
    /// What the editor wants to hear; `None` if nothing.
    pub(crate) editor_token: Option<AuthToken>,
    pub(crate) editor_port: u16,
}

/// A head as the editor gets it, and as it is written down.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rewritten {
    pub(crate) sent: Vec<u8>,
    pub(crate) recorded: Vec<u8>,
}

/// How long the head is, if it is whole.
pub(crate) fn len(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at.saturating_add(4))
}

impl Ends {
    /// The head, or what there is of one, for the editor.
    pub(crate) fn rewrite(&self, head: &[u8]) -> Rewritten {
        let mut out = Rewritten::default();
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let mut is_secret = out.request_line(lines.next().unwrap_or_default());
        for line in lines {
            // What is folded belongs to the field before it.
            if is_secret && matches!(line.first(), Some(b' ' | b'\t')) {
                out.hiding(line, 0);
                continue;
            }
            let secret = secret_at(line);
            is_secret = secret.is_some();
            let Some((name, value, behind)) = field(line) else {
                out.hiding(line, secret.unwrap_or(line.len()));
                continue;
            };
            let before = line.len().saturating_sub(value.len().saturating_add(behind));
            let (before, behind) = (
                line.get(..before).unwrap_or_default(),
                line.get(before.saturating_add(value.len())..).unwrap_or_default(),
            );
            match name.as_str() {
                "host" => {
                    out.both(before);
                    out.both(&self.host(value));
                    out.both(behind);
                }
                TOKEN_FIELD => self.token(before, value, behind, &mut out),
                // What is compressed cannot be read, and the tokens in it could not be found. Everyone can do without.
                "sec-websocket-extensions" => {}
                _ => out.hiding(line, secret.unwrap_or(line.len())),
            }
        }
        out
    }

    /// Our port becomes that of the editor; whatever else it names is for the editor to judge.
    fn host(&self, value: &[u8]) -> Vec<u8> {
        let ours = format!(":{}", self.port);
        match value.strip_suffix(ours.as_bytes()) {
            Some(name) => [name, format!(":{}", self.editor_port).as_bytes()].concat(),
            None => value.to_vec(),
        }
    }

    fn token(&self, before: &[u8], value: &[u8], behind: &[u8], out: &mut Rewritten) {
        let editor = self.editor_token.as_ref();
        let ours = self.token.matches(Some(value));
        // An editor that asks for no token need not be told one that it does not know.
        if ours && editor.is_none() {
            return;
        }
        let sent = editor.filter(|_| ours).map_or(value, AuthToken::as_bytes);
        let right = editor.is_some_and(|token| token.matches(Some(sent)));
        out.both(before);
        out.sent.extend_from_slice(sent);
        out.recorded.resize(out.recorded.len().saturating_add(sent.len()), if right { b'*' } else { b'-' });
        out.both(behind);
    }
}

impl Rewritten {
    fn both(&mut self, bytes: &[u8]) {
        self.sent.extend_from_slice(bytes);
        self.recorded.extend_from_slice(bytes);
    }

    /// The first line, which goes on as it is. Whether something of it is not written down.
    fn request_line(&mut self, line: &[u8]) -> bool {
        let mut recorded = line.to_vec();
        hide_in_request_line(&mut recorded);
        self.sent.extend_from_slice(line);
        self.recorded.extend_from_slice(&recorded);
        recorded != line
    }

    /// A line that goes on as it is. What stands in it behind `from` and the marks there is not written down, but for
    /// what no field may have: by that it is judged.
    fn hiding(&mut self, line: &[u8], from: usize) {
        let (known, rest) = line.split_at(from.min(line.len()));
        let marks = rest.iter().position(|byte| !is_mark(*byte)).unwrap_or(rest.len());
        let (marks, secret) = rest.split_at(marks);
        self.both(known);
        self.both(marks);
        self.sent.extend_from_slice(secret);
        self.recorded.extend(secret.iter().map(|byte| if byte.is_ascii_control() { *byte } else { b'-' }));
    }
}

/// Makes minus signs of what may be a token in the request line, but for what it is judged by: its parts, what may stand
/// in none of them, and the version.
fn hide_in_request_line(line: &mut [u8]) {
    let mut behind_spaces = (1..).zip(&*line).filter(|(_, byte)| **byte == b' ').map(|(at, _)| at);
    let mut next = || behind_spaces.next().unwrap_or(line.len());
    let (target, version) = (next(), next());
    let (start, version) = line.split_at_mut(version);
    let (version, rest) = version.split_at_mut(version_len(version));
    let (method, target) = start.split_at_mut(target);
    let is_request = !version.is_empty()
        && matches!(&*rest, b"\r\n" | b"\n")
        && !method.iter().any(|byte| begins_value(*byte))
        && !target.iter().any(u8::is_ascii_control);
    if is_request {
        return hide_in_target(target);
    }
    // A target with a space in it, one that is cut, a field in the wrong place: where a value ends is not known.
    let mut is_value = false;
    for byte in start.iter_mut().chain(rest) {
        let begins = begins_value(*byte);
        if is_value {
            hide(byte);
        }
        is_value |= begins;
    }
}

/// Hides what stands behind a name that speaks of a token, and the whole query where it cannot be told apart.
fn hide_in_target(target: &mut [u8]) {
    let len = target.trim_ascii_end().len();
    let (target, _) = target.split_at_mut(len);
    let query = target.iter().position(|byte| *byte == b'?').unwrap_or(len);
    let (path, query) = target.split_at_mut(query);
    // A segment of a path that is but called so is not one.
    if let Some(at) = secret_at(path).filter(|at| path.get(*at).is_some_and(|byte| is_mark(*byte))) {
        path.iter_mut().skip(at.saturating_add(1)).for_each(hide);
    }
    let query = query.split_first_mut().map(|(_, query)| query).unwrap_or_default();
    let is_clear = query.split(|byte| *byte == b'&').all(|parameter| token_at(parameter).is_some());
    for parameter in query.split_mut(|byte| is_clear && *byte == b'&') {
        let at = token_at(parameter).filter(|_| is_clear);
        parameter.iter_mut().skip(at.unwrap_or_default()).for_each(hide);
    }
}

/// Where in a parameter of a query a token may begin, its end if there is none; `None` if that is not clear.
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

/// In any other line of the head that is the mark behind its name.
const fn begins_value(byte: u8) -> bool {
    matches!(byte, b'?' | b'=' | b':')
}

/// How long the version of HTTP is with which this begins.
const fn version_len(bytes: &[u8]) -> usize {
    match bytes {
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9', ..] => 8,
        _ => 0,
    }
}

/// A byte of the request line. Those that no target may have stay: by them it is judged.
const fn hide(byte: &mut u8) {
    if byte.is_ascii_graphic() && *byte != b'#' {
        *byte = b'-';
    }
}

/// Where in a line of the head a token may begin: behind the name that speaks of one.
fn secret_at(line: &[u8]) -> Option<usize> {
    let ends = SECRETIVE.iter().filter_map(|word| {
        let at = line.windows(word.len()).position(|here| here.eq_ignore_ascii_case(word))?;
        let end = at.saturating_add(word.len());
        let len = line.get(end..)?.iter().position(|byte| is_mark(*byte));
        Some(end.saturating_add(len.unwrap_or_default()))
    });
    ends.min()
}

/// What stands between a name and its value.
const fn is_mark(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b':' | b'=')
}

/// The name of a field in lower case, its value, and how many bytes stand behind that.
fn field(line: &[u8]) -> Option<(String, &[u8], usize)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at(colon);
    let name = std::str::from_utf8(name).ok().filter(|name| !name.contains(' '))?;
    let value = value.get(1..)?.trim_ascii_start();
    let trimmed = value.trim_ascii_end();
    Some((name.to_ascii_lowercase(), trimmed, value.len().saturating_sub(trimmed.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ide::{Policy, Server, ServerConfig, ToolSet};
    use ide_mcp::mcp::Implementation;
    use ide_mcp::rpc::SessionId;
    use ide_mcp::{Machine as _, Time, Wire as _};
    use std::collections::BTreeSet;

    fn ends(editor_token: Option<&str>) -> Ends {
        Ends {
            token: AuthToken::from_text("ours").unwrap(),
            port: 5000,
            editor_token: editor_token.map(|text| AuthToken::from_text(text).unwrap()),
            editor_port: 41111,
        }
    }

    #[test]
    fn what_is_right_for_the_tap_becomes_right_for_the_editor() {
        let cases = [
            ("the port", Some("theirs"), "Host: 127.0.0.1:5000\r\n", "Host: 127.0.0.1:41111\r\n", None),
            ("another port", Some("theirs"), "Host: 127.0.0.1:50001\r\n", "Host: 127.0.0.1:50001\r\n", None),
            ("a foreign host", Some("theirs"), "host:evil:5000 \r\n", "host:evil:41111 \r\n", None),
            (
                "our token",
                Some("theirs"),
                "X-Claude-Code-Ide-Authorization: ours\r\n",
                "X-Claude-Code-Ide-Authorization: theirs\r\n",
                Some("X-Claude-Code-Ide-Authorization: ******\r\n"),
            ),
            (
                "the editor's token",
                Some("theirs"),
                "x-claude-code-ide-authorization:theirs\r\n",
                "x-claude-code-ide-authorization:theirs\r\n",
                Some("x-claude-code-ide-authorization:******\r\n"),
            ),
            (
                "a wrong token",
                Some("theirs"),
                "X-Claude-Code-Ide-Authorization: third\r\n",
                "X-Claude-Code-Ide-Authorization: third\r\n",
                Some("X-Claude-Code-Ide-Authorization: -----\r\n"),
            ),
            ("none is wanted", None, "X-Claude-Code-Ide-Authorization: ours\r\n", "", None),
            (
                "none is wanted, another one",
                None,
                "X-Claude-Code-Ide-Authorization: x\r\n",
                "X-Claude-Code-Ide-Authorization: x\r\n",
                Some("X-Claude-Code-Ide-Authorization: -\r\n"),
            ),
            ("compression", Some("theirs"), "Sec-WebSocket-Extensions: permessage-deflate\r\n", "", None),
            ("a web page", Some("theirs"), "Origin: http://a:5000\r\n", "Origin: http://a:5000\r\n", None),
            ("no field", Some("theirs"), "\u{0}\u{1}\r\n\n", "\u{0}\u{1}\r\n\n", None),
            ("cut", Some("theirs"), "X-Claude-Code-Ide-Auth", "X-Claude-Code-Ide-Auth", None),
        ];
        for (name, token, fields, sent, recorded) in cases {
            let head = |fields: &str| format!("GET / HTTP/1.1\r\n{fields}\r\n");
            let got = ends(token).rewrite(head(fields).as_bytes());
            assert_eq!(String::from_utf8(got.sent).unwrap(), head(sent), "{name}");
            assert_eq!(String::from_utf8(got.recorded).unwrap(), head(recorded.unwrap_or(sent)), "{name}");
        }
    }

    #[test]
    fn a_token_is_not_written_down_however_its_field_is_spelt() {
        let cases: &[(&str, &[u8], &[u8])] = &[
            (
                "a space before the colon",
                b"X-Claude-Code-Ide-Authorization : secret\r\n",
                b"X-Claude-Code-Ide-Authorization : ------\r\n",
            ),
            (
                "a tab before the colon",
                b"x-claude-code-ide-authorization\t:secret\n",
                b"x-claude-code-ide-authorization\t:------\n",
            ),
            (
                "a space before the name",
                b" X-Claude-Code-Ide-Authorization: secret\r\n",
                b" X-Claude-Code-Ide-Authorization: ------\r\n",
            ),
            (
                "folded",
                b"X-Claude-Code-Ide-Authorization: a\r\n secret\r\n\tmore\r\nA: b\r\n",
                b"X-Claude-Code-Ide-Authorization: -\r\n ------\r\n\t----\r\nA: b\r\n",
            ),
            (
                "behind a bare carriage return",
                b"A: b\rX-Claude-Code-Ide-Authorization: secret\r\n",
                b"A: b\rX-Claude-Code-Ide-Authorization: ------\r\n",
            ),
            (
                "no colon",
                b"X-CLAUDE-CODE-IDE-AUTHORIZATION secret\r\n",
                b"X-CLAUDE-CODE-IDE-AUTHORIZATION ------\r\n",
            ),
            ("an equals sign", b"X_Ide_Auth=secret\r\n", b"X_Ide_Auth=------\r\n"),
            ("no text", b"\xffX-Ide-Token\xff: secret\xff\r\n", b"\xffX-Ide-Token\xff: -------\r\n"),
            ("another field", b"Authorization: Bearer se:cret\r\n", b"Authorization: --------------\r\n"),
            ("a cookie", b"cookie: a=secret; b=secret\r\n", b"cookie: ------------------\r\n"),
            ("cut", b"X-Claude-Code-Ide-Authorization : sec", b"X-Claude-Code-Ide-Authorization : ---"),
            ("cut in the name", b"X-Claude-Code-Ide-Au", b"X-Claude-Code-Ide-Au"),
            (
                "nothing secret",
                b"A : b\r\n c\r\nSec-WebSocket-Key: d==\r\n",
                b"A : b\r\n c\r\nSec-WebSocket-Key: d==\r\n",
            ),
        ];
        for (name, fields, recorded) in cases {
            let head = |fields: &[u8]| [b"GET /token/auth HTTP/1.1\r\n", fields].concat();
            let got = ends(Some("theirs")).rewrite(&head(fields));
            let shown = got.recorded.escape_ascii().to_string();
            assert_eq!(shown, head(recorded).escape_ascii().to_string(), "{name}");
            if !fields.starts_with(b"X-Claude-Code-Ide-Authorization: a") {
                assert_eq!(got.sent, head(fields), "{name}");
            }
        }
    }

    /// What is sent, and what of it is written down.
    const REQUESTS: &[(&str, &[u8], &[u8])] = &[
        ("no query", b"GET /token/auth HTTP/1.1\r\n", b"GET /token/auth HTTP/1.1\r\n"),
        ("no token in either", b"GET /token/auth?a=b HTTP/1.1\r\n", b"GET /token/auth?a=b HTTP/1.1\r\n"),
        ("a path that names no value", b"GET /authors HTTP/1.1\r\n", b"GET /authors HTTP/1.1\r\n"),
        ("nothing secret", b"GET /?a=b&c-d=/e.f&g= HTTP/1.1\r\n", b"GET /?a=b&c-d=/e.f&g= HTTP/1.1\r\n"),
        ("a token", b"GET /?authToken=secret HTTP/1.1\r\n", b"GET /?authToken=------ HTTP/1.1\r\n"),
        (
            "among others",
            b"GET /?a=b&X-TOKEN=se=cr?t%3d&c=d HTTP/1.1\r\n",
            b"GET /?a=b&X-TOKEN=----------&c=d HTTP/1.1\r\n",
        ),
        (
            "two",
            b"GET /a?token=secret&my_cookie=x HTTP/1.1\r\n",
            b"GET /a?token=------&my_cookie=- HTTP/1.1\r\n",
        ),
        ("no name", b"GET /?secret HTTP/1.1\r\n", b"GET /?------ HTTP/1.1\r\n"),
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
        ("above ASCII", b"GET /?token=secr\xc3\xa9t HTTP/1.1\r\n", b"GET /?token=----\xc3\xa9- HTTP/1.1\r\n"),
        ("in the path", b"GET /x;token=secret HTTP/1.1\r\n", b"GET /x;token=------ HTTP/1.1\r\n"),
        (
            "before the host",
            b"GET http://token:secret@a/ HTTP/1.1\r\n",
            b"GET http://token:--------- HTTP/1.1\r\n",
        ),
        ("a space in the token", b"GET /?token=sec ret HTTP/1.1\r\n", b"GET /?--------- --- --------\r\n"),
        ("something behind the version", b"GET /?a=b HTTP/1.1 secret\r\n", b"GET /?--- HTTP/1.1 ------\r\n"),
        ("another version", b"GET /?token=secret HTTP/1.0\r\n", b"GET /?token=------ HTTP/1.0\r\n"),
        ("no version", b"GET /?token=secret\r\n", b"GET /?------------\r\n"),
        (
            "a tab for the first space",
            b"GET\t/?token=secret HTTP/1.1\r\n",
            b"GET\t/?------------ --------\r\n",
        ),
        ("two spaces", b"GET  /?token=secret HTTP/1.1\r\n", b"GET  /?------------ --------\r\n"),
        (
            "behind a bare carriage return",
            b"GET / HTTP/1.1\rX-Auth: secret\r\n",
            b"GET / HTTP/1.1\rX-Auth: ------\r\n",
        ),
        ("a field in its place", b"X-Ide-Authorization: secret\r\n", b"X-Ide-Authorization: ------\r\n"),
        ("and folded", b"X-Ide-Authorization: a\r\n secret\r\n", b"X-Ide-Authorization: -\r\n ------\r\n"),
        ("no request", b"\x16\x03\x01 abc\r\n", b"\x16\x03\x01 abc\r\n"),
        ("cut", b"GET /?authToken=sec", b"GET /?-------------"),
        ("cut in the version", b"GET /?token=secret HTTP/1.", b"GET /?------------ -------"),
    ];

    #[test]
    fn a_token_in_the_request_line_is_not_written_down_and_nothing_else_changes() {
        for (name, line, recorded) in REQUESTS {
            let got = ends(Some("theirs")).rewrite(line);
            assert_eq!(
                got.recorded.escape_ascii().to_string(),
                recorded.escape_ascii().to_string(),
                "{name}"
            );
            assert_eq!(got.sent, *line, "{name}");
        }
    }

    /// So a replay says what the editor said.
    #[test]
    fn what_is_written_down_of_a_request_line_is_judged_as_what_was_sent() {
        const FIELDS: &[u8] = b"Host: 127.0.0.1:41111\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let answer = |head: &[u8]| {
            let config = ServerConfig::new(
                Implementation::new("editor", "1.0"),
                Policy::new(41111, AuthToken::from_text("theirs").unwrap()),
                ToolSet::new(),
            );
            let mut server = Server::new(config, SessionId::new(1), Time::ZERO);
            server.feed(Time::ZERO, head);
            server.feed_eof(Time::ZERO);
            while server.poll_event().is_some() {}
            String::from_utf8_lossy(server.outgoing()).into_owned()
        };
        let methods = ["GET", "get", "GE:T", "GET\t/", "X-Token=a", "\u{e9}", ""];
        let targets =
            ["/", "/?token=secret", "/?secret", "/?a#token=b", "token=a", "/token=\u{e9}", "/?a\u{7f}", ""];
        let ends_of_line =
            ["HTTP/1.1\r\n", "HTTP/1.0\r\n", "HTTP/1.1 x\r\n", "HTTP/2.0\r\n", "b HTTP/1.1\r\n", "H\r\n"];
        let built = methods.iter().flat_map(|method| {
            targets.iter().flat_map(move |target| {
                ends_of_line.map(|end| format!("{method} {target} {end}").into_bytes())
            })
        });
        let mut refusals = BTreeSet::new();
        for line in built.chain(REQUESTS.iter().map(|(_, line, _)| line.to_vec())) {
            let got = ends(Some("theirs")).rewrite(&[&line[..], FIELDS].concat());
            let judged = answer(&got.sent);
            assert_eq!(answer(&got.recorded), judged, "{}", line.escape_ascii());
            refusals.insert(judged);
        }
        // Otherwise this would compare nothing.
        assert!(refusals.len() >= 4, "{refusals:?}");
    }

    #[test]
    fn a_head_ends_with_an_empty_line() {
        assert_eq!(len(b"GET / HTTP/1.1\r\n\r\nmore"), Some(18));
        assert_eq!(len(b"GET / HTTP/1.1\r\n\r"), None);
    }
}
