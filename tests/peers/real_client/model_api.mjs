// A stand-in for the Messages API on loopback. It answers "ok" to every prompt, except to these:
//
//     write FILE with TEXT
//     call TOOL
//
// It answers the first with a call of the client's tool `Write` for that file of the working directory,
// and the second with a call of the tool without arguments.
// The body of each request that offers tools is kept as REQUESTS/1.json, REQUESTS/2.json and so on, so
// that a scenario can look at what the model was given. Requests without tools ask for titles and
// the like.
//
// Usage: node model_api.mjs PORT REQUESTS

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { resolve } from "node:path";

const [port, requests] = process.argv.slice(2);
let count = 0;

createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
        const path = new URL(request.url, "http://localhost").pathname;
        if (request.method !== "POST" || path !== "/v1/messages") {
            sendJson(response, path.endsWith("/count_tokens") ? { input_tokens: 1 } : {});
            return;
        }
        const body = JSON.parse(Buffer.concat(chunks).toString());
        count += 1;
        if (body.tools?.length) writeFileSync(`${requests}/${count}.json`, JSON.stringify(body, null, 1));
        const message = reply(body);
        if (body.stream) sendStream(response, message);
        else sendJson(response, message);
    });
}).listen(Number(port), "127.0.0.1");

/** Returns the assistant's message: a tool call where the newest prompt asks for it, "ok" otherwise. */
function reply(body) {
    const call = body.tools?.length ? toolToCall(body.messages) : undefined;
    const block = call
        ? { type: "tool_use", id: `toolu_${count}`, ...call }
        : { type: "text", text: "ok" };
    return {
        id: `msg_${count}`,
        type: "message",
        role: "assistant",
        model: body.model,
        content: [block],
        stop_reason: call ? "tool_use" : "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
    };
}

/** Returns the call that the newest user message asks for, unless that message is the result of a call. */
function toolToCall(messages) {
    // Newer clients put a message with the role `system` behind the user's.
    const newest = messages.findLast((message) => message.role === "user");
    const blocks = typeof newest.content === "string" ? [{ type: "text", text: newest.content }] : newest.content;
    if (blocks.some((block) => block.type === "tool_result")) return undefined;
    for (const block of blocks) {
        if (block.type !== "text") continue;
        const write = block.text.match(/^write (\S+) with (.+)$/m);
        if (write) return { name: "Write", input: { file_path: resolve(write[1]), content: `${write[2]}\n` } };
        const call = block.text.match(/^call (\S+)$/m);
        if (call) return { name: call[1], input: {} };
    }
    return undefined;
}

function sendJson(response, value) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
}

/** Sends the message as the server-sent events of the streaming API. */
function sendStream(response, message) {
    const [block] = message.content;
    const [empty, delta] =
        block.type === "text"
            ? [{ ...block, text: "" }, { type: "text_delta", text: block.text }]
            : [{ ...block, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
    const events = [
        { type: "message_start", message: { ...message, content: [], stop_reason: null } },
        { type: "content_block_start", index: 0, content_block: empty },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        {
            type: "message_delta",
            delta: { stop_reason: message.stop_reason, stop_sequence: null },
            usage: { output_tokens: 1 },
        },
        { type: "message_stop" },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
}
