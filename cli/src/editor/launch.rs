//! The command that the editor starts beside itself, such as an agent: in a split of tmux, or by a line that the
//! person types in another terminal. The environment of the command leads to this editor.

use crate::editor::options::Options;
use crate::support::quoted;
use ide_mcp::ide::discovery::McpConfig;
use ide_mcp::ide::discovery::launch_env::LaunchEnv;
use ide_mcp_lockfile::{launch_env, tools_name, write_private};
use ide_mcp_mio::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

/// A shell command that runs its arguments. A split closes with its program, so this one waits for Enter if the
/// program fails, for example because it does not exist.
const KEEP_FAILURE: &str =
    r#""$@" || { printf '\n[the command has failed with status %s; Enter closes this]' $?; read -r _; }"#;

/// A command with its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The words of the command, which begin with `env`.
    words: Vec<String>,
    /// True if the editor runs in tmux.
    splits: bool,
}

impl Launch {
    /// Returns the launch that the command line asks for, if any. Writes the file for its model, which goes with the
    /// lock file.
    ///
    /// # Errors
    /// The reason for which the file cannot be written.
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
        LaunchEnv { set, remove, .. }: LaunchEnv,
        mcp_config: Option<&Path>,
        splits: bool,
    ) -> Self {
        let mut words = vec!["env".to_owned()];
        words.extend(remove.into_iter().flat_map(|name| ["-u".to_owned(), name]));
        words.extend(set.into_iter().map(|(name, value)| format!("{name}={value}")));
        words.extend_from_slice(command);
        if let Some(file) = mcp_config {
            words.extend(["--mcp-config".to_owned(), file.display().to_string()]);
        }
        Self { words, splits }
    }

    /// Returns the words of the line that starts the command in a shell.
    pub(crate) fn words(&self) -> Vec<String> {
        self.words.iter().map(|word| quoted(word)).collect()
    }

    /// Starts the command in a split of tmux, in this directory. Returns false outside of tmux.
    ///
    /// # Errors
    /// The reason for which tmux makes no split.
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
        Err(format!("tmux makes no split: {problem}"))
    }

    /// Returns the words for tmux. Several words of a command are started without a shell. But tmux expands `#` in
    /// the directory, where `#(…)` even runs a command, and a `;` at the end of a word ends the command of tmux.
    fn split_words(&self, cwd: &Path) -> Vec<String> {
        let cwd = cwd.to_string_lossy().replace('#', "##");
        let literal = |word: &str| match word.strip_suffix(';') {
            Some(before) => format!(r"{before}\;"),
            None => word.to_owned(),
        };
        let words = ["split-window", "-h", "-c", &cwd, "sh", "-c", KEEP_FAILURE, "sh"];
        let words = words.into_iter().chain(self.words.iter().map(String::as_str));
        words.map(literal).collect()
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
    fn line_has_environment_and_quoted_words() {
        let hosts = "no_proxy=localhost,127.0.0.1,::1 NO_PROXY=localhost,127.0.0.1,::1";
        let cases: &[(&str, &[&str], Option<&str>, &[(&str, &str)], &str)] = &[
            (
                "plain",
                &["claude"],
                None,
                &[],
                "CLAUDE_CODE_SSE_PORT=7 ENABLE_IDE_INTEGRATION=true HOSTS claude",
            ),
            (
                "arguments, and tools for the model",
                &["claude", "--resume", "it's this"],
                Some("/h/7.mcp.json"),
                &[],
                r"CLAUDE_CODE_SSE_PORT=7 ENABLE_IDE_INTEGRATION=true HOSTS claude --resume 'it'\''s this' --mcp-config /h/7.mcp.json",
            ),
            (
                "the terminal of another editor",
                &["claude"],
                None,
                &[("FORCE_CODE_TERMINAL", "true"), ("CLAUDE_CODE_SSE_PORT", "1")],
                "-u FORCE_CODE_TERMINAL CLAUDE_CODE_SSE_PORT=7 ENABLE_IDE_INTEGRATION=true HOSTS claude",
            ),
        ];
        for (name, command, config, inherited, expected) in cases {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            let env = launch_env(Some(7), inherited.iter().copied());
            let launch = Launch::new(&command, env, config.map(Path::new), false);
            assert_eq!(
                launch.words().join(" "),
                format!("env {}", expected.replace("HOSTS", hosts)),
                "{name}"
            );
            assert_eq!(launch.split(Path::new("/")), Ok(false), "{name}: there is no tmux");
        }
    }

    #[test]
    fn tmux_expands_no_name_or_word() {
        let launch = |word: &str| Launch { words: ["env", word].map(str::to_owned).to_vec(), splits: true };
        let cases = [
            ("plain", "/p", "a", "/p", "a"),
            ("a command in a name", "/#(id)/#S", "#(id)", "/##(id)/##S", "#(id)"),
            ("an end of a command", "/p;", "a;", r"/p\;", r"a\;"),
            ("an escaped end", "/p", r"a\;", "/p", r"a\\;"),
            ("nothing else", "/p", ";", "/p", r"\;"),
            ("in the middle", "/p", "a; b", "/p", "a; b"),
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
