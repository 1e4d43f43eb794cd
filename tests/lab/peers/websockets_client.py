#!/usr/bin/env python3
"""An agent on an independent WebSocket implementation: attaches to an editor, and checks what the editor refuses.

    websockets_client.py PORT TOKEN

Needs the package `websockets`. Prints each check; the exit status is not 0 if a check fails.
"""

import asyncio
import json
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

TOKEN_FIELD = "X-Claude-Code-Ide-Authorization"
PATIENCE = 10

failures = 0


def check(what, found, expected):
    global failures
    same = found == expected
    print(f"{'ok  ' if same else 'FAIL'} {what}: {found!r}" + ("" if same else f", expected {expected!r}"))
    failures += not same


class Agent:
    """A session on an open socket."""

    def __init__(self, socket):
        self.socket = socket
        self.last = -1

    async def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})
        await self.socket.send(json.dumps(message))

    async def ask(self, method, params=None):
        """Sends a request and returns its result; only notifications may come before the answer."""
        self.last += 1
        message = {"method": method} | ({} if params is None else {"params": params})
        await self.socket.send(json.dumps(message | {"jsonrpc": "2.0", "id": self.last}))
        while True:
            text = await asyncio.wait_for(self.socket.recv(), PATIENCE)
            if not isinstance(text, str):
                check(f"{method} is answered in text", type(text).__name__, "str")
            answer = json.loads(text)
            if "method" in answer:
                check(f"{answer['method']} is a notification", "id" in answer, False)
                continue
            check(f"members of the answer to {method}", sorted(answer), ["id", "jsonrpc", "result"])
            check(f"id of the answer to {method}", answer.get("id"), self.last)
            return answer.get("result", {})


async def attaches(uri, token):
    async with connect(
        uri, additional_headers={TOKEN_FIELD: token}, subprotocols=["mcp"], open_timeout=PATIENCE
    ) as socket:
        check("status", socket.response.status_code, 101)
        check("sub-protocol", socket.subprotocol, "mcp")
        check("extensions", socket.response.headers.get_all("Sec-WebSocket-Extensions"), [])
        agent = Agent(socket)
        info = {"name": "websockets", "version": "1"}
        result = await agent.ask(
            "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        )
        check("protocol version", result.get("protocolVersion"), "2025-11-25")
        check("tools are offered", "tools" in result.get("capabilities", {}), True)
        check("the editor has a name and a version", sorted(result.get("serverInfo", {})), ["name", "version"])
        await agent.notify("notifications/initialized")
        await agent.notify("ide_connected", {"pid": 1})
        tools = {tool["name"]: tool for tool in (await agent.ask("tools/list")).get("tools", [])}
        check("openDiff is listed", "openDiff" in tools, True)
        schemas = {tool.get("inputSchema", {}).get("type") for tool in tools.values()}
        check("every schema is that of an object", schemas, {"object"})
        result = await agent.ask("tools/call", {"name": "closeAllDiffTabs", "arguments": {}})
        check("closeAllDiffTabs", result, {"content": [{"type": "text", "text": "CLOSED_0_DIFF_TABS"}]})
        result = await agent.ask("tools/call", {"name": "close_tab", "arguments": {"tab_name": "\u2733 t"}})
        check("close_tab", result, {"content": [{"type": "text", "text": "TAB_CLOSED"}]})
        check("ping", await agent.ask("ping"), {})
        pong = await socket.ping(b"?")
        await asyncio.wait_for(pong, PATIENCE)
        check("a ping is answered", pong.done(), True)
        await socket.close()
        check("the close frame is answered", socket.close_code, 1000)


async def refused(what, uri, expected, fields, **options):
    try:
        async with connect(uri, additional_headers=fields, open_timeout=PATIENCE, **options):
            check(f"{what} is refused", 101, expected)
    except InvalidStatus as refusal:
        check(f"{what} is refused", refusal.response.status_code, expected)


async def main(port, token):
    uri = f"ws://127.0.0.1:{port}/"
    right = {TOKEN_FIELD: token}
    await attaches(uri, token)
    await refused("no token", uri, 401, {}, subprotocols=["mcp"])
    await refused("nothing but the upgrade", uri, 401, {})
    await refused("a wrong token", uri, 401, {TOKEN_FIELD: token + "x"}, subprotocols=["mcp"])
    await refused("two tokens", uri, 401, [(TOKEN_FIELD, token)] * 2, subprotocols=["mcp"])
    await refused("an Origin", uri, 403, right, subprotocols=["mcp"], origin="http://127.0.0.1")
    await refused("Sec-Fetch-Site", uri, 403, right | {"Sec-Fetch-Site": "same-origin"}, subprotocols=["mcp"])
    # As in DNS rebinding: the address is that of the editor, but the name is not.
    foreign = f"ws://evil.example:{port}/"
    await refused("a foreign Host", foreign, 403, right, subprotocols=["mcp"], host="127.0.0.1", port=port)
    # The refused clients have not disturbed the editor.
    await attaches(uri, token)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(asyncio.wait_for(main(int(sys.argv[1]), sys.argv[2]), 60))
    print("all as expected" if failures == 0 else f"{failures} not as expected")
    sys.exit(failures != 0)
