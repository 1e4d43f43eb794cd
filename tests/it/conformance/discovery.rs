//! How the real client finds an editor (docs/protocol.md), and what follows for agents and editors.

use super::row::{Proof::Test, Row, claim, row};

const MATCHING: &str = "src/ide/discovery/matching/tests.rs";
const LOCK_FILE: &str = "src/ide/discovery/lock_file/text.rs";
const SPELLING: &str = "src/ide/paths/spelling.rs";
const FOLDERS: &str = "adapters/lockfile/src/folders.rs";
const AGENT: &str = "cli/tests/it/attach.rs";
const DOCTOR: &str = "cli/src/doctor/rules/tests/mod.rs";

pub const ROWS: &[Row] = &[
    claim("discovery 1", "a lock file without `transport`, with `sse` or with `ws-ide` is not attached to")
        .test(MATCHING, "rules_are_those_of_the_real_client"),
    claim("discovery 2", "a `pid` that is a string of digits is read")
        .test(LOCK_FILE, "every_known_variant_is_read"),
    claim("discovery 3", "a relative folder is resolved against the directory of the client")
        .test(MATCHING, "relative_folder_resolves_against_cwd"),
    row(
        "discovery 4",
        "the client reads a lock file that is a symbolic link or belongs to another user: an agent reads neither",
        Test(DOCTOR, "unread_lock_explains_both_behaviors"),
    ),
    claim("discovery 5", "CLAUDE_CODE_AUTO_CONNECT_IDE=false keeps an agent from attaching by itself")
        .test(AGENT, "agent_follows_newest_client"),
    row(
        "discovery 6",
        "CLAUDE_CODE_IDE_HOST_OVERRIDE names the host: an editor accepts every address of 127.0.0.0/8 in the `Host` field",
        Test("tests/it/ide_refusals.rs", "n02_foreign_hosts_are_refused"),
    ),
    claim("discovery 7", "CLAUDE_CODE_IDE_SKIP_VALID_CHECK accepts any folder, but no dead process")
        .test(MATCHING, "skipped_folder_check_accepts_live_editors"),
    row(
        "discovery 8",
        "of two editors with the same folder, an agent takes the one whose port CLAUDE_CODE_SSE_PORT names, or else neither",
        Test(AGENT, "variable_chooses_between_two_editors"),
    ),
    claim(
        "discovery 9",
        "an agent attaches again to an editor that comes back on the same port with the same token",
    )
    .test("tests/it/ide_pair.rs", "client_reconnects_to_restarted_editor"),
    row(
        "discovery 10",
        "opencode connects without a token to a port named in a variable: `launch_env` always removes `OPENCODE_EDITOR_SSE_PORT`, and with `None` also `CLAUDE_CODE_SSE_PORT`",
        Test("src/ide/discovery/launch_env.rs", "l12_variables_of_outer_editor_are_replaced"),
    ),
    row(
        "discovery 11",
        "an agent requests the target `/`, or the one in its settings",
        Test("tests/it/presets.rs", "agent_asks_for_its_target"),
    ),
    row(
        "discovery 12",
        "a target in absolute-form is accepted, and its authority is judged instead of the `Host` field (RFC 9112 3.2.2)",
        Test("tests/it/ide_refusals.rs", "n02_absolute_target_replaces_host_field"),
    ),
    row(
        "spelling",
        "a folder is published in every spelling that its system has for it: on Linux and macOS only its own",
        Test(SPELLING, "folder_has_its_spellings_on_each_system"),
    ),
    claim(
        "spelling matches",
        "a folder matches the directory of an agent even if it is spelled in another way",
    )
    .test(SPELLING, "folder_contains_path_by_system"),
    claim("spelling room", "folders take at most 48 of the 64 KiB of a lock file")
        .test(FOLDERS, "length_of_folders_in_lock_file_is_limited"),
];
