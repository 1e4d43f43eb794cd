//! The completions for fish: a line for each word and option, with the command after which it stands.

use super::{After, Paths};
use crate::support::{HelpOption, Value};

const BEGIN: &str = "\
# Completions of ide-mcp for fish.

function __ide_mcp_after
    set -l words (commandline -opc) ide-mcp
    test $words[2] = $argv[1]
end

complete -c ide-mcp -f
";

/// The completion of folders, which is a function of fish.
const FOLDERS: &str = "-a '(__fish_complete_directories)'";

pub(super) fn fish(all: &[After]) -> String {
    let mut script = BEGIN.to_owned();
    for after in all {
        let mut line = |what: &str| {
            script.push_str(&format!("complete -c ide-mcp -n '__ide_mcp_after {}' {what}\n", after.name));
        };
        if !after.words.is_empty() {
            line(&format!("-a '{}'", after.words.join(" ")));
        }
        match after.paths {
            Some(Paths::Files) => line("-F"),
            Some(Paths::Folders) => line(FOLDERS),
            None => {}
        }
        for option in &after.options {
            line(&self::option(option));
        }
        for (command, values) in &after.behind {
            let condition = format!("__ide_mcp_after {}; and __fish_prev_arg_in {command}", after.name);
            let words = values.join(" ");
            script.push_str(&format!("complete -c ide-mcp -n '{condition}' -a '{words}'\n"));
        }
    }
    script.trim_end().to_owned()
}

fn option(option: &HelpOption) -> String {
    let names = option.names.iter().map(|name| match name.strip_prefix("--") {
        Some(long) => format!("-l {long}"),
        None => format!("-s {}", name.trim_start_matches('-')),
    });
    let value = match &option.value {
        Some(Value::Choices(choices)) => format!("-x -a '{}'", choices.join(" ")),
        Some(Value::File) => "-r -F".into(),
        Some(Value::Folder) => format!("-x {FOLDERS}"),
        Some(Value::Port) => "-x -a '(ide-mcp completions ports 2>/dev/null)'".into(),
        Some(Value::Tool | Value::Other(_)) => "-x".into(),
        None => String::new(),
    };
    let parts: Vec<String> = names.chain(Some(value).filter(|value| !value.is_empty())).collect();
    parts.join(" ")
}
