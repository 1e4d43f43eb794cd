//! The dialect of a decompiled JetBrains plugin.

use super::{DiagnosticsForm, Rules, SelectionAnswerForm, SelectionForm, jetbrains};

pub(super) const RULES: Rules = Rules {
    snake_case: true,
    notification_prefix: true,
    selection: SelectionForm::Ranged,
    diagnostics: DiagnosticsForm::Flat,
    selection_answer: SelectionAnswerForm::Ranged,
    // As described. The real client requests `/` (measured).
    target: "/mcp",
    // The description has only POSIX paths.
    posix_paths: false,
    short_diff: true,
    ..jetbrains::RULES
};
