//! The effect of a fault on the output of the server.

use ide_mcp::{ide::ConnId, ws::frame::Header};

use super::{Bug, Subject};
use crate::model::Message;
use crate::sim_support::{
    frames::plain,
    tap::{nonce_in, selected, selection_in},
};

impl Subject {
    /// Returns the complete frames of the server, as the fault changes them.
    pub(super) fn mangle(&mut self, conn: ConnId, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = bytes;
        if rest.starts_with(b"HTTP/") {
            let end = rest.windows(4).position(|end| end == b"\r\n\r\n").map_or(rest.len(), |at| at + 4);
            out.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        while let Ok(Some((header, size))) = Header::parse(rest, false) {
            let end = size + usize::try_from(header.len).unwrap_or(0);
            let Some(payload) = rest.get(size..end) else { break };
            match std::str::from_utf8(payload) {
                Ok(text) if rest[0] == 0x81 => self.mangle_text(conn, text, &rest[..end], &mut out),
                _ if rest[0] == 0x88 && self.bug == Some(Bug::ClosesWithAnotherCode) => {
                    out.extend([0x88, 2, 0x0b, 0xb8]);
                }
                _ if rest[0] == 0x88 && self.bug == Some(Bug::RefusesLikeAShutdown) => {
                    out.extend([0x88, 2, 0x03, 0xe9]);
                }
                _ => out.extend_from_slice(&rest[..end]),
            }
            rest = &rest[end..];
        }
        out.extend_from_slice(rest);
        out
    }

    fn mangle_text(&mut self, conn: ConnId, text: &str, whole: &[u8], out: &mut Vec<u8>) {
        let Some(bug) = self.bug else { return };
        let message = Message::read(text);
        let id = message
            .as_ref()
            .filter(|message| message.method().is_none())
            .and_then(|message| message.get("id"));
        let method = message.as_ref().and_then(Message::method).unwrap_or_default();
        let is_selection = method.ends_with("selection_changed");
        match (bug, id) {
            (Bug::AnswersTwice, Some(_)) if self.every(7) => out.extend_from_slice(whole),
            (Bug::NeverAnswers, Some(_)) if self.every(7) => return,
            (Bug::AnswersUnderAnotherId, Some(id)) if self.every(7) => {
                return out.extend(frame(&text.replacen(&format!("\"id\":{id}"), "\"id\":\"nobody's\"", 1)));
            }
            (Bug::AnswersSomebodyElse, Some(_)) if nonce_in(text).is_some() => {
                let other = self
                    .outs
                    .iter()
                    .find(|(other, out)| **other != conn && out.is_empty())
                    .map(|(other, _)| *other);
                if let Some(other) = other.filter(|other| self.server.wants_input(*other)) {
                    self.outs.entry(other).or_default().extend_from_slice(whole);
                }
            }
            (Bug::AnswersWithNull, Some(_)) if self.every(7) => {
                return out.extend(frame(&text.replacen("{", "{\"error\":null,", 1)));
            }
            (Bug::ChoosesAnotherVersion, Some(_)) if text.contains("protocolVersion") => {
                let other = ["2024-11-05", "2025-11-25"];
                let with = if text.contains(other[0]) { other[1] } else { other[0] };
                let text = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
                    .iter()
                    .fold(text.to_owned(), |text, version| text.replace(version, with));
                return out.extend(frame(&text));
            }
            (Bug::SelectsTooEarly, Some(_)) if text.contains("protocolVersion") => {
                out.extend(frame(r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":""}}"#));
            }
            (Bug::SelectsBeforeTheConsent, Some(_)) if self.waits_for_consent(conn) => {
                out.extend(frame(r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":""}}"#));
            }
            (Bug::ChangesToolsForNothing, Some(_)) if self.every(9) && !text.contains("protocolVersion") => {
                out.extend(frame(&format!(r#"{{"jsonrpc":"2.0","method":"{LIST_CHANGED}"}}"#)));
            }
            (Bug::LosesSelections, None) if is_selection => return,
            (Bug::SelectsBackward, None) if is_selection => {
                if let (Some(old), Some(number)) = (self.old.take(), selection_in(text)) {
                    out.extend_from_slice(whole);
                    let is_older =
                        number > 1 && !old.windows(13).any(|part| part == selected(number).as_bytes());
                    return out.extend(if is_older { old } else { Vec::new() });
                }
                self.old = Some(whole.to_vec());
            }
            (Bug::SelectsTwice, None) if is_selection && self.every(7) => out.extend_from_slice(whole),
            (Bug::SelectsOnce, None)
                if is_selection
                    && self.last.insert(conn, whole.to_vec()).is_some_and(|last| last == whole) =>
            {
                return;
            }
            (Bug::RepeatsWithAChange, None) if is_selection => {
                self.last.insert(conn, whole.to_vec());
            }
            (Bug::RepeatsWithAChange, None) if method == LIST_CHANGED => {
                out.extend_from_slice(whole);
                return out.extend(self.last.get(&conn).into_iter().flatten());
            }
            (Bug::MentionsTogether, None) if method.ends_with("at_mentioned") => {
                match self.last.remove(&conn) {
                    Some(held) => out.extend(held),
                    None => {
                        self.last.insert(conn, whole.to_vec());
                        return;
                    }
                }
            }
            (Bug::TurnsRequestsAround, None) if method.starts_with("x/") && text.contains("\"id\"") => {
                match self.last.remove(&conn) {
                    Some(held) => {
                        out.extend_from_slice(whole);
                        return out.extend(held);
                    }
                    None => {
                        self.last.insert(conn, whole.to_vec());
                        return;
                    }
                }
            }
            (Bug::RefusesWhatEndsDiffs, Some(id)) if text.contains("_DIFF_TABS\"") => {
                return out.extend(busy(id));
            }
            (Bug::IsBusyTooEarly, Some(id)) if text.contains("\"nonce-") && self.every(5) => {
                return out.extend(busy(id));
            }
            (Bug::AsksAnyoneForFolders, None) if is_selection => {
                out.extend(frame(r#"{"jsonrpc":"2.0","id":900000,"method":"roots/list"}"#));
            }
            (Bug::SendsFormsToAnyone, None) if is_selection => {
                out.extend(frame(
                    r#"{"jsonrpc":"2.0","id":900000,"method":"elicitation/create","params":{}}"#,
                ));
            }
            (Bug::AsksTwiceForFolders, None) if method == "roots/list" => {
                out.extend_from_slice(whole);
                return out.extend(frame(r#"{"jsonrpc":"2.0","id":900000,"method":"roots/list"}"#));
            }
            (Bug::NeverAsksForFolders, None) if method == "roots/list" => return,
            (Bug::LosesMentions, None) if method.ends_with("at_mentioned") => return,
            (Bug::ProgressGoesBack, None) if method == "notifications/progress" => {
                out.extend_from_slice(whole)
            }
            (Bug::ReusesIds, None) if message.is_some_and(|message| message.get("id").is_some()) => {
                out.extend_from_slice(whole);
            }
            _ => {}
        }
        out.extend_from_slice(whole);
    }
}

const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// Returns the refusal of one call too many.
fn busy(id: &str) -> Vec<u8> {
    frame(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"busy: too many calls are open"}}}}"#
    ))
}

/// Returns a text message of a server.
pub fn frame(text: &str) -> Vec<u8> {
    plain(0x81, text.as_bytes())
}
