#!/usr/bin/env python3
"""Gemini Live: GEMINI_API_KEY=… python3 examples/gemini-live/bot.py [port]

The caller's audio is L16 at 16 kHz. The engine stops the bot when the caller speaks; the model notices it too.
GEMINI_URL sets a compatible server.
"""
import asyncio
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import connect, port_or, run, stream_document

PORT = port_or(9013)
KEY = os.environ.get("GEMINI_API_KEY", "")
MODEL = os.environ.get("GEMINI_MODEL", "gemini-2.5-flash-native-audio-latest")
URL = os.environ.get(
    "GEMINI_URL",
    "wss://generativelanguage.googleapis.com/ws/"
    "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
)
SETUP = {
    "model": f"models/{MODEL}",
    "generationConfig": {"responseModalities": ["AUDIO"]},
    "systemInstruction": {"parts": [{"text": "Ask how satisfied the caller was, from 1 to 5."}]},
}


async def answer(_callback):
    return stream_document(
        PORT, after="<Speak>Goodbye.</Speak>", contentType="audio/x-l16;rate=16000", bargeIn="clear"
    )


async def stream(socket):
    model = await connect(URL, {"x-goog-api-key": KEY} if KEY else {})
    await model.send({"setup": SETUP})
    ready = asyncio.Event()

    async def from_model():
        async for data in model:
            message = json.loads(data)  # the vendor sends JSON in binary frames
            if "setupComplete" in message:
                ready.set()
                await model.send({"realtimeInput": {"text": "Greet the caller."}})
            content = message.get("serverContent", {})
            for part in content.get("modelTurn", {}).get("parts", []):
                audio = part.get("inlineData", {})
                rate = re.match(r"audio/pcm;rate=(\d+)", audio.get("mimeType", ""))
                if rate:
                    media = {"contentType": "audio/x-l16", "sampleRate": int(rate[1]), "payload": audio["data"]}
                    await socket.send({"event": "playAudio", "media": media})
            if content.get("interrupted"):
                await socket.send({"event": "clearAudio"})
        await socket.close()  # the model has left; the document continues with the goodbye

    reading = asyncio.create_task(from_model())
    try:
        async for text in socket:
            message = json.loads(text)
            # The vendor accepts no audio before it has confirmed the setup.
            if message["event"] == "media" and ready.is_set():
                audio = {"data": message["media"]["payload"], "mimeType": "audio/pcm;rate=16000"}
                await model.send({"realtimeInput": {"audio": audio}})
    finally:
        reading.cancel()
        await model.close()


run(PORT, {"/answer": answer}, stream)
