//! Words of a POSIX shell.

/// Returns a text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:@%,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_word_of_a_shell() {
        let cases = [
            ("/home/me/.claude/ide/1.mcp.json", "/home/me/.claude/ide/1.mcp.json"),
            ("", "''"),
            ("/home/my name/x", "'/home/my name/x'"),
            ("/it's $HOME", r"'/it'\''s $HOME'"),
            ("~", "'~'"),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected, "{text}");
        }
    }
}
