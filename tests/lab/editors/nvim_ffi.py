"""Neovim with the C library in its own process, in place of the sidecar.

Both have the same commands and events.
"""

import json

import nvim
from nvim import *  # the keys do not depend on the transport


def command(root, home, file):
    """Returns the command of Neovim, in which the C library replaces the module of the sidecar."""
    words = [PROGRAM, *nvim.command(root, home, file)[1:]]
    paths = ["tests/lab/editors/ffi.lua", "target/debug/libidemcp.so", "adapters/editors/capi/include/ide_mcp.h"]
    transport, library, header = [json.dumps(str(root / path)) for path in paths]
    with open(home / "init.lua", "a", encoding="utf-8") as init:
        init.write(f"package.preload['ide-mcp.sidecar'] = function() return loadfile({transport})({library}, {header}) end\n")
    return words


NO_PROCESS = "there is no sidecar process"

# Scenarios that mean nothing when the library runs in the editor's own process, with the reasons.
ABSENT = {
    **ABSENT,
    "proposals_for_large_files_are_bounded_in_sum": "the C library reads a file when the editor asks for its text",
    "busy_editor_delays_no_agent": "the library runs on the thread of Neovim, and takes no turn while Neovim is busy",
    "killed_editor_leaves_no_lock_file": "no other process removes the lock file; the lock file names a dead process",
    "agent_returns_after_death_of_sidecar": NO_PROCESS,
    "sidecar_that_dies_often_is_not_started_again": NO_PROCESS,
    "slow_sidecar_delays_no_person": NO_PROCESS,
    "agents_end_with_their_sidecar": NO_PROCESS,
    "waiting_proposal_ends_with_its_sidecar": NO_PROCESS,
    "own_view_that_fails_to_close_holds_up_no_end": NO_PROCESS,
    "command_window_delays_views": NO_PROCESS,
    "death_of_a_sidecar_is_no_withdrawal": NO_PROCESS,
    "waiting_question_ends_with_its_sidecar": NO_PROCESS,
    "status_after_a_gap_ends_views_and_agents": NO_PROCESS,
    "status_before_the_sidecar_listens": NO_PROCESS,
    "pause_survives_the_sidecar": NO_PROCESS,
    "container_has_its_folders_and_process": NO_PROCESS,
    "missing_program_is_reported": NO_PROCESS,
    "other_version_is_named": NO_PROCESS,
    "consent_is_for_the_agent_of_the_question": NO_PROCESS,
    "events_of_an_older_sidecar_hurt_nobody": NO_PROCESS,
    "messages_are_one_plain_line": NO_PROCESS,
    "odd_line_of_the_sidecar_is_ignored": NO_PROCESS,
    "half_of_a_surrogate_pair_ends_no_event": "the test reads each event by the JSON of Lua, which refuses the half",
}
