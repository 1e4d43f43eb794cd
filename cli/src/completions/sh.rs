//! The completions for bash and zsh: the same cases, between functions of each shell.

use super::{After, Paths};
use crate::support::Value;

/// The script for bash, also for the version 3.2 of macOS.
pub(super) fn bash(all: &[After]) -> String {
    format!("{BASH}{}}}\n\ncomplete -F _ide_mcp ide-mcp", cases(all))
}

const BASH: &str = r#"# Completions of ide-mcp for bash.

_ide_mcp_words() {
    COMPREPLY+=($(compgen -W "$*" -- "$word"))
}

_ide_mcp_paths() {
    local IFS=$'\n'
    COMPREPLY+=($(compgen "$1" -- "$word"))
    compopt -o filenames 2>/dev/null
}

_ide_mcp_ports() { _ide_mcp_words $("${COMP_WORDS[0]}" completions ports 2>/dev/null); }
_ide_mcp_files() { _ide_mcp_paths -f; }
_ide_mcp_folders() { _ide_mcp_paths -d; }

_ide_mcp() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then command=ide-mcp; fi
    COMPREPLY=()
"#;

/// The script for zsh, for a directory of `fpath` and for `source`.
pub(super) fn zsh(all: &[After]) -> String {
    format!("{ZSH}{}}}\n\n{ZSH_END}", cases(all))
}

const ZSH: &str = r#"#compdef ide-mcp
# Completions of ide-mcp for zsh.

_ide_mcp_words() { compadd -- "$@"; }
_ide_mcp_ports() { _ide_mcp_words $(ide-mcp completions ports 2>/dev/null); }
_ide_mcp_files() { _files; }
_ide_mcp_folders() { _files -/; }

_ide_mcp() {
    local word=${words[CURRENT]} before=${words[CURRENT - 1]} command=${words[2]}
    if (( CURRENT == 2 )); then command=ide-mcp; fi
"#;

const ZSH_END: &str =
    r#"if [ "${funcstack[1]}" = _ide-mcp ]; then _ide_mcp "$@"; else compdef _ide_mcp ide-mcp; fi"#;

/// Returns the cases by the command and the word before the cursor, then by the word at the cursor.
fn cases(all: &[After]) -> String {
    let mut cases = "    case $command,$before in\n".to_owned();
    for After { name: command, options, behind, .. } in all {
        for (before, values) in behind {
            cases.push_str(&format!("    ({command},{before}) {}return ;;\n", words(values)));
        }
        for option in options {
            let reply = match &option.value {
                Some(Value::Choices(choices)) => words(choices),
                Some(Value::File) => paths(Paths::Files),
                Some(Value::Folder) => paths(Paths::Folders),
                Some(Value::Port) => "_ide_mcp_ports; ".into(),
                Some(Value::Tool | Value::Other(_)) => String::new(),
                None => continue,
            };
            for name in &option.names {
                cases.push_str(&format!("    ({command},{name}) {reply}return ;;\n"));
            }
        }
    }
    cases.push_str("    esac\n    case $command,$word in\n");
    for after in all {
        let command = after.name;
        let options: Vec<_> = after.options.iter().flat_map(|option| &option.names).copied().collect();
        let (options, mut others) = (words(&options), words(&after.words));
        others.push_str(&after.paths.map(paths).unwrap_or_default());
        let others = if others.is_empty() { &options } else { &others };
        cases.push_str(&format!("    ({command},-*) {options};;\n    ({command},*) {others};;\n"));
    }
    cases + "    esac\n"
}

fn words(words: &[&str]) -> String {
    if words.is_empty() { String::new() } else { format!("_ide_mcp_words {}; ", words.join(" ")) }
}

fn paths(paths: Paths) -> String {
    match paths {
        Paths::Files => "_ide_mcp_files; ".into(),
        Paths::Folders => "_ide_mcp_folders; ".into(),
    }
}
