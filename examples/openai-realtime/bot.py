#!/usr/bin/env python3
"""OpenAI Realtime: OPENAI_API_KEY=… python3 examples/openai-realtime/bot.py [port]

The engine stops the bot when the caller speaks, and reports how much was heard; the model's transcript is truncated
there. OPENAI_URL sets a compatible server.
"""
import asyncio
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import connect, port_or, run, stream_document

PORT = port_or(9011)
KEY = os.environ.get("OPENAI_API_KEY", "")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-realtime")
URL = os.environ.get("OPENAI_URL", f"wss://api.openai.com/v1/realtime?model={MODEL}")
SESSION = {
    "type": "realtime",
    "instructions": "You are the receptionist of a dental practice. Be brief and friendly.",
    "output_modalities": ["audio"],
    "audio": {
        "input": {"format": {"type": "audio/pcmu"}, "turn_detection": {"type": "server_vad"}},
        "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "marin"},
    },
    "tools": [{"type": "function", "name": "end_call", "description": "Ends the call after the goodbye."}],
}


class Call:
    """One call: the socket of the service and that of the model."""

    def __init__(self, socket, model):
        self.socket, self.model = socket, model
        self.item = ""  # item that the caller hears
        self.responding = False
        self.ending = False

    async def hear(self, message):
        event = message["event"]
        if event == "media":
            await self.model.send({"type": "input_audio_buffer.append", "audio": message["media"]["payload"]})
        elif event == "clearedAudio" and self.item:
            if self.responding:
                await self.model.send({"type": "response.cancel"})
            self.responding = False
            heard = message.get("playedMs", 0)
            print(f"interrupted after {heard} ms", flush=True)
            truncate = {"item_id": self.item, "content_index": 0, "audio_end_ms": heard}
            await self.model.send({"type": "conversation.item.truncate", **truncate})
            self.item = ""
        elif event == "playedStream" and message["name"] == "goodbye":
            await self.socket.close()

    async def read(self, event):
        kind = event.get("type")
        if kind == "session.updated":
            await self.model.send({"type": "response.create", "response": {"instructions": "Greet the caller."}})
        elif kind == "response.created":
            self.responding = True
        elif kind == "response.output_audio.delta" and self.responding:
            self.item = event["item_id"]
            media = {"contentType": "audio/x-l16", "sampleRate": 24000, "payload": event["delta"]}
            await self.socket.send({"event": "playAudio", "media": media})
        elif kind == "response.function_call_arguments.done":
            self.ending = event.get("name") == "end_call"
        elif kind == "response.done":
            self.responding = False
            # Positions of later audio count from here.
            await self.socket.send({"event": "checkpoint", "name": "goodbye" if self.ending else self.item})
        elif kind == "error":
            print("vendor:", event["error"]["message"], flush=True)


async def answer(_callback):
    return stream_document(
        PORT, after="<Speak>Goodbye.</Speak>", contentType="audio/x-mulaw;rate=8000", bargeIn="clear", playPositions="true"
    )


async def stream(socket):
    model = await connect(URL, {"Authorization": f"Bearer {KEY}"} if KEY else {})
    call = Call(socket, model)
    await model.send({"type": "session.update", "session": SESSION})

    async def from_model():
        async for text in model:
            await call.read(json.loads(text))
        await socket.close()  # the model has left; the document continues with the goodbye

    reading = asyncio.create_task(from_model())
    try:
        async for text in socket:
            await call.hear(json.loads(text))
    finally:
        reading.cancel()
        await model.close()


run(PORT, {"/answer": answer}, stream)
