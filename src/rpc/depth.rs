//! Finds how deep a JSON text nests, without recursion and without building values.
//!
//! serde_json limits the depth of the values it builds, but not of those it skips or keeps raw. Without this check, a
//! raw value that nests too deeply could exhaust the stack of the code that parses it later. Nothing else in the text
//! is checked.

/// Returns true if objects and arrays nest more than `limit` deep anywhere in `text`.
pub(super) fn exceeds(text: &str, limit: usize) -> bool {
    let bytes = text.as_bytes();
    // A text with at most `limit` opening brackets, in strings or not, cannot nest deeper. Most texts end here.
    brackets(bytes) > limit && nests(bytes, limit)
}

/// Counts the opening brackets of both kinds.
fn brackets(bytes: &[u8]) -> usize {
    // Each block is counted in a `u8`, so that the compiler vectorizes the loop. `[` and `{` differ in one bit.
    let mut all = 0_usize;
    for block in bytes.chunks(128) {
        let here = block.iter().fold(0_u8, |n, byte| n.wrapping_add(u8::from(byte | 0x20 == b'{')));
        all = all.saturating_add(usize::from(here));
    }
    all
}

fn nests(bytes: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'"' => rest = after_string(after),
            b'[' | b'{' => {
                depth = depth.saturating_add(1);
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Returns what follows the string whose opening quote comes right before `bytes`.
fn after_string(mut bytes: &[u8]) -> &[u8] {
    loop {
        // Skips eight bytes at a time while none of them is a quote or a backslash.
        while let Some((word, after)) = bytes.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            if has(word, b'"') || has(word, b'\\') {
                break;
            }
            bytes = after;
        }
        match bytes {
            [b'"', after @ ..] => return after,
            [b'\\', _, after @ ..] => bytes = after,
            [_, after @ ..] => bytes = after,
            [] => return bytes,
        }
    }
}

/// Returns true if one of the eight bytes of `word` is `byte`.
const fn has(word: u64, byte: u8) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let differs = word ^ ONES.wrapping_mul(byte as u64);
    // In the subtraction, a byte that is zero borrows into its highest bit (Mycroft 1987).
    differs.wrapping_sub(ONES) & !differs & (ONES << 7) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn only_brackets_outside_strings_count() {
        const CASES: &[(&str, &str, usize, bool)] = &[
            ("empty", "", 0, false),
            ("flat", "{}", 1, false),
            ("flat, none allowed", "{}", 0, true),
            ("two deep", r#"{"a":[]}"#, 2, false),
            ("two deep, one allowed", r#"{"a":[]}"#, 1, true),
            ("siblings do not add up", "[[],[],[],[],[]]", 2, false),
            ("brackets in a string", r#"["[[[[{{{{"]"#, 1, false),
            ("an escaped quote does not end the string", r#"["\"[[["]"#, 1, false),
            ("an escaped backslash escapes no quote", r#"["\\",[[]]]"#, 2, true),
            ("the eighth byte ends the string", r#"["aaaaaaa",[[]]]"#, 2, true),
            ("opening alone", "[[[", 2, true),
            ("closing what was never opened", "]]]][[", 2, false),
        ];
        for (name, text, limit, deep) in CASES {
            assert_eq!(exceeds(text, *limit), *deep, "{name}");
        }
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        for (levels, deep) in [(127, false), (128, false), (129, true)] {
            let text: String =
                core::iter::repeat_n('[', levels).chain(core::iter::repeat_n(']', levels)).collect();
            assert_eq!(exceeds(&text, 128), deep, "{levels} levels");
        }
    }

    /// Does the same check as [`exceeds`], byte by byte and straight from the definition.
    fn plainly(text: &str, limit: usize) -> bool {
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        for byte in text.bytes() {
            match (in_string, byte) {
                (true, _) if escaped => escaped = false,
                (true, b'\\') => escaped = true,
                (_, b'"') => in_string = !in_string,
                (false, b'[' | b'{') => {
                    depth += 1;
                    if depth > limit {
                        return true;
                    }
                }
                (false, b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        false
    }

    #[test]
    fn eight_byte_scan_matches_single_bytes() {
        arbtest::arbtest(|u| {
            let mut text = String::new();
            for _ in 0..u.int_in_range(0..=60)? {
                text.push_str(u.choose(&[
                    "[",
                    "{",
                    "]",
                    "}",
                    "\"",
                    "\\",
                    "a",
                    "0123456789",
                    "é",
                    "\\\"",
                    "\u{a2}",
                ])?);
            }
            let limit = u.int_in_range(0..=4)?;
            assert_eq!(exceeds(&text, limit), plainly(&text, limit), "{text} {limit}");
            Ok(())
        })
        .budget_ms(500);
    }
}
