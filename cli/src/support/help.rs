//! The help of a command as data. The help is the only description of a command line: completions and
//! the advice in errors are read from its text, so they cannot contradict it.
//!
//! ```text
//! usage: ide-mcp some [OPTION…] a|b FILE
//!
//! commands:
//!   name VALUE        a command below this command
//!
//!   -l, --long VALUE  an option; a shell completes the values FILE, DIR, PORT, TOOL and a|b
//! ```

/// The help of a command, which `--help` prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Help(pub(crate) &'static str);

/// An option in the help.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HelpOption {
    /// The spellings with their dashes, the long one last.
    pub(crate) names: Vec<&'static str>,
    /// The value of the option, if it has one.
    pub(crate) value: Option<Value>,
}

/// The values of an option or of a word of the command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Choices(Vec<&'static str>),
    File,
    Folder,
    /// The port of a running editor.
    Port,
    /// The name of a tool.
    Tool,
    /// A value that only the user knows, by its name in the help.
    Other(&'static str),
}

impl Help {
    /// Returns the options in the order of the help.
    pub(crate) fn options(self) -> impl Iterator<Item = HelpOption> {
        self.0.lines().filter(|line| line.starts_with("  -")).map(|line| {
            let words: Vec<_> = head(line).map(|word| word.trim_end_matches(',')).collect();
            let names = words.iter().take_while(|word| word.starts_with('-')).copied().collect::<Vec<_>>();
            let value = words.get(names.len()).filter(|word| is_value(word)).map(|word| Value::parse(word));
            HelpOption { names, value }
        })
    }

    /// Returns the names of the commands below `commands:`.
    pub(crate) fn commands(self) -> impl Iterator<Item = &'static str> {
        let lines = self.section("commands:").filter(|line| !line.starts_with("   "));
        lines.filter_map(|line| head(line).next())
    }

    /// Returns the commands below `commands:` that begin with a value, each with this value.
    pub(crate) fn command_values(self) -> impl Iterator<Item = (&'static str, Value)> {
        let lines = self.section("commands:").filter(|line| !line.starts_with("   "));
        lines.filter_map(|line| {
            let mut words = head(line);
            Some((words.next()?, words.next().filter(|word| is_value(word)).map(Value::parse)?))
        })
    }

    /// Returns the values that are no values of an option: those in the usage and those of commands.
    pub(crate) fn values(self) -> Vec<Value> {
        let usage = self.section("usage:").flat_map(|line| {
            let words = line.split_whitespace().map(|word| word.trim_matches(['[', ']', '…']));
            let previous = std::iter::once("").chain(words.clone());
            words.zip(previous).filter(|(_, before)| !before.starts_with('-')).map(|(word, _)| word)
        });
        let commands = self.section("commands:").flat_map(|line| head(line).skip(1));
        usage.chain(commands).filter(|word| is_value(word)).map(Value::parse).collect()
    }

    /// Returns the lines of a section: from the line that begins with its name to the next empty line.
    fn section(self, name: &'static str) -> impl Iterator<Item = &'static str> {
        let lines = self.0.lines().skip_while(move |line| !line.starts_with(name));
        lines.take_while(|line| !line.is_empty()).map(move |line| line.strip_prefix(name).unwrap_or(line))
    }
}

impl Value {
    fn parse(word: &'static str) -> Self {
        match word {
            "FILE" | "PATH" | "NEWFILE" => Self::File,
            "DIR" => Self::Folder,
            "PORT" => Self::Port,
            "TOOL" => Self::Tool,
            choices if choices.contains('|') => Self::Choices(choices.split('|').collect()),
            other => Self::Other(other),
        }
    }
}

/// Returns true for the name of a value, in capitals, and for choices.
fn is_value(word: &str) -> bool {
    let has_choices = word.split_once('|').is_some_and(|(left, right)| !left.is_empty() && !right.is_empty());
    has_choices || word.starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// Returns the words of a line before the explanation, which two spaces separate.
fn head(line: &'static str) -> impl Iterator<Item = &'static str> {
    line.trim_start().split("  ").next().unwrap_or_default().split_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: Help = Help(
        "\
Do something.

usage: ide-mcp some [OPTION…] [--lock FILE | -n N] [DIR…]
       ide-mcp some left|right

commands:
  go              go away
  read NAME FILE  read a file
                  completely

  --lock FILE     the lock file
  -n, --number N  the number
  --way left|right
                  the way
  -h, --help      print this help

exit status: 0",
    );

    #[test]
    fn options_have_names_and_values() {
        let option = |names: &[&'static str], value| HelpOption { names: names.to_vec(), value };
        let expected = [
            option(&["--lock"], Some(Value::File)),
            option(&["-n", "--number"], Some(Value::Other("N"))),
            option(&["--way"], Some(Value::Choices(vec!["left", "right"]))),
            option(&["-h", "--help"], None),
        ];
        assert_eq!(HELP.options().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn words_come_from_usage_and_commands() {
        assert_eq!(HELP.commands().collect::<Vec<_>>(), ["go", "read"]);
        let sides = Value::Choices(vec!["left", "right"]);
        let expected = [Value::Other("OPTION"), Value::Folder, sides, Value::Other("NAME"), Value::File];
        assert_eq!(HELP.values(), expected);
        let values = [("read", Value::Other("NAME"))];
        assert_eq!(HELP.command_values().collect::<Vec<_>>(), values);
        let bare = Help("Do.\n\nusage: ide-mcp bare");
        assert_eq!((bare.commands().count(), bare.options().count(), bare.values().len()), (0, 0, 0));
    }
}
