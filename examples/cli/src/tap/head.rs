//! What of a request to open is another thing to the editor than to the tap: where it goes, and the token.
//!
//! Nobody is judged here. A request that is right for the tap is made right for the editor; every other one goes through
//! as it is, and the editor refuses it. But whatever could be a token, of whomever and however it is spelt, is not written
//! down.

use crate::support::Trust;
use crate::tap::request_line;
use crate::tap::secrets::{is_mark, secret_at};
use ide_mcp::ide::AuthToken;

/// More than any editor takes; a head that is longer goes through as it is.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

const TOKEN_FIELD: &str = "x-claude-code-ide-authorization";

/// Who stands on which side of the tap.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// What agents say.
    pub(crate) token: AuthToken,
    pub(crate) port: u16,
    /// What the editor wants to hear; `None` if nothing.
    pub(crate) editor_token: Option<AuthToken>,
    pub(crate) editor_port: u16,
    /// To which servers the editor's token is sent.
    pub(crate) trust: Trust,
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
        request_line::hide(&mut recorded);
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

    #[test]
    fn what_is_folded_behind_the_request_line_belongs_to_it() {
        let (sent, recorded) =
            (b"X-Ide-Authorization: a\r\n secret\r\n", b"X-Ide-Authorization: -\r\n ------\r\n");
        let rewritten = Rewritten { sent: sent.to_vec(), recorded: recorded.to_vec() };
        assert_eq!(ends(Some("theirs")).rewrite(sent), rewritten);
    }

    #[test]
    fn a_head_ends_with_an_empty_line() {
        assert_eq!(len(b"GET / HTTP/1.1\r\n\r\nmore"), Some(18));
        assert_eq!(len(b"GET / HTTP/1.1\r\n\r"), None);
    }
}
