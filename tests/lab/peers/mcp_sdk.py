#!/usr/bin/env python3
"""Checks our programs against the Python SDK of MCP, in both roles, over pipes and over WebSocket.

    mcp_sdk.py check DIRECTORY     such as target/debug, with `ide-mcp` and `examples` in it
    mcp_sdk.py serve stdio|ws      a server, for `check`

Needs `mcp[ws]` 1.x and `uvicorn`, and for the server of the TypeScript SDK what mcp_sdk.mjs needs. Prints each check;
the exit status is not 0 if a check fails, or if a part does not finish.
"""

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from datetime import timedelta

import uvicorn
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.websocket import websocket_client
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.websocket import websocket_server
from mcp.shared.exceptions import McpError
from pydantic import BaseModel, Field

PATIENCE = 30
NEWEST = "2025-11-25"

failures = 0


def check(what, found, expected):
    global failures
    same = found == expected
    print(f"{'ok  ' if same else 'FAIL'} {what}: {found!r}" + ("" if same else f", expected {expected!r}"), flush=True)
    failures += not same


# A server on the SDK, for our client.

server = FastMCP("python-sdk", log_level="ERROR")


@server.tool()
def add(a: int, b: int) -> str:
    return str(a + b)


@server.tool()
async def slow(context: Context) -> str:
    await context.report_progress(1, 2)
    await asyncio.sleep(60)
    return "too late"


@server.prompt()
def review(focus: str) -> str:
    return f"Review {focus}."


@server.resource("notes://today")
def today() -> str:
    return "Buy bread."


@server.resource("notes://{day}")
def day(day: str) -> str:
    return f"nothing on {day}"


@server.tool()
async def folders(context: Context) -> str:
    return " ".join(str(root.uri) for root in (await context.session.list_roots()).roots)


class Tests(BaseModel):
    suite: str
    jobs: int = Field(default=2, ge=1)


@server.tool()
async def ask(context: Context) -> str:
    answer = await context.elicit("Which tests?", Tests)
    return f"{answer.action} {answer.data.suite} {answer.data.jobs}" if answer.action == "accept" else answer.action


async def serve(transport):
    if transport == "stdio":
        return await server.run_stdio_async()

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            async with websocket_server(scope, receive, send) as (read, write):
                inner = server._mcp_server
                await inner.run(read, write, inner.create_initialization_options())

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listener])


# A client on the SDK, for our servers.


async def refusal(call):
    """Returns the code of the error with which the call ends, or None."""
    try:
        await call
        return None
    except McpError as error:
        return error.error.code


def texts(result):
    return [block.text for block in result.content]


async def their_client_on_our_pipes(programs):
    command = StdioServerParameters(command=f"{programs}/examples/stdio_server")
    async with stdio_client(command) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            check("stdio_server: version", hello.protocolVersion, NEWEST)
            check("stdio_server: name", hello.serverInfo.name, "stdio_server")
            tools = (await session.list_tools()).tools
            check("stdio_server: tools", [tool.name for tool in tools], ["count_words", "remind"])
            check("stdio_server: no resources", (await session.list_resources()).resources, [])
            check("stdio_server: no prompts", (await session.list_prompts()).prompts, [])
            result = await session.call_tool("count_words", {"text": "ein gro\u00dfer \U0001f980"})
            check("stdio_server: a call", (texts(result), result.isError), (["1 lines, 3 words, 12 characters"], False))
            result = await session.call_tool("remind", {"after_ms": 3_600_001, "text": ""})
            check("stdio_server: a tool that fails", result.isError, True)
            check("stdio_server: an unknown tool", await refusal(session.call_tool("nobody", {})), -32602)
            result = await session.call_tool("count_words", {})
            check("stdio_server: wrong arguments", (result.isError, "text" in texts(result)[0]), (True, True))
            answered = []

            async def remind(after_ms, text):
                result = await session.call_tool("remind", {"after_ms": after_ms, "text": text})
                answered.append(texts(result)[0])

            await asyncio.gather(remind(200, "second"), remind(50, "first"), remind(350, "third"))
            check("stdio_server: answers in their own order", answered, ["first", "second", "third"])
            late = session.call_tool(
                "remind", {"after_ms": 400, "text": ""}, read_timeout_seconds=timedelta(seconds=0.2)
            )
            check("stdio_server: their own timeout", await refusal(late) is not None, True)
            # The SDK abandons the call without a cancellation. An answer after the SDK has closed would terminate its client.
            await asyncio.sleep(0.4)
            await session.send_ping()
            check("stdio_server: a ping after it", True, True)
            big = "word " * 200_000
            result = await session.call_tool("count_words", {"text": big})
            check("stdio_server: a megabyte", texts(result), ["1 lines, 200000 words, 1000000 characters"])
            begin = time.monotonic()
    # The client of the SDK waits for two seconds before it kills the program.
    check("stdio_server: ends by itself", time.monotonic() - begin < 1.5, True)


async def their_client_on_our_websocket(programs):
    await on_an_editor(programs, "editor", lambda port, _: websocket_client(f"ws://127.0.0.1:{port}/"))


async def their_client_on_the_bridge(programs):
    def bridge(port, environment):
        command, arguments = f"{programs}/ide-mcp", ["bridge", "--port", f"{port}"]
        return stdio_client(StdioServerParameters(command=command, args=arguments, env=environment))

    await on_an_editor(programs, "bridge", bridge)


OFFER = {
    "cmd": "context",
    "prompts": [
        {"name": "review", "arguments": [{"name": "focus", "required": True}], "text": "Review {focus}."},
        {"name": "bare", "text": "Go on."},
    ],
    "resources": [{"uri": "notes://today", "mimeType": "text/plain", "text": "Buy bread."}],
}

FORM = {
    "message": "Which tests?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "suite": {"type": "string", "enum": ["all", "failed"]},
            "jobs": {"type": "integer", "maximum": 8},
        },
        "required": ["suite"],
    },
}

ANSWERS = [
    ({"action": "accept", "content": {"suite": "failed", "jobs": 8}},) * 2,
    ({"action": "decline"},) * 2,
    ({"action": "cancel"},) * 2,
    ({"action": "accept", "content": {"suite": "some"}}, {"error": "the answer of the peer does not fit the request"}),
]


async def on_an_editor(programs, name, connect):
    """Attaches to an editor through `connect` and uses its tools, its prompts and resources, and answers it."""
    home = tempfile.mkdtemp()
    environment = os.environ | {"CLAUDE_CONFIG_DIR": f"{home}/.claude"}
    editor = await asyncio.create_subprocess_exec(
        f"{programs}/ide-mcp", "editor", "--headless", "--no-token", "--on-diff", "accept", home,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment,
    )
    port = json.loads(await editor.stdout.readline())["port"]

    def tell(command):
        editor.stdin.write(json.dumps(command).encode() + b"\n")

    async def until(event):
        while (read := json.loads(await asyncio.wait_for(editor.stdout.readline(), PATIENCE)))["event"] != event:
            pass
        return read

    answers, notified = [answer for answer, _ in ANSWERS], []
    roots = ["file:///w/a"]

    async def answer_roots(context):
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in roots])

    async def answer_form(context, params):
        check(f"{name}: a form", (params.message, params.requestedSchema["required"]), ("Which tests?", ["suite"]))
        return types.ElicitResult(**answers.pop(0))

    async def on_message(message):
        if isinstance(message, types.ServerNotification):
            notified.append(message.root.method)

    async with connect(port, environment) as (read, write):
        async with ClientSession(
            read, write, list_roots_callback=answer_roots, elicitation_callback=answer_form, message_handler=on_message
        ) as session:
            hello = await session.initialize()
            check(f"{name}: version", hello.protocolVersion, NEWEST)
            check(f"{name}: name", hello.serverInfo.name, "ide-mcp editor")
            tools = {tool.name for tool in (await session.list_tools()).tools}
            check(f"{name}: tools", {"openDiff", "close_tab", "getDiagnostics"} <= tools, True)
            result = await session.call_tool("closeAllDiffTabs", {})
            check(f"{name}: closeAllDiffTabs", texts(result), ["CLOSED_0_DIFF_TABS"])
            proposal = {"old_file_path": "/x", "new_file_path": "/x", "new_file_contents": "y\n", "tab_name": "t"}
            result = await session.call_tool("openDiff", proposal)
            check(f"{name}: openDiff", texts(result), ["FILE_SAVED", "y\n"])
            check(f"{name}: an unknown tool", await refusal(session.call_tool("nobody", {})), -32602)

            check(f"{name}: folders", (await until("roots"))["roots"], [{"uri": uri} for uri in roots])
            roots[:] = ["file:///w/b", "file:///w/c"]
            await session.send_roots_list_changed()
            check(f"{name}: other folders", (await until("roots"))["roots"], [{"uri": uri} for uri in roots])

            check(f"{name}: no prompts yet", (await session.list_prompts()).prompts, [])
            own = {f"ide://{tool}" for tool in ("selection", "diagnostics", "open-editors", "workspace-folders")}
            listed = {str(resource.uri) for resource in (await session.list_resources()).resources}
            check(f"{name}: resources of the tools", listed, own)
            check(f"{name}: no templates", (await session.list_resource_templates()).resourceTemplates, [])
            tell(OFFER)
            tell({"cmd": "dance"})
            await until("error")
            await session.send_ping()
            changed = [f"notifications/{list}/list_changed" for list in ("prompts", "resources")]
            # The bridge answers a ping itself, perhaps before it has received the lists.
            async with asyncio.timeout(PATIENCE):
                while not set(changed) <= set(notified):
                    await asyncio.sleep(0.05)
            check(f"{name}: changed lists", sorted(set(notified) & set(changed)), changed)
            prompts = (await session.list_prompts()).prompts
            check(f"{name}: prompts", [prompt.name for prompt in prompts], ["review", "bare"])
            check(f"{name}: an argument", [(it.name, it.required) for it in prompts[0].arguments], [("focus", True)])
            messages = (await session.get_prompt("review", {"focus": "tests"})).messages
            check(f"{name}: a prompt", [message.content.text for message in messages], ["Review tests."])
            check(f"{name}: without its argument", await refusal(session.get_prompt("review")), -32602)
            check(f"{name}: an unknown prompt", await refusal(session.get_prompt("nobody")), -32602)
            listed = {str(resource.uri) for resource in (await session.list_resources()).resources}
            check(f"{name}: resources", listed, own | {"notes://today"})
            contents = (await session.read_resource("notes://today")).contents
            check(f"{name}: a resource", [(it.mimeType, it.text) for it in contents], [("text/plain", "Buy bread.")])
            contents = (await session.read_resource("ide://open-editors")).contents
            check(f"{name}: a resource of a tool", [it.text for it in contents], ['{"tabs":[]}'])
            check(f"{name}: an unknown resource", await refusal(session.read_resource("notes://never")), -32002)

            for sent, expected in ANSWERS:
                tell({"cmd": "form", "form": FORM})
                event = await until("form_answer")
                found = {key: event[key] for key in ("action", "content", "error") if key in event}
                check(f"{name}: answered {sent}", found, expected)
            await session.send_ping()
            check(f"{name}: a ping", True, True)
    editor.stdin.close()
    check(f"{name}: ends", await asyncio.wait_for(editor.wait(), PATIENCE), 0)
    shutil.rmtree(home)


# Our client, against servers on the SDK.

REQUESTS = [
    ("ping", None),
    ("tools/list", None),
    ("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}}),
    ("tools/call", {"name": "slow", "arguments": {}, "_meta": {"progressToken": "p"}}),
    ("nobody/knows", {}),
]


async def our_client_on_their_pipes(programs):
    name = "their pipes"
    requests = [method if params is None else f"{method} {json.dumps(params)}" for method, params in REQUESTS]
    options = [part for request in requests for part in ("--request", request)]
    child = await asyncio.create_subprocess_exec(
        f"{programs}/examples/stdio_client", "--timeout", "1500", *options,
        sys.executable, __file__, "serve", "stdio", stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(child.communicate(), PATIENCE)
    events = [json.loads(line) for line in out.splitlines()]
    check(f"{name}: ready", events[:1], [{"event": "ready", "server": "python-sdk", "version": NEWEST}])
    ended = {event["request"]: event for event in events if "request" in event}
    check(f"{name}: every request ends", sorted(ended), list(range(len(REQUESTS))))
    check(f"{name}: ping", ended[0].get("result"), {})
    check(f"{name}: tools", [tool["name"] for tool in ended[1]["result"]["tools"]], ["add", "slow", "folders", "ask"])
    check(f"{name}: a call", ended[2]["result"]["content"], [{"type": "text", "text": "5"}])
    check(f"{name}: a call without an answer", ended[3].get("reason"), "TimedOut")
    check(f"{name}: an unknown method", ended[4]["event"], "error")
    check(f"{name}: exit status", child.returncode, 0)


SCRIPT = """{"call":"folders"}
{"expect":{"event":"outcome","outcome":{"result":{"content":[{"text":"HOME"}]}}}}
{"call":"ask"}
{"expect":{"event":"form","message":"Which tests?"}}
{"answer":{"action":"accept","content":{"suite":"failed","jobs":3}}}
{"expect":{"event":"outcome","outcome":{"result":{"content":[{"text":"accept failed 3"}]}}}}
{"call":"ask"}
{"expect":{"event":"form"}}
{"answer":{"action":"decline"}}
{"expect":{"event":"outcome","outcome":{"result":{"content":[{"text":"decline"}]}}}}
"""


async def our_agent(programs, name, port):
    """Attaches to a server of the SDK as to an editor: by a lock file."""
    home = os.path.realpath(tempfile.mkdtemp())
    os.makedirs(f"{home}/ide", mode=0o700)
    with open(f"{home}/ide/{port}.lock", "w") as lock:
        json.dump({"pid": os.getpid(), "workspaceFolders": [home], "ideName": "python-sdk", "transport": "ws"}, lock)
    os.chmod(home, 0o700)

    async def agent(*command, given=""):
        child = await asyncio.create_subprocess_exec(
            f"{programs}/ide-mcp", "agent", "--port", port, "--json", *command,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=home,
            env=os.environ | {"CLAUDE_CONFIG_DIR": home},
        )
        out, _ = await asyncio.wait_for(child.communicate(given.encode()), PATIENCE)
        return [json.loads(line) for line in out.splitlines()], child.returncode

    events, _ = await agent("calls", given='add {"a":2,"b":3}\nnobody {}\n')
    outcomes = {event["line"]: event["outcome"] for event in events}
    check(f"{name}: a call", outcomes[1]["result"]["content"], [{"type": "text", "text": "5"}])
    refused = "error" in outcomes[2] or outcomes[2]["result"]["isError"]
    check(f"{name}: an unknown tool", refused, True)

    events, _ = await agent("prompts")
    check(f"{name}: prompts", [event["name"] for event in events], ["review"])
    events, _ = await agent("prompt", "review", '{"focus":"tests"}')
    messages = events[0]["outcome"]["result"]["messages"]
    check(f"{name}: a prompt", [message["content"]["text"] for message in messages], ["Review tests."])
    events, status = await agent("prompt", "nobody")
    check(f"{name}: an unknown prompt", ("error" in events[0]["outcome"], status), (True, 1))
    events, _ = await agent("resources")
    listed = sorted(event.get("uri", event.get("uriTemplate")) for event in events)
    check(f"{name}: resources", listed, ["notes://today", "notes://{day}"])
    for uri, text in ("notes://today", "Buy bread."), ("notes://monday", "nothing on monday"):
        events, _ = await agent("read", uri)
        check(f"{name}: {uri}", events[0]["outcome"]["result"]["contents"][0]["text"], text)
    events, status = await agent("read", "other://x")
    check(f"{name}: an unknown resource", ("error" in events[0]["outcome"], status), (True, 1))

    events, status = await agent("--script", "-", given=SCRIPT.replace("HOME", f"file://{home}"))
    check(f"{name}: folders and forms", status, 0)
    if status != 0:
        print(*events, sep="\n", flush=True)
    shutil.rmtree(home)


async def our_client_on_their_websocket(programs):
    script = os.path.join(os.path.dirname(__file__), "mcp_sdk.mjs")
    for name, server in ("Python", [sys.executable, __file__]), ("TypeScript", ["node", script]):
        child = await asyncio.create_subprocess_exec(*server, "serve", "ws", stdout=asyncio.subprocess.PIPE)
        try:
            port = (await asyncio.wait_for(child.stdout.readline(), PATIENCE)).decode().strip()
            await our_agent(programs, f"their WebSocket, {name}", port)
        finally:
            child.kill()
            await child.wait()


async def check_all(programs):
    global failures
    for part in (
        their_client_on_our_pipes,
        their_client_on_our_websocket,
        their_client_on_the_bridge,
        our_client_on_their_pipes,
        our_client_on_their_websocket,
    ):
        try:
            await asyncio.wait_for(part(programs), 2 * PATIENCE)
        except BaseException as error:  # A part that fails skips its remaining checks.
            print(f"FAIL {part.__name__}: {error!r}", flush=True)
            failures += 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", ("stdio" | "ws") as transport]:
            asyncio.run(serve(transport))
        case ["check", programs]:
            asyncio.run(check_all(os.path.abspath(programs)))
            print("all as expected" if failures == 0 else f"{failures} not as expected")
            sys.exit(failures != 0)
        case _:
            sys.exit(__doc__)
