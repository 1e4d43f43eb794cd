//! The laws of hunks and of their application.

use super::support::{Random, applied, lines};
use crate::editor::screen::review::{LineKind, Review, Row};

#[test]
fn reviews_equal_the_model() {
    (0..3_000).for_each(check);
}

#[test]
#[ignore = "takes seconds; tests/lab/run laws runs it"]
fn hundred_thousand_reviews_equal_the_model() {
    (0..100_000).for_each(check);
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let base = random.text();
    let proposal = random.changed(&base);
    let review = Review::new(base.as_str(), proposal.as_str());
    let name = format!("seed {seed}: {base:?} {proposal:?}");
    assert_eq!(review.apply(|_, _| true), proposal, "{name}");
    assert_eq!(review.apply(|_, _| false), base, "{name}");
    assert_eq!(review.hunks().is_empty(), base == proposal, "{name}");
    let chosen: Vec<bool> = review.hunks().iter().map(|_| random.flip()).collect();
    let model = applied(&base, &proposal, review.hunks(), &chosen);
    assert_eq!(review.apply(|index, _| chosen[index]), model, "{name}: {chosen:?}");
    hunks_are_whole(&review, &name);
    rows_are_whole(&review, random.below(5), &name);
}

/// Checks that two hunks have at least one equal line between them, and that no hunk is empty.
fn hunks_are_whole(review: &Review, name: &str) {
    let (base, target) = (lines(review.base()), lines(review.target()));
    let (mut old, mut new) = (0, 0);
    for (index, hunk) in review.hunks().iter().enumerate() {
        let (before, also) = (&base[old..hunk.base.start], &target[new..hunk.target.start]);
        assert_eq!(before, also, "{name}: before hunk {index}");
        assert!(index == 0 || !before.is_empty(), "{name}: hunk {index} touches the one before");
        assert!(!hunk.base.is_empty() || !hunk.target.is_empty(), "{name}: hunk {index} is empty");
        (old, new) = (hunk.base.end, hunk.target.end);
    }
    assert_eq!(&base[old..], &target[new..], "{name}: after the last hunk");
}

/// Checks that the rows contain each line of both texts once, in order, and that ranges end at characters.
fn rows_are_whole(review: &Review, context: usize, name: &str) {
    let (base, target) = (lines(review.base()), lines(review.target()));
    let (mut old, mut new) = (0, 0);
    let rows = review.rows(context);
    for row in &rows {
        let line = match row {
            Row::Hidden(count) => {
                assert_eq!(base[old..old + count], target[new..new + count], "{name}");
                (old, new) = (old + count, new + count);
                continue;
            }
            Row::Line(line) => line,
        };
        assert_eq!(line.hunk.is_none(), line.kind == LineKind::Same, "{name}");
        for (number, place) in [(line.base, &mut old), (line.target, &mut new)] {
            if let Some(number) = number {
                assert_eq!(number, *place, "{name}");
                *place += 1;
            }
        }
        let text = line.base.map_or_else(|| target[line.target.unwrap()], |number| base[number]);
        for range in &line.changed {
            assert!(
                text.trim_end_matches('\n').get(range.clone()).is_some(),
                "{name}: {range:?} of {text:?}"
            );
        }
        assert!(
            line.changed.windows(2).all(|pair| pair[0].end <= pair[1].start),
            "{name}: {:?}",
            line.changed
        );
    }
    assert!(rows.is_empty() || (old, new) == (base.len(), target.len()), "{name}");
    assert_eq!(rows.is_empty(), review.hunks().is_empty(), "{name}");
}
