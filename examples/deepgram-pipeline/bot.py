#!/usr/bin/env python3
"""Deepgram, a chat model and speech synthesis: python3 examples/deepgram-pipeline/bot.py [port]

Set DEEPGRAM_API_KEY and OPENAI_API_KEY, or DEEPGRAM_URL, CHAT_URL and SPEECH_URL for servers of your own.
"""
import asyncio
import base64
import json
import os
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import connect, port_or, run, stream_document

PORT = port_or(9015)
OPENAI = "https://api.openai.com/v1"
env = os.environ.get
DEEPGRAM_KEY, OPENAI_KEY = env("DEEPGRAM_API_KEY", ""), env("OPENAI_API_KEY", "")
LISTEN = (
    env("DEEPGRAM_URL", "wss://api.deepgram.com/v1/listen")
    + "?encoding=linear16&sample_rate=16000&interim_results=true&endpointing=300"
)
MAX_TURNS = 40  # turns that the chat model remembers
INSTRUCTIONS = "You answer questions about opening hours: weekdays, 9 to 17 o'clock. Be brief."
GREETING = "Hello, what do you want to know?"
APOLOGY = "Sorry, I did not get that."


def post(url, body):
    headers = {"Content-Type": "application/json"}
    if OPENAI_KEY:
        headers["Authorization"] = f"Bearer {OPENAI_KEY}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.read()


def chat(turns):
    body = {"model": env("CHAT_MODEL", "gpt-4o-mini"), "messages": turns}
    reply = json.loads(post(f"{env('CHAT_URL', OPENAI)}/chat/completions", body))
    return reply["choices"][0]["message"]["content"]


def speech(text):
    """L16 at 24 kHz in base64."""
    model = env("SPEECH_MODEL", "gpt-4o-mini-tts")
    body = {"model": model, "voice": "alloy", "input": text, "response_format": "pcm"}
    return base64.b64encode(post(f"{env('SPEECH_URL', OPENAI)}/audio/speech", body)).decode()


class Call:
    def __init__(self, socket):
        self.socket = socket
        self.turns = [{"role": "system", "content": INSTRUCTIONS}]
        self.words = ""
        self.task = None  # the answer in progress

    def start(self, work):
        self.stop()
        self.task = asyncio.create_task(work)

    def stop(self):
        if self.task:
            self.task.cancel()

    async def say(self, text):
        payload = await asyncio.to_thread(speech, text)
        media = {"contentType": "audio/x-l16", "sampleRate": 24000, "payload": payload}
        await self.socket.send({"event": "playAudio", "media": media})

    async def answer(self):
        try:
            text = await asyncio.to_thread(chat, self.turns)
            self.turns.append({"role": "assistant", "content": text})
            print("bot:", text, flush=True)
            await self.say(text)
        except (OSError, ValueError, KeyError) as error:
            print("no answer:", error, flush=True)
            await self.say(APOLOGY)

    def recognized(self, event):
        if event.get("type") != "Results" or not event.get("is_final"):
            return
        self.words = f"{self.words} {event['channel']['alternatives'][0]['transcript']}".strip()
        if event.get("speech_final") and self.words:
            print("caller:", self.words, flush=True)
            self.turns.append({"role": "user", "content": self.words})
            del self.turns[1 : max(1, len(self.turns) - MAX_TURNS)]
            self.words = ""
            self.start(self.answer())


async def answer(_callback):
    return stream_document(
        PORT, after="<Speak>Goodbye.</Speak>", contentType="audio/x-l16;rate=16000", bargeIn="clear"
    )


async def stream(socket):
    recognizer = await connect(LISTEN, {"Authorization": f"Token {DEEPGRAM_KEY}"} if DEEPGRAM_KEY else {})
    call = Call(socket)

    async def from_recognizer():
        async for text in recognizer:
            call.recognized(json.loads(text))
        await socket.close()  # the document continues with the goodbye

    reading = asyncio.create_task(from_recognizer())
    try:
        async for text in socket:
            message = json.loads(text)
            if message["event"] == "start":
                call.start(call.say(GREETING))
            elif message["event"] == "media":
                await recognizer.send(base64.b64decode(message["media"]["payload"]))
            elif message["event"] == "clearedAudio":
                call.stop()
    finally:
        call.stop()
        reading.cancel()
        await recognizer.close()


run(PORT, {"/answer": answer}, stream)
