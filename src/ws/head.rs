//! The head of an HTTP/1.1 message: where it ends, and its fields (RFC 9112 sections 2 and 5).
//!
//! httparse reads the grammar; what it lets pass and RFC 9112 does not (a bare line feed, empty lines in front) is
//! refused while the end is searched. Each byte is looked at once by the search and once by the parser, however the
//! bytes come.

/// More fields than any client or proxy sends; a head with more is refused (431).
pub(crate) const MAX_FIELDS: usize = 64;

/// A head that cannot become one, whatever follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// A line feed without a carriage return.
    BareLineFeed,
    /// An empty line where the first line should be.
    NoFirstLine,
}

/// Searches the end of a head in bytes that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct EndSearch {
    /// How many bytes have been looked at.
    seen: usize,
    /// Where the line begins that the last byte looked at belongs to.
    line: usize,
}

impl EndSearch {
    /// The length of the head with its final empty line, once that is there. `bytes` are those of the last call and
    /// whatever has come since.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let mut before = self.seen.checked_sub(1).and_then(|last| bytes.get(last)).copied();
        for byte in bytes.get(self.seen..).unwrap_or_default() {
            let at = self.seen;
            self.seen = at.saturating_add(1);
            if *byte == b'\n' {
                if before != Some(b'\r') {
                    return Err(Malformed::BareLineFeed);
                }
                let empty = at == self.line.saturating_add(1);
                if empty && self.line == 0 {
                    return Err(Malformed::NoFirstLine);
                }
                self.line = self.seen;
                if empty {
                    return Ok(Some(self.seen));
                }
            }
            before = Some(*byte);
        }
        Ok(None)
    }
}

/// The fields of a head that has been parsed before, so that splitting lines is enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) const fn new(head: &'a [u8]) -> Self {
        Self(head)
    }

    /// The head.
    pub(crate) const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The first line.
    pub(crate) fn first_line(self) -> &'a [u8] {
        lines(self.0).next().unwrap_or_default()
    }

    /// Name and value of each field, in order; the value without the white space around it.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        lines(self.0).skip(1).filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = line.split_at_checked(colon)?;
            Some((name, value.get(1..)?.trim_ascii()))
        })
    }

    /// The values of all fields of this name, which is compared without case.
    pub(crate) fn values(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |field| field.0.eq_ignore_ascii_case(name.as_bytes())).map(|field| field.1)
    }

    /// The value of the only field of this name.
    pub(crate) fn single(self, name: &str) -> Single<'a> {
        let mut values = self.values(name);
        match (values.next(), values.next()) {
            (None, _) => Single::Missing,
            (Some(value), None) => Single::Once(value),
            (Some(_), Some(_)) => Single::Repeated,
        }
    }

    /// The elements of a comma-separated list that may be spread over several fields (RFC 9110 section 5.6.1).
    pub(crate) fn list(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.values(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|element| !element.is_empty())
    }

    /// Whether that list has this element, compared without case.
    pub(crate) fn lists(self, name: &str, element: &str) -> bool {
        self.list(name).any(|found| found.eq_ignore_ascii_case(element.as_bytes()))
    }
}

/// How often a field that must stand once does, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there is nothing beside none, one and several")]
pub enum Single<'a> {
    /// There is no such field.
    Missing,
    /// There is one; this is its value.
    Once(&'a [u8]),
    /// There are several.
    Repeated,
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_however_the_bytes_come() {
        let cases: &[(&str, &[u8], Result<Option<usize>, Malformed>)] = &[
            ("nothing", b"", Ok(None)),
            ("one line", b"GET / HTTP/1.1\r\n", Ok(None)),
            ("a field, no end", b"G\r\na: b\r\n\r", Ok(None)),
            ("an end", b"G\r\na: b\r\n\r\n", Ok(Some(11))),
            ("bytes behind the end", b"G\r\n\r\n\x81\n\n", Ok(Some(5))),
            ("bare line feed", b"G\na: b", Err(Malformed::BareLineFeed)),
            ("bare line feed at once", b"\n", Err(Malformed::BareLineFeed)),
            ("empty line in front", b"\r\nGET", Err(Malformed::NoFirstLine)),
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
    fn fields_are_found_without_case_and_over_several_lines() {
        let fields = Fields::new(b"GET / HTTP/1.1\r\nA: 1\r\nList: x, Y\r\na:  2 \r\nlist:,z\r\n\r\n");
        assert_eq!(fields.first_line(), b"GET / HTTP/1.1");
        assert_eq!(fields.single("b"), Single::Missing);
        assert_eq!(fields.single("a"), Single::Repeated);
        assert!(fields.values("A").eq([&b"1"[..], b"2"]));
        assert!(fields.list("list").eq([&b"x"[..], b"Y", b"z"]));
        assert!(fields.lists("LIST", "y") && !fields.lists("list", "xy"));
    }
}
