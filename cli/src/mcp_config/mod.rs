//! Writes the file that makes an agent give the tools of a running editor to its model.
//!
//! `ide-mcp mcp-config --help` explains the use and the exit status.

mod options;

use crate::support::{EditorArgs, FAILED, NOT_BEGUN, Program, Shell, complain, find};
use ide_mcp::ide::discovery::McpConfig;
use ide_mcp::ide::kit::display_line;
use ide_mcp_lockfile::{FoundEditor, process_scope, tools_name, write_private};
pub(crate) use options::Options;
use serde_json::json;
use std::env;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

const PROGRAM: Program = Program("mcp-config");
/// The maximum number of characters of the name of an editor in a message.
const MAX_NAME: usize = 100;

pub(crate) fn main(options: &Options) -> ExitCode {
    let json = options.json;
    // The command attaches to nothing.
    let search = options.editor.search().ignore_auto_connect();
    // With `--bridge`, the editor is looked for at each start of the bridge, when nobody can choose.
    let interactive = !json && !options.bridge;
    let search = if interactive { find::chosen("mcp-config", search) } else { Ok(search) };
    let editor = match search.and_then(|search| find::editor(&search)) {
        Ok(editor) => editor,
        Err(nothing) => return PROGRAM.end_with(json, NOT_BEGUN, &nothing),
    };
    match write(options, editor) {
        Ok(path) => PROGRAM.print(&if json { written_json(&path) } else { written(&path, Shell::here()) }),
        Err(problem) => PROGRAM.end_with(json, FAILED, &problem),
    }
}

/// Returns the path of the file, and the line that starts the agent with it, if this shell can express it.
fn written(path: &Path, shell: Shell) -> String {
    let path = path.display().to_string();
    let line = shell.run(&[], &[], &["claude", "--ide", "--mcp-config", &path]);
    std::iter::once(path).chain(line).collect::<Vec<_>>().join("\n")
}

/// Returns [`written`] as a line of JSON.
fn written_json(path: &Path) -> String {
    let path = path.display().to_string();
    json!({"event": "written", "path": path, "command": ["claude", "--ide", "--mcp-config", path]})
        .to_string()
}

/// Writes the file, and returns its absolute path.
fn write(options: &Options, editor: FoundEditor) -> Result<PathBuf, String> {
    let path = match &options.out {
        Some(path) if !options.force && path.symlink_metadata().is_ok() => {
            return Err(format!("{} exists; --force writes over it", path.display()));
        }
        Some(path) => path.clone(),
        // This file outlives the editor.
        None if options.bridge => editor.lock_file.with_file_name("bridge.mcp.json"),
        None => editor.lock_file.with_file_name(tools_name(editor.port)),
    };
    let path = absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = match options.bridge {
        true => bridge(options).map_err(|error| error.to_string())?,
        false => models(options, editor)?.to_json(),
    };
    write_private(&path, &text).map_err(|error| error.to_string())?;
    Ok(path)
}

/// Returns the configuration by which the model connects to the editor, at the target for models.
fn models(options: &Options, editor: FoundEditor) -> Result<McpConfig, String> {
    if let Some(warning) = check(&editor.name, editor.port, editor.is_marked, process_scope().is_some())? {
        complain("mcp-config", &warning);
    }
    let mut config = McpConfig::new(options.name.as_str(), editor.port, editor.token);
    config.host = editor.host;
    Ok(config)
}

/// Checks that the editor is built with ide-mcp. Another editor would take the connection of the model for that of
/// an agent, and give it all tools, even those that open and close diffs.
///
/// Returns a warning if lock files have no mark on this system, so that we cannot check.
fn check(name: &str, port: u16, is_marked: bool, has_marks: bool) -> Result<Option<String>, String> {
    let name = display_line(name, MAX_NAME);
    match (is_marked, has_marks) {
        (true, _) => Ok(None),
        (false, false) => Ok(Some(format!(
            "warning: on this system the command cannot check that {name:?} on port {port} is built with ide-mcp; another \
             editor gives all its tools to the model"
        ))),
        (false, true) => Err(format!(
            "{name:?} on port {port} is not built with ide-mcp, so it has no tools for models; --bridge gives all its \
             tools to the model"
        )),
    }
}

/// Returns the configuration that starts the bridge. The bridge finds its editor as this command does, at
/// each start.
fn bridge(options: &Options) -> io::Result<String> {
    let EditorArgs { lock, port, cwd, dead_process } = &options.editor;
    let mut arguments = vec!["bridge".to_owned()];
    match (lock, port) {
        (Some(lock), _) => arguments.extend(["--lock".into(), unicode(&absolute(lock)?)?]),
        (None, Some(port)) => arguments.extend(["--port".into(), port.to_string()]),
        (None, None) => arguments.extend(["--cwd".into(), find::working_dir(cwd.as_deref())?.logical]),
    }
    if *dead_process {
        arguments.push("--dead-process".into());
    }
    let server = json!({"type": "stdio", "command": unicode(&env::current_exe()?)?, "args": arguments});
    Ok(json!({"mcpServers": {options.name.as_str(): server}}).to_string())
}

/// Returns the path as a string.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the path is not Unicode.
fn unicode(path: &Path) -> io::Result<String> {
    let unusual = || format!("the path {} is not Unicode", path.display());
    path.to_str().map(Into::into).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, unusual()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_written_for_its_shell() {
        let rows = [
            (Shell::Posix, "/h/it's/7.mcp.json", Some(r"'/h/it'\''s/7.mcp.json'")),
            (Shell::PowerShell, r"C:\it's\7.mcp.json", Some(r"'C:\it''s\7.mcp.json'")),
            (Shell::Cmd, r"C:\a b\7.mcp.json", Some(r#""C:\a b\7.mcp.json""#)),
            (Shell::Cmd, r"C:\%a%\7.mcp.json", None),
        ];
        for (shell, path, word) in rows {
            let line = word.map(|word| format!("\nclaude --ide --mcp-config {word}")).unwrap_or_default();
            assert_eq!(written(Path::new(path), shell), format!("{path}{line}"), "{shell:?}");
        }
    }

    #[test]
    fn editor_without_mark_is_refused_or_warned() {
        let check = |is_marked, has_marks| check("other", 7, is_marked, has_marks);
        for has_marks in [true, false] {
            assert_eq!(check(true, has_marks), Ok(None));
        }
        let refused = check(false, true).unwrap_err();
        assert!(refused.contains("\"other\" on port 7 is not built with ide-mcp"), "{refused}");
        let warning = check(false, false).unwrap().unwrap();
        assert!(warning.contains("cannot check that \"other\" on port 7 is built"), "{warning}");
        // A lock file can have a name of 60 kB.
        let checked = [true, false].map(|has_marks| super::check(&"x\"".repeat(30_000), 7, false, has_marks));
        let texts = checked.map(|checked| checked.unwrap_or_else(Some).unwrap());
        assert!(texts.iter().all(|text| text.len() < 400 && text.contains("…\" on port 7")), "{texts:?}");
    }
}
