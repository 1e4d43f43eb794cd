// A stand-in for the Messages API on loopback. It answers "ok" to every prompt, except to one that
// consists of these sentences, joined by " and ", which it answers with one call of a tool for each:
//
//     write FILE with TEXT
//     read FILE
//     edit FILE from TEXT to TEXT
//     list problems of FILE
//     list all problems
//     call TOOL
//     call TOOL JSON
// The first three call the tools `Write`, `Read` and `Edit` of the client, for that file in the working directory. The
// next two call the tool `getDiagnostics` of the editor, and the last two any tool, by the name that the model has for
// it, with this input. The body of each request that offers tools is kept as REQUESTS/1.json, REQUESTS/2.json and so
// on, so that a scenario can look at what the model was given. Requests without tools ask for titles and the like.
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

/** Returns the assistant's message: the tool calls for which the newest prompt asks, "ok" otherwise. */
function reply(body) {
    const calls = body.tools?.length ? toolCalls(body.messages) : [];
    const blocks = calls.map(([name, input], index) => ({ type: "tool_use", id: `toolu_${count}_${index}`, name, input }));
    return {
        id: `msg_${count}`,
        type: "message",
        role: "assistant",
        model: body.model,
        content: blocks.length ? blocks : [{ type: "text", text: "ok" }],
        stop_reason: blocks.length ? "tool_use" : "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
    };
}

/** Returns the names and inputs of the tools to call: none if the newest user message already has results of calls. */
function toolCalls(messages) {
    // Newer clients add a message with the role `system` after that of the user.
    const newest = messages.findLast((message) => message.role === "user");
    const blocks = typeof newest.content === "string" ? [{ type: "text", text: newest.content }] : newest.content;
    if (blocks.some((block) => block.type === "tool_result")) return [];
    for (const block of blocks.filter((block) => block.type === "text")) {
        const calls = block.text.trim().split(" and ").map(toolCall);
        if (calls.every(Boolean)) return calls;
    }
    return [];
}

/** Returns the name and the input of the tool for one sentence. */
function toolCall(sentence) {
    const [, verb, rest] = sentence.match(/^(write|read|edit|list|call) (.+)$/) ?? [];
    const [, file, from, to] = rest?.match(/^(\S+)(?: (?:with|from) (.+?)(?: to (.+))?)?$/) ?? [];
    const path = file && resolve(file);
    switch (verb) {
        case "write":
            return ["Write", { file_path: path, content: `${from}\n` }];
        case "read":
            return ["Read", { file_path: path }];
        case "edit":
            return ["Edit", { file_path: path, old_string: from, new_string: to }];
        case "list": {
            const name = rest.match(/^problems of (\S+)$/)?.[1];
            if (!name && rest !== "all problems") return undefined;
            return ["mcp__ide__getDiagnostics", name ? { uri: `file://${resolve(name)}` } : {}];
        }
        case "call": {
            const [, tool, input] = rest.match(/^(\S+)(?: (\{.*\}))?$/) ?? [];
            return tool && [tool, JSON.parse(input ?? "{}")];
        }
        default:
            return undefined;
    }
}

function sendJson(response, value) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
}

/** Sends the message as the server-sent events of the streaming API. */
function sendStream(response, message) {
    const events = [
        { type: "message_start", message: { ...message, content: [], stop_reason: null } },
        ...message.content.flatMap(blockEvents),
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

function blockEvents(block, index) {
    const [empty, delta] =
        block.type === "text"
            ? [{ ...block, text: "" }, { type: "text_delta", text: block.text }]
            : [{ ...block, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
    return [
        { type: "content_block_start", index, content_block: empty },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
    ];
}
