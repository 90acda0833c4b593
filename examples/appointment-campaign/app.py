#!/usr/bin/env python3
"""Appointment campaign: calls each contact of a CSV file and asks for a confirmation with 1 or a new date with 2.

    AUTH_ID=… AUTH_TOKEN=… CALLER_ID=14155550100 python3 examples/appointment-campaign/app.py [port] [contacts.csv]
"""
import asyncio
import json
import os
import sys
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "packages/python")]
from carillon import Client, is_signed, is_signed_body
from carillon_bot import port_or, public_url, serve

PORT = port_or(9023)
BASE = public_url(PORT)
CSV = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "contacts.csv"
TOKEN = os.environ["AUTH_TOKEN"]
CALLER_ID = os.environ.get("CALLER_ID", "14155550100")
carillon = Client(os.environ.get("CARILLON_URL", "http://127.0.0.1:8080"), os.environ["AUTH_ID"], TOKEN)


def check(callback):
    """Refuses requests that the service has not signed."""
    if not is_signed(callback.headers, callback.url, TOKEN, callback.form):
        raise ValueError("wrong signature")


async def answer(callback):
    check(callback)
    # Columns of the contact list arrive as SIP headers.
    name = callback.parameters.get("X-VH-Name", "")
    date = callback.parameters.get("X-VH-Date", "tomorrow")
    return (
        f'<Response><GetDigits action="{BASE}/choice" numDigits="1" timeout="8" retries="2" validDigits="12">'
        f"<Speak>Hello {escape(name)}. You have an appointment {escape(date)}. "
        "Press 1 to confirm, or 2 if you need another date.</Speak></GetDigits>"
        "<Speak>We will call again. Goodbye.</Speak></Response>"
    )


async def choice(callback):
    check(callback)
    confirmed = callback.parameters.get("Digits") == "1"
    print(f"{callback.parameters['To']}: {'confirmed' if confirmed else 'needs another date'}", flush=True)
    text = "Thank you." if confirmed else "We will send you new dates."
    return f"<Response><Speak>{text} Goodbye.</Speak></Response>"


async def event(callback):
    """Prints the events of the campaign, which are signed over their body."""
    if not is_signed_body(callback.headers, callback.body, TOKEN):
        raise ValueError("wrong signature")
    print("event:", json.loads(callback.body)["event"], flush=True)


def start():
    account = "/api/v1/account/{auth_id}"
    agent = carillon.post("/api/v1/account/{auth_id}/campaign/agents", {"name": "Appointments", "answer_url": f"{BASE}/answer"})
    campaign = carillon.post(
        "/api/v1/account/{auth_id}/campaigns",
        {
            "name": f"Appointments {datetime.now():%Y-%m-%d %H:%M:%S}",
            "agent_id": agent["id"],
            "max_concurrent": 2,
            "timezone": "UTC",
            "caller_id_strategy": "fixed",
            "fixed_caller_id": f"+{CALLER_ID}",
            "retry_attempts": 1,
            "retry_delays": [60],
            "notify_url": f"{BASE}/event",
        },
    )
    one = f"{account}/campaigns/{{campaign_id}}"
    carillon.upload(f"{one}/upload", CSV.read_bytes(), "text/csv", campaign_id=campaign["id"])
    carillon.post(f"{one}/start", campaign_id=campaign["id"])
    print(f"campaign {campaign['id']} started", flush=True)


async def main():
    serving = asyncio.create_task(serve(PORT, {"/answer": answer, "/choice": choice, "/event": event}))
    await asyncio.to_thread(start)
    await serving


asyncio.run(main())
