//! The dialect of a plugin for Obsidian.

use super::{Rules, vs_code};

pub(super) const RULES: Rules = Rules { direct_methods: true, ..vs_code::RULES };
