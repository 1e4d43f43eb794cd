//! The tokens and other secrets that the doctor has read, and their removal from all that it shows. A
//! token can also be in a name or in a path, where no rule expects it.

use super::facts::{Facts, SHORTEST_SECRET};
use super::rules::Finding;
use std::collections::BTreeSet;
use std::env;
use std::path::Path;

const HIDDEN: &str = "[token]";

/// A variable whose name contains one of these words has a secret value.
const SECRET_WORDS: [&str; 6] = ["TOKEN", "KEY", "SECRET", "PASSW", "AUTH", "COOKIE"];

/// The secrets of one look, longest first.
#[derive(Debug)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Collects the tokens of the lock files, and the values of all variables with secrets.
    pub(crate) fn of(facts: &Facts) -> Self {
        let files = facts.locks.iter().filter_map(|lock| lock.file.as_ref().ok());
        let tokens = files.filter_map(|file| Some(file.auth_token.as_ref()?.as_str().to_owned()));
        Self::new(tokens.chain(variables()))
    }

    fn new(secrets: impl Iterator<Item = String>) -> Self {
        // A finding quotes names as Rust does, except for backslashes. A command quotes paths as a shell does.
        let forms = |secret: String| {
            let debug = format!("{secret:?}");
            let quoted = debug.trim_matches('"').to_owned();
            let unescaped = quoted.replace(r"\\", r"\");
            [secret.replace('\'', r"'\''"), secret.replace('\'', "''"), quoted, unescaped, secret]
        };
        let all: BTreeSet<String> =
            secrets.filter(|secret| secret.len() >= SHORTEST_SECRET).flat_map(forms).collect();
        let mut all: Vec<String> = all.into_iter().collect();
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(all)
    }

    /// Returns a text without the secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// Removes the secrets from a finding. A command with a secret is removed: without the secret it
    /// would be another command.
    pub(crate) fn clean(&self, finding: &mut Finding) {
        finding.message = self.hide(&finding.message);
        finding.advice = self.hide(&finding.advice);
        finding.path = finding.path.as_deref().map(|path| self.hide(path));
        if self.hide(&finding.command) != finding.command {
            finding.command.clear();
        }
    }
}

fn variables() -> impl Iterator<Item = String> {
    env::vars_os()
        .filter(move |(name, _)| names_a_secret(&name.to_string_lossy()))
        // The path of a key, or of an agent's socket, is not a secret.
        .filter(|(_, value)| !Path::new(value).exists())
        .map(|(_, value)| value.to_string_lossy().into_owned())
}

/// Returns true if the value of a variable with this name is a secret. AUTHOR does not count, although it contains AUTH:
/// the name of an author is not a secret, and often the home directory has the same name, so every path would be hidden.
fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split('_').filter(|word| *word != "AUTHOR");
    words.any(|word| SECRET_WORDS.iter().any(|part| word.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::kinds;

    #[test]
    fn names_of_secrets_contain_certain_words() {
        let cases = [
            ("ANTHROPIC_API_KEY", true),
            ("github_token", true),
            ("DB_PASSWORD", true),
            ("HTTP_AUTHORIZATION", true),
            ("AUTHOR_TOKEN", true),
            ("GIT_AUTHOR_NAME", false),
            ("GIT_AUTHOR_EMAIL", false),
            ("HOME", false),
        ];
        for (name, expected) in cases {
            assert_eq!(names_a_secret(name), expected, "{name}");
        }
    }

    #[test]
    fn secrets_are_hidden_in_every_form() {
        let secrets = ["12345678", "1234567", r#"a"b\c'd`e"#, "12345678-and-more"].map(str::to_owned);
        let secrets = Secrets::new(secrets.into_iter());
        let cases = [
            ("as it is", "12345678".to_owned(), "[token]"),
            ("twice", "x12345678y12345678".into(), "x[token]y[token]"),
            ("the longer one", "12345678-and-more".into(), "[token]"),
            ("one that is too short", "1234567".into(), "1234567"),
            ("as it is, with quotes", r#"a"b\c'd`e"#.into(), "[token]"),
            ("quoted by Rust", format!("{:?}", r#"a"b\c'd`e"#), "\"[token]\""),
            ("quoted by a finding", r#""a\"b\c'd`e""#.into(), "\"[token]\""),
            ("quoted by a shell", r#"'a"b\c'\''d`e'"#.into(), "'[token]'"),
            ("quoted by PowerShell", r#"'a"b\c''d`e'"#.into(), "'[token]'"),
        ];
        for (name, text, expected) in cases {
            assert_eq!(secrets.hide(&text), expected, "{name}");
        }
        let mut finding = Finding {
            kind: &kinds::LOCK_MISNAMED,
            message: "12345678".into(),
            path: Some("/h/12345678.lock".into()),
            port: None,
            advice: "12345678".into(),
            command: "mv /h/12345678.lock".into(),
            is_of_another: false,
        };
        secrets.clean(&mut finding);
        assert!(!format!("{finding:?}").contains("12345678"), "{finding:?}");
        assert_eq!(finding.command, "");
    }
}
