//! The dialect of the VS Code extension, for which the real client was written.

use super::{DiagnosticsForm, Rules, SelectionAnswerForm, SelectionForm, Wording};
use crate::ide::AuthFailure;
use crate::rpc::code;

pub(super) const RULES: Rules = Rules {
    snake_case: false,
    notification_prefix: false,
    reject_includes_tab: true,
    wording: Wording::VsCode,
    diagnostics: DiagnosticsForm::PerFile,
    selection_answer: SelectionAnswerForm::WithSuccess,
    uppercase_severity: false,
    selection: SelectionForm::Full,
    unknown_tool: code::INVALID_PARAMS,
    rpc_ping: false,
    target: "/",
    subprotocol_required: false,
    auth_failure: AuthFailure::Unauthorized,
    posix_paths: false,
    short_diff: false,
    direct_methods: false,
};
