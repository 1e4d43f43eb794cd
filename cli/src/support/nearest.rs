//! The known word that a person probably meant by a misspelled one.

/// Returns " (did you mean NAME?)" for the known name that is nearest to the word, or nothing if none
/// is near.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// The maximum number of edits: an edit more makes the search three times as long.
const MAX_EDITS: usize = 3;

/// Returns the name with the fewest edits from the word: at most one for each three of its letters. A
/// name that the word begins, or that begins the word, is near with three letters.
fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bare = word.trim_start_matches('-');
    let letters: Vec<char> = bare.chars().collect();
    let near = known.into_iter().filter_map(|name| {
        let other = name.trim_start_matches('-');
        let begins =
            letters.len().min(other.len()) >= 3 && (other.starts_with(bare) || bare.starts_with(other));
        let others: Vec<char> = other.chars().collect();
        let edits = edits(&letters, &others, MAX_EDITS.min(letters.len() / 3));
        edits.or_else(|| begins.then_some(MAX_EDITS)).map(|edits| (edits, name))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Returns the number of letters to insert, to remove, to replace, or to swap with the next one; `None`
/// if there are more than `budget`.
fn edits(from: &[char], to: &[char], budget: usize) -> Option<usize> {
    match (from, to) {
        ([a, from @ ..], [b, to @ ..]) if a == b => edits(from, to, budget),
        ([], rest) | (rest, []) => (rest.len() <= budget).then_some(rest.len()),
        ([a, from_rest @ ..], [b, to_rest @ ..]) => {
            let budget = budget.checked_sub(1)?;
            let swapped = match (from_rest, to_rest) {
                ([c, from @ ..], [d, to @ ..]) if (a, c) == (d, b) => edits(from, to, budget),
                _ => None,
            };
            let others = [(from_rest, to_rest), (from_rest, to), (from, to_rest)];
            let edited = others.into_iter().filter_map(|(from, to)| edits(from, to, budget));
            edited.chain(swapped).min().map(|edits| edits + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_up_to_budget() {
        let rows = [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("prot", "port", 1),
        ];
        for (from, to, expected) in rows {
            let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
            assert_eq!(edits(&from, &to, MAX_EDITS), Some(expected), "{from:?} {to:?}");
            assert_eq!(edits(&from, &to, expected), Some(expected), "{from:?} {to:?}");
            let less = expected.checked_sub(1).and_then(|budget| edits(&from, &to, budget));
            assert_eq!(less, None, "{from:?} {to:?}");
        }
    }

    #[test]
    fn only_near_names_are_offered() {
        let known = ["--port", "--lock", "--dead-process", "--out", "editor", "doctor", "mcp-config"];
        let rows = [
            ("a letter that is missing", "edtor", Some("editor")),
            ("a letter too many", "--porrt", Some("--port")),
            ("two swapped letters", "--prot", Some("--port")),
            ("one of three letters", "--oud", Some("--out")),
            ("the beginning of a name", "--dead", Some("--dead-process")),
            ("a longer name", "--output", Some("--out")),
            ("two letters of a name", "--ou", None),
            ("a name without its dash", "mcpconfig", Some("mcp-config")),
            ("the nearer one of two", "doktor", Some("doctor")),
            ("two of six letters", "doktar", Some("doctor")),
            ("three of six letters", "daktar", None),
            ("another word", "dance", None),
            ("nothing", "", None),
            ("a word without end", &"x".repeat(100_000), None),
        ];
        for (name, word, expected) in rows {
            assert_eq!(nearest(word, known), expected, "{name}");
        }
        assert_eq!(did_you_mean("edtor", known), " (did you mean editor?)");
        assert_eq!(did_you_mean("dance", known), "");
    }
}
