#!/usr/bin/env node
// Starts the program ide-mcp that npm installed for this system.
"use strict";

const { accessSync, constants: { X_OK } } = require("node:fs");
const { constants } = require("node:os");
const { spawn } = require("node:child_process");

// Windows for ARM runs programs for x64, too.
const [processor, file] = process.platform === "win32" ? ["x64", "ide-mcp.exe"] : [process.arch, "ide-mcp"];
const name = `ide-mcp-${process.platform}-${processor}`;

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `ide-mcp: the package ${name} is not installed.\n` +
      "Either npm was told to leave out optional dependencies (--omit=optional): install again without that.\n" +
      "Or there is no program for this system: then build it with cargo, `cargo install ide-mcp-cli`.",
  );
  process.exit(1);
}

// Node for Windows has execve, which only throws; elsewhere node aborts if it fails.
function isReplaceable() {
  if (!process.execve || process.platform === "win32") return false;
  try {
    accessSync(program, X_OK);
    return true;
  } catch {
    return false;
  }
}

const given = process.argv.slice(2);
if (isReplaceable()) {
  // The program replaces node: it gets every signal, and node costs no memory.
  process.execve(program, [program, ...given]);
} else {
  const child = spawn(program, given, { stdio: "inherit" });
  // Ctrl+C in a terminal reaches the program too, so node only has to wait for it. Pass on what is sent to node alone.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`ide-mcp: ${program} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
