// Checks our programs against the TypeScript SDK of MCP: in both roles over pipes, and as a client over WebSocket.
//
//     node mcp_sdk.mjs check DIRECTORY     such as target/debug, with `ide-mcp` and `examples` in it
//     node mcp_sdk.mjs serve [ws]          a server on standard input and output, for `check`, or on a
//                                          WebSocket, for mcp_sdk.py
//
// Needs @modelcontextprotocol/sdk 1.x, zod and ws in NODE_MODULES. Prints each check; the exit
// status is not 0 if a check fails, or if a part does not finish.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const NEWEST = "2025-11-25";
const PATIENCE = 60_000;

// tests/lab/peers/mcp_sdk.sh installs the packages below target, and not beside this file.
const require = createRequire(join(resolve(process.env.NODE_MODULES), "x"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { WebSocketClientTransport } = await load("@modelcontextprotocol/sdk/client/websocket.js");
const { McpServer, ResourceTemplate } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const types = await load("@modelcontextprotocol/sdk/types.js");
const { z } = await load("zod");
const { default: ws } = await load("ws");
// The WebSocket transport of the SDK expects the global `WebSocket` of browsers.
globalThis.WebSocket ??= ws;

let failures = 0;

function check(what, found, expected) {
  const same = isDeepStrictEqual(found, expected);
  const wanted = same ? "" : `, expected ${JSON.stringify(expected)}`;
  console.log(`${same ? "ok  " : "FAIL"} ${what}: ${JSON.stringify(found)}${wanted}`);
  failures += same ? 0 : 1;
}

const refusal = (call) => call.then(() => null, (error) => error.code);
const texts = (result) => result.content.map((block) => block.text);

const text = (text) => ({ content: [{ type: "text", text }] });

function newServer() {
  const server = new McpServer({ name: "typescript-sdk", version: "1" });
  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => text(String(a + b)));
  server.registerTool("slow", { inputSchema: {} }, () => new Promise(() => {}));
  const message = (text) => ({ messages: [{ role: "user", content: { type: "text", text } }] });
  server.registerPrompt("review", { argsSchema: { focus: z.string() } }, ({ focus }) => message(`Review ${focus}.`));
  const contents = (uri, text) => ({ contents: [{ uri: uri.href, text }] });
  server.registerResource("today", "notes://today", {}, (uri) => contents(uri, "Buy bread."));
  const days = new ResourceTemplate("notes://{day}", { list: undefined });
  server.registerResource("day", days, {}, (uri, { day }) => contents(uri, `nothing on ${day}`));
  server.registerTool("folders", { inputSchema: {} }, async () => {
    const { roots } = await server.server.listRoots();
    return text(roots.map((root) => root.uri).join(" "));
  });
  server.registerTool("ask", { inputSchema: {} }, async () => {
    const properties = { suite: { type: "string", enum: ["all", "failed"] }, jobs: { type: "integer", minimum: 1 } };
    const requestedSchema = { type: "object", properties, required: ["suite"] };
    const { action, content } = await server.server.elicitInput({ message: "Which tests?", requestedSchema });
    return text(action === "accept" ? `accept ${content.suite} ${content.jobs}` : action);
  });
  return server;
}

async function serve(transport) {
  if (transport !== "ws") {
    await newServer().connect(new StdioServerTransport());
    process.stdin.on("close", () => process.exit(0));
    return;
  }
  // The SDK has no WebSocket transport for servers.
  const listener = new ws.WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "mcp" });
  listener.on("listening", () => console.log(listener.address().port));
  listener.on("connection", (socket) => {
    const ours = {
      start: async () => {},
      send: async (message) => socket.send(JSON.stringify(message)),
      close: async () => socket.close(),
    };
    socket.on("message", (data) => ours.onmessage(types.JSONRPCMessageSchema.parse(JSON.parse(data))));
    socket.on("close", () => ours.onclose());
    newServer().connect(ours);
  });
}

async function theirClientOnOurPipes(programs) {
  const client = new Client({ name: "typescript-sdk", version: "1" });
  const transport = new StdioClientTransport({ command: join(programs, "examples", "stdio_server") });
  await client.connect(transport);
  check("stdio_server: name", client.getServerVersion().name, "stdio_server");
  const { tools } = await client.listTools();
  check("stdio_server: tools", tools.map((tool) => tool.name), ["count_words", "remind"]);
  const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
  check("stdio_server: a call", texts(await call("count_words", { text: "a b" })), ["1 lines, 2 words, 3 characters"]);
  const failed = await call("remind", { after_ms: 3_600_001, text: "" });
  check("stdio_server: a tool that fails", failed.isError, true);
  check("stdio_server: an unknown tool", await refusal(call("nobody", {})), -32602);
  const wrong = await call("count_words", {});
  check("stdio_server: wrong arguments", [wrong.isError, texts(wrong)[0].includes("text")], [true, true]);
  const answered = [];
  const remind = async (after_ms, text) => answered.push(...texts(await call("remind", { after_ms, text })));
  await Promise.all([remind(200, "second"), remind(50, "first"), remind(350, "third")]);
  check("stdio_server: answers in their own order", answered, ["first", "second", "third"]);
  const cancelled = new AbortController();
  const dropped = refusal(call("remind", { after_ms: 100, text: "" }, { signal: cancelled.signal }));
  setTimeout(() => cancelled.abort(), 20);
  await dropped;
  const timedOut = await refusal(call("remind", { after_ms: 60_000, text: "" }, { timeout: 100 }));
  check("stdio_server: their own timeout", timedOut, -32001);
  // A late answer would be reported as an error here.
  let errors = 0;
  client.onerror = () => (errors += 1);
  await new Promise((done) => setTimeout(done, 300));
  check("stdio_server: silence after a cancellation", errors, 0);
  check("stdio_server: a ping after it", await client.ping(), {});
  const begin = performance.now();
  await client.close();
  // The client of the SDK waits for two seconds before it kills the program.
  check("stdio_server: ends by itself", performance.now() - begin < 1500, true);
}

async function theirClientOnOurWebSocket(programs) {
  const home = mkdtempSync(join(tmpdir(), "ide-mcp-"));
  const editor = spawn(join(programs, "ide-mcp"), ["editor", "--headless", "--no-token", "--on-diff", "accept", home], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, CLAUDE_CONFIG_DIR: join(home, ".claude") },
  });
  const ended = new Promise((done) => editor.on("exit", done));
  const lines = createInterface({ input: editor.stdout })[Symbol.asyncIterator]();
  const until = async (event) => {
    for (;;) {
      const read = JSON.parse((await lines.next()).value);
      if (read.event === event) return read;
    }
  };
  const tell = (command) => editor.stdin.write(`${JSON.stringify(command)}\n`);
  const { port } = await until("listening");
  const capabilities = { roots: { listChanged: true }, elicitation: {} };
  const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities });
  let roots = [{ uri: "file:///w/a", name: "a" }];
  const answers = [{ action: "accept", content: { suite: "failed" } }, { action: "decline" }, { action: "cancel" }];
  const unsent = [...answers];
  const changed = new Set();
  client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots }));
  client.setRequestHandler(types.ElicitRequestSchema, () => unsent.shift());
  for (const schema of [types.PromptListChangedNotificationSchema, types.ResourceListChangedNotificationSchema]) {
    client.setNotificationHandler(schema, ({ method }) => void changed.add(method));
  }
  await client.connect(new WebSocketClientTransport(new URL(`ws://127.0.0.1:${port}/`)));
  const { tools } = await client.listTools();
  check("editor: openDiff is listed", tools.some((tool) => tool.name === "openDiff"), true);
  const closed = await client.callTool({ name: "closeAllDiffTabs", arguments: {} });
  check("editor: closeAllDiffTabs", texts(closed), ["CLOSED_0_DIFF_TABS"]);
  const proposal = { old_file_path: "/x", new_file_path: "/x", new_file_contents: "y\n", tab_name: "t" };
  const saved = await client.callTool({ name: "openDiff", arguments: proposal });
  check("editor: openDiff", texts(saved), ["FILE_SAVED", "y\n"]);
  check("editor: folders", (await until("roots")).roots, roots);
  roots = [{ uri: "file:///w/b" }];
  await client.sendRootsListChanged();
  check("editor: other folders", (await until("roots")).roots, roots);
  check("editor: no prompts yet", (await client.listPrompts()).prompts, []);
  await client.listResources();
  check("editor: no templates", (await client.listResourceTemplates()).resourceTemplates, []);
  const prompt = { name: "review", arguments: [{ name: "focus", required: true }], text: "Review {focus}." };
  tell({ cmd: "context", prompts: [prompt], resources: [{ uri: "notes://today", text: "Buy bread." }] });
  tell({ cmd: "dance" });
  await until("error");
  await client.ping();
  const lists = ["prompts", "resources"].map((list) => `notifications/${list}/list_changed`);
  check("editor: changed lists", [...changed].sort(), lists);
  check("editor: prompts", (await client.listPrompts()).prompts.map(({ name }) => name), ["review"]);
  const { messages } = await client.getPrompt({ name: "review", arguments: { focus: "tests" } });
  check("editor: a prompt", messages.map(({ content }) => content.text), ["Review tests."]);
  check("editor: without its argument", await refusal(client.getPrompt({ name: "review" })), -32602);
  check("editor: an unknown prompt", await refusal(client.getPrompt({ name: "nobody" })), -32602);
  const { resources } = await client.listResources();
  check("editor: resources", resources.some(({ uri }) => uri === "notes://today"), true);
  const { contents } = await client.readResource({ uri: "notes://today" });
  check("editor: a resource", contents.map(({ text }) => text), ["Buy bread."]);
  check("editor: an unknown resource", await refusal(client.readResource({ uri: "notes://never" })), -32002);
  const properties = { suite: { type: "string", enum: ["all", "failed"] } };
  const form = { message: "Which tests?", requestedSchema: { type: "object", properties, required: ["suite"] } };
  for (const answer of answers) {
    tell({ cmd: "form", form });
    const { action, content } = await until("form_answer");
    check("editor: a form", content ? { action, content } : { action }, answer);
  }
  check("editor: a ping", await client.ping(), {});
  await client.close();
  editor.stdin.end();
  check("editor: ends", await ended, 0);
  rmSync(home, { recursive: true });
}

async function ourClientOnTheirPipes(programs) {
  const requests = [
    "ping",
    "tools/list",
    'tools/call {"name":"add","arguments":{"a":2,"b":3}}',
    'tools/call {"name":"slow","arguments":{}}',
    "nobody/knows",
  ];
  const options = ["--timeout", "1500", ...requests.flatMap((request) => ["--request", request])];
  const server = [process.execPath, fileURLToPath(import.meta.url), "serve"];
  const client = spawn(join(programs, "examples", "stdio_client"), [...options, ...server], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const status = new Promise((done) => client.on("exit", done));
  const events = [];
  for await (const line of createInterface({ input: client.stdout })) events.push(JSON.parse(line));
  check("their pipes: ready", events[0], { event: "ready", server: "typescript-sdk", version: NEWEST });
  const ended = events.filter((event) => "request" in event).sort((one, other) => one.request - other.request);
  check("their pipes: every request ends", ended.map((event) => event.request), [0, 1, 2, 3, 4]);
  check("their pipes: ping", ended[0].result, {});
  check("their pipes: tools", ended[1].result.tools.map((tool) => tool.name), ["add", "slow", "folders", "ask"]);
  check("their pipes: a call", ended[2].result.content, [{ type: "text", text: "5" }]);
  check("their pipes: a call without an answer", ended[3].reason, "TimedOut");
  check("their pipes: an unknown method", ended[4].code, -32601);
  check("their pipes: exit status", await status, 0);
}

async function checkAll(programs) {
  for (const part of [theirClientOnOurPipes, theirClientOnOurWebSocket, ourClientOnTheirPipes]) {
    const late = new Promise((_, fail) => setTimeout(() => fail(new Error(`not done within ${PATIENCE / 1000} s`)), PATIENCE).unref());
    try {
      await Promise.race([part(programs), late]);
    } catch (error) {
      // A part that fails skips its remaining checks.
      console.log(`FAIL ${part.name}: ${error}`);
      failures += 1;
    }
  }
  console.log(failures === 0 ? "all as expected" : `${failures} not as expected`);
  process.exit(failures === 0 ? 0 : 1);
}

const [mode, programs] = process.argv.slice(2);
if (mode === "serve") await serve(programs);
else if (mode === "check" && programs) await checkAll(resolve(programs));
else throw new Error("usage: mcp_sdk.mjs check DIRECTORY");
