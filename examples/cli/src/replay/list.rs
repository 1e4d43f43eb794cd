//! The contents of a transcript for a person.

use crate::replay::compare::show;
use crate::replay::engine::seconds;
use crate::replay::units::{Unit, Units};
use crate::support::transcript::{Side, Transcript, What};
use crate::support::write_line;
use ide_mcp::ide::display_safe;
use std::collections::BTreeMap;
use std::io;

/// Prints a line for each event: the time, the connection, the sender, and the contents.
pub(crate) fn print(transcript: &Transcript) -> io::Result<()> {
    let mut streams: BTreeMap<(u32, Side), Units> = BTreeMap::new();
    for (_, line) in &transcript.lines {
        let (at, conn) = (seconds(line.at), line.conn);
        match &line.what {
            What::Open => write_line(&format!("{at} {conn} opens"))?,
            What::Text(from, text) => write_line(&format!("{at} {conn} {from}: {}", display_safe(text)))?,
            What::End(from, reason) => {
                write_line(&format!("{at} {conn} {from} ends: {}", display_safe(reason)))?
            }
            What::Bytes(from, bytes) => {
                let units = streams.entry((conn, *from)).or_insert_with(|| Units::new(*from == Side::Agent));
                for piece in units.push(bytes) {
                    let text = match (&piece.message, &piece.unit) {
                        (Some(message), _) => display_safe(message).into_owned(),
                        (None, Some(unit @ Unit::Frame { opcode, .. })) if opcode.is_control() => show(unit),
                        (None, Some(unit @ (Unit::Head(_) | Unit::Junk(_)))) => show(unit),
                        (None, _) => continue,
                    };
                    write_line(&format!("{at} {conn} {from}: {text}"))?;
                }
            }
        }
    }
    Ok(())
}
