//! `watch`: what the editor pushes, as it comes.

use super::{Verdict, print_json};
use crate::session::{Failure, Session};
use ide_mcp::ide::ClientEvent;
use serde::Serialize;

pub(crate) fn watch(session: &mut Session) -> Result<Verdict, Failure> {
    loop {
        let is_heard = match session.next()? {
            ClientEvent::SelectionChanged(selection) => heard("selection_changed", &selection)?,
            ClientEvent::AtMentioned(mention) => heard("at_mentioned", &mention)?,
            ClientEvent::DiagnosticsChanged(changed) => heard("diagnostics_changed", &changed)?,
            ClientEvent::ActiveEditorChanged(selection) => {
                heard("workspace/didChangeActiveEditor", &selection)?
            }
            ClientEvent::ToolsChanged => heard("notifications/tools/list_changed", &None::<()>)?,
            ClientEvent::Notification { method, params } => heard(&method, &params)?,
            _ => true,
        };
        if !is_heard {
            return Ok(Verdict::Good);
        }
    }
}

#[derive(Serialize)]
struct Heard<'a, P> {
    event: &'a str,
    params: &'a P,
}

fn heard<P: Serialize>(event: &str, params: &P) -> Result<bool, Failure> {
    print_json(&Heard { event, params })
}
