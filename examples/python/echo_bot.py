#!/usr/bin/env python3
"""Echo bot: plays back what it hears, in the format that ``start`` names. Standard library only.

    python3 examples/python/echo_bot.py [port]
"""
import json

from carillon_bot import port_or, run, stream_document

PORT = port_or(9002)


async def answer(_callback):
    return stream_document(PORT, contentType="audio/x-l16;rate=16000")


async def echo(socket):
    stream_id, media_format = "", {}
    async for text in socket:
        message = json.loads(text)
        event = message["event"]
        if event == "start":
            stream_id = message["start"]["streamId"]
            media_format = message["start"]["mediaFormat"]
            print("call", message["start"]["callId"], "began", flush=True)
        elif event == "media":
            media = {
                "contentType": media_format["encoding"],
                "sampleRate": media_format["sampleRate"],
                "payload": message["media"]["payload"],
            }
            await socket.send({"event": "playAudio", "streamId": stream_id, "media": media})
        elif event in ("dtmf", "stop", "error"):
            print(event, message[event], flush=True)


run(PORT, {"/answer": answer}, echo)
