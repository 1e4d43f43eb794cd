//! Prints a transcript for people.

use crate::support::transcript::Transcript;
use crate::support::write_line;
use crate::view::{Filter, Screen, View};
use std::io;

/// Prints the rows that the filter shows, as the live view of `tap` does.
pub(crate) fn print(transcript: &Transcript, filter: Filter) -> io::Result<()> {
    let mut view = View::new(filter);
    for (_, line) in &transcript.lines {
        view.show(line, &Screen::of_stdout()).iter().try_for_each(|row| write_line(row))?;
    }
    Ok(())
}
