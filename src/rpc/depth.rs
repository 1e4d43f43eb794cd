//! How deeply a JSON text nests, found without recursion and without building anything.
//!
//! serde_json limits the depth of what it builds, but not of what it skips or keeps raw; a bomb that passes here
//! unbuilt would go off wherever the raw value is parsed. The scan does not judge the text otherwise.

/// Whether objects and arrays nest more than `limit` deep anywhere in `text`.
pub(super) fn exceeds(text: &str, limit: usize) -> bool {
    if text.len() <= limit {
        return false;
    }
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn only_brackets_outside_strings_count() {
        const CASES: &[(&str, &str, usize, bool)] = &[
            ("empty", "", 0, false),
            ("flat", "{}", 1, false),
            ("flat and no room", "{}", 0, true),
            ("two deep", r#"{"a":[]}"#, 2, false),
            ("two deep, one allowed", r#"{"a":[]}"#, 1, true),
            ("siblings do not add up", "[[],[],[],[],[]]", 2, false),
            ("brackets in a string", r#"["[[[[{{{{"]"#, 1, false),
            ("an escaped quote does not end the string", r#"["\"[[["]"#, 1, false),
            ("an escaped backslash does", r#"["\\",[[]]]"#, 2, true),
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
}
