//! The dialect of the JetBrains plugin, from a description of the plugin.

use super::{Rules, SelectionForm, Wording, vs_code};
use crate::ide::AuthFailure;
use crate::rpc::code;

pub(super) const RULES: Rules = Rules {
    reject_includes_tab: false,
    wording: Wording::JetBrains,
    uppercase_severity: true,
    selection: SelectionForm::Short,
    unknown_tool: code::METHOD_NOT_FOUND,
    rpc_ping: true,
    // According to reports, version 0.1.14 answers 400 without the sub-protocol, and 404 to any target but `/`,
    // although the description says `/mcp`. So our client requests `/`, and our editor accepts both.
    subprotocol_required: true,
    auth_failure: AuthFailure::CloseAfterUpgrade,
    posix_paths: true,
    ..vs_code::RULES
};
