//! The commands that follow the advice, written for the user's shell.

use crate::support::{Shell, quoted};
use ide_mcp::ide::discovery::client_env::PORT_VARIABLE;

/// The addresses of this machine, for a list of hosts that bypass the proxy.
const LOOPBACKS: &str = "localhost,127.0.0.1,::1";

/// What the command of a finding does, or its first step. The user runs it in the shell of the agent, because it can set
/// variables.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Removes a variable.
    Unset(&'static str),
    /// Names the editor by its port.
    NamePort,
    /// Excludes this machine from a proxy, and keeps what the variables already exclude.
    ExcludeLoopback,
    /// Starts a program without these variables.
    StartWithout(&'static [&'static str], &'static str),
    /// Gives the path a name that no agent reads.
    MoveAway,
    /// Removes the file.
    Remove,
    /// Changes into the directory of the agent, by its path without links.
    Enter,
    /// Closes the directory to other users.
    CloseDirectory,
    /// Closes the file to other users.
    CloseFile,
    /// Gives us access: by this mode of `chmod` (on Windows by `icacls`), or by taking over what belongs to another user.
    Admit(&'static str),
    /// Changes the mode. Windows has no counterpart.
    Mode(&'static str),
    /// Takes the path over from another user.
    Own,
    /// Removes all lock files that are left over.
    RemoveLeftovers,
}

/// The values of a finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    pub(crate) path: &'a str,
    pub(crate) port: &'a str,
    pub(crate) cwd: &'a str,
    /// True if the path belongs to another user.
    pub(crate) is_of_another: bool,
}

impl Remedy {
    /// Returns the command for a shell; `None` if there is none for this remedy, or if the shell cannot quote the path.
    pub(crate) fn command(&self, shell: Shell, values: Values<'_>) -> Option<String> {
        use Shell::{Cmd, Posix, PowerShell};
        let Values { path, port, cwd, is_of_another } = values;
        let word = |text: &str| shell.word(text);
        Some(match (self, shell) {
            (Self::Unset(name), _) => shell.unset(name),
            (Self::NamePort, _) => shell.set(PORT_VARIABLE, port)?,
            (Self::ExcludeLoopback, Posix) => format!(
                "export no_proxy=\"${{no_proxy:+$no_proxy,}}${{NO_PROXY:+$NO_PROXY,}}{LOOPBACKS}\"; \
                 export NO_PROXY=\"$no_proxy\""
            ),
            // On Windows both spellings are the same variable.
            (Self::ExcludeLoopback, PowerShell) => {
                format!("$env:NO_PROXY = \"$env:NO_PROXY,{LOOPBACKS}\".TrimStart(',')")
            }
            (Self::ExcludeLoopback, Cmd) => format!(
                "if defined NO_PROXY (set \"NO_PROXY=%NO_PROXY%,{LOOPBACKS}\") else (set \"NO_PROXY={LOOPBACKS}\")"
            ),
            (Self::StartWithout(names, program), _) => shell.run(names, &[], &[program])?,
            (Self::MoveAway, _) => {
                let (from, to) = (word(path)?, word(&format!("{path}.old"))?);
                match shell {
                    Posix => format!("mv {from} {to}"),
                    PowerShell => format!("Move-Item -Force -LiteralPath {from} -Destination {to}"),
                    Cmd => format!("move /y {from} {to}"),
                }
            }
            (Self::Remove, Posix) => format!("rm -f {}", quoted(path)),
            (Self::Remove, PowerShell) => format!("Remove-Item -Force -LiteralPath {}", word(path)?),
            (Self::Remove, Cmd) => format!("del /f {}", word(path)?),
            (Self::Enter, Posix) => format!("cd {}", quoted(cwd)),
            (Self::Enter, PowerShell) => format!("Set-Location -LiteralPath {}", word(cwd)?),
            (Self::Enter, Cmd) => format!("cd /d {}", word(cwd)?),
            (Self::CloseDirectory, Posix) => format!("chmod 700 {}", quoted(path)),
            (Self::CloseFile, Posix) => format!("chmod 600 {}", quoted(path)),
            (Self::CloseDirectory, _) => {
                format!("icacls {} /inheritance:r /grant:r \"{}:(OI)(CI)F\"", word(path)?, user(shell))
            }
            (Self::CloseFile, _) => {
                format!("icacls {} /inheritance:r /grant:r \"{}:F\"", word(path)?, user(shell))
            }
            (Self::Admit(_), Posix) if is_of_another => {
                format!("sudo chown -R \"$(id -u)\" {}", quoted(path))
            }
            (Self::Admit(mode) | Self::Mode(mode), Posix) => format!("chmod {mode} {}", quoted(path)),
            (Self::Admit(_), _) => format!("icacls {} /grant \"{}:F\"", word(path)?, user(shell)),
            (Self::Own, Posix) => format!("sudo chown -h \"$(id -u)\" {}", quoted(path)),
            (Self::Mode(_) | Self::Own, _) => return None,
            (Self::RemoveLeftovers, _) => "ide-mcp doctor --remove-leftovers".into(),
        })
    }
}

/// Returns the variable that holds the name of our user, for use within double quotes.
const fn user(shell: Shell) -> &'static str {
    if matches!(shell, Shell::PowerShell) { "${env:USERNAME}" } else { "%USERNAME%" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_written_for_its_shell() {
        let rows: &[(Remedy, [&str; 3])] = &[
            (Remedy::Unset("A"), ["unset A", "$env:A = $null", "set \"A=\""]),
            (
                Remedy::NamePort,
                [
                    "export CLAUDE_CODE_SSE_PORT=7",
                    "$env:CLAUDE_CODE_SSE_PORT = '7'",
                    "set \"CLAUDE_CODE_SSE_PORT=7\"",
                ],
            ),
            (
                Remedy::StartWithout(&["A", "B"], "opencode"),
                [
                    "env -u A -u B opencode",
                    "$env:A = $null; $env:B = $null; opencode",
                    "set \"A=\" & set \"B=\" & opencode",
                ],
            ),
            (
                Remedy::MoveAway,
                [
                    r"mv 'C:\it'\''s 1' 'C:\it'\''s 1.old'",
                    r"Move-Item -Force -LiteralPath 'C:\it''s 1' -Destination 'C:\it''s 1.old'",
                    r#"move /y "C:\it's 1" "C:\it's 1.old""#,
                ],
            ),
            (
                Remedy::Remove,
                [
                    r"rm -f 'C:\it'\''s 1'",
                    r"Remove-Item -Force -LiteralPath 'C:\it''s 1'",
                    r#"del /f "C:\it's 1""#,
                ],
            ),
            (Remedy::Enter, [r"cd 'C:\w'", r"Set-Location -LiteralPath C:\w", r"cd /d C:\w"]),
            (
                Remedy::CloseFile,
                [
                    r"chmod 600 'C:\it'\''s 1'",
                    r#"icacls 'C:\it''s 1' /inheritance:r /grant:r "${env:USERNAME}:F""#,
                    r#"icacls "C:\it's 1" /inheritance:r /grant:r "%USERNAME%:F""#,
                ],
            ),
            (
                Remedy::CloseDirectory,
                [
                    r"chmod 700 'C:\it'\''s 1'",
                    r#"icacls 'C:\it''s 1' /inheritance:r /grant:r "${env:USERNAME}:(OI)(CI)F""#,
                    r#"icacls "C:\it's 1" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F""#,
                ],
            ),
            (
                Remedy::Admit("u+rwx"),
                [
                    r"chmod u+rwx 'C:\it'\''s 1'",
                    r#"icacls 'C:\it''s 1' /grant "${env:USERNAME}:F""#,
                    r#"icacls "C:\it's 1" /grant "%USERNAME%:F""#,
                ],
            ),
            (Remedy::Mode("go-w"), [r"chmod go-w 'C:\it'\''s 1'", "", ""]),
            (Remedy::Own, [r#"sudo chown -h "$(id -u)" 'C:\it'\''s 1'"#, "", ""]),
            (Remedy::RemoveLeftovers, ["ide-mcp doctor --remove-leftovers"; 3]),
        ];
        let values = Values { path: r"C:\it's 1", port: "7", cwd: r"C:\w", is_of_another: false };
        for (remedy, expected) in rows {
            let commands = [Shell::Posix, Shell::PowerShell, Shell::Cmd]
                .map(|shell| remedy.command(shell, values).unwrap_or_default());
            assert_eq!(commands, *expected, "{remedy:?}");
        }
        let others = Values { is_of_another: true, ..values };
        let taken_over = r#"sudo chown -R "$(id -u)" 'C:\it'\''s 1'"#;
        assert_eq!(Remedy::Admit("u+rwx").command(Shell::Posix, others).as_deref(), Some(taken_over));
        let percents = Values { path: r"C:\%A%", ..values };
        assert_eq!(Remedy::Remove.command(Shell::Cmd, percents), None, "cmd cannot quote it");
    }

    /// Runs the commands in the command prompt itself.
    #[cfg(windows)]
    #[test]
    fn command_prompt_runs_the_commands() {
        use std::os::windows::process::CommandExt as _;
        let run = |line: &str| {
            let mut cmd = std::process::Command::new("cmd.exe");
            let output = cmd.args(["/d", "/v:off", "/c"]).raw_arg(format!("\"{line}\"")).output().unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
            String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
        };
        let temp = crate::support::temp::private_temp_dir();
        let dir = temp.path().join("it's & (my) dir^");
        std::fs::create_dir(&dir).unwrap();
        let file = dir.join("41111.lock");
        let (path, cwd) = (file.display().to_string(), dir.display().to_string());
        let command = |remedy: &Remedy| {
            let values = Values { path: &path, port: "7", cwd: &cwd, is_of_another: false };
            remedy.command(Shell::Cmd, values).unwrap()
        };
        for _ in 0..2 {
            std::fs::write(&file, "").unwrap();
            run(&command(&Remedy::MoveAway));
            assert!(!file.exists() && dir.join("41111.lock.old").exists(), "also over an older one");
        }
        std::fs::write(&file, "").unwrap();
        run(&command(&Remedy::Remove));
        assert!(!file.exists());
        run(&format!("{} & echo x>here", command(&Remedy::Enter)));
        assert!(dir.join("here").exists());
        let port = format!("{} & set CLAUDE_CODE_SSE_PORT", command(&Remedy::NamePort));
        assert_eq!(run(&port), "CLAUDE_CODE_SSE_PORT=7");
        for (before, expected) in
            [("", LOOPBACKS.to_owned()), ("a.example", format!("a.example,{LOOPBACKS}"))]
        {
            let mut cmd = std::process::Command::new("cmd.exe");
            let line = format!("\"({})& set NO_PROXY\"", command(&Remedy::ExcludeLoopback));
            let cmd =
                cmd.args(["/d", "/v:off", "/c"]).raw_arg(line).env_remove("NO_PROXY").env_remove("no_proxy");
            let cmd = if before.is_empty() { cmd } else { cmd.env("NO_PROXY", before) };
            let output = cmd.output().unwrap();
            assert_eq!(
                output.stdout.trim_ascii_end(),
                format!("NO_PROXY={expected}").as_bytes(),
                "{before:?}: {output:?}"
            );
        }
    }
}
