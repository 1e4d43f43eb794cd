//! The names of files that usually contain secrets.

/// A file that usually contains a secret.
struct Secret {
    name: Name,
    reason: &'static str,
}

/// The part of a path by which a file is recognized. All comparisons ignore the case of ASCII letters.
enum Name {
    /// The name of the file.
    Is(&'static str),
    /// The beginning of the name of the file.
    Begins(&'static str),
    /// The end of the name of the file.
    Ends(&'static str),
    /// The name of a directory on the way to the file.
    In(&'static str),
    /// The name of the directory of the file, and the name of the file.
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

/// The names that a pattern of [`SECRETS`] covers although the files are made to be published.
const PUBLIC: &[Name] = &[
    Name::Ends(".env.example"),
    Name::Ends(".env.sample"),
    Name::Ends(".env.template"),
    Name::Ends(".env.dist"),
    Name::Ends(".pub"),
];

/// The ends that editors add to the name of a file for a copy of it.
const COPIES: &[&str] = &["~", ".bak", ".orig", ".old", ".swp", ".swo", ".tmp"];

/// Returns the reason for which the file with this path usually contains a secret; `None` if its name
/// is none that is known. The decision depends on the path alone: names of files such as `.env` and
/// `id_rsa`, and of directories such as `.ssh` and `.aws`. A copy of such a file (`.env~`, `.env.bak`)
/// counts as well, and a file that is made to be published (`.env.example`, `id_rsa.pub`) does not.
/// [`Filter::secrets`](super::Filter::secrets) hides these files.
///
/// ```
/// use ide_mcp::ide::secret_reason;
/// assert_eq!(secret_reason("/home/ada/app/.env.local"), Some("environment variables, often with tokens"));
/// assert_eq!(secret_reason("/home/ada/app/src/main.rs"), None);
/// ```
#[must_use]
pub fn secret_reason(path: &str) -> Option<&'static str> {
    // Windows ignores dots and spaces at the end of a name.
    let mut parts = path.rsplit(['/', '\\']).map(|part| part.trim_end_matches(['.', ' ']));
    let file = parts.find(|part| !part.is_empty())?;
    // Windows reads the text behind a colon as the name of a stream. A scheme or a drive can stand before
    // a colon.
    let halves = file.split_once(':').map(<[&str; 2]>::from).into_iter().flatten();
    core::iter::once(file).chain(halves).find_map(|file| reason_of(original(file), parts.clone()))
}

/// Returns the name of the file of which a file with this name is a copy, or the name itself.
fn original(mut file: &str) -> &str {
    // `#.env#` and `.#.env` of Emacs.
    file = file.strip_prefix(".#").unwrap_or(file).trim_matches('#');
    while let Some(shorter) = COPIES.iter().find_map(|end| without_end(file, end)) {
        // `..env.swp` of Vim.
        file = shorter.strip_prefix('.').filter(|rest| rest.starts_with('.')).unwrap_or(shorter);
    }
    file
}

/// Returns the reason for a file with this name in these directories, the innermost first.
fn reason_of<'a>(file: &str, directories: impl Iterator<Item = &'a str> + Clone) -> Option<&'static str> {
    let fits = |name: &Name| match *name {
        Name::Is(name) => file.eq_ignore_ascii_case(name),
        Name::Begins(start) => file.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)),
        Name::Ends(end) => without_end(file, end).is_some(),
        Name::In(name) => directories.clone().any(|directory| directory.eq_ignore_ascii_case(name)),
        Name::At(directory, name) => {
            file.eq_ignore_ascii_case(name)
                && directories
                    .clone()
                    .next()
                    .is_some_and(|innermost| innermost.eq_ignore_ascii_case(directory))
        }
    };
    if PUBLIC.iter().any(fits) {
        return None;
    }
    SECRETS.iter().find(|secret| fits(&secret.name)).map(|secret| secret.reason)
}

/// Returns the name without this end, if it has the end.
fn without_end<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let (start, last) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
    last.eq_ignore_ascii_case(end).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    #[test]
    fn names_decide() {
        let rows = [
            ("/w/.env", Some(ENVIRONMENT)),
            ("/w/.env.production", Some(ENVIRONMENT)),
            ("/w/prod.env", Some(ENVIRONMENT)),
            ("/w/.ENV", Some(ENVIRONMENT)),
            ("C:\\w\\.env", Some(ENVIRONMENT)),
            ("C:\\w\\.env. ", Some(ENVIRONMENT)),
            ("C:\\w\\.env::$DATA", Some(ENVIRONMENT)),
            ("/w/.env~", Some(ENVIRONMENT)),
            ("/w/server.key.old.bak~", Some(PRIVATE_KEY)),
            ("/w/..env.swp", Some(ENVIRONMENT)),
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
            ("", None),
        ];
        for (path, want) in rows {
            assert_eq!(secret_reason(path), want, "{path}");
        }
    }

    #[test]
    fn every_pattern_finds_its_file() {
        for secret in SECRETS {
            let path = match secret.name {
                Name::Is(name) => String::from(name),
                Name::Begins(start) => format!("{start}1"),
                Name::Ends(end) => format!("x{end}"),
                Name::In(directory) => format!("{directory}/x/y"),
                Name::At(directory, name) => format!("{directory}/{name}"),
            };
            for path in
                [format!("/w/{path}"), format!("C:\\w\\{path}").replace('/', "\\"), path.to_uppercase()]
            {
                assert!(secret_reason(&path).is_some(), "{path}");
            }
        }
    }
}
