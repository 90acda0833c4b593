#!/usr/bin/env python3
"""Speech menu: python3 examples/speech-ivr/app.py [port]

Callers say or press their choice. Keys work without a recognizer. SALES and SUPPORT are numbers or SIP URIs.
"""
import os
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import port_or, public_url, run

PORT = port_or(9021)
BASE = public_url(PORT)
MIN_CONFIDENCE = 0.4
# The number to show; without it, the default caller ID of the account.
CALLER_ID = f" callerId={quoteattr(os.environ['CALLER_ID'])}" if "CALLER_ID" in os.environ else ""
CHOICES = [
    ("1", r"sales|buy|order", "the sales team", os.environ.get("SALES", "14155550123")),
    ("2", r"support|help|problem", "support", os.environ.get("SUPPORT", "14155550124")),
]


def response(elements):
    return f"<Response>{elements}</Response>"


def menu(before=""):
    return response(
        f'{before}<GetInput action="{BASE}/choice" inputType="dtmf speech" numDigits="1" executionTimeout="5" '
        'hints="sales, support"><Speak>Say sales or support, or press 1 or 2.</Speak></GetInput>'
        "<Speak>I did not hear you. Goodbye.</Speak>"
    )


async def answer(_callback):
    return menu()


async def choice(callback):
    form = callback.parameters
    speech, digits = form.get("Speech", ""), form.get("Digits", "")
    # A recognizer that reports no confidence leaves it empty.
    sure = float(form.get("SpeechConfidenceScore") or 1) >= MIN_CONFIDENCE
    for digit, words, name, to in CHOICES:
        if digit == digits or (speech and sure and re.search(words, speech, re.IGNORECASE)):
            print(f"choice: {digits or speech} → {name}", flush=True)
            tag = "User" if to.startswith("sip:") else "Number"
            dial = f'<Dial action="{BASE}/end" timeout="30"{CALLER_ID}><{tag}>{escape(to)}</{tag}></Dial>'
            return response(f"<Speak>I connect you to {name}.</Speak>{dial}")
    print(f"choice: {digits or speech} → none", flush=True)
    return menu("<Speak>I did not understand that.</Speak>")


async def end(callback):
    if callback.parameters.get("DialStatus") == "completed":
        return response("<Hangup/>")
    return response("<Speak>No one is free at the moment. Please call again later.</Speak>")


run(PORT, {"/answer": answer, "/choice": choice, "/end": end})
