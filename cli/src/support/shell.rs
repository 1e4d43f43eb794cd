//! Lines that a user copies into a shell: a POSIX shell, PowerShell, or the Windows command prompt.

use serde::Serialize;
use std::env;

/// A shell, with its own rules for words, variables and commands.
#[allow(clippy::enum_variant_names, reason = "PowerShell is a name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shell {
    Posix,
    PowerShell,
    /// The Windows command prompt, `cmd.exe`.
    Cmd,
}

impl Shell {
    /// Returns the shell in which the user most likely typed the line that started this program.
    pub(crate) fn here() -> Self {
        Self::from_variables(cfg!(windows), |name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// Guesses the shell from the variables that it sets: Git Bash and MSYS2 set `MSYSTEM`, the command prompt `PROMPT`.
    /// A PowerShell that was started from a command prompt inherits `PROMPT`, but adds the modules of the home directory
    /// to `PSModulePath`. A command prompt within PowerShell looks the same, so we take it for PowerShell, and
    /// [`prompt`](Self::prompt) shows the user that we did.
    fn from_variables(is_windows: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        if !is_windows || variable("MSYSTEM").is_some() {
            return Self::Posix;
        }
        let modules = variable("PSModulePath").unwrap_or_default().to_ascii_lowercase();
        let is_powershells = |dir: &str| {
            dir.ends_with(r"\documents\windowspowershell\modules")
                || dir.ends_with(r"\documents\powershell\modules")
        };
        let is_in_powershell = modules.split(';').any(is_powershells);
        if variable("PROMPT").is_some() && !is_in_powershell { Self::Cmd } else { Self::PowerShell }
    }

    /// Returns the prompt that stands before a line, and shows the user which shell the line is for.
    pub(crate) const fn prompt(self) -> &'static str {
        match self {
            Self::Posix => "$",
            Self::PowerShell => "PS>",
            Self::Cmd => ">",
        }
    }

    /// Returns a string as one word of a line; `None` if no word is certain to reach a program as this string. Versions
    /// of PowerShell pass quotation marks and empty words in different ways, and in the command prompt nothing keeps
    /// the name of a variable between two `%` from being replaced.
    pub(crate) fn word(self, text: &str) -> Option<String> {
        let is_plain = |more| is_plain(text, more);
        let has_blank_and_backslash = || text.ends_with('\\') && text.contains(char::is_whitespace);
        match self {
            Self::Posix => Some(quoted(text)),
            // PowerShell cuts an option at its first dot or colon.
            Self::PowerShell
                if is_plain(r"/\._-+=:") && !(text.starts_with('-') && text.contains(['.', ':'])) =>
            {
                Some(text.into())
            }
            Self::PowerShell if text.is_empty() || text.contains('"') || has_blank_and_backslash() => None,
            Self::PowerShell => Some(literal(text)),
            Self::Cmd if is_plain(r"\._-+:@") => Some(text.into()),
            Self::Cmd if text.contains(['"', '%']) || text.contains(char::is_control) => None,
            // A program takes a backslash before a quotation mark as an escape.
            Self::Cmd => {
                let backslashes = text.len().saturating_sub(text.trim_end_matches('\\').len());
                Some(format!("\"{text}{}\"", r"\".repeat(backslashes)))
            }
        }
    }

    /// Returns the command that sets a variable of the shell, with the limits of [`word`](Self::word).
    pub(crate) fn set(self, name: &str, value: &str) -> Option<String> {
        match self {
            Self::Posix => Some(format!("export {name}={}", self.word(value)?)),
            Self::PowerShell => Some(format!("$env:{name} = {}", literal(value))),
            Self::Cmd if value.contains(['"', '%']) || value.contains(char::is_control) => None,
            Self::Cmd => Some(format!("set \"{name}={value}\"")),
        }
    }

    /// Returns the command that removes a variable from the shell. It does nothing if the variable is not set.
    pub(crate) fn unset(self, name: &str) -> String {
        match self {
            Self::Posix => format!("unset {name}"),
            Self::PowerShell => format!("$env:{name} = $null"),
            Self::Cmd => format!("set \"{name}=\""),
        }
    }

    /// Returns the line that runs a program and its arguments with other variables. PowerShell and the command prompt
    /// cannot change variables for one program alone: there the variables of the shell change, and stay changed.
    pub(crate) fn run(self, remove: &[&str], set: &[(&str, &str)], words: &[&str]) -> Option<String> {
        self.pieces(remove, set, words).map(|pieces| pieces.join(" "))
    }

    /// Returns the pieces of [`run`](Self::run), between which there are blanks and a line can be broken.
    pub(crate) fn pieces(self, remove: &[&str], set: &[(&str, &str)], words: &[&str]) -> Option<Vec<String>> {
        let words: Vec<String> = words.iter().map(|word| self.word(word)).collect::<Option<_>>()?;
        let mut pieces = Vec::new();
        match self {
            Self::Posix if remove.is_empty() && set.is_empty() => {}
            Self::Posix => {
                pieces.push("env".to_owned());
                pieces.extend(remove.iter().flat_map(|name| ["-u".to_owned(), (*name).to_owned()]));
                for (name, value) in set {
                    pieces.push(self.word(&format!("{name}={value}"))?);
                }
            }
            Self::PowerShell => {
                pieces.extend(remove.iter().map(|name| format!("{};", self.unset(name))));
                for (name, value) in set {
                    pieces.push(format!("{};", self.set(name, value)?));
                }
                // Without `&`, PowerShell takes a quoted word as a string, and does not run it.
                pieces.extend(words.first().filter(|word| word.starts_with('\'')).map(|_| "&".to_owned()));
            }
            Self::Cmd => {
                pieces.extend(remove.iter().map(|name| format!("{} &", self.unset(name))));
                for (name, value) in set {
                    pieces.push(format!("{} &", self.set(name, value)?));
                }
            }
        }
        pieces.extend(words);
        Some(pieces)
    }

    /// Returns the line-continuation character of the shell.
    pub(crate) const fn continuation(self) -> char {
        match self {
            Self::Posix => '\\',
            Self::PowerShell => '`',
            Self::Cmd => '^',
        }
    }
}

/// Returns a string as one word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    if is_plain(text, "/._-+=:@%,") { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns true if a string has only ASCII letters, ASCII digits and these characters.
fn is_plain(text: &str, more: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || more.contains(letter))
}

/// Returns a string in single quotes for PowerShell. It reads typographic single quotes as quotes too, so
/// those are doubled as well.
fn literal(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        quoted.extend(std::iter::repeat_n(letter, if "'‘’‚‛".contains(letter) { 2 } else { 1 }));
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_word_of_each_shell() {
        // The string, and its word in a POSIX shell, in PowerShell and in the command prompt.
        let rows: &[(&str, &str, &str, Option<&str>, Option<&str>)] = &[
            (
                "a path",
                "/h/.claude/ide/1.mcp.json",
                "/h/.claude/ide/1.mcp.json",
                Some("/h/.claude/ide/1.mcp.json"),
                Some("\"/h/.claude/ide/1.mcp.json\""),
            ),
            (
                "a Windows path",
                r"C:\Users\me\1.lock",
                r"'C:\Users\me\1.lock'",
                Some(r"C:\Users\me\1.lock"),
                Some(r"C:\Users\me\1.lock"),
            ),
            ("blanks", r"C:\a b\c", r"'C:\a b\c'", Some(r"'C:\a b\c'"), Some(r#""C:\a b\c""#)),
            ("an empty string", "", "''", None, Some("\"\"")),
            ("an apostrophe", r"C:\it's", r"'C:\it'\''s'", Some(r"'C:\it''s'"), Some(r#""C:\it's""#)),
            ("a typographic apostrophe", "it’s", "'it’s'", Some("'it’’s'"), Some("\"it’s\"")),
            ("a variable", "$HOME", "'$HOME'", Some("'$HOME'"), Some("\"$HOME\"")),
            ("a Windows variable", "%PATH%", "%PATH%", Some("'%PATH%'"), None),
            (
                "special characters of the command prompt",
                "a&b|c^d(e)!",
                "'a&b|c^d(e)!'",
                Some("'a&b|c^d(e)!'"),
                Some("\"a&b|c^d(e)!\""),
            ),
            ("a quotation mark", "a\"b", "'a\"b'", None, None),
            ("a tilde", "~", "'~'", Some("'~'"), Some("\"~\"")),
            ("a comma", "a,b", "a,b", Some("'a,b'"), Some("\"a,b\"")),
            ("an option", "--mcp-config", "--mcp-config", Some("--mcp-config"), Some("--mcp-config")),
            ("an option with a dot", "-a.b", "-a.b", Some("'-a.b'"), Some("-a.b")),
            ("a letter with an accent", r"C:\ü", r"'C:\ü'", Some(r"'C:\ü'"), Some(r#""C:\ü""#)),
            ("a backslash at the end", r"C:\a b\", r"'C:\a b\'", None, Some(r#""C:\a b\\""#)),
            ("a line feed", "a\nb", "'a\nb'", Some("'a\nb'"), None),
        ];
        for (name, text, posix, powershell, cmd) in rows {
            assert_eq!(Shell::Posix.word(text).as_deref(), Some(*posix), "{name}");
            assert_eq!(Shell::PowerShell.word(text).as_deref(), *powershell, "{name}");
            assert_eq!(Shell::Cmd.word(text).as_deref(), *cmd, "{name}");
        }
    }

    #[test]
    fn program_is_run_with_other_variables() {
        let rows: &[(&str, &[&str], &[(&str, &str)], &[&str], [Option<&str>; 3])] = &[
            ("no variable", &[], &[], &["claude", "--ide"], [Some("claude --ide"); 3]),
            (
                "variables",
                &["A"],
                &[("B", "1"), ("C", "x y")],
                &["claude", "it's"],
                [
                    Some(r"env -u A B=1 'C=x y' claude 'it'\''s'"),
                    Some("$env:A = $null; $env:B = '1'; $env:C = 'x y'; claude 'it''s'"),
                    Some(r#"set "A=" & set "B=1" & set "C=x y" & claude "it's""#),
                ],
            ),
            (
                "a program in a folder with a blank",
                &[],
                &[],
                &[r"C:\a b\claude.exe"],
                [
                    Some(r"'C:\a b\claude.exe'"),
                    Some(r"& 'C:\a b\claude.exe'"),
                    Some(r#""C:\a b\claude.exe""#),
                ],
            ),
            (
                "a value that the command prompt cannot express",
                &[],
                &[("A", "%B%")],
                &["c"],
                [Some("env A=%B% c"), Some("$env:A = '%B%'; c"), None],
            ),
            (
                "a word that only a POSIX shell can express",
                &[],
                &[],
                &["c", "\""],
                [Some("c '\"'"), None, None],
            ),
        ];
        for (name, remove, set, words, expected) in rows {
            for (shell, expected) in [Shell::Posix, Shell::PowerShell, Shell::Cmd].into_iter().zip(expected) {
                assert_eq!(shell.run(remove, set, words).as_deref(), *expected, "{name}: {shell:?}");
            }
        }
    }

    #[test]
    fn variables_show_the_shell() {
        let machine =
            r"C:\Program Files\WindowsPowerShell\Modules;C:\Windows\system32\WindowsPowerShell\v1.0\Modules";
        let user = format!(r"C:\Users\me\OneDrive\Documents\WindowsPowerShell\Modules;{machine}");
        let core = format!(r"C:\Users\me\Documents\PowerShell\Modules;{machine}");
        let rows: &[(&str, bool, &[(&str, &str)], Shell)] = &[
            ("Linux", false, &[("PROMPT", "$P$G"), ("PSModulePath", &core)], Shell::Posix),
            ("the command prompt", true, &[("PROMPT", "$P$G"), ("PSModulePath", machine)], Shell::Cmd),
            ("Windows PowerShell", true, &[("PSModulePath", &user)], Shell::PowerShell),
            ("PowerShell 7", true, &[("PSModulePath", &core)], Shell::PowerShell),
            (
                "PowerShell in the command prompt",
                true,
                &[("PROMPT", "$P$G"), ("PSModulePath", &core)],
                Shell::PowerShell,
            ),
            ("Git Bash", true, &[("MSYSTEM", "MINGW64"), ("PSModulePath", machine)], Shell::Posix),
            ("neither", true, &[], Shell::PowerShell),
        ];
        for (name, is_windows, set, expected) in rows {
            let variable =
                |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Shell::from_variables(*is_windows, variable), *expected, "{name}");
        }
    }

    /// The command prompt itself reads the lines.
    #[cfg(windows)]
    #[test]
    fn command_prompt_reads_the_words() {
        use std::os::windows::process::CommandExt as _;
        let run = |line: &str| {
            let output = std::process::Command::new("cmd.exe")
                .args(["/d", "/v:off", "/c"])
                .raw_arg(format!("\"{line}\""))
                .output()
                .unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
            String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
        };
        let temp = crate::support::temp::private_temp_dir();
        for name in ["plain", "a b", "it's", "a&b", "(c)^d!", "$HOME", "ü", "100% sure"] {
            let path = temp.path().join(name);
            let shown = path.display().to_string();
            let word = Shell::Cmd.word(&shown);
            let Some(word) = word else {
                assert!(name.contains('%'), "{name}");
                continue;
            };
            run(&format!("mkdir {word}"));
            assert!(path.is_dir(), "{name}");
            run(&format!("cd /d {word} & echo x>here"));
            assert!(path.join("here").is_file(), "{name}");
        }
        assert_eq!(
            run(&format!("{} & set IDE_MCP_A", Shell::Cmd.set("IDE_MCP_A", "x & y").unwrap())),
            "IDE_MCP_A=x & y"
        );
        let unset = Shell::Cmd.run(&["IDE_MCP_A"], &[("IDE_MCP_B", "1")], &["set", "IDE_MCP_"]).unwrap();
        assert_eq!(run(&format!("set IDE_MCP_A=1& {unset}")), "IDE_MCP_B=1");
    }
}
