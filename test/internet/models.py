"""A stand-in for the model services of agents, at 203.0.113.90: the messages
of Anthropic, the responses and chat completions of OpenAI, the contents of
Gemini, and the tokens of their logins. What reached it is in the origin's
record.

The answer to a prompt is "pong", so that a test sees that it came through. A
prompt with RUN(COMMAND) gets a call of the agent's tool for shell commands
first, and then "tool: " with the beginning of what the tool said."""
import asyncio
import json
import re
import ssl
import time

from origin import Origin

WHERE = "203.0.113.90"
SHELL_TOOLS = ("Bash", "bash", "shell", "run_shell_command", "exec_command",
               "shell_command", "local_shell")


def texts(content):
    """Every text in a message, of whatever service."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from texts(part)
    elif isinstance(content, dict):
        for key in ("text", "content", "parts", "output", "functionResponse",
                    "response"):
            if key in content:
                yield from texts(content[key])


class Turn:
    """What a request asks for: a text, or a call of a tool."""

    def __init__(self, messages, tools):
        last = since_answer(messages or [])
        results = [m for m in last if is_result(m)]
        said = "\n".join(t for m in results or last for t in texts(m))
        wanted = re.search(r"RUN\((.*?)\)", said)
        self.tool = next((t for t in tools if t in SHELL_TOOLS), None)
        self.command = wanted.group(1) if wanted and self.tool else None
        self.said = said
        if results:
            self.command = None
            self.text = "tool: " + said[:200]
        else:
            self.text = "pong"

    def arguments(self):
        if self.tool == "exec_command":
            return {"cmd": self.command}
        if self.tool in ("shell", "local_shell"):
            return {"command": ["bash", "-c", self.command]}
        return {"command": self.command, "description": "as asked"}


def since_answer(messages):
    """The messages after the last one of the model."""
    last = []
    for message in reversed(messages):
        if message.get("role") in ("assistant", "model") or \
                message.get("type") == "function_call":
            break
        last.insert(0, message)
    return last


def is_result(message):
    """Is it what a tool said?"""
    if message.get("role") == "tool":
        return True
    if message.get("type") in ("function_call_output",
                               "custom_tool_call_output"):
        return True
    parts = message.get("content") or message.get("parts") or []
    return isinstance(parts, list) and any(
        isinstance(p, dict) and (p.get("type") == "tool_result"
                                 or "functionResponse" in p) for p in parts)


def names(body):
    """The tools that a request offers."""
    return [t.get("name") for tool in body.get("tools") or [] for t in
            tool.get("functionDeclarations") or [tool.get("function") or tool]]


def events(*named):
    """Server-sent events; a name of None leaves it out."""
    out = b""
    for name, data in named:
        if name:
            out += b"event: " + name.encode() + b"\n"
        text = data if isinstance(data, str) else json.dumps(data)
        out += b"data: " + text.encode() + b"\n\n"
    return out


def anthropic(turn, body):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant",
               "model": body.get("model", "m"), "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    if turn.command:
        block = {"type": "tool_use", "id": "toolu_1", "name": turn.tool,
                 "input": turn.arguments()}
        begun = dict(block, input={})
        delta = {"type": "input_json_delta",
                 "partial_json": json.dumps(block["input"])}
        stop = "tool_use"
    else:
        block = {"type": "text", "text": turn.text}
        begun = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
        stop = "end_turn"
    if not body.get("stream"):
        return dict(message, content=[block], stop_reason=stop)
    return events(
        ("message_start", {"type": "message_start", "message": message}),
        ("content_block_start", {"type": "content_block_start", "index": 0,
                                 "content_block": begun}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0,
                                 "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "usage": usage,
                           "delta": {"stop_reason": stop,
                                     "stop_sequence": None}}),
        ("message_stop", {"type": "message_stop"}))


def chat(turn, body):
    head = {"id": "chat_1", "created": int(time.time()),
            "model": body.get("model", "m")}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    said, stop = {"role": "assistant", "content": turn.text}, "stop"
    if turn.command:
        stop = "tool_calls"
        said = {"role": "assistant", "content": None, "tool_calls": [{
            "index": 0, "id": "call_1", "type": "function", "function": {
                "name": turn.tool,
                "arguments": json.dumps(turn.arguments())}}]}
    if not body.get("stream"):
        return dict(head, object="chat.completion", usage=usage, choices=[
            {"index": 0, "message": said, "finish_reason": stop}])
    head["object"] = "chat.completion.chunk"
    return events(
        (None, dict(head, choices=[{"index": 0, "delta": said,
                                    "finish_reason": None}])),
        (None, dict(head, choices=[{"index": 0, "delta": {},
                                    "finish_reason": stop}])),
        (None, dict(head, choices=[], usage=usage)), (None, "[DONE]"))


def responses(turn, body):
    if turn.command:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1",
                "name": turn.tool, "status": "completed",
                "arguments": json.dumps(turn.arguments())}
        deltas = []
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant",
                "status": "completed", "content": [
                    {"type": "output_text", "text": turn.text,
                     "annotations": []}]}
        deltas = [("response.output_text.delta", {
            "type": "response.output_text.delta", "item_id": "msg_1",
            "output_index": 0, "content_index": 0, "delta": turn.text})]
    whole = {"id": "resp_1", "object": "response", "status": "completed",
             "model": body.get("model", "m"), "output": [item], "usage": {
                 "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens_details": {"reasoning_tokens": 0}}}
    if not body.get("stream"):
        return whole
    begun = dict(whole, status="in_progress", output=[])
    return events(
        ("response.created", {"type": "response.created", "response": begun}),
        ("response.output_item.added", {
            "type": "response.output_item.added", "output_index": 0,
            "item": dict(item, status="in_progress")}),
        *deltas,
        ("response.output_item.done", {
            "type": "response.output_item.done", "output_index": 0,
            "item": item}),
        ("response.completed", {"type": "response.completed",
                                "response": whole}))


def gemini(turn, stream):
    part = {"text": turn.text}
    if turn.command:
        part = {"functionCall": {"name": turn.tool, "id": "call_1",
                                 "args": turn.arguments()}}
    answer = {"candidates": [{"index": 0, "finishReason": "STOP", "content": {
        "role": "model", "parts": [part]}}], "usageMetadata": {
            "promptTokenCount": 1, "candidatesTokenCount": 1,
            "totalTokenCount": 2}}
    return events((None, answer)) if stream else answer


class Models(Origin):
    def answer(self, writer, what):
        if isinstance(what, bytes):
            self.whole(writer, what, more=("Content-Type: text/event-stream",))
        else:
            self.whole(writer, json.dumps(what).encode(),
                       more=("Content-Type: application/json",))
        return True

    def refuse(self, writer):
        self.whole(writer, b'{"error":{"type":"not_found_error",'
                   b'"message":"not here"}}', "404 Not Found",
                   ("Content-Type: application/json",))
        return True

    async def reply(self, request, reader, writer):
        path = request.target.partition("?")[0].rstrip("/")
        try:
            body = json.loads(request.body or b"{}")
        except ValueError:
            body = {}
        if request.get("upgrade"):
            return self.refuse(writer)
        self.record(json.dumps({"event": "model", "path": path,
                                "tools": names(body)}))
        return self.route(writer, path, body)

    def route(self, writer, path, body):
        tools = names(body)
        if path.endswith("/oauth/token"):
            return self.answer(writer, {
                "access_token": "renewed-access", "token_type": "Bearer",
                "refresh_token": "renewed-refresh", "expires_in": 36000,
                "id_token": "e30.e30.e30", "scope": "user:inference"})
        if path.endswith("/hello"):     # Claude Code looks whether it can connect
            return self.answer(writer, {"message": "hello"})
        if path.endswith("/count_tokens") or path.endswith(":countTokens"):
            return self.answer(writer, {"input_tokens": 1, "totalTokens": 1})
        if path.endswith("/messages"):
            return self.answer(writer, anthropic(
                Turn(body.get("messages"), tools), body))
        if path.endswith("/chat/completions"):
            return self.answer(writer, chat(
                Turn(body.get("messages"), tools), body))
        if path.endswith("/responses"):
            given = body.get("input")
            if isinstance(given, str):
                given = [{"role": "user", "content": given}]
            return self.answer(writer, responses(Turn(given, tools), body))
        if ":generateContent" in path or ":streamGenerateContent" in path:
            return self.answer(writer, gemini(
                Turn(body.get("contents"), tools), ":stream" in path))
        if path.endswith("/models"):
            return self.answer(writer, {"object": "list", "data": [
                {"id": "m", "object": "model", "created": 1,
                 "owned_by": "test"}]})
        return self.refuse(writer)


async def start(record, directory):
    models = Models(record)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory + "/keys.pem", directory + "/server.key")
    context.set_alpn_protocols(["http/1.1"])
    await asyncio.start_server(models.serve, WHERE, 443, ssl=context,
                               backlog=4096, limit=1 << 24)
    await asyncio.start_server(models.serve, WHERE, 80, backlog=4096,
                               limit=1 << 24)
