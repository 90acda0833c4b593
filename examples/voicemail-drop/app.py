#!/usr/bin/env python3
"""Voicemail drop: calls a number; a person hears a short text, an answering machine gets a message after its beep.

    AUTH_ID=… AUTH_TOKEN=… CALLER_ID=14155550100 python3 examples/voicemail-drop/app.py [port] TO
"""
import asyncio
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "packages/python")]
from carillon import Client
from carillon_bot import port_or, public_url, serve

PORT = port_or(9025)
BASE = public_url(PORT)
carillon = Client(
    os.environ.get("CARILLON_URL", "http://127.0.0.1:8080"), os.environ["AUTH_ID"], os.environ["AUTH_TOKEN"]
)


async def answer(callback):
    # Without machine_detection_url, the document is requested after the verdict.
    is_machine = callback.parameters.get("Machine") == "true"
    print("a machine answered" if is_machine else "a person answered", flush=True)
    if is_machine:
        text = "This is the optician. Your new glasses are ready. Goodbye."
        return f'<Response><Wait length="40" beep="true"/><Speak>{text}</Speak></Response>'
    return "<Response><Speak>Hello. Your new glasses are ready. Goodbye.</Speak></Response>"


async def hangup(callback):
    print("the call ended:", callback.parameters.get("HangupCause"), flush=True)


def place(to):
    call = {
        "from": os.environ.get("CALLER_ID", "14155550100"),
        "to": to,
        "answer_url": f"{BASE}/answer",
        "hangup_url": f"{BASE}/hangup",
        "machine_detection": "true",
    }
    reply = carillon.post("/api/v1/Account/{auth_id}/Call/", call)
    print(f"calling {to}: {reply['request_uuid']}", flush=True)


async def main():
    serving = asyncio.create_task(serve(PORT, {"/answer": answer, "/hangup": hangup}))
    await asyncio.to_thread(place, sys.argv[2])
    await serving


asyncio.run(main())
