//! `watch`: prints the pushes of the editor on arrival.

use super::{Verdict, has_reader, print_json};
use crate::agent::events::{Link, Pushed};
use crate::agent::session::{Failure, Heard, Session};

pub(crate) fn watch(session: &mut Session) -> Result<Verdict, Failure> {
    while let Some(heard) = session.next_while(has_reader)? {
        let is_read = match (Link::of(&heard, session), heard) {
            (Some(link), _) => print_json(&link)?,
            (None, Heard::Event(event)) => {
                Pushed::of(event).map_or(Ok(true), |pushed| print_json(&pushed))?
            }
            (None, _) => true,
        };
        if !is_read {
            break;
        }
    }
    Ok(Verdict::Good)
}
