//! The dialect of the JetBrains plugin, from a description of the plugin.

use super::{Rules, SelectionForm, Wording, vs_code};
use crate::rpc::code;

pub(super) const RULES: Rules = Rules {
    reject_includes_tab: false,
    wording: Wording::JetBrains,
    uppercase_severity: true,
    selection: SelectionForm::Short,
    unknown_tool: code::METHOD_NOT_FOUND,
    rpc_ping: true,
    ..vs_code::RULES
};
