"""The MCP server as an agent's client sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import CallToolResult, TextContent

from tests.web.conftest import Site, until

T = TypeVar("T")


def session(url: str, use: Callable[[ClientSession], Awaitable[T]], path: str = "") -> T:
    """Connects, does something, leaves."""

    async def run() -> T:
        address = f"{url}{path}/gradio_api/mcp/"
        async with streamablehttp_client(address) as (read, write, _), ClientSession(
            read, write
        ) as client:  # fmt: skip
            await client.initialize()
            return await use(client)

    # In a thread of its own: a browser of the same tests has an event loop in this one.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(run())).result()


def call(url: str, tool: str, **arguments: Any) -> CallToolResult:
    return session(url, lambda client: client.call_tool(tool, arguments))


def result(url: str, tool: str, **arguments: Any) -> Any:
    """What a tool gave, read as JSON."""
    called = call(url, tool, **arguments)
    (content,) = called.content
    assert isinstance(content, TextContent)
    assert not called.isError, content.text
    return json.loads(content.text)


def test_the_tools_are_described(site: Site) -> None:
    listed = session(site.url, lambda client: client.list_tools())
    tools = {tool.name: tool for tool in listed.tools}
    assert list(tools) == ["ask", "search", "collections"]
    assert "verbatim quote" in (tools["ask"].description or "")
    for name, arguments in {
        "ask": ["question", "collection", "history"],
        "search": ["question", "collection", "k"],
    }.items():
        properties = tools[name].inputSchema["properties"]
        assert list(properties) == arguments
        assert all(p["description"] for p in properties.values())


def test_ask_gives_the_whole_answer_object(site: Site) -> None:
    answer = result(site.url, "ask", question="How is the gate calibrated?")
    assert (answer["outcome"], answer["stage"]) == ("answered", "done")
    assert [c["n"] for c in answer["citations"]] == [1, 2]
    assert (
        result(site.url, "ask", question="Who are you?", collection="people")["mode"] == "interview"
    )
    assert result(site.url, "ask", question="pizza")["outcome"] == "refused"


def test_search_gives_hits_and_the_gate_s_verdict(site: Site) -> None:
    found = result(site.url, "search", question="the gate", k=7)
    assert (found["passes"], found["k"], found["collection"]) == (True, 7, "blog")
    assert found["hits"][0]["title"] == "Choosing a threshold that means something"
    assert result(site.url, "search", question="pizza")["passes"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"question": " "}, "no question"), ({"question": "x", "collection": "nope"}, "nope")],
)
def test_a_wrong_search_is_told_in_a_sentence(site: Site, arguments: dict, said: str) -> None:
    called = call(site.url, "search", **arguments)
    (content,) = called.content
    assert called.isError
    assert isinstance(content, TextContent)
    assert said in content.text
    assert result(site.url, "search", question="the gate")["passes"]


def test_an_agent_waits_its_turn_like_a_reader(site: Site) -> None:
    sent = httpx.post(f"{site.url}/gradio_api/call/ask", json={"data": ["a long answer"]})
    with httpx.stream("GET", f"{site.url}/gradio_api/call/ask/{sent.json()['event_id']}") as reader:
        lines = reader.iter_lines()
        until(lambda: site.answerer.running == 1)
        assert result(site.url, "ask", question="hello")["outcome"] == "greeting"
        assert any("complete" in line for line in lines)
    assert site.answerer.most_running == 1


def test_a_false_host_name_leads_nowhere(site: Site) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "ask", "arguments": {"question": "hello"}}}  # fmt: skip
    headers = {"Host": "elsewhere.invalid", "Accept": "application/json, text/event-stream"}
    answer = httpx.post(f"{site.url}/gradio_api/mcp/", json=body, headers=headers, timeout=60)
    assert "greeting" in answer.text
    assert result(site.url, "ask", question="hello")["outcome"] == "greeting"


def test_it_works_behind_a_path_prefix(site: Site) -> None:
    site.stop()
    site.settings = replace(site.settings, root_path="/app")
    site.start()
    tools = session(site.url, lambda client: client.list_tools(), path="/app")
    assert len(tools.tools) == 3
    assert result(site.url, "ask", question="hello")["outcome"] == "greeting"


def test_it_can_be_switched_off(site: Site) -> None:
    site.stop()
    site.settings = replace(site.settings, mcp=False)
    site.start()
    assert httpx.post(f"{site.url}/gradio_api/mcp/", json={}).status_code in (404, 405)


def test_agents_that_get_their_answers_at_once_do_not_break_each_others_calls(site: Site) -> None:
    async def many(client: ClientSession) -> list[CallToolResult]:
        found: list[CallToolResult] = []
        for _ in range(8):
            asked = [client.call_tool("collections", {}) for _ in range(50)]
            found += await asyncio.gather(*asked)
        return found

    assert not [result for result in session(site.url, many) if result.isError]
