//! The dialect of a decompiled JetBrains plugin.

use super::{DiagnosticsForm, Rules, SelectionAnswerForm, SelectionForm, jetbrains};

pub(super) const RULES: Rules = Rules {
    snake_case: true,
    notification_prefix: true,
    selection: SelectionForm::Ranged,
    diagnostics: DiagnosticsForm::Flat,
    selection_answer: SelectionAnswerForm::Ranged,
    // The description has `/mcp`, and the real client asks for `/` (measured).
    targets: &["/", "/mcp"],
    // The description has paths of POSIX alone.
    posix_paths: false,
    short_diff: true,
    ..jetbrains::RULES
};
