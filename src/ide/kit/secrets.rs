//! The names of files that usually contain secrets.

use alloc::{borrow::Cow, string::String};

/// A file that usually contains a secret.
struct Secret {
    name: Name,
    reason: &'static str,
}

/// How a file is recognized by a part of its path. Case is always ignored.
enum Name {
    /// The name of the file.
    Is(&'static str),
    /// How the name of the file begins.
    Begins(&'static str),
    /// How the name of the file ends.
    Ends(&'static str),
    /// A directory that contains the file, at any depth.
    In(&'static str),
    /// The directory of the file, and its name.
    At(&'static str, &'static str),
}

const fn secret(name: Name, reason: &'static str) -> Secret {
    Secret { name, reason }
}

const ENVIRONMENT: &str = "environment variables, often with tokens";
const PRIVATE_KEY: &str = "a private key";
const KEY_STORE: &str = "a store of keys or passwords";
const CREDENTIALS: &str = "credentials of a service";
const PASSWORDS: &str = "passwords";

const SECRETS: &[Secret] = &[
    secret(Name::Begins(".env"), ENVIRONMENT),
    secret(Name::Ends(".env"), ENVIRONMENT),
    secret(Name::In(".ssh"), "keys and hosts of SSH"),
    secret(Name::In(".gnupg"), "keys of GnuPG"),
    secret(Name::Begins("id_rsa"), PRIVATE_KEY),
    secret(Name::Begins("id_dsa"), PRIVATE_KEY),
    secret(Name::Begins("id_ecdsa"), PRIVATE_KEY),
    secret(Name::Begins("id_ed25519"), PRIVATE_KEY),
    secret(Name::Ends(".pem"), PRIVATE_KEY),
    secret(Name::Ends(".key"), PRIVATE_KEY),
    secret(Name::Ends(".ppk"), PRIVATE_KEY),
    secret(Name::Ends(".p8"), PRIVATE_KEY),
    secret(Name::Ends(".p12"), KEY_STORE),
    secret(Name::Ends(".pfx"), KEY_STORE),
    secret(Name::Ends(".jks"), KEY_STORE),
    secret(Name::Ends(".keystore"), KEY_STORE),
    secret(Name::Ends(".kdbx"), KEY_STORE),
    secret(Name::Ends(".ovpn"), "the settings of a VPN, often with its key"),
    secret(Name::Is(".netrc"), PASSWORDS),
    secret(Name::Is("_netrc"), PASSWORDS),
    secret(Name::Is(".pgpass"), PASSWORDS),
    secret(Name::Is("pgpass.conf"), PASSWORDS),
    secret(Name::Is(".my.cnf"), PASSWORDS),
    secret(Name::Is(".htpasswd"), PASSWORDS),
    secret(Name::Is(".git-credentials"), PASSWORDS),
    secret(Name::Is(".npmrc"), "the token of a package registry"),
    secret(Name::Is(".pypirc"), "the token of a package registry"),
    secret(Name::At(".cargo", "credentials"), "the token of a package registry"),
    secret(Name::At(".cargo", "credentials.toml"), "the token of a package registry"),
    secret(Name::At(".gem", "credentials"), "the token of a package registry"),
    secret(Name::In(".aws"), CREDENTIALS),
    secret(Name::In(".azure"), CREDENTIALS),
    secret(Name::At("gcloud", "credentials.db"), CREDENTIALS),
    secret(Name::Is("application_default_credentials.json"), CREDENTIALS),
    secret(Name::In(".kube"), CREDENTIALS),
    secret(Name::At(".docker", "config.json"), CREDENTIALS),
    secret(Name::At("gh", "hosts.yml"), CREDENTIALS),
    secret(Name::Is(".vault-token"), CREDENTIALS),
    secret(Name::Is("credentials.json"), CREDENTIALS),
    secret(Name::Begins("service-account"), CREDENTIALS),
    secret(Name::Begins("client_secret"), CREDENTIALS),
    secret(Name::Is("secrets.json"), CREDENTIALS),
    secret(Name::Is("secrets.toml"), CREDENTIALS),
    secret(Name::Is("secrets.yaml"), CREDENTIALS),
    secret(Name::Is("secrets.yml"), CREDENTIALS),
    secret(Name::Begins("terraform.tfstate"), "the state of Terraform, with its secrets in clear text"),
    secret(Name::Ends(".tfvars"), "the variables of Terraform"),
    secret(Name::At(".claude", ".credentials.json"), "the credentials of the agent"),
];

/// Names that a pattern of [`SECRETS`] covers although these files are made to be published.
const PUBLIC: &[Name] = &[
    Name::Ends(".env.example"),
    Name::Ends(".env.sample"),
    Name::Ends(".env.template"),
    Name::Ends(".env.dist"),
    Name::Ends(".pub"),
];

/// What editors append to the name of a file for a copy of it.
const COPIES: &[&str] = &["~", ".bak", ".orig", ".old", ".tmp"];

/// Returns why the file with this path probably contains a secret; `None` if its name says nothing of the kind. Only
/// the path counts: names of files such as `.env` and `id_rsa`, and of directories such as `.ssh` and `.aws`. Copies
/// (`.env~`, `.env.bak`) count too, files made to be published (`.env.example`, `id_rsa.pub`) do not.
/// [`Filter::secrets`](crate::ide::Filter::secrets) hides these files.
///
/// A system may open a file by more names than its own. We recognize a name in another case, by the rules of Unicode
/// (`.\u{17f}sh` for `.ssh`), characters that macOS ignores, a dot, a space or a stream at the end, and the short name
/// that Windows makes from a long one (`SSH~1` for `.ssh`). We cannot recognize a short name that Windows makes from a
/// hash, after four files with the same beginning, or a link. If you get paths from others, resolve them first.
///
/// ```
/// use ide_mcp::ide::kit::secret_reason;
/// assert_eq!(secret_reason("/home/ada/app/.env.local"), Some("environment variables, often with tokens"));
/// assert_eq!(secret_reason("/home/ada/app/src/main.rs"), None);
/// ```
#[must_use]
pub fn secret_reason(path: &str) -> Option<&'static str> {
    let path = &*folded(path);
    // Windows ignores dots and spaces at the end of a name.
    let mut parts = path.rsplit(['/', '\\']).map(|part| part.trim_end_matches(['.', ' ']));
    let file = parts.find(|part| !part.is_empty())?;
    names(file).find_map(|file| {
        let original = original(file);
        // `.id_rsa.swp` of Vim is the swap file of `id_rsa`, but may also be a copy of `.id_rsa`.
        let of_vim = original.strip_prefix('.').filter(|_| original.len() < file.len());
        core::iter::once(original).chain(of_vim).find_map(|file| reason_of(file, parts.clone()))
    })
}

/// Returns the names that a part of a path may have: all of it, and each piece between colons. Windows reads what
/// follows a colon as the name of a stream, even of a directory (`.ssh::$INDEX_ALLOCATION`). A scheme or a drive may
/// come before a colon.
fn names(part: &str) -> impl Iterator<Item = &str> {
    core::iter::once(part).chain(part.split(':').filter(|piece| piece.len() < part.len()))
}

/// Returns the path as seen by a file system that folds case and ignores some characters. ASCII keeps its case, and so
/// do letters that do not fold to ASCII.
fn folded(path: &str) -> Cow<'_, str> {
    if path.is_ascii() {
        return Cow::Borrowed(path);
    }
    // The characters that HFS+ ignores.
    let ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let mut folded = String::with_capacity(path.len());
    for c in path.chars().filter(|c| !ignored(c)) {
        match folded_to_ascii(c) {
            Some(letters) => folded.push_str(letters),
            None => folded.push(c),
        }
    }
    Cow::Owned(folded)
}

/// Returns the folded form of a letter beyond ASCII that contains an ASCII letter; `None` for any other character. A
/// table of our own, because those of `char::to_lowercase` and `char::to_uppercase` would add 24 KB to every program.
const fn folded_to_ascii(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{df}' | '\u{1e9e}' => "ss",
        '\u{130}' => "i\u{307}",
        '\u{131}' => "i",
        '\u{149}' => "\u{2bc}n",
        '\u{17f}' => "s",
        '\u{1f0}' => "j\u{30c}",
        '\u{1e96}' => "h\u{331}",
        '\u{1e97}' => "t\u{308}",
        '\u{1e98}' => "w\u{30a}",
        '\u{1e99}' => "y\u{30a}",
        '\u{1e9a}' => "a\u{2be}",
        '\u{212a}' => "k",
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}

/// Returns the name of the file that this one is a copy of, or the name itself.
fn original(mut file: &str) -> &str {
    // `#.env#` and `.#.env` of Emacs.
    file = file.strip_prefix(".#").unwrap_or(file).trim_matches('#');
    while let Some(shorter) = COPIES.iter().find_map(|end| without_end(file, end)).or_else(|| of_swap(file)) {
        file = shorter;
    }
    file
}

/// Returns the name without the end of a swap file of Vim: `.swp`, then `.swo`, up to `.swa`.
fn of_swap(file: &str) -> Option<&str> {
    let (start, last) = file.split_at_checked(file.len().checked_sub(1)?)?;
    let is_swap = matches!(last.as_bytes(), [b'a'..=b'p' | b'A'..=b'P']);
    without_end(start, ".sw").filter(|_| is_swap)
}

/// Returns why a file with this name in these directories, the innermost first, probably contains a secret.
fn reason_of<'a>(file: &str, directories: impl Iterator<Item = &'a str> + Clone) -> Option<&'static str> {
    let fits = |name: &Name| match *name {
        Name::Is(name) => is_named(file, name),
        Name::Begins(start) => {
            file.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
                || Short::of(file).is_some_and(|short| short.can_begin(start))
        }
        Name::Ends(end) => {
            without_end(file, end).is_some() || Short::of(file).is_some_and(|short| short.can_end(end))
        }
        Name::In(name) => directories.clone().flat_map(names).any(|directory| is_named(directory, name)),
        Name::At(directory, name) => {
            is_named(file, name)
                && directories.clone().take(1).flat_map(names).any(|innermost| is_named(innermost, directory))
        }
    };
    if PUBLIC.iter().any(fits) {
        return None;
    }
    SECRETS.iter().find(|secret| fits(&secret.name)).map(|secret| secret.reason)
}

/// Returns true if a file or directory has this name, or the Windows short name for it.
fn is_named(file: &str, name: &str) -> bool {
    file.eq_ignore_ascii_case(name) || Short::of(file).is_some_and(|short| short.is_of(name))
}

/// A Windows short name: up to six characters of the beginning of the long name without its leading dots, `~` and a
/// number, then a dot and the first three characters after the last dot.
struct Short<'a> {
    stem: &'a str,
    extension: &'a str,
}

impl<'a> Short<'a> {
    fn of(file: &'a str) -> Option<Self> {
        let (base, extension) = file.rsplit_once('.').unwrap_or((file, ""));
        let (stem, number) = base.rsplit_once('~')?;
        let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        (is_number && !stem.is_empty()).then_some(Self { stem, extension })
    }

    fn is_of(&self, name: &str) -> bool {
        let (base, extension) = in_parts(name);
        self.stem.eq_ignore_ascii_case(first(base, 6))
            && self.extension.eq_ignore_ascii_case(first(extension, 3))
    }

    /// Returns true if the long name may begin with `start`.
    fn can_begin(&self, start: &str) -> bool {
        let (base, extension) = in_parts(start);
        let base = first(base, 6);
        first(self.stem, base.len()).eq_ignore_ascii_case(base)
            && (extension.is_empty() || self.extension.eq_ignore_ascii_case(first(extension, 3)))
    }

    /// Returns true if the long name may end with `end`, an extension with its dot.
    fn can_end(&self, end: &str) -> bool {
        end.strip_prefix('.').is_some_and(|end| self.extension.eq_ignore_ascii_case(first(end, 3)))
    }
}

/// Splits a name, without its leading dots, at its last dot.
fn in_parts(name: &str) -> (&str, &str) {
    let name = name.trim_start_matches('.');
    name.rsplit_once('.').unwrap_or((name, ""))
}

/// Returns the first characters of a name; all of it if it is shorter.
fn first(name: &str, most: usize) -> &str {
    name.get(..most).unwrap_or(name)
}

/// Returns the name without this end, if it has it.
fn without_end<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let (start, last) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
    last.eq_ignore_ascii_case(end).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    #[test]
    fn names_of_secret_files_are_recognized() {
        let rows = [
            ("/w/.env", Some(ENVIRONMENT)),
            ("/w/.env.production", Some(ENVIRONMENT)),
            ("/w/prod.env", Some(ENVIRONMENT)),
            ("/w/.ENV", Some(ENVIRONMENT)),
            ("C:\\w\\.env", Some(ENVIRONMENT)),
            ("C:\\w\\.env. ", Some(ENVIRONMENT)),
            ("C:\\w\\.env::$DATA", Some(ENVIRONMENT)),
            ("/w/.env~", Some(ENVIRONMENT)),
            ("/w/ENV~", None),
            ("/w/ENV~A", None),
            ("/w/server.key.old.bak~", Some(PRIVATE_KEY)),
            ("/w/..env.swp", Some(ENVIRONMENT)),
            ("/w/.id_rsa.swp", Some(PRIVATE_KEY)),
            ("/w/.id_rsa.SWN", Some(PRIVATE_KEY)),
            ("/w/.id_rsa.swa", Some(PRIVATE_KEY)),
            ("/w/.id_rsa.swq", None),
            ("/w/.id_rsa", None),
            ("/w/.env.swp", Some(ENVIRONMENT)),
            ("/w/.server.key.swo", Some(PRIVATE_KEY)),
            ("/w/.main.rs.swp", None),
            ("/w/.swp", None),
            ("/w/#.env#", Some(ENVIRONMENT)),
            ("/w/.#id_rsa", Some(PRIVATE_KEY)),
            ("/w/.env/", Some(ENVIRONMENT)),
            ("/w/localhost:8443.key", Some(PRIVATE_KEY)),
            ("/w/db:prod.env", Some(ENVIRONMENT)),
            ("untitled:.env", Some(ENVIRONMENT)),
            ("C:.env", Some(ENVIRONMENT)),
            ("C:\\u\\.ssh.\\config", Some("keys and hosts of SSH")),
            ("/w/src/secrets.rs", None),
            ("/w/server.key.bak", Some(PRIVATE_KEY)),
            ("/w/.env.example", None),
            ("/w/environment.rs", None),
            ("/w/id_rsa", Some(PRIVATE_KEY)),
            ("/w/id_rsa.pub", None),
            ("/home/a/.ssh/config", Some("keys and hosts of SSH")),
            ("/home/a/.AWS/credentials", Some(CREDENTIALS)),
            ("/home/a/.cargo/credentials.toml", Some("the token of a package registry")),
            ("/w/credentials.toml", None),
            ("/w/ssh/config", None),
            ("/w/keyboard.rs", None),
            ("/w/é.pem", Some(PRIVATE_KEY)),
            ("/w/é", None),
            ("id_rsa", Some(PRIVATE_KEY)),
            // Names that fold to these names.
            ("/home/a/.\u{17f}\u{17f}H/config", Some("keys and hosts of SSH")),
            ("/home/a/.\u{df}h/config", Some("keys and hosts of SSH")),
            ("/home/a/.\u{1e9e}H/config", Some("keys and hosts of SSH")),
            ("/w/server.\u{212a}ey", Some(PRIVATE_KEY)),
            ("/w/x.p\u{fb01}", None),
            ("/home/a/.docker/con\u{fb01}g.json", Some(CREDENTIALS)),
            ("/w/.e\u{200c}nv\u{feff}", Some(ENVIRONMENT)),
            // Windows short names.
            ("C:\\u\\SSH~1\\config", Some("keys and hosts of SSH")),
            ("C:\\w\\ENV~1", Some(ENVIRONMENT)),
            ("C:\\w\\ENV~12.LOC", Some(ENVIRONMENT)),
            ("C:\\w\\ID_RSA~1", Some(PRIVATE_KEY)),
            ("C:\\w\\id_rsa~1.pub", None),
            ("C:\\w\\ID_ED2~3", Some(PRIVATE_KEY)),
            ("C:\\w\\PASSWO~1.KDB", Some(KEY_STORE)),
            ("C:\\w\\SECRET~1.TOM", Some(CREDENTIALS)),
            ("C:\\w\\SECRET~1.RS", None),
            ("C:\\w\\TERRAF~1.TFS", Some("the state of Terraform, with its secrets in clear text")),
            ("C:\\w\\TERRAF~1.TF", None),
            ("C:\\w\\DOCK~1\\config.json", None),
            ("C:\\u\\DOCKER~1\\CONFIG~1.JSO", Some(CREDENTIALS)),
            ("C:\\w\\MAIN~1.RS", None),
            ("C:\\w\\~1", None),
            ("", None),
        ];
        for (path, want) in rows {
            assert_eq!(secret_reason(path), want, "{path}");
        }
    }

    #[test]
    fn letters_fold_as_in_std() {
        for c in '\u{80}'..=char::MAX {
            // The capital sharp s only has a lower case, the small one only an upper case.
            let upper = c.to_lowercase().flat_map(char::to_uppercase);
            let expected: String = upper.flat_map(char::to_lowercase).collect();
            let expected = expected.contains(|c: char| c.is_ascii()).then_some(&*expected);
            assert_eq!(folded_to_ascii(c), expected, "{c:?}");
        }
    }

    /// Returns the directory and the name of a file that this pattern recognizes.
    fn sample(name: &Name) -> (String, String) {
        let (directory, file) = match *name {
            Name::Is(name) => ("w", String::from(name)),
            Name::Begins(start) => ("w", format!("{start}1")),
            Name::Ends(end) => ("w", format!("x{end}")),
            Name::In(directory) => (directory, String::from("y")),
            Name::At(directory, name) => (directory, String::from(name)),
        };
        (directory.into(), file)
    }

    #[test]
    fn every_pattern_finds_its_file() {
        for Secret { name, reason } in SECRETS {
            let (directory, file) = sample(name);
            let path = format!("/h/{directory}/{file}");
            for path in [path.clone(), format!("C:{path}").replace('/', "\\"), path.to_uppercase()] {
                assert_eq!(secret_reason(&path), Some(*reason), "{path}");
            }
        }
    }

    /// Windows opens a file, and a directory too, by the name of one of its streams.
    #[test]
    fn every_pattern_finds_its_file_with_a_stream() {
        let of_files =
            ["", ":", "::$DATA", "::$data", ":x", ":x.rs", ":x:$DATA", ":main.rs:$DATA", "::$DATA. "];
        let of_directories =
            ["", "::$INDEX_ALLOCATION", ":$I30:$INDEX_ALLOCATION", ":$i30:$index_allocation"];
        for Secret { name, reason } in SECRETS {
            let (directory, file) = sample(name);
            for of_file in of_files {
                for of_directory in of_directories {
                    // A drive or a scheme may come before the first name.
                    for (start, copy) in [("C:\\h\\", ""), ("C:\\h\\", "~"), ("C:", ""), ("x:", ".bak")] {
                        let path = format!("{start}{directory}{of_directory}\\{file}{copy}{of_file}");
                        assert_eq!(secret_reason(&path), Some(*reason), "{path}");
                    }
                }
            }
        }
        for path in ["src\\main.rs", "w\\package.json", "ssh\\config", "w\\.ssh.md"] {
            for end in of_files {
                assert_eq!(secret_reason(&format!("C:\\{path}{end}")), None, "{path}{end}");
            }
        }
    }
}
