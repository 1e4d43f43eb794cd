//! The command that the editor starts beside itself, such as an agent: in a split of tmux, or with a line that the
//! user types in another terminal. The environment of the command leads to this editor.

use crate::editor::options::Options;
use crate::support::Shell;
use ide_mcp::ide::discovery::McpConfig;
use ide_mcp::ide::discovery::launch_env::LaunchEnv;
use ide_mcp_lockfile::{launch_env, tools_name, write_private};
use ide_mcp_mio::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

/// A shell command that runs its arguments. tmux closes a split when the program in it ends, so this command waits for
/// Enter if the program fails, for example because it does not exist.
const KEEP_FAILURE: &str =
    r#""$@" || { printf '\n[the command has failed with status %s; Enter closes this]' $?; read -r _; }"#;

/// A command with its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The words of the command.
    words: Vec<String>,
    /// The variables of its environment that differ from ours.
    environment: LaunchEnv,
    /// True if the editor runs in tmux.
    splits: bool,
}

impl Launch {
    /// Returns how to launch the command that the user wants, if any. Writes the file for its model, which is
    /// removed together with the lock file.
    ///
    /// # Errors
    /// Why the file cannot be written.
    pub(crate) fn of(options: &Options, server: &Server) -> Result<Option<Self>, String> {
        if options.command.is_empty() {
            return Ok(None);
        }
        let file = if options.gives_tools { Some(tools_file(server)?) } else { None };
        let splits = env::var_os("TMUX").is_some_and(|value| !value.is_empty());
        Ok(Some(Self::new(
            &options.command,
            launch_env(Some(server.local_addr().port())),
            file.as_deref(),
            splits,
        )))
    }

    /// Creates the launch of `command` with this environment. With `mcp_config`, the command gets this file by
    /// `--mcp-config`. `splits` is true in tmux.
    pub(crate) fn new(
        command: &[String],
        environment: LaunchEnv,
        mcp_config: Option<&Path>,
        splits: bool,
    ) -> Self {
        let mut words = command.to_vec();
        if let Some(file) = mcp_config {
            words.extend(["--mcp-config".to_owned(), file.display().to_string()]);
        }
        Self { words, environment, splits }
    }

    /// Returns the pieces of the line that starts the command in this shell. The line may be broken between them.
    ///
    /// # Errors
    /// Why this shell cannot express the line.
    pub(crate) fn line(&self, shell: Shell) -> Result<Vec<String>, String> {
        let remove: Vec<&str> = self.environment.remove.iter().map(String::as_str).collect();
        let set = self.environment.set.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let pieces = shell.pieces(&remove, &set.collect::<Vec<_>>(), &words);
        pieces.ok_or_else(|| {
            format!("{shell:?} cannot express a word of the command: start it from another shell")
        })
    }

    /// Starts the command in a split of tmux, in this directory. Returns false outside of tmux.
    ///
    /// # Errors
    /// Why tmux cannot split the window.
    pub(crate) fn split(&self, cwd: &Path) -> Result<bool, String> {
        if !self.splits {
            return Ok(false);
        }
        let mut tmux = Command::new("tmux");
        let problem = match tmux.args(self.split_words(cwd)).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Ok(true),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                "the program tmux is not installed".into()
            }
            Err(error) => error.to_string(),
        };
        Err(format!("tmux cannot split the window: {problem}"))
    }

    /// Returns the words for tmux. It starts a command of several words without a shell. But it expands `#` in the
    /// directory, where `#(…)` even runs a command, and a `;` at the end of a word ends the command of tmux.
    fn split_words(&self, cwd: &Path) -> Vec<String> {
        let cwd = cwd.to_string_lossy().replace('#', "##");
        let literal = |word: &str| match word.strip_suffix(';') {
            Some(before) => format!(r"{before}\;"),
            None => word.to_owned(),
        };
        let LaunchEnv { set, remove, .. } = &self.environment;
        let words = ["split-window", "-h", "-c", &cwd, "sh", "-c", KEEP_FAILURE, "sh", "env"];
        let words = words.into_iter().chain(remove.iter().flat_map(|name| ["-u", name])).map(literal);
        let words = words.chain(set.iter().map(|(name, value)| literal(&format!("{name}={value}"))));
        words.chain(self.words.iter().map(|word| literal(word))).collect()
    }
}

fn tools_file(server: &Server) -> Result<PathBuf, String> {
    let lock = server.lock_file().path().ok_or("the editor has no lock file")?;
    let path = lock.with_file_name(tools_name(server.local_addr().port()));
    let config = McpConfig::new("editor", server.local_addr().port(), server.lock_file().token().cloned());
    write_private(&path, &config.to_json()).map_err(|error| error.to_string())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ide::discovery::launch_env::launch_env;

    #[test]
    fn line_has_environment_and_words_of_each_shell() {
        let hosts = "localhost,127.0.0.1,::1";
        let plain = format!(
            "env CLAUDE_CODE_SSE_PORT=7 ENABLE_IDE_INTEGRATION=true no_proxy={hosts} NO_PROXY={hosts} claude"
        );
        let powershell = format!(
            "$env:CLAUDE_CODE_SSE_PORT = '7'; $env:ENABLE_IDE_INTEGRATION = 'true'; \
             $env:no_proxy = '{hosts}'; $env:NO_PROXY = '{hosts}'; claude"
        );
        let cmd = format!(
            "set \"CLAUDE_CODE_SSE_PORT=7\" & set \"ENABLE_IDE_INTEGRATION=true\" & set \"no_proxy={hosts}\" & \
             set \"NO_PROXY={hosts}\" & claude"
        );
        let inherited: &[(&str, &str)] = &[("FORCE_CODE_TERMINAL", "true"), ("CLAUDE_CODE_SSE_PORT", "1")];
        type Row<'a> =
            (&'a str, &'a [&'a str], Option<&'a str>, &'a [(&'a str, &'a str)], [Option<String>; 3]);
        let rows: &[Row<'_>] = &[
            ("plain", &[], None, &[], [&plain, &powershell, &cmd].map(|line| Some(line.clone()))),
            (
                "arguments, and tools for the model",
                &["--resume", "it's this"],
                Some("/h/7.mcp.json"),
                &[],
                [
                    Some(format!(r"{plain} --resume 'it'\''s this' --mcp-config /h/7.mcp.json")),
                    Some(format!("{powershell} --resume 'it''s this' --mcp-config /h/7.mcp.json")),
                    Some(format!(r#"{cmd} --resume "it's this" --mcp-config "/h/7.mcp.json""#)),
                ],
            ),
            (
                "the terminal of another editor",
                &[],
                None,
                inherited,
                [
                    Some(plain.replace("env ", "env -u FORCE_CODE_TERMINAL ")),
                    Some(format!("$env:FORCE_CODE_TERMINAL = $null; {powershell}")),
                    Some(format!("set \"FORCE_CODE_TERMINAL=\" & {cmd}")),
                ],
            ),
            ("a quotation mark", &["\""], None, &[], [Some(format!("{plain} '\"'")), None, None]),
        ];
        for (name, arguments, config, inherited, lines) in rows {
            let command: Vec<String> =
                ["claude"].iter().chain(*arguments).map(|word| (*word).to_owned()).collect();
            let env = launch_env(Some(7), inherited.iter().copied());
            let launch = Launch::new(&command, env, config.map(Path::new), false);
            for (shell, expected) in [Shell::Posix, Shell::PowerShell, Shell::Cmd].into_iter().zip(lines) {
                match (launch.line(shell), expected) {
                    (Ok(pieces), Some(expected)) => {
                        assert_eq!(&pieces.join(" "), expected, "{name}: {shell:?}")
                    }
                    (Err(problem), None) => assert!(problem.contains("from another shell"), "{problem}"),
                    (found, _) => panic!("{name}: {shell:?}: {found:?}"),
                }
            }
            assert_eq!(launch.split(Path::new("/")), Ok(false), "{name}: there is no tmux");
        }
    }

    #[test]
    fn tmux_expands_no_name_or_word() {
        let launch = |word: &str| Launch::new(&[word.to_owned()], LaunchEnv::default(), None, true);
        let cases = [
            ("plain", "/p", "a", "/p", "a"),
            ("a command in a name", "/#(id)/#S", "#(id)", "/##(id)/##S", "#(id)"),
            ("a semicolon at the end", "/p;", "a;", r"/p\;", r"a\;"),
            ("an escaped semicolon at the end", "/p", r"a\;", "/p", r"a\\;"),
            ("only a semicolon", "/p", ";", "/p", r"\;"),
            ("a semicolon in the middle", "/p", "a; b", "/p", "a; b"),
        ];
        for (name, cwd, word, expected_cwd, expected) in cases {
            let words = launch(word).split_words(Path::new(cwd));
            let shell = ["sh", "-c", KEEP_FAILURE, "sh"];
            let expected =
                [&["split-window", "-h", "-c", expected_cwd], &shell[..], &["env", expected]].concat();
            assert_eq!(words, expected, "{name}");
        }
    }
}
