#!/usr/bin/env python3
"""Warm transfer: COLLEAGUE=14155550123 python3 examples/warm-transfer/bot.py [port]

The bot talks until the caller presses 0. The service then calls the colleague (a number or SIP URI), speaks the
introduction, and connects both when the colleague presses 1. The caller hears music until then.
"""
import base64
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import port_or, run, stream_document

PORT = port_or(9017)
COLLEAGUE = os.environ.get("COLLEAGUE", "14155550123")
SHOWN = {"callerId": os.environ["CALLER_ID"]} if "CALLER_ID" in os.environ else {}
WAV_HEADER_BYTES = 44
# Signed 16-bit little-endian mono at 8 kHz.
SPEECH = (Path(__file__).parents[2] / "fixtures/audio/speech.wav").read_bytes()[WAV_HEADER_BYTES:]
PROMPT = {
    "event": "playAudio",
    "media": {"contentType": "audio/x-l16", "sampleRate": 8000, "payload": base64.b64encode(SPEECH).decode()},
}


async def answer(_callback):
    return stream_document(PORT, transfers="true")


async def stream(socket):
    caller = ""
    async for text in socket:
        message = json.loads(text)
        event = message["event"]
        if event == "start":
            caller = message["start"]["from"]
            await socket.send(PROMPT)
        elif event == "dtmf" and message["dtmf"]["digit"] == "0":
            await socket.send({"event": "clearAudio"})
            introduction = f"A caller with the number {' '.join(caller)} asks for a person."
            transfer = {"to": COLLEAGUE, "mode": "warm", "introduction": introduction, **SHOWN}
            await socket.send({"event": "transfer", "transfer": transfer})
        elif event == "transfer":
            status = message["transfer"]["status"]
            print("transfer", status, message["transfer"].get("detail", ""), flush=True)
            if status in ("declined", "failed"):  # the caller is with the bot again
                await socket.send(PROMPT)
    print("the bot has left", flush=True)


run(PORT, {"/answer": answer}, stream)
