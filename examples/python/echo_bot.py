#!/usr/bin/env python3
"""Echo bot with nothing but the standard library: answer URL and WebSocket on one port.

    python3 examples/python/echo_bot.py [port]
"""
import asyncio
import base64
import hashlib
import json
import struct
import sys

WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
MAX_MESSAGE_BYTES = 1 << 20
MAX_BODY_BYTES = 1 << 16


def frame(opcode: int, payload: bytes) -> bytes:
    """One unmasked frame, as a server sends it (RFC 6455 section 5.2)."""
    head = bytes([0x80 | opcode])
    if len(payload) < 126:
        return head + bytes([len(payload)]) + payload
    if len(payload) < 1 << 16:
        return head + bytes([126]) + struct.pack(">H", len(payload)) + payload
    return head + bytes([127]) + struct.pack(">Q", len(payload)) + payload


async def read_frame(reader: asyncio.StreamReader) -> tuple[bool, int, bytes]:
    """Final flag, opcode and unmasked payload of one frame of the client."""
    first, second = await reader.readexactly(2)
    length = second & 0x7F
    if length == 126:
        (length,) = struct.unpack(">H", await reader.readexactly(2))
    elif length == 127:
        (length,) = struct.unpack(">Q", await reader.readexactly(8))
    if length > MAX_MESSAGE_BYTES:
        raise ValueError("frame too large")
    mask = await reader.readexactly(4)
    data = await reader.readexactly(length)
    return bool(first & 0x80), first & 0x0F, bytes(b ^ mask[i % 4] for i, b in enumerate(data))


class EchoBot:
    """Plays back what it hears, in the format that `start` named."""

    def __init__(self) -> None:
        self.stream_id = ""
        self.format: dict = {}

    def answer(self, message: dict) -> dict | None:
        event = message.get("event")
        if event == "start":
            self.stream_id = message["start"]["streamId"]
            self.format = message["start"]["mediaFormat"]
            print("call", message["start"]["callId"], "began", flush=True)
        elif event == "media":
            return {
                "event": "playAudio",
                "streamId": self.stream_id,
                "media": {
                    "contentType": self.format["encoding"],
                    "sampleRate": self.format["sampleRate"],
                    "payload": message["media"]["payload"],
                },
            }
        elif event in ("dtmf", "stop", "error"):
            print(event, message[event], flush=True)
        return None


async def serve_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    bot = EchoBot()
    parts = b""
    while True:
        final, opcode, payload = await read_frame(reader)
        if opcode == CLOSE:
            writer.write(frame(CLOSE, payload[:2]))
            await writer.drain()
            return
        if opcode == PING:
            writer.write(frame(PONG, payload))
            continue
        if opcode == PONG:
            continue
        parts += payload
        if len(parts) > MAX_MESSAGE_BYTES:
            raise ValueError("message too large")
        if not final:
            continue
        reply = bot.answer(json.loads(parts))
        parts = b""
        if reply is not None:
            writer.write(frame(TEXT, json.dumps(reply).encode()))
            await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    try:
        request, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        if headers.get("upgrade", "").lower() == "websocket":
            digest = hashlib.sha1((headers["sec-websocket-key"] + WEBSOCKET_GUID).encode()).digest()
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
            )
            await serve_stream(reader, writer)
            return
        await reader.readexactly(min(int(headers.get("content-length", "0")), MAX_BODY_BYTES))
        body = b""
        if request.split()[1].startswith("/answer"):
            body = (
                '<Response><Stream bidirectional="true" keepCallAlive="true" '
                'contentType="audio/x-l16;rate=16000">'
                f"ws://127.0.0.1:{port}/stream</Stream></Response>"
            ).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body
        )
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError, KeyError) as error:
        print("connection ended:", repr(error), flush=True)
    finally:
        writer.close()


async def main(port: int) -> None:
    server = await asyncio.start_server(lambda r, w: serve(r, w, port), "127.0.0.1", port)
    print(f"answer URL  http://127.0.0.1:{port}/answer", flush=True)
    print(f"stream URL  ws://127.0.0.1:{port}/stream", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 9002))
