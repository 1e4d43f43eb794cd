//! Fills the values of a finding into the advice and the command of its kind.

use super::Finding;
use super::words::quoted;
use crate::doctor::kinds::Values;
use crate::support::Shell;

/// Fills in the advice and the command of a finding. The command stays empty if a path is not UTF-8, because then we
/// know only part of it.
pub(super) fn fill_in(finding: &mut Finding, cwd: &str, shell: Shell) {
    let port = finding.port.map(|port| port.to_string()).unwrap_or_default();
    let place = shell.word(cwd).unwrap_or_else(|| quoted(cwd));
    finding.advice = filled(finding.kind.advice, &[("port", port.as_str()), ("cwd", &place)]);
    let path = finding.path.as_deref().unwrap_or_default();
    let values = Values { path, port: &port, cwd, is_of_another: finding.is_of_another };
    let command = finding.kind.command.as_ref().and_then(|remedy| remedy.command(shell, values));
    finding.command =
        command.filter(|command| !command.contains(char::REPLACEMENT_CHARACTER)).unwrap_or_default();
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
    fn advice_and_command_have_the_values() {
        let (readable, open) = (&kinds::DIRECTORY_READABLE, &kinds::MATCHES_ONLY_LOGICALLY);
        let physical = &kinds::MATCHES_ONLY_PHYSICALLY;
        let (posix, powershell) = (Shell::Posix, Shell::PowerShell);
        let cases = [
            ("plain", readable, posix, "/h/.claude/ide", "/", "", "chmod 700 /h/.claude/ide"),
            ("a name in braces", readable, posix, "/h/{cwd}", "/", "", "chmod 700 '/h/{cwd}'"),
            ("a path that is not UTF-8", readable, posix, "/h/\u{fffd}", "/", "", ""),
            ("the working directory", open, posix, "/h", "/{cwd}", "Open '/{cwd}' in", ""),
            ("the working directory in a command", physical, posix, "/h", "/{path}", "", "cd '/{path}'"),
            ("a Windows path", open, powershell, "", r"C:\w", r"Open C:\w in", ""),
            ("a directory that cmd cannot quote", open, Shell::Cmd, "", r"C:\%w", r#"Open "C:\%w" in"#, ""),
            (
                "a Windows path with a space",
                physical,
                powershell,
                "",
                r"C:\a b",
                "",
                r"Set-Location -LiteralPath 'C:\a b'",
            ),
            ("no command in this shell", &kinds::PARENT_NOT_OURS, powershell, r"C:\w", "", "", ""),
        ];
        for (name, kind, shell, path, cwd, advice, command) in cases {
            let mut finding = Finding::new(kind, "").path(path);
            fill_in(&mut finding, cwd, shell);
            assert!(finding.advice.contains(advice), "{name}: {}", finding.advice);
            assert_eq!(finding.command, command, "{name}");
        }
    }
}
