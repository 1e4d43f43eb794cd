//! Says how a connection ended, in words for a user, who thinks of an editor or an agent and knows no close codes.

use ide_mcp::ide::kit::display_safe;
use ide_mcp::ws::{CloseCode, Closed};

/// Says what the sender of a close code did, such as `ended` for an editor that quits; `None` for a code that means
/// nothing to users.
pub(crate) const fn meaning(code: u16) -> Option<&'static str> {
    Some(match code {
        1000 => "closed the connection",
        1001 => "ended",
        1002 => "closed the connection after a message that breaks the protocol",
        1003 => "closed the connection after a message of a kind that it does not accept",
        1007 => "closed the connection after a message that is not valid text",
        1008 => "refused the connection",
        1009 => "closed the connection after a message that is too long for it",
        1011 => "failed, and closed the connection",
        1012 => "restarts",
        1013 => "is too busy for now",
        _ => return None,
    })
}

/// Returns how a connection ended, with a name for the other side, such as `the editor`. The text is safe to display.
pub(crate) fn ended(other: &str, closed: &Closed) -> String {
    let text = match closed {
        Closed::Remote { code, reason } => {
            let what = match code.map(CloseCode::get) {
                None => format!("{other} closed the connection"),
                Some(code) => match meaning(code) {
                    Some(meaning) => format!("{other} {meaning}"),
                    None => format!("{other} closed the connection with code {code}"),
                },
            };
            if reason.is_empty() { what } else { format!("{what}: {reason}") }
        }
        Closed::Abnormal => {
            format!("the connection broke off without a goodbye, as if {other} was killed or crashed")
        }
        Closed::ProtocolError(error) => format!("{other} broke a rule: {error}"),
        Closed::TimedOut => format!("{other} has been silent for too long"),
        Closed::Stalled => format!("{other} read too little for too long"),
        Closed::Local { .. } => "this side closed the connection".into(),
        closed => closed.to_string(),
    };
    display_safe(&text).into_owned()
}

/// Says that the agent with this name has detached, and why, unless it closed the connection in the normal way.
#[cfg(feature = "editor")]
pub(crate) fn detached(name: &str, closed: &Closed) -> String {
    let is_goodbye = matches!(closed, Closed::Remote { code: None | Some(CloseCode::NORMAL), reason } if reason.is_empty());
    if is_goodbye {
        format!("{name} detached")
    } else {
        format!("{name} detached: {}", ended("the agent", closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ws::ProtocolError;

    #[test]
    fn ends_are_described_for_users() {
        let by =
            |code: u16, reason: &str| Closed::Remote { code: CloseCode::new(code), reason: reason.into() };
        let rows = [
            ("goodbye", by(1000, ""), "the editor closed the connection"),
            ("no code", by(0, ""), "the editor closed the connection"),
            ("an editor that quits", by(1001, ""), "the editor ended"),
            ("with a reason", by(1001, "bye"), "the editor ended: bye"),
            ("a reason with a control sequence", by(1001, "\u{1b}[2J"), "the editor ended: \u{fffd}[2J"),
            ("a refusal", by(1008, ""), "the editor refused the connection"),
            ("a code without a meaning", by(1014, ""), "the editor closed the connection with code 1014"),
            ("a private code", by(4000, "x"), "the editor closed the connection with code 4000: x"),
            (
                "killed",
                Closed::Abnormal,
                "the connection broke off without a goodbye, as if the editor was killed or crashed",
            ),
            ("silent", Closed::TimedOut, "the editor has been silent for too long"),
            ("closed by this side", Closed::Local { clean: true }, "this side closed the connection"),
        ];
        for (name, closed, expected) in rows {
            assert_eq!(ended("the editor", &closed), expected, "{name}");
        }
        let broken = ended("the editor", &Closed::ProtocolError(ProtocolError::InvalidUtf8));
        assert!(broken.starts_with("the editor broke a rule: "), "{broken}");
        for code in (1000..=1014).filter_map(CloseCode::new) {
            let text = ended("it", &Closed::Remote { code: Some(code), reason: "".into() });
            assert_eq!(text.contains(&code.to_string()), meaning(code.get()).is_none(), "{text}");
        }
    }

    #[cfg(feature = "editor")]
    #[test]
    fn goodbye_of_an_agent_has_no_reason() {
        let by =
            |code: u16, reason: &str| Closed::Remote { code: CloseCode::new(code), reason: reason.into() };
        let rows = [
            (by(1000, ""), "a detached"),
            (by(0, ""), "a detached"),
            (by(1000, "done"), "a detached: the agent closed the connection: done"),
            (by(1001, ""), "a detached: the agent ended"),
            (Closed::TimedOut, "a detached: the agent has been silent for too long"),
        ];
        for (closed, expected) in rows {
            assert_eq!(detached("a", &closed), expected);
        }
    }
}
