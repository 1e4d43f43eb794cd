"""Neovim with the C library in its own process instead of the sidecar. Both have the same commands and events."""

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
    "total_size_of_waiting_proposals_is_limited": "the C library reads a file when the editor asks for its text",
    "busy_editor_does_not_delay_an_agent": "the library runs on the thread of Neovim, and takes no turn while Neovim is busy",
    "killed_editor_leaves_no_lock_file": "there is no other process to remove the lock file, which names a dead process",
    "agent_returns_after_death_of_sidecar": NO_PROCESS,
    "sidecar_that_dies_often_is_not_started_again": NO_PROCESS,
    "slow_sidecar_does_not_delay_the_person": NO_PROCESS,
    "agents_leave_when_their_sidecar_ends": NO_PROCESS,
    "waiting_proposal_ends_with_its_sidecar": NO_PROCESS,
    "own_view_that_fails_to_close_does_not_block_the_end": NO_PROCESS,
    "command_window_delays_views": NO_PROCESS,
    "death_of_a_sidecar_is_not_called_a_withdrawal": NO_PROCESS,
    "waiting_question_ends_with_its_sidecar": NO_PROCESS,
    "status_after_a_gap_ends_views_and_agents": NO_PROCESS,
    "status_before_the_sidecar_listens": NO_PROCESS,
    "pause_survives_the_sidecar": NO_PROCESS,
    "container_has_its_folders_and_process": NO_PROCESS,
    "missing_program_is_reported": NO_PROCESS,
    "other_version_is_named": NO_PROCESS,
    "consent_is_for_the_agent_of_the_question": NO_PROCESS,
    "events_of_an_older_sidecar_do_no_harm": NO_PROCESS,
    "messages_are_one_plain_line": NO_PROCESS,
    "odd_line_of_the_sidecar_is_ignored": NO_PROCESS,
    "half_a_surrogate_pair_loses_no_event": "the test parses each event with Lua's JSON, which refuses half a pair",
}
