//! The seeds of the fuzz targets, replayed by `cargo test`. Each target has one file of them in `fuzz/seeds`, which
//! `fuzz/seeds.py` packs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A seed: its name, which may be empty, and its bytes.
type Seed = (String, Vec<u8>);

/// Runs a target on each of its seeds; `fuzz` is the path of the folder `fuzz`. Panics if the target panics on a seed,
/// if a line is not a seed, or if there are so few seeds that some must have been lost.
pub fn replay(fuzz: &Path, name: &str, target: fn(&[u8])) {
    let path = fuzz.join("seeds").join(format!("{name}.txt"));
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
    let fault = text.and_then(|text| replay_text(&text, target)).err();
    assert!(fault.is_none(), "{}: {}", path.display(), fault.unwrap_or_default());
}

fn replay_text(text: &str, target: fn(&[u8])) -> Result<(), String> {
    let seeds = parse(text).map_err(|line| format!("line {line} is not a seed"))?;
    let failed: Vec<String> = seeds
        .iter()
        .filter(|(_, bytes)| catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err())
        .map(|(name, bytes)| format!("{name}\t{}", bytes.escape_ascii()))
        .collect();
    if !failed.is_empty() {
        return Err(format!("the target fails on\n{}", failed.join("\n")));
    }
    // The smallest corpus has 20.
    if seeds.len() > 10 { Ok(()) } else { Err(format!("{} seeds are too few", seeds.len())) }
}

/// Returns the seeds of a packed file, or the number of the line that is wrong: 0 if the end of the file was cut off.
fn parse(text: &str) -> Result<Vec<Seed>, usize> {
    let mut lines = text.strip_suffix('\n').ok_or(0_usize)?.split('\n').zip(1..);
    // The first line is a comment for people.
    lines.next().filter(|(head, _)| head.starts_with('#')).ok_or(1_usize)?;
    lines.map(|(line, number)| seed(line).ok_or(number)).collect()
}

fn seed(line: &str) -> Option<Seed> {
    let (name, text) = line.split_once('\t')?;
    // When it is unpacked, a seed becomes a file with this name.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        return None;
    }
    let mut seed = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        seed.push(match byte {
            b'\\' => match rest.next()? {
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'x' => {
                    let digits = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                quoted @ (b'\\' | b'\'' | b'"') => quoted,
                _ => return None,
            },
            b' '..=b'~' => byte,
            _ => return None,
        });
    }
    // Each seed can be written in only one way, so that packing again does not change a line.
    (seed.escape_ascii().to_string() == text).then(|| (name.to_owned(), seed))
}

#[cfg(test)]
mod tests {
    use super::{parse, replay_text};

    #[test]
    fn every_byte_is_read_back_as_it_was_written() {
        let all: Vec<u8> = (0..=255).collect();
        let text = format!("# head\nall\t{}\nempty\t\n\tx\n", all.escape_ascii());
        let expected = [("all".into(), all), ("empty".into(), Vec::new()), (String::new(), b"x".to_vec())];
        assert_eq!(parse(&text).unwrap(), expected);
    }

    #[test]
    fn an_error_names_the_wrong_line() {
        for (name, line) in [
            ("no tab", "seed"),
            ("an empty line", ""),
            ("two seeds", "a\tx\ty"),
            ("a Windows line ending", "a\tx\r"),
            ("half an escape", "a\t\\x0"),
            ("an unknown escape", "a\t\\e"),
            ("a byte that must be escaped", "a\t\u{7f}"),
            ("an escape that is not needed", "a\t\\x41"),
            ("a name that is a path", "../a\tx"),
        ] {
            assert_eq!(parse(&format!("# head\na\tx\n{line}\n")), Err(3), "{name}");
        }
        assert_eq!(parse("# head\na\tx"), Err(0), "a file that was cut");
        assert_eq!(parse("a\tx\n"), Err(1), "a seed instead of the comment");
    }

    #[test]
    fn replay_says_what_fails() {
        let text = |seeds: usize| format!("# head\nnamed\t\\n\n{}", "\tx\n".repeat(seeds - 1));
        assert_eq!(replay_text(&text(11), |_| {}), Ok(()));
        assert_eq!(replay_text(&text(10), |_| {}), Err("10 seeds are too few".into()));
        let fails = replay_text(&text(11), |bytes| assert_ne!(bytes, b"\n"));
        assert_eq!(fails, Err("the target fails on\nnamed\t\\n".into()));
        assert_eq!(replay_text("# head\nx\n", |_| {}), Err("line 2 is not a seed".into()));
    }
}
