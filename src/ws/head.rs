//! The head of an HTTP/1.1 message: its end and its fields (RFC 9112 sections 2 and 5).
//!
//! httparse parses it. Since httparse also accepts bare line feeds and any number of leading empty lines, [`EndSearch`]
//! refuses the former, and more than one of the latter (RFC 9112 section 2.2). Both read each byte once, even if the
//! bytes arrive in many pieces.

/// Some clients send an empty line before the request line, after an earlier body.
pub(crate) const EMPTY_LINE: &[u8] = b"\r\n";

/// The maximum number of fields, more than any client or proxy sends; a server refuses more (431).
pub(crate) const MAX_FIELDS: usize = 64;

/// Searches for the end of a head in bytes that arrive in pieces.
#[derive(Debug, Default)]
pub(crate) struct EndSearch {
    /// How many bytes the search has read.
    seen: usize,
    /// Where the line of the last byte begins.
    line: usize,
}

impl EndSearch {
    /// Returns the length of the head with its final empty line, or `None` until the head is complete. `bytes` must
    /// begin with the bytes of the last call. The error says why further bytes cannot complete the head.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, &'static str> {
        for at in line_feeds(bytes, self.seen) {
            if at.checked_sub(1).and_then(|before| bytes.get(before)) != Some(&b'\r') {
                return Err("a line must end in CR LF");
            }
            let empty = at == self.line.saturating_add(1);
            let is_first = self.line == 0;
            if empty && !is_first && bytes.get(..self.line) == Some(EMPTY_LINE) {
                return Err("the request line is missing");
            }
            self.line = at.saturating_add(1);
            if empty && !is_first {
                return Ok(Some(self.line));
            }
        }
        self.seen = self.seen.max(bytes.len());
        Ok(None)
    }
}

/// The fields of a head. The parser has accepted it, so splitting lines is enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the first line.
    pub(crate) fn first_line(self) -> &'a [u8] {
        lines(self.0).next().unwrap_or_default()
    }

    /// Returns name and value of each field, in order, without the white space around the value.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        lines(self.0).skip(1).filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = line.split_at_checked(colon)?;
            Some((name, value.get(1..)?.trim_ascii()))
        })
    }

    /// Returns the values of all fields with this name, compared without case.
    pub(crate) fn values(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        lines(self.0).skip(1).filter_map(|line| {
            let (found, rest) = line.split_at_checked(name.len())?;
            let value = rest.strip_prefix(b":")?;
            found.eq_ignore_ascii_case(name.as_bytes()).then_some(value.trim_ascii())
        })
    }

    /// Returns the field with this name, with its value if the head contains exactly one.
    pub(crate) fn single(self, name: &str) -> HeaderField<'a> {
        let mut values = self.values(name);
        match (values.next(), values.next()) {
            (None, _) => HeaderField::Absent,
            (Some(value), None) => HeaderField::One(value),
            (Some(_), Some(_)) => HeaderField::Many,
        }
    }

    /// Returns the elements of a comma-separated list, which may be spread over several fields (RFC 9110 section
    /// 5.6.1).
    pub(crate) fn list(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.values(name).flat_map(elements)
    }

    /// Returns true if the list in the fields `name` contains `element`, compared without case.
    pub(crate) fn lists(self, name: &str, element: &str) -> bool {
        self.list(name).any(|found| found.eq_ignore_ascii_case(element.as_bytes()))
    }
}

/// Returns the elements of a comma-separated list, without the white space around them.
pub(crate) fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

/// A header field that may appear at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a field is absent, present once, or repeated")]
pub enum HeaderField<'a> {
    /// The head has no field with this name.
    Absent,
    /// The head has one field with this name, and this is its value.
    One(&'a [u8]),
    /// The head has several fields with this name.
    Many,
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    line_feeds(head, 0).filter_map(move |at| {
        let line = head.get(from..at)?;
        from = at.saturating_add(1);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// Returns the positions of the line feeds from `from` on. Each step reads eight bytes.
fn line_feeds(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // `hits` describes the eight bytes before `next`: the high bit of each line feed that was not returned yet is set.
    let (mut next, mut hits) = (from, 0_u64);
    core::iter::from_fn(move || {
        while hits == 0 {
            let rest = bytes.get(next..).filter(|rest| !rest.is_empty())?;
            let mut word = [0; 8];
            match rest.first_chunk() {
                Some(whole) => word = *whole,
                None => word.iter_mut().zip(rest).for_each(|(byte, last)| *byte = *last),
            }
            let differs = u64::from_le_bytes(word) ^ u64::from_ne_bytes([b'\n'; 8]);
            // A byte is not zero if its high bit is set, or if adding 0x7f to its other bits sets it.
            hits = !((differs & !HIGH).wrapping_add(!HIGH) | differs) & HIGH;
            next = next.saturating_add(8);
        }
        let within = usize::try_from(hits.trailing_zeros() / 8).unwrap_or(0);
        hits &= hits.wrapping_sub(1);
        next.checked_sub(8).map(|word| word.saturating_add(within))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_in_pieces_of_any_size() {
        let cases: &[(&str, &[u8], Result<Option<usize>, &str>)] = &[
            ("nothing", b"", Ok(None)),
            ("one line", b"GET / HTTP/1.1\r\n", Ok(None)),
            ("a field, but not the end", b"G\r\na: b\r\n\r", Ok(None)),
            ("a complete head", b"G\r\na: b\r\n\r\n", Ok(Some(11))),
            ("bytes after the end", b"G\r\n\r\n\x81\n\n", Ok(Some(5))),
            ("bare line feed", b"G\na: b", Err("a line must end in CR LF")),
            ("a bare line feed at the start", b"\n", Err("a line must end in CR LF")),
            ("empty line in front", b"\r\nG\r\na: b\r\n\r\n", Ok(Some(13))),
            ("only an empty line", b"\r\n", Ok(None)),
            ("two empty lines in front", b"\r\n\r\nGET", Err("the request line is missing")),
        ];
        for (name, bytes, expected) in cases {
            assert_eq!(EndSearch::default().end(bytes), *expected, "{name}");
            let mut search = EndSearch::default();
            let mut found = Ok(None);
            for end in 0..=bytes.len() {
                found = search.end(&bytes[..end]);
                if found != Ok(None) {
                    break;
                }
            }
            assert_eq!(found, *expected, "{name}, a byte at a time");
        }
    }

    #[test]
    fn line_feeds_are_found_wherever_they_are() {
        arbtest::arbtest(|u| {
            let alphabet = b"\n\r\x0b\x09\x8a\x00\xff";
            let len = u.int_in_range(0..=40)?;
            let mut bytes = alloc::vec::Vec::new();
            for _ in 0..len {
                bytes.push(*u.choose(alphabet)?);
            }
            for from in 0..=len {
                let expected = (from..len).filter(|at| bytes[*at] == b'\n');
                assert!(line_feeds(&bytes, from).eq(expected), "from {from} in {bytes:x?}");
            }
            Ok(())
        });
    }

    #[test]
    fn fields_ignore_case_and_join_lines() {
        let head = b"GET / HTTP/1.1\r\nA: 1\r\nList: x, Y\r\na:  2 \r\nlist:,z\r\n\r\n";
        let fields = Fields(head);
        assert_eq!(fields.first_line(), b"GET / HTTP/1.1");
        assert!(
            fields.iter().eq([("A", "1"), ("List", "x, Y"), ("a", "2"), ("list", ",z")]
                .map(|(name, value): (&str, &str)| (name.as_bytes(), value.as_bytes())))
        );
        assert_eq!(fields.single("b"), HeaderField::Absent);
        assert_eq!(fields.single("a"), HeaderField::Many);
        assert!(fields.values("A").eq([&b"1"[..], b"2"]));
        assert!(fields.list("list").eq([&b"x"[..], b"Y", b"z"]));
        assert!(fields.lists("LIST", "y") && !fields.lists("list", "xy"));
    }
}
