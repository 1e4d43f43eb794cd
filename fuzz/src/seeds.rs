//! The seeds of a fuzz target, from its one file in `fuzz/seeds`, which `fuzz/seeds.py` packs.

use std::path::Path;

/// A seed: its name, or an empty text, and its bytes.
pub type Seed = (String, Vec<u8>);

/// Reads the seeds of a target, where `fuzz` is the folder of that name. Fails if a line is not as `fuzz/seeds.py`
/// writes it.
pub fn seeds(fuzz: &Path, target: &str) -> Result<Vec<Seed>, String> {
    let path = fuzz.join("seeds").join(format!("{target}.txt"));
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|line| format!("{} line {line} is no seed", path.display()))
}

/// Returns the seeds of a packed text, or the number of the line that is wrong. The first line is for people.
fn parse(text: &str) -> Result<Vec<Seed>, usize> {
    let lines = text.strip_suffix('\n').ok_or(0_usize)?.split('\n').enumerate().skip(1);
    lines.map(|(index, line)| seed(line).ok_or(index + 1)).collect()
}

fn seed(line: &str) -> Option<Seed> {
    let (name, text) = line.split_once('\t')?;
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
    // One text for each seed, so that packing again changes no line.
    (seed.escape_ascii().to_string() == text).then(|| (name.to_owned(), seed))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_byte_is_read_as_it_was_written() {
        let all: Vec<u8> = (0..=255).collect();
        let text = format!("# head\nall\t{}\nempty\t\n\tx\n", all.escape_ascii());
        let expected = [("all".into(), all), ("empty".into(), Vec::new()), (String::new(), b"x".to_vec())];
        assert_eq!(parse(&text).unwrap(), expected);
    }

    #[test]
    fn wrong_line_is_named() {
        for (name, line) in [
            ("no tab", "seed"),
            ("half an escape", "a\t\\x0"),
            ("an unknown escape", "a\t\\e"),
            ("a byte that has to be escaped", "a\t\u{7f}"),
            ("an escape that is not needed", "a\t\\x41"),
        ] {
            assert_eq!(parse(&format!("# head\na\tx\n{line}\n")), Err(3), "{name}");
        }
        assert_eq!(parse("# head\na\tx"), Err(0), "a file that was cut");
    }
}
