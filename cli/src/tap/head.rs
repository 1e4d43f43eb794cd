//! Rewrites what differs in a request between the editor and the tap: its destination, and the token.
//!
//! The tap does not judge requests. One that is valid for the tap is rewritten to be valid for the editor; any other
//! is forwarded unchanged, and the editor refuses it. But nothing is recorded that could be a token, of any owner and
//! in any spelling.

use crate::tap::request_line;
use crate::tap::secrets::{is_mark, secret_at};
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp_driver::Trust;

/// The maximum size of a head, more than any editor accepts. A longer head is forwarded unchanged.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

const TOKEN_FIELD: &str = "x-claude-code-ide-authorization";

/// The tokens and ports of both sides of the tap.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// The token of the tap, which agents send.
    pub(crate) token: AuthToken,
    pub(crate) port: u16,
    /// The token that the editor requires, if any.
    pub(crate) editor_token: Option<AuthToken>,
    pub(crate) editor_port: u16,
    /// The servers that the tap may send the editor's token to.
    pub(crate) trust: Trust,
}

/// A head as it is sent to the editor, and as it is recorded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rewritten {
    pub(crate) sent: Vec<u8>,
    pub(crate) recorded: Vec<u8>,
}

/// Returns the length of the head, if it is complete.
pub(crate) fn len(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at.saturating_add(4))
}

impl Ends {
    /// Rewrites a head, or an incomplete one, for the editor.
    pub(crate) fn rewrite(&self, head: &[u8]) -> Rewritten {
        let mut out = Rewritten::default();
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let mut is_secret = out.request_line(&self.target(lines.next().unwrap_or_default()));
        for line in lines {
            // A folded line belongs to the field before it.
            if is_secret && matches!(line.first(), Some(b' ' | b'\t')) {
                out.hiding(line, 0);
                continue;
            }
            let secret = secret_at(line);
            is_secret = secret.is_some();
            let Some((name, value, after)) = field(line) else {
                out.hiding(line, secret.unwrap_or(line.len()));
                continue;
            };
            let before = line.len().saturating_sub(value.len().saturating_add(after));
            let (before, after) = (
                line.get(..before).unwrap_or_default(),
                line.get(before.saturating_add(value.len())..).unwrap_or_default(),
            );
            match name.as_str() {
                "host" => {
                    out.both(before);
                    out.both(&self.host(value));
                    out.both(after);
                }
                TOKEN_FIELD => self.token(before, value, after, &mut out),
                // The tap could not find tokens in compressed messages. Every agent and editor
                // works without compression.
                "sec-websocket-extensions" => {}
                _ => out.hiding(line, secret.unwrap_or(line.len())),
            }
        }
        out
    }

    /// Replaces our port by the editor's in a target in absolute-form. Its authority counts, not the `Host` field.
    fn target(&self, line: &[u8]) -> Vec<u8> {
        let mut parts = line.splitn(4, |byte| *byte == b'/');
        let parts: [_; 4] = std::array::from_fn(|_| parts.next());
        let [Some(scheme), Some(b""), Some(authority), path] = parts else { return line.to_vec() };
        if !scheme.to_ascii_lowercase().ends_with(b" http:") {
            return line.to_vec();
        }
        // Without a path, the version or the line feed follows the authority.
        let end = authority.iter().position(|byte| *byte == b' ').unwrap_or(authority.len());
        let (authority, after) = authority.split_at(end);
        let path = path.map(|path| [b"/", path].concat()).unwrap_or_default();
        [scheme, b"//", &self.host(authority), after, &path].concat()
    }

    /// Replaces our port by the editor's. Any other value is for the editor to judge.
    fn host(&self, value: &[u8]) -> Vec<u8> {
        let ours = format!(":{}", self.port);
        match value.strip_suffix(ours.as_bytes()) {
            Some(name) => [name, format!(":{}", self.editor_port).as_bytes()].concat(),
            None => value.to_vec(),
        }
    }

    fn token(&self, before: &[u8], value: &[u8], after: &[u8], out: &mut Rewritten) {
        let editor = self.editor_token.as_ref();
        let ours = self.token.matches(Some(value));
        // An editor that requires no token must not get the token of the tap.
        if ours && editor.is_none() {
            return;
        }
        let sent = editor.filter(|_| ours).map_or(value, AuthToken::as_bytes);
        let right = editor.is_some_and(|token| token.matches(Some(sent)));
        out.both(before);
        out.sent.extend_from_slice(sent);
        out.recorded.resize(out.recorded.len().saturating_add(sent.len()), if right { b'*' } else { b'-' });
        out.both(after);
    }
}

impl Rewritten {
    fn both(&mut self, bytes: &[u8]) {
        self.sent.extend_from_slice(bytes);
        self.recorded.extend_from_slice(bytes);
    }

    /// Forwards the first line unchanged. Returns true if part of it is not recorded.
    fn request_line(&mut self, line: &[u8]) -> bool {
        let mut recorded = line.to_vec();
        request_line::hide(&mut recorded);
        self.sent.extend_from_slice(line);
        self.recorded.extend_from_slice(&recorded);
        recorded != line
    }

    /// Forwards a line unchanged. The record has the line up to `from`, and the separators there. In the text after
    /// them, minus signs replace all bytes except those that are invalid in a field, since the editor judges the line
    /// by these.
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

/// Returns the name of a field in lower case, its value, and the number of bytes after the value.
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

    fn ends(editor_token: Option<&str>) -> Ends {
        Ends {
            token: AuthToken::from_text("ours").unwrap(),
            port: 5000,
            editor_token: editor_token.map(|text| AuthToken::from_text(text).unwrap()),
            editor_port: 41111,
            trust: Trust::OurUser,
        }
    }

    #[test]
    fn valid_request_is_rewritten_for_the_editor() {
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
            (
                "no token is wanted, and ours is sent",
                None,
                "X-Claude-Code-Ide-Authorization: ours\r\n",
                "",
                None,
            ),
            (
                "no token is wanted, and another one is sent",
                None,
                "X-Claude-Code-Ide-Authorization: x\r\n",
                "X-Claude-Code-Ide-Authorization: x\r\n",
                Some("X-Claude-Code-Ide-Authorization: -\r\n"),
            ),
            ("compression", Some("theirs"), "Sec-WebSocket-Extensions: permessage-deflate\r\n", "", None),
            ("a web page", Some("theirs"), "Origin: http://a:5000\r\n", "Origin: http://a:5000\r\n", None),
            ("not a field", Some("theirs"), "\u{0}\u{1}\r\n\n", "\u{0}\u{1}\r\n\n", None),
            ("an incomplete field", Some("theirs"), "X-Claude-Code-Ide-Auth", "X-Claude-Code-Ide-Auth", None),
        ];
        for (name, token, fields, sent, recorded) in cases {
            let head = |fields: &str| format!("GET / HTTP/1.1\r\n{fields}\r\n");
            let got = ends(token).rewrite(head(fields).as_bytes());
            assert_eq!(String::from_utf8(got.sent).unwrap(), head(sent), "{name}");
            assert_eq!(String::from_utf8(got.recorded).unwrap(), head(recorded.unwrap_or(sent)), "{name}");
        }
    }

    #[test]
    fn port_in_target_is_replaced() {
        let cases = [
            ("GET http://127.0.0.1:5000/mcp?a=http://x:5000/ HTTP/1.1", Some(":41111/mcp?a=http://x:5000/ ")),
            ("GET HTTP://localhost:5000 HTTP/1.1", Some("localhost:41111 HTTP/1.1")),
            ("GET http://127.0.0.1:50001/ HTTP/1.1", None),
            ("GET /http://127.0.0.1:5000/ HTTP/1.1", None),
            ("GET https://127.0.0.1:5000/ HTTP/1.1", None),
            ("GET / HTTP/1.1", None),
            ("http://127.0.0.1:5000", None),
        ];
        for (line, changed) in cases {
            let head = format!("{line}\r\nA: b\r\n\r\n");
            let sent = String::from_utf8(ends(None).rewrite(head.as_bytes()).sent).unwrap();
            match changed {
                Some(part) => assert!(sent.contains(part) && sent.ends_with("\r\nA: b\r\n\r\n"), "{sent}"),
                None => assert_eq!(sent, head),
            }
        }
    }

    #[test]
    fn token_is_hidden_in_every_spelling() {
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
                "folded lines",
                b"X-Claude-Code-Ide-Authorization: a\r\n secret\r\n\tmore\r\nA: b\r\n",
                b"X-Claude-Code-Ide-Authorization: -\r\n ------\r\n\t----\r\nA: b\r\n",
            ),
            (
                "after a bare carriage return",
                b"A: b\rX-Claude-Code-Ide-Authorization: secret\r\n",
                b"A: b\rX-Claude-Code-Ide-Authorization: ------\r\n",
            ),
            (
                "no colon",
                b"X-CLAUDE-CODE-IDE-AUTHORIZATION secret\r\n",
                b"X-CLAUDE-CODE-IDE-AUTHORIZATION ------\r\n",
            ),
            ("an equals sign", b"X_Ide_Auth=secret\r\n", b"X_Ide_Auth=------\r\n"),
            (
                "bytes that are not UTF-8",
                b"\xffX-Ide-Token\xff: secret\xff\r\n",
                b"\xffX-Ide-Token\xff: -------\r\n",
            ),
            ("another field", b"Authorization: Bearer se:cret\r\n", b"Authorization: --------------\r\n"),
            ("a cookie", b"cookie: a=secret; b=secret\r\n", b"cookie: ------------------\r\n"),
            (
                "an incomplete value",
                b"X-Claude-Code-Ide-Authorization : sec",
                b"X-Claude-Code-Ide-Authorization : ---",
            ),
            ("an incomplete name", b"X-Claude-Code-Ide-Au", b"X-Claude-Code-Ide-Au"),
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

    #[test]
    fn line_folded_after_request_line_is_hidden() {
        let (sent, recorded) =
            (b"X-Ide-Authorization: a\r\n secret\r\n", b"X-Ide-Authorization: -\r\n ------\r\n");
        let rewritten = Rewritten { sent: sent.to_vec(), recorded: recorded.to_vec() };
        assert_eq!(ends(Some("theirs")).rewrite(sent), rewritten);
    }

    #[test]
    fn head_ends_with_an_empty_line() {
        assert_eq!(len(b"GET / HTTP/1.1\r\n\r\nmore"), Some(18));
        assert_eq!(len(b"GET / HTTP/1.1\r\n\r"), None);
    }
}
