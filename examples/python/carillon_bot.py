"""Shared code of the Python examples: answer URLs, WebSocket server and WebSocket client, standard library only."""
import asyncio
import base64
import hashlib
import json
import os
import ssl
import struct
import sys
from urllib.parse import parse_qsl, urlsplit

WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MAX_MESSAGE_BYTES = 4 << 20
MAX_BODY_BYTES = 1 << 16


def port_or(fallback):
    """Port of a program: its first argument."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else fallback


def public_url(port):
    """Public base URL of a program: PUBLIC_URL, or its port on this machine."""
    return os.environ.get("PUBLIC_URL", f"http://127.0.0.1:{port}")


def stream_document(port, after="", **attributes):
    """Document that connects the call to ``/stream`` of this program. ``after``: elements behind the stream."""
    url = public_url(port).replace("http", "ws", 1) + "/stream"
    words = {"bidirectional": "true", "keepCallAlive": "true", **attributes}
    text = " ".join(f'{name}="{value}"' for name, value in words.items())
    return f"<Response><Stream {text}>{url}</Stream>{after}</Response>"


class Socket:
    """WebSocket connection. ``async for`` yields text messages as ``str`` and binary messages as ``bytes``."""

    def __init__(self, reader, writer, is_client):
        self._reader = reader
        self._writer = writer
        self._is_client = is_client

    async def send(self, message):
        """Sends a text, bytes, or an object as JSON."""
        if isinstance(message, bytes):
            await self._frame(BINARY, message)
        else:
            text = message if isinstance(message, str) else json.dumps(message)
            await self._frame(TEXT, text.encode())

    async def close(self):
        try:
            await self._frame(CLOSE, struct.pack(">H", 1000))
        except ConnectionError:
            pass
        self._writer.close()

    def __aiter__(self):
        return self

    async def __anext__(self):
        parts, kind = b"", TEXT
        while True:
            try:
                final, opcode, payload = await self._read()
            except (asyncio.IncompleteReadError, ConnectionError):
                raise StopAsyncIteration from None
            if opcode == CLOSE:
                await self.close()
                raise StopAsyncIteration
            if opcode == PING:
                await self._frame(PONG, payload)
            elif opcode != PONG:
                kind = opcode or kind
                parts += payload
                if len(parts) > MAX_MESSAGE_BYTES:
                    raise ValueError("message too large")
                if final:
                    return parts.decode() if kind == TEXT else parts

    async def _frame(self, opcode, payload):
        """Sends one frame (RFC 6455 section 5.2). Clients mask theirs."""
        mask_bit = 0x80 if self._is_client else 0
        size = len(payload)
        if size < 126:
            head = bytes([0x80 | opcode, mask_bit | size])
        elif size < 1 << 16:
            head = bytes([0x80 | opcode, mask_bit | 126]) + struct.pack(">H", size)
        else:
            head = bytes([0x80 | opcode, mask_bit | 127]) + struct.pack(">Q", size)
        if self._is_client:
            key = os.urandom(4)
            head, payload = head + key, _masked(payload, key)
        self._writer.write(head + payload)
        await self._writer.drain()

    async def _read(self):
        first, second = await self._reader.readexactly(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", await self._reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await self._reader.readexactly(8))
        if length > MAX_MESSAGE_BYTES:
            raise ValueError("frame too large")
        key = await self._reader.readexactly(4) if second & 0x80 else b""
        payload = await self._reader.readexactly(length)
        return bool(first & 0x80), first & 0x0F, _masked(payload, key) if key else payload


def _masked(payload, key):
    """Combines the payload with the repeated key, as one large integer."""
    size = len(payload)
    repeated = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")


async def connect(url, headers=()):
    """Opens a WebSocket to a server, for example of a model vendor."""
    parts = urlsplit(url)
    is_tls = parts.scheme == "wss"
    port = parts.port or (443 if is_tls else 80)
    reader, writer = await asyncio.open_connection(
        parts.hostname, port, ssl=ssl.create_default_context() if is_tls else None, limit=MAX_MESSAGE_BYTES
    )
    lines = [
        f"GET {parts.path or '/'}{'?' + parts.query if parts.query else ''} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        *(f"{name}: {value}" for name, value in dict(headers).items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    status = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0].decode()
    if " 101 " not in status:
        writer.close()
        raise ConnectionError(f"{parts.hostname} refused the connection: {status}")
    return Socket(reader, writer, is_client=True)


class Callback:
    """One request of the service: its URL, header fields (names in lower case), body, and parameters."""

    def __init__(self, url, headers, body):
        self.url = url
        self.headers = headers
        self.body = body
        self.form = []
        if "urlencoded" in headers.get("content-type", ""):
            self.form = parse_qsl(body.decode(), keep_blank_values=True)
        #: Parameters of the query and of the body.
        self.parameters = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True) + self.form)


async def serve(port, replies, stream=None):
    """Serves replies by path, each an ``async`` function that gets a ``Callback`` and returns a document or None.

    ``stream`` gets the ``Socket`` of each connection to ``/stream``.
    """

    async def handle(reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            request, *lines = head.split("\r\n")
            headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
            path = request.split()[1]
            if headers.get("upgrade", "").lower() == "websocket" and stream is not None:
                digest = hashlib.sha1((headers["sec-websocket-key"] + WEBSOCKET_GUID).encode()).digest()
                accept = base64.b64encode(digest).decode()
                writer.write(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
                )
                await stream(Socket(reader, writer, is_client=False))
                return
            size = int(headers.get("content-length", "0"))
            if size > MAX_BODY_BYTES:
                raise ValueError("the body is too long")
            callback = Callback(public_url(port) + path, headers, await reader.readexactly(size))
            reply = replies.get(urlsplit(path).path)
            text = await reply(callback) if reply else ""
            status = "200 OK" if reply else "404 Not Found"
            body = (text or "").encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode() + body
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ValueError, KeyError) as error:
            print("connection ended:", repr(error), flush=True)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    for path in replies:
        print(f"serving {public_url(port)}{path}", flush=True)
    if stream is not None:
        print(f"stream URL  {public_url(port).replace('http', 'ws', 1)}/stream", flush=True)
    async with server:
        await server.serve_forever()


def run(port, replies, stream=None):
    """Runs ``serve`` until the program is stopped."""
    try:
        asyncio.run(serve(port, replies, stream))
    except KeyboardInterrupt:
        pass
