//! The live view: shows the lines of the transcript as rows.

use crate::support::transcript::read_line;
use crate::view::{Filter, Screen, View};
use std::io::{self, Write};

/// Takes lines of a transcript, and writes their rows to standard output. It runs on the thread of a
/// [`Writer`](crate::support::Writer), so that neither parsing nor a slow terminal delays a message.
#[derive(Debug)]
pub(crate) struct Live<W> {
    view: View,
    screen: fn() -> Screen,
    out: W,
    /// The beginning of a line that is not complete.
    held: Vec<u8>,
}

impl<W: Write> Live<W> {
    pub(crate) const fn new(filter: Filter, screen: fn() -> Screen, out: W) -> Self {
        Self { view: View::new(filter), screen, out, held: Vec::new() }
    }
}

impl<W: Write> Write for Live<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.held.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let text = std::mem::take(&mut self.held);
                // The tap writes only lines that can be read.
                let line = std::str::from_utf8(&text).ok().and_then(read_line);
                let rows = line.map(|line| self.view.show(&line, &(self.screen)())).unwrap_or_default();
                rows.iter().try_for_each(|row| writeln!(self.out, "{row}"))?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::transcript::{Line, Side, What, write};
    use ide_mcp::Time;

    #[test]
    fn rows_do_not_depend_on_pieces() {
        let line = |what| write(&Line { at: Time::ZERO, conn: 1, what, by_tap: false });
        let text = line(What::Open) + &line(What::End(Side::Agent, "é".into()));
        for size in [1, 7, text.len()] {
            let mut out = Vec::new();
            let screen = || Screen { columns: None, has_colors: false };
            let mut live = Live::new(Filter::default(), screen, &mut out);
            text.as_bytes().chunks(size).for_each(|piece| live.write_all(piece).unwrap());
            let rows = "    0.000  1          open\n    0.000  1 agent  → end          é\n";
            assert_eq!(String::from_utf8(out).unwrap(), rows, "pieces of {size}");
        }
    }
}
