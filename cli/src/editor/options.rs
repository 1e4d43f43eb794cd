//! The command line of the editor.

use crate::editor::config::Config;
use crate::editor::folders::Folders;
use crate::editor::neighbors::Neighbors;
use crate::editor::paths::{Named, Target};
use crate::support::{listening_port, shown_name};
use clap::builder::{OsStringValueParser, PathBufValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{ValueEnum, ValueHint};
use ide_mcp::ide::Dialect;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp_lockfile::LockDir;
use serde::Deserialize;
use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

const AFTER_HELP: &str = "\
At a terminal the editor has a screen, and F1 shows its keys; elsewhere, events
and commands are lines of JSON. COMMAND starts in a split of tmux, or is shown.

Examples:
  ide-mcp editor src/main.rs:12
  ide-mcp editor -- claude
  sleep infinity | ide-mcp editor --headless --on-diff accept

Exit status: 0; 1 if the editor cannot go on, for example because its events
are not read; 2 if it cannot begin, or the command line is wrong.

`ide-mcp help headless` has the commands and the events without a screen.";

#[derive(Debug, Default, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The folders that the editor reads (default: the working directory),
    /// and files to show, also as FILE:LINE:COLUMN
    // Accepts an empty path, for a better message than clap's.
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// The command to start beside the editor, such as claude
    #[arg(last = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<String>,
    /// Use no screen, even at a terminal; --json is the same
    #[arg(long)]
    headless: bool,
    #[arg(long, hide = true)]
    json: bool,
    /// Listen on this port (default: any free one)
    #[arg(long, value_name = "N", value_parser = listening_port, default_value = "0", hide_default_value = true)]
    pub(crate) port: u16,
    /// Take the port and the token of the last run in these folders, so that
    /// agents attach again by themselves
    #[arg(long = "resume", conflicts_with_all = ["port", "token", "needs_no_token"])]
    pub(crate) resumes: bool,
    /// Take the token from this lock file, for your programs
    #[arg(long = "token-of", value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(value_parser = PathBufValueParser::new().try_map(token_of), conflicts_with = "needs_no_token")]
    pub(crate) token: Option<AuthToken>,
    /// Accept every program, for clients without a token
    #[arg(long = "no-token", conflicts_with = "asks_for_token")]
    needs_no_token: bool,
    /// Ask for the token, although the file of --config says `token = false`
    #[arg(long = "ask-token", hide = true)]
    asks_for_token: bool,
    /// The name for agents (default: ide-mcp editor)
    #[arg(long, value_parser = shown_name)]
    name: Option<String>,
    /// The names and message shapes: vscode (default), jetbrains, snake-case
    /// or obsidian
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(DIALECTS.map(|(name, _)| name)).try_map(dialect))]
    dialect: Option<Dialect>,
    /// On a change: ask (default), accept, reject or hold it
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    on_diff: Option<OnDiff>,
    /// Also show agents ignored files, but not likely secrets
    #[arg(long, conflicts_with = "ignore")]
    no_ignore: bool,
    /// Hide these files, although the file of --config says `ignore = false`
    #[arg(long, hide = true)]
    ignore: bool,
    /// Give COMMAND the tools of the editor, for its model
    #[arg(long = "mcp-config")]
    pub(crate) gives_tools: bool,
    /// Read the settings of FILE; see `ide-mcp help config`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long)]
    no_config: bool,
    /// The directory of the lock file, for an editor apart from the user's own: their agents do not find it, and it
    /// leaves nothing for its next run.
    #[arg(skip)]
    pub(crate) lock_dir: Option<LockDir>,
}

/// What the command line and the configuration file decide together.
#[derive(Debug)]
pub(crate) struct Settings<'a> {
    pub(crate) options: &'a Options,
    pub(crate) dialect: Dialect,
    pub(crate) on_diff: OnDiff,
    pub(crate) asks_for_token: bool,
    ignores: bool,
    pub(crate) config: Config,
}

/// What happens to a proposed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnDiff {
    Ask,
    Accept,
    Reject,
    Hold,
}

impl Options {
    /// Returns the options of an editor with a screen, apart from the editors of the user: with this name, these
    /// folders and files, and its lock file in this directory.
    #[cfg(feature = "demo")]
    pub(crate) fn apart(name: &str, paths: Vec<PathBuf>, lock_dir: LockDir) -> Self {
        Self {
            paths,
            name: Some(name.into()),
            no_ignore: true,
            no_config: true,
            lock_dir: Some(lock_dir),
            ..Self::default()
        }
    }

    pub(crate) const fn is_apart(&self) -> bool {
        self.lock_dir.is_some()
    }

    /// Refuses what clap cannot refuse.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.command.is_empty() && env::args_os().next_back().is_some_and(|last| last == "--") {
            return Err("a command is missing after --, such as claude".into());
        }
        if self.command.first().is_some_and(String::is_empty) {
            return Err("the command after -- is empty: name a program, such as claude".into());
        }
        if self.gives_tools && self.command.is_empty() {
            return Err("--mcp-config gives the tools to a command: add -- claude, for example".into());
        }
        Ok(())
    }

    /// Reads the configuration file, unless the command line wants none.
    ///
    /// # Errors
    /// A message for the user about the file.
    pub(crate) fn settings(&self) -> Result<Settings<'_>, Box<dyn Error>> {
        let config = if self.no_config { Config::default() } else { Config::read(self.config.as_deref())? };
        Ok(self.over(config))
    }

    /// Returns the settings of the command line; where it leaves one open, that of the file.
    fn over(&self, config: Config) -> Settings<'_> {
        let file = &config.editor;
        // Each of these is about a token that agents have.
        let has_token = self.asks_for_token || self.token.is_some() || self.resumes;
        Settings {
            options: self,
            dialect: self.dialect.or(file.dialect).unwrap_or(Dialect::VsCode),
            on_diff: self.on_diff.or(file.on_diff).unwrap_or(OnDiff::Ask),
            asks_for_token: !self.needs_no_token && (has_token || file.token.unwrap_or(true)),
            ignores: !self.no_ignore && (self.ignore || file.ignore.unwrap_or(true)),
            config,
        }
    }

    /// Returns the name of the editor for agents. A name that the user gave stays as it is.
    pub(crate) fn name(&self, neighbors: &Neighbors) -> String {
        self.name.clone().unwrap_or_else(|| neighbors.free_name("ide-mcp editor"))
    }

    /// Returns the interface of the editor, or the reason why there can be none.
    pub(crate) fn face(&self) -> Result<Face, String> {
        let terminal = env::var("TERM").unwrap_or_default();
        face(self.headless || self.json, io::stdin().is_terminal(), io::stdout().is_terminal(), &terminal)
    }
}

impl Settings<'_> {
    /// Opens the folders, and returns them with the files to show. A path that can be neither is an error.
    pub(crate) fn open(&self) -> Result<(Folders, Vec<Target>), String> {
        let Named { folders, files } = Named::of(&self.options.paths, Path::new("."))?;
        let folders = Folders::open(&folders)?.hiding(&self.config.editor.hide, self.ignores);
        Ok((folders, files))
    }

    /// Returns a notice about what agents may do because of the file alone, without an option in this command line: a
    /// user forgets what a file allows.
    pub(crate) fn notice(&self) -> Option<String> {
        let options = self.options;
        let source = self.config.source.as_ref()?;
        let loosened = [
            (self.on_diff == OnDiff::Accept && options.on_diff.is_none(), "every change is accepted"),
            (!self.asks_for_token && !options.needs_no_token, "every program may attach"),
            (!self.ignores && !options.no_ignore, "agents receive ignored files"),
        ];
        let loosened: Vec<&str> = loosened.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
        (!loosened.is_empty()).then(|| format!("{}, by {}", loosened.join(", "), source.path.display()))
    }
}

/// The interface of the editor: a screen, or lines of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Screen,
    Headless,
}

fn face(headless: bool, input: bool, output: bool, terminal: &str) -> Result<Face, String> {
    match (headless, input, output) {
        (true, _, _) | (_, _, false) => Ok(Face::Headless),
        // A screen would ignore commands from a file or a program.
        (_, false, true) => {
            Err("standard input is not a terminal, so a screen would get no keys; --headless takes commands instead"
                .into())
        }
        (_, true, true) if matches!(terminal, "" | "dumb") => {
            Err(format!("this terminal (TERM={terminal}) cannot show a screen; --headless needs none"))
        }
        (_, true, true) => Ok(Face::Screen),
    }
}

fn token_of(path: PathBuf) -> Result<AuthToken, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file = LockFile::parse(&text).map_err(|error| error.to_string())?;
    file.auth_token.ok_or_else(|| "the lock file has no token".into())
}

/// The dialects by their names.
pub(crate) const DIALECTS: [(&str, Dialect); 4] = [
    ("vscode", Dialect::VsCode),
    ("jetbrains", Dialect::JetBrains),
    ("snake-case", Dialect::SnakeCase),
    ("obsidian", Dialect::Obsidian),
];

fn dialect(name: String) -> Result<Dialect, String> {
    DIALECTS.iter().find(|(known, _)| *known == name).map(|(_, dialect)| *dialect).ok_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::parsed;

    #[test]
    fn screen_requires_terminal_input_and_output() {
        let cases = [
            ("at a terminal", false, true, true, "xterm", Ok(Face::Screen)),
            ("without a screen on request", true, true, true, "xterm", Ok(Face::Headless)),
            ("run by a program", false, false, false, "", Ok(Face::Headless)),
            ("its events go to a program", false, true, false, "xterm", Ok(Face::Headless)),
            (
                "its commands come from a program",
                false,
                false,
                true,
                "xterm",
                Err("--headless takes commands"),
            ),
            (
                "its commands come from a program, without a screen on request",
                true,
                false,
                true,
                "xterm",
                Ok(Face::Headless),
            ),
            ("a terminal that shows lines", false, true, true, "dumb", Err("TERM=dumb")),
        ];
        for (name, headless, input, output, terminal, expected) in cases {
            match (face(headless, input, output, terminal), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{name}: {problem}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }

    #[test]
    fn command_line_wins_over_the_file() {
        use Dialect::{JetBrains, Obsidian, VsCode};
        // The dialect, what happens to changes, whether there is a token, whether ignore files count, and the
        // editor's first message.
        type Expected = (Dialect, OnDiff, bool, bool, &'static str);
        let lock = tempfile::NamedTempFile::new().unwrap();
        let token = r#"{"pid":1,"workspaceFolders":[],"ideName":"i","transport":"ws","authToken":"0123456789abcdef0123"}"#;
        fs::write(&lock, token).unwrap();
        let token_of = format!("--token-of={}", lock.path().display());
        let loose = "dialect = \"jetbrains\"\non-diff = \"accept\"\ntoken = false\nignore = false";
        let all = "every change is accepted, every program may attach, agents receive ignored files, by FILE";
        let two = "every change is accepted, agents receive ignored files, by FILE";
        let rows: &[(&str, &str, &[&str], Expected)] = &[
            ("nothing", "", &[], (VsCode, OnDiff::Ask, true, true, "")),
            (
                "options",
                "",
                &["--no-token", "--no-ignore", "--on-diff=accept", "--dialect=obsidian"],
                (Obsidian, OnDiff::Accept, false, false, ""),
            ),
            ("a file", loose, &[], (JetBrains, OnDiff::Accept, false, false, all)),
            (
                "a file and other options",
                loose,
                &["--dialect", "vscode", "--on-diff", "ask", "--ask-token", "--ignore"],
                (VsCode, OnDiff::Ask, true, true, ""),
            ),
            (
                "a file and the same options",
                loose,
                &["--no-token", "--no-ignore", "--on-diff", "accept"],
                (JetBrains, OnDiff::Accept, false, false, ""),
            ),
            (
                "a file and a run to resume",
                loose,
                &["--resume"],
                (JetBrains, OnDiff::Accept, true, false, two),
            ),
            ("a file and a token", loose, &[&token_of], (JetBrains, OnDiff::Accept, true, false, two)),
            (
                "a careful file",
                "on-diff = \"hold\"\ntoken = true\nignore = true",
                &[],
                (VsCode, OnDiff::Hold, true, true, ""),
            ),
            (
                "a careful file and options",
                "on-diff = \"hold\"\ntoken = true\nignore = true",
                &["--no-token", "--no-ignore", "--on-diff=reject"],
                (VsCode, OnDiff::Reject, false, false, ""),
            ),
            ("no file", loose, &["--no-config"], (VsCode, OnDiff::Ask, true, true, "")),
        ];
        for (name, text, words, expected) in rows {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(&file, format!("[editor]\n{text}\n")).unwrap();
            let config = format!("--config={}", file.path().display());
            let is_without = words.contains(&"--no-config");
            let words: Vec<&str> =
                words.iter().copied().chain((!is_without).then_some(config.as_str())).collect();
            let options: Options = parsed(&words).unwrap();
            let settings = options.settings().unwrap();
            let notice = settings.notice().unwrap_or_default();
            let notice = notice.replace(&file.path().display().to_string(), "FILE");
            let Settings { dialect, on_diff, asks_for_token, ignores, .. } = settings;
            let found = (dialect, on_diff, asks_for_token, ignores, notice.as_str());
            assert_eq!(found, *expected, "{name}");
        }
    }

    #[test]
    fn options_that_exclude_each_other_are_refused() {
        let rows: &[&[&str]] = &[
            &["--ask-token", "--no-token"],
            &["--ignore", "--no-ignore"],
            &["--config", "x", "--no-config"],
            &["--resume", "--no-token"],
        ];
        for words in rows {
            let refused = parsed::<Options>(words).unwrap_err();
            assert!(refused.contains("cannot be used with"), "{words:?}: {refused}");
        }
    }
}
