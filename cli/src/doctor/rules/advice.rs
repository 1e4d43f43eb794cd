//! The values of a finding in the advice and the command of its kind.

use super::Finding;
use crate::support::quoted;

/// Fills in the advice and the command of a finding. The command stays empty if a path is no text, and is
/// therefore known only in part.
pub(super) fn fill_in(finding: &mut Finding, cwd: &str) {
    let path = finding.path.as_deref().map(quoted).unwrap_or_default();
    let port = finding.port.map(|port| port.to_string()).unwrap_or_default();
    let values = [("path", path.as_str()), ("port", port.as_str()), ("cwd", &quoted(cwd))];
    finding.advice = filled(finding.kind.advice, &values);
    let command = filled(finding.kind.command, &values);
    if !command.contains(char::REPLACEMENT_CHARACTER) {
        finding.command = command;
    }
}

/// Returns a template with the values in place of their names in braces. A value is not searched for
/// names, since a path can contain them.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let named = piece.split_once('}').and_then(|(name, rest)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, rest))
        });
        match named {
            Some((value, rest)) => text.extend([value, rest]),
            None => text.extend(["{", piece]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::kinds;

    #[test]
    fn command_quotes_paths_for_the_shell() {
        let readable = &kinds::DIRECTORY_READABLE;
        let cases = [
            ("plain", readable, "/h/.claude/ide/1.lock", "chmod 700 /h/.claude/ide/1.lock"),
            ("quotes", readable, "/h/my $files/it's", r"chmod 700 '/h/my $files/it'\''s'"),
            ("a name in braces", readable, "/h/{cwd}", "chmod 700 '/h/{cwd}'"),
            ("a suffix", &kinds::LOCK_NOT_A_FILE, "/a b", "mv '/a b' '/a b'.old"),
            ("the working directory", &kinds::MATCHES_ONLY_PHYSICALLY, "/h", "cd '/{path}'"),
            ("no text", readable, "/h/\u{fffd}", ""),
        ];
        for (name, kind, path, expected) in cases {
            let mut finding = Finding::new(kind, "").path(path);
            fill_in(&mut finding, "/{path}");
            assert_eq!(finding.command, expected, "{name}");
        }
    }

    #[test]
    fn braces_of_the_shell_stay() {
        let mut finding = Finding::new(&kinds::PROXY_TAKES_LOOPBACK, "");
        fill_in(&mut finding, "/w");
        assert_eq!(finding.command, kinds::PROXY_TAKES_LOOPBACK.command);
    }
}
