//! Close codes and the body of a close frame (RFC 6455 sections 5.5.1 and 7.4).

use super::ProtocolError;
use core::fmt;

/// A close code that you may send in a close frame.
///
/// 1005, 1006 and 1015 only describe what happened locally, so you cannot create them: 1005 is
/// [`Closed::Remote`](super::Closed::Remote) without a code, 1006 is [`Closed::Abnormal`](super::Closed::Abnormal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CloseCode(u16);

impl CloseCode {
    /// 1000: done, nothing is wrong.
    pub const NORMAL: Self = Self(1000);
    /// 1001: this side goes away, like an editor that exits.
    pub const GOING_AWAY: Self = Self(1001);
    /// 1002: the peer broke the protocol.
    pub const PROTOCOL: Self = Self(1002);
    /// 1003: this endpoint does not accept data of this kind.
    pub const UNSUPPORTED: Self = Self(1003);
    /// 1007: the data does not match its type, such as text that is not UTF-8.
    pub const INVALID_PAYLOAD: Self = Self(1007);
    /// 1008: the peer violated a policy.
    pub const POLICY: Self = Self(1008);
    /// 1009: the message is too big.
    pub const TOO_BIG: Self = Self(1009);
    /// 1011: something unexpected happened on this side.
    pub const INTERNAL: Self = Self(1011);

    /// Returns the code if it may be sent: 1000–1003, 1007–1014 (RFC 6455 section 7.4.1 and the IANA
    /// registry) and 3000–4999 (section 7.4.2).
    #[must_use]
    pub const fn new(code: u16) -> Option<Self> {
        match code {
            1000..=1003 | 1007..=1014 | 3000..=4999 => Some(Self(code)),
            _ => None,
        }
    }

    /// Returns the number of the code.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The longest reason: the body of a control frame has at most 125 bytes (RFC 6455 section 5.5), two of
/// which are the code.
pub(crate) const MAX_REASON: usize = 123;

/// Reads the body of a close frame: the code, if there is one, and the reason.
pub(crate) fn parse(body: &[u8]) -> Result<(Option<CloseCode>, &str), ProtocolError> {
    let (code, reason) = match body {
        [] => return Ok((None, "")),
        [_] => return Err(ProtocolError::TruncatedCloseCode),
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
    };
    let code = CloseCode::new(code).ok_or(ProtocolError::InvalidCloseCode(code))?;
    let reason = core::str::from_utf8(reason).map_err(|_| ProtocolError::InvalidUtf8)?;
    Ok((Some(code), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_bodies() {
        let code = |code| CloseCode::new(code);
        let cases: &[(&str, &[u8], Result<(Option<CloseCode>, &str), ProtocolError>)] = &[
            ("no body", b"", Ok((None, ""))),
            ("one byte", b"\x03", Err(ProtocolError::TruncatedCloseCode)),
            ("normal", b"\x03\xe8", Ok((code(1000), ""))),
            ("with a reason", b"\x03\xe9bye", Ok((code(1001), "bye"))),
            ("application's lowest", b"\x0b\xb8", Ok((code(3000), ""))),
            ("application's highest", b"\x13\x87", Ok((code(4999), ""))),
            ("reason is not UTF-8", b"\x03\xe8\xff", Err(ProtocolError::InvalidUtf8)),
            ("999", b"\x03\xe7", Err(ProtocolError::InvalidCloseCode(999))),
            ("1004", b"\x03\xec", Err(ProtocolError::InvalidCloseCode(1004))),
            ("1005", b"\x03\xed", Err(ProtocolError::InvalidCloseCode(1005))),
            ("1006", b"\x03\xee", Err(ProtocolError::InvalidCloseCode(1006))),
            ("1015", b"\x03\xf7", Err(ProtocolError::InvalidCloseCode(1015))),
            ("1016", b"\x03\xf8", Err(ProtocolError::InvalidCloseCode(1016))),
            ("2999", b"\x0b\xb7", Err(ProtocolError::InvalidCloseCode(2999))),
            ("5000", b"\x13\x88", Err(ProtocolError::InvalidCloseCode(5000))),
            ("65535", b"\xff\xff", Err(ProtocolError::InvalidCloseCode(65535))),
        ];
        for (name, body, expected) in cases {
            assert_eq!(parse(body), *expected, "{name}");
        }
    }

    #[test]
    fn a_code_shows_its_number() {
        let code = CloseCode::GOING_AWAY;
        assert_eq!(
            (code.get(), alloc::format!("{code}, {code:?}").as_str()),
            (1001, "1001, CloseCode(1001)")
        );
    }
}
