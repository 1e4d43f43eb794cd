//! The states of a review, against a model of strings and flags.

use super::support::{Random, applied, lines};
use crate::editor::screen::review::outcome::Unfinished;
use crate::editor::screen::review::{Hunk, Outcome, Review, Verdict};

const BASE: &str = "1\n2\n3\n4\n5\n";
/// A proposal with two hunks.
const PROPOSAL: &str = "one\n2\n3\n4\nfive\n";

/// Accepts the undecided hunks.
fn decide_rest(review: &mut Review) {
    for index in 0..review.hunks().len() {
        if review.hunks()[index].verdict == Verdict::Undecided {
            review.decide(index, Verdict::Accepted);
        }
    }
}

fn verdicts(review: &Review) -> Vec<Verdict> {
    review.hunks().iter().map(|hunk| hunk.verdict).collect()
}

/// Returns a review whose first hunk is accepted, and whose second hunk is rejected.
fn decided() -> Review {
    let mut review = Review::new(BASE, PROPOSAL);
    assert!(review.decide(0, Verdict::Accepted) && review.decide(1, Verdict::Rejected));
    review
}

#[test]
fn verdicts_determine_the_outcome() {
    use Verdict::{Accepted, Rejected, Undecided};
    let with = |text: &str| Ok(Outcome::AcceptedWith(text.into()));
    let cases = [
        ("new", [Undecided, Undecided], Err(Unfinished::Undecided(2))),
        ("one undecided", [Accepted, Undecided], Err(Unfinished::Undecided(1))),
        ("all accepted", [Accepted, Accepted], Ok(Outcome::Accepted)),
        ("all rejected", [Rejected, Rejected], Ok(Outcome::Rejected)),
        ("the first", [Accepted, Rejected], with("one\n2\n3\n4\n5\n")),
        ("the second", [Rejected, Accepted], with("1\n2\n3\n4\nfive\n")),
    ];
    for (name, verdicts, expected) in cases {
        let mut review = Review::new(BASE, PROPOSAL);
        for (hunk, verdict) in verdicts.into_iter().enumerate() {
            review.decide(hunk, Accepted);
            assert!(review.decide(hunk, verdict), "{name}");
        }
        assert!(!review.decide(2, Accepted), "{name}: there are two hunks");
        assert_eq!(review.outcome(Undecided), expected, "{name}");
    }
}

#[test]
fn verdicts_of_all_and_rest_differ() {
    let mut review = Review::new(BASE, PROPOSAL);
    assert_eq!(review.preview(), PROPOSAL, "undecided hunks are part of the preview");
    review.decide(1, Verdict::Rejected);
    let first_alone = Ok(Outcome::AcceptedWith("one\n2\n3\n4\n5\n".into()));
    assert_eq!(review.outcome(Verdict::Accepted), first_alone);
    assert_eq!(review.outcome(Verdict::Rejected), Ok(Outcome::Rejected));
    assert_eq!(review.outcome(Verdict::Undecided), Err(Unfinished::Undecided(1)));
    decide_rest(&mut review);
    assert_eq!(verdicts(&review), [Verdict::Accepted, Verdict::Rejected]);
    review.decide(1, Verdict::Accepted);
    assert_eq!(
        (review.count(Verdict::Accepted), review.outcome(Verdict::Undecided)),
        (2, Ok(Outcome::Accepted))
    );
}

#[test]
fn equal_texts_are_accepted_without_hunks() {
    for text in ["", "a", "a\n"] {
        let review = Review::new(text, text);
        assert_eq!(
            (review.hunks(), review.outcome(Verdict::Undecided)),
            (&[][..], Ok(Outcome::Accepted)),
            "{text:?}"
        );
    }
}

#[test]
fn edit_keeps_the_verdicts_of_other_hunks() {
    let mut review = decided();
    assert_eq!(review.preview(), "one\n2\n3\n4\n5\n");
    review.edit("one\n2\ndrei\n4\n5\n");
    assert_eq!(verdicts(&review), [Verdict::Accepted, Verdict::Undecided]);
    decide_rest(&mut review);
    assert_eq!(review.outcome(Verdict::Undecided), Ok(Outcome::AcceptedWith("one\n2\ndrei\n4\n5\n".into())));
    review.edit("one!\n2\ndrei\n4\n5\n");
    assert_eq!(
        verdicts(&review),
        [Verdict::Undecided, Verdict::Accepted],
        "the edited hunk has no verdict yet"
    );
    review.edit(PROPOSAL);
    assert_eq!((verdicts(&review), review.is_edited()), (vec![Verdict::Undecided; 2], false));
    review.edit(BASE);
    assert_eq!(review.outcome(Verdict::Undecided), Ok(Outcome::Rejected), "the user has undone every change");
}

#[test]
fn changed_base_is_a_conflict() {
    let mut review = decided();
    review.set_base(BASE);
    assert!(!review.has_other_base(), "an equal text is not a change");
    let changed = format!("{BASE}6\n");
    review.set_base(&changed);
    assert_eq!(review.outcome(Verdict::Undecided), Err(Unfinished::Conflict));
    // The change is one hunk with the second one, which it touches.
    assert_eq!(verdicts(&review), [Verdict::Accepted, Verdict::Undecided]);
    review.decide(1, Verdict::Rejected);
    assert_eq!(review.outcome(Verdict::Undecided), Err(Unfinished::Conflict), "a verdict confirms nothing");
    review.confirm();
    assert_eq!(review.outcome(Verdict::Undecided), Ok(Outcome::AcceptedWith("one\n2\n3\n4\n5\n6\n".into())));
    review.set_base(&changed);
    assert!(!review.is_conflict(), "an equal text needs no second confirmation");
    review.set_base("another\n");
    assert_eq!(review.outcome(Verdict::Undecided), Err(Unfinished::Conflict), "a third text does");
    review.set_base(BASE);
    assert!(!review.has_other_base(), "the original text is back");
    review.confirm();
    review.set_base(&changed);
    assert!(review.is_conflict(), "a confirmation without a conflict has no effect");
}

#[test]
fn random_steps_equal_the_model() {
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let original = random.text();
        let proposal = random.changed(&original);
        let mut review = Review::new(original.as_str(), proposal.as_str());
        let (mut base, mut target, mut is_confirmed) = (original.clone(), proposal.clone(), false);
        for step in 0..12 {
            let name = format!("seed {seed}, step {step}");
            let before = (review.hunks().to_vec(), base.clone(), target.clone());
            match random.below(6) {
                0 => {
                    let text = random.changed(&base);
                    review.set_base(&text);
                    is_confirmed &= text == base;
                    base = text;
                }
                1 => {
                    review.set_base(&original);
                    is_confirmed &= original == base;
                    base.clone_from(&original);
                }
                2 => {
                    target = random.changed(&review.preview());
                    review.edit(target.as_str());
                }
                3 => {
                    review.confirm();
                    is_confirmed = base != original;
                }
                _ => {
                    let verdict = [Verdict::Accepted, Verdict::Rejected, Verdict::Undecided][random.below(3)];
                    let hunk = random.below(5);
                    assert_eq!(review.decide(hunk, verdict), hunk < before.0.len(), "{name}");
                    if before.1 == base && hunk < before.0.len() {
                        assert_eq!(review.hunks()[hunk].verdict, verdict, "{name}");
                    }
                    continue;
                }
            }
            assert_eq!((review.base(), review.target()), (base.as_str(), target.as_str()), "{name}");
            verdicts_are_kept(&before, &review, &name);
            assert_eq!(
                review.outcome(Verdict::Undecided),
                outcome(&review, &original, &proposal, is_confirmed),
                "{name}"
            );
        }
    }
}

/// Checks that a hunk has the verdict of the hunk with its lines at its place, and otherwise none.
fn verdicts_are_kept((hunks, base, target): &(Vec<Hunk>, String, String), review: &Review, name: &str) {
    let same_base = review.base() == base;
    let text = |text: &str, range: &std::ops::Range<usize>| lines(text)[range.clone()].concat();
    for new in review.hunks() {
        let is_same = |old: &&Hunk| {
            let is_there = if same_base { old.base == new.base } else { old.target == new.target };
            is_there
                && text(base, &old.base) == text(review.base(), &new.base)
                && text(target, &old.target) == text(review.target(), &new.target)
        };
        let expected = hunks.iter().find(is_same).map(|old| old.verdict).unwrap_or_default();
        assert_eq!(new.verdict, expected, "{name}: {new:?}");
    }
}

fn outcome(
    review: &Review,
    original: &str,
    proposal: &str,
    is_confirmed: bool,
) -> Result<Outcome, Unfinished> {
    if review.base() != original && !is_confirmed {
        return Err(Unfinished::Conflict);
    }
    let undecided = verdicts(review).iter().filter(|verdict| **verdict == Verdict::Undecided).count();
    if undecided > 0 {
        return Err(Unfinished::Undecided(undecided));
    }
    let chosen: Vec<bool> = verdicts(review).iter().map(|verdict| *verdict == Verdict::Accepted).collect();
    let text = applied(review.base(), review.target(), review.hunks(), &chosen);
    match text {
        text if text == proposal => Ok(Outcome::Accepted),
        text if text == review.base() => Ok(Outcome::Rejected),
        text => Ok(Outcome::AcceptedWith(text)),
    }
}
