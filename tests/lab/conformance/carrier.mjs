// Carries sessions of Streamable HTTP, which the conformance suite of MCP speaks, to our server over WebSocket, with
// one connection for each session. It adds no messages of its own. Then starts the suite, which connects to this
// carrier.
//
//     node carrier.mjs SERVER COMMAND...     the program of our server, and the suite's, which gets `--url URL`
//
// Needs ws in NODE_MODULES. The exit status is that of the suite.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const { WebSocket } = createRequire(join(resolve(process.env.NODE_MODULES), "x"))("ws");
const [program, ...suite] = process.argv.slice(2);
const sessions = new Map();

class Session {
  /** The open streams of POSTs by request id, oldest first, and the stream of the GET. */
  posts = new Map();
  events;

  constructor(socket) {
    this.socket = socket;
    socket.on("message", (data) => this.receive(data.toString()));
    socket.on("close", () => [...this.posts.values(), this.events].forEach((stream) => stream?.end()));
  }

  receive(text) {
    const message = JSON.parse(text);
    const answered = message.method === undefined && this.posts.get(message.id);
    // A request or notification of the server most likely belongs to the newest open call.
    const stream = answered || [...this.posts.values()].at(-1) || this.events;
    if (!stream) return console.error(`carrier: no open stream for ${text}`);
    stream.write(`event: message\ndata: ${text}\n\n`);
    if (!answered) return;
    this.posts.delete(message.id);
    stream.end();
  }
}

const http = createServer(async (request, response) => {
  const chunks = await request.toArray();
  const text = Buffer.concat(chunks).toString();
  const id = request.headers["mcp-session-id"];
  const session = id ? sessions.get(id) : request.method === "POST" && (await connect(request, response));
  if (response.writableEnded) return;
  if (!session) return response.writeHead(id ? 404 : 405).end();
  const stream = () => {
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": session.id });
    response.flushHeaders();
    return response;
  };
  if (request.method === "DELETE") {
    session.socket.close();
    sessions.delete(session.id);
    return response.writeHead(200).end();
  }
  if (request.method === "GET") return (session.events = stream());
  const message = JSON.parse(text);
  if (message.method !== undefined && message.id !== undefined) session.posts.set(message.id, stream());
  else response.writeHead(202).end();
  session.socket.send(text);
});

/** Opens a connection with the Host and the Origin of the request. If our server refuses it, answers with its status. */
async function connect(request, response) {
  const ours = (text) => text?.replace(`:${http.address().port}`, `:${port}`);
  const { host, origin } = request.headers;
  const headers = { host: ours(host), ...(origin && { origin }) };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ["mcp"], { headers });
  return new Promise((done) => {
    socket.on("open", () => {
      const session = Object.assign(new Session(socket), { id: randomUUID() });
      sessions.set(session.id, session);
      done(session);
    });
    socket.on("unexpected-response", (_, refusal) => {
      response.writeHead(refusal.statusCode).end();
      socket.terminate();
      done();
    });
    socket.on("error", () => {});
  });
}

http.listen(0, "127.0.0.1");
await once(http, "listening");
const origin = `http://localhost:${http.address().port}`;
const server = spawn(program, [origin], { stdio: ["ignore", "pipe", "inherit"] });
const port = (await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()).value;
if (!port) throw new Error(`${program} ended before it printed its port`);
const [status] = await once(spawn(suite[0], [...suite.slice(1), "--url", `${origin}/mcp`], { stdio: "inherit" }), "exit");
server.kill();
process.exit(status ?? 1);
