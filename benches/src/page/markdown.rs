//! The page.

use super::Results;
use super::setting::Setting;
use super::svg::pictures;
use crate::data::{Goal, Grid, Section, number};
use std::fmt::Write as _;

/// The command that measures everything and writes the page. With fewer rounds it ends in `--rounds
/// N`.
const COMMAND: &str = "cargo run --release --manifest-path benches/Cargo.toml -- report";

/// The sections: id, title, and description.
const SECTIONS: &[(&str, &str, &str)] = &[
    (
        "echo",
        "Echo over loopback",
        "One connection sends texts of 125 B and reads them back. A server that answers a whole read with one write \
         is ahead if many messages are in flight; with one in flight nearly all of the time is the kernel's.",
    ),
    (
        "memory",
        "Memory of a connection",
        "Resident memory of an echo server with 1,000 connections that rest, without that of the process.",
    ),
    (
        "adapters",
        "The adapters",
        "The server of each adapter, and a bare `Conn`: one connection on one thread that waits in its reads, without a \
         host. `ide-mcp-smol` waits by async-io, which arms the reactor anew for every wait; `ide-mcp-blocking` hands what \
         its threads read to the thread of the application, which has to be woken for it. CPU time is the least of the \
         rounds and the ratio their median, so the two need not agree where the machine was busy; instructions, if perf \
         counts them, are counted in a round of their own. With 100 connections, each sends its window of requests \
         before the first answer is read.",
    ),
    (
        "turns",
        "The longest turn",
        "Fifteen clients send as much as their sockets hold, and a sixteenth calls a tool every half millisecond. A turn \
         takes the thread of the editor, so it is bounded: a display frame has 16.7 ms. The latency contains the time for \
         which the clients wait for each other on their core. The turns of `ide-mcp-blocking` are not timed, because its server \
         returns events one by one.",
    ),
    (
        "idle",
        "Idle agents",
        "The agents have authenticated and opened a session, \
         and are idle. Pings come every 30 s and are not part of the measurement. A turn looks only at the \
         connections with work, so a call beside a thousand idle agents costs little more than alone.",
    ),
    (
        "call-sockets",
        "Calls of a tool over loopback",
        "An `openDiff`, answered at once. The hand-written server has no states, limits or deadlines, and knows one order \
         of members. `rmcp` is the official SDK with a `ServerHandler` written by hand, over tokio-tungstenite on one thread, \
         as in its own example of a WebSocket transport.",
    ),
    (
        "languages",
        "Editors in other languages",
        "An editor starts `ide-mcp sidecar` and exchanges lines of JSON with it. The CPU time is that of both processes; \
         the editor here is in Rust, and reads nothing of a proposal but its number, so that the table shows the cost of the \
         second process. The C library is in the process of the editor.",
    ),
    (
        "program",
        "The program",
        "The editor and the sidecar print their first line when they listen and the lock file is written.",
    ),
    (
        "calls",
        "Calls of a tool in memory",
        "Bytes in, a typed call, an answer, bytes out. `ide-mcp` is the session alone, `ide-mcp, frames` has WebSocket and \
         dialect too; `rmcp, parsing alone` does nothing but parse with rmcp's message type.",
    ),
    (
        "decode",
        "Receiving",
        "Whole, validated texts out of masked frames, in memory. The floors do only the passes over the bytes, with the \
         borders of the frames known.",
    ),
    ("encode", "Sending", "Texts into frames, each written at once."),
    ("handshake", "Opening", "The recorded request of the real client is judged and accepted."),
    (
        "minimal",
        "The smallest editor",
        "The same editor three times: lock file, token, two tools. It is the example \
         `minimal_server` on this crate, and benches/minimal by hand. CPU time of one release build from nothing; all crates \
         that `cargo tree` lists for this system; size after `strip`.",
    ),
    (
        "counts",
        "How the cost grows, and what is counted",
        "Instructions under callgrind and allocations do not depend on what else the machine does. This is what \
         `--check` compares with a baseline for every change; it is built without `simd`. callgrind counts each step of a \
         `rep movs`, so that a copy looks dearer than it is.",
    ),
];

/// The reasons for missed goals, by the beginning or end of the goal's name.
const REASONS: &[(&str, &str)] = &[
    ("decode, multi-byte", "copy, unmasking and validation alone take most of it: see the floor"),
    ("echo, 64 in flight", "compare the load above: both ends compete with other work for the cores"),
    (
        "CPU of a bare Conn, ide-mcp-blocking",
        "what is read goes through a buffer from one thread to another, which has to be woken",
    ),
    ("CPU of a bare Conn, ide-mcp-smol", "async-io arms the reactor anew for every wait"),
    ("smallest editor", "states, limits, deadlines and clear errors, which the editor by hand does not have"),
    ("call getDiagnostics", "WebSocket and dialect add one"),
];

/// The goals that are no longer measured against, with the reason.
const RETIRED: &[(&str, &str)] = &[
    (
        "smallest editor: 0.3× the build and 0.25× the size of rmcp's",
        "the same by hand on tungstenite, without states and limits, takes about a quarter of rmcp's; the goals are multiples of that one now",
    ),
    (
        "openDiff: at most 6 allocations",
        "serde_json unescapes a long text in a buffer that it grows; undoing the escapes by hand took 7 allocations, and 30 % to 40 % \
         more time",
    ),
    (
        "tools/call of 64 KiB in memory: 0.45× of rmcp's parsing",
        "one pass of serde_json over the text takes 0.85× of it, and rmcp's time depends on what the allocator has freed before",
    ),
    ("server encode of 125 B: at most 60 instructions", "it takes 6 ns"),
    (
        "single bytes: 5× as fast as tokio-websockets, 110 instructions a byte",
        "each byte takes the three calls of the contract; no agent sends single bytes",
    ),
    ("handshake: 4.5× as fast as tungstenite, 1.5× as fast as soketto", "0.1 µs, once for each agent"),
    (
        "call beside 255 open calls: 1.05× of one beside one",
        "0.1 µs, beside more open calls than any agent has",
    ),
];

/// Returns the whole page.
pub fn page(results: &Results) -> String {
    let mut page = String::from("# What it costs\n\n");
    setting(&mut page, &results.setting);
    goals(&mut page, &results.sections);
    for (id, title, about) in SECTIONS {
        if let Some(section) = results.sections.iter().find(|section| section.id == *id) {
            write!(page, "\n## {title}\n\n{about}\n").expect("a string takes everything");
            for picture in pictures(section) {
                write!(page, "\n![{}](performance/{}.svg)\n", picture.title, picture.id)
                    .expect("a string takes everything");
            }
            section.grids.iter().for_each(|grid| table(&mut page, grid, &results.setting.processor));
        }
    }
    page
}

fn setting(page: &mut String, setting: &Setting) {
    let Setting { date, processor, cores, kernel, compiler, rounds, load, waking, minutes, versions } =
        setting;
    let command = match *rounds {
        super::ROUNDS => COMMAND.into(),
        fewer => format!("{COMMAND} --rounds {fewer}"),
    };
    let versions: Vec<String> = versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let busy = if load[0] > 1.0 {
        "Other work ran on the machine at the same time, so times are longer and less certain than they were alone. "
    } else {
        ""
    };
    write!(
        page,
        "The tables and the pictures on this page were written by one command; the figures in the list of retired \
         goals, and those about the Xeon, are older:\n\n\
         ```sh\n{command}\n```\n\n\
         It needs valgrind, and perf for the instructions over loopback, whose columns are left out without it. [results.json](performance/results.json) has the \
         numbers; `report --render` makes the page from them again, and `report --quick` shows that all of it works.\n\n\
         | | |\n| --- | --- |\n\
         | date | {date}, {minutes} minutes, {rounds} rounds |\n\
         | machine | {processor}, {cores} cores, {kernel} |\n\
         | load | {} before, {} after: processes that wanted to run, over a minute |\n\
         | waking | {} µs before, {} µs after: a thread on the other core is woken and wakes in turn |\n\
         | compiler | {compiler}, release, no other flags; this crate with its default features, and with `simd` in the rows that say so |\n\
         | versions | {} |\n\n\
         {busy}Each round runs every contestant once, so compare \
         only figures of one table. Rows with `simd` are the exception: they come from a second program, which \
         ran right after. Times are the least of the \
         rounds. Over loopback the load is another process, and CPU time is the server's, that of the kernel included. With \
         many messages in flight the load has another core. With one in flight both ends have one core, because what it \
         costs to wake another core depends on the machine, by a factor of two from one run to the next; a row of its own \
         has that cost. The program checks that all contestants decode or answer the same.\n",
        number(load[0]),
        number(load[1]),
        number(waking[0]),
        number(waking[1]),
        versions.join(", "),
    )
    .expect("a string takes everything");
}

fn goals(page: &mut String, sections: &[Section]) {
    let of = |id: &str| sections.iter().find(|section| section.id == id);
    let goals: Vec<(&Goal, &[Grid])> = SECTIONS
        .iter()
        .filter_map(|(id, ..)| of(id))
        .flat_map(|section| section.goals.iter().map(|goal| (goal, section.grids.as_slice())))
        .collect();
    let met = goals.iter().filter(|(goal, _)| goal.is_met()).count();
    write!(
        page,
        "\n## Goals\n\n{met} of {} are met in this run, on this processor. Ratios of times depend on it: of the goals for \
         decoding, three that are met on AMD EPYC are missed on an Intel Xeon with 48 KiB of L1, without a changed line. \
         Instructions do not.\n\n\
         | | goal | reached | to reach | |\n| --- | --- | --: | --: | --- |\n",
        goals.len()
    )
    .expect("a string takes everything");
    for (goal, grids) in goals {
        writeln!(
            page,
            "| {} | {} | {}{} | {} | {} |",
            if goal.is_met() { "met" } else { "**missed**" },
            goal.what,
            number(goal.reached),
            goal.unit,
            goal.wants(),
            reason(goal, grids),
        )
        .expect("a string takes everything");
    }
    page.push_str("\nRetired, because no user can feel them or because they were out of reach:\n\n| goal | reason |\n| --- | --- |\n");
    for (goal, why) in RETIRED {
        page.push_str(&format!("| {goal} | {why} |\n"));
    }
}

/// Returns the reason why a goal of one of these tables is missed; empty if the goal is met or the
/// reason is unknown.
fn reason(goal: &Goal, grids: &[Grid]) -> &'static str {
    if goal.is_met() {
        return "";
    }
    let is_of = |part: &str| goal.what.starts_with(part) || goal.what.ends_with(part);
    if let Some((_, why)) = REASONS.iter().find(|(part, _)| is_of(part)) {
        return why;
    }
    let noise = grids.iter().find(|grid| goal.what.starts_with(&format!("{}, ", grid.name)));
    let within = noise.and_then(|grid| grid.noise).is_some_and(|noise| goal.shortfall() < noise);
    if within { "by less than the rounds differ" } else { "" }
}

/// Appends a table with the columns of which a row has a figure: without perf there are no instructions over
/// loopback.
fn table(page: &mut String, grid: &Grid, processor: &str) {
    let has_figure = |column: &usize| grid.rows.iter().any(|row| row.cells[*column].is_some());
    let columns: Vec<usize> = (0..grid.columns.len()).filter(has_figure).collect();
    let noise = grid.noise.map(|noise| format!("; largest median over minimum {}", number(noise)));
    write!(page, "\n**{}** on {processor} ({}{})\n\n| |", grid.name, grid.unit, noise.unwrap_or_default())
        .expect("a string takes everything");
    columns.iter().for_each(|column| page.push_str(&format!(" {} |", grid.columns[*column])));
    page.push_str("\n| --- |");
    page.push_str(&" --: |".repeat(columns.len()));
    page.push('\n');
    for row in &grid.rows {
        page.push_str(&format!("| {} |", row.name));
        for column in &columns {
            page.push_str(&format!(" {} |", row.cells[*column].map_or_else(String::new, number)));
        }
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_noise_of_own_table_excuses_goal() {
        let grid = |name: &str, noise| Grid { noise, ..Grid::new(name, "ns", []) };
        let grids = [
            grid("decode, whole", Some(1.05)),
            grid("decode, whole or not", Some(9.0)),
            grid("counted", None),
            grid("encode", Some(1.05)),
        ];
        let differ = "by less than the rounds differ";
        let at_least = |what: &str, reached| Goal::new(what, reached, 4.0, true, "×");
        let at_most = |what: &str, reached| Goal::at_most(what, reached, 4.0, "×");
        for (name, goal, expected) in [
            ("met", at_least("decode, whole, 16 B: as fast as it", 4.0), ""),
            ("missed by less", at_least("decode, whole, 16 B: as fast as it", 3.9), differ),
            ("missed by more", at_least("decode, whole, 16 B: as fast as it", 3.7), ""),
            ("missed by a lot", at_least("decode, whole, 16 B: as fast as it", 0.0), ""),
            ("more than at most", at_most("encode, 16 B: of it", 4.1), differ),
            ("much more than at most", at_most("encode, 16 B: of it", 4.3), ""),
            ("a table without rounds", at_least("counted, 16 B", 3.9), ""),
            ("no table", at_least("something else, 16 B", 3.9), ""),
            ("with a reason of its own", at_least("decode, multi-byte, 1 MiB", 3.9), REASONS[0].1),
        ] {
            assert_eq!(reason(&goal, &grids), expected, "{name}");
        }
    }
}
