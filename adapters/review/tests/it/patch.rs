//! The unified diffs, applied by the program `patch`.

use crate::support::Random;
use ide_mcp_review::Review;
use std::fs;
use std::process::Command;

#[test]
#[ignore = "needs the program patch, and takes seconds; tests/lab/run laws runs it"]
fn thousand_diffs_are_applied_by_patch() {
    let folder = std::env::temp_dir().join(format!("ide-mcp-review-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (file, diff) = (folder.join("file"), folder.join("diff"));
    let mut applied = 0;
    for seed in 0_u64.. {
        let mut random = Random::new(seed);
        let base = random.text();
        let proposal = random.changed(&base);
        let review = Review::new(base.as_str(), proposal.as_str());
        let chosen: Vec<bool> = review.hunks().iter().map(|_| random.flip()).collect();
        let context = random.below(4);
        let text = review.unified_diff(("file", "file"), context, |index, _| chosen[index]);
        if text.is_empty() {
            continue;
        }
        fs::write(&file, &base).unwrap();
        fs::write(&diff, &text).unwrap();
        // With these options, `patch` keeps line ends, requires the whole context, and leaves an empty file.
        let mut patch = Command::new("patch");
        patch.args(["--binary", "--fuzz=0", "--silent", "--posix", "--no-backup-if-mismatch", "--input"]);
        let done = patch.arg(&diff).arg(&file).output().unwrap();
        let result = fs::read_to_string(&file).unwrap();
        assert!(done.status.success(), "seed {seed}, context {context}: {done:?}\n{base:?}\n{text}");
        assert_eq!(result, review.apply(|index, _| chosen[index]), "seed {seed}, context {context}:\n{text}");
        applied += 1;
        if applied == 1_000 {
            break;
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
