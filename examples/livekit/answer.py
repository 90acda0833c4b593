#!/usr/bin/env python3
"""LiveKit Agents: connects callers to a LiveKit SIP trunk.

    LIVEKIT_SIP=PROJECT.sip.livekit.cloud LIVEKIT_PASSWORD=… python3 examples/livekit/answer.py [port]
"""
import os
import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from carillon_bot import port_or, public_url, run

PORT = port_or(9032)
env = os.environ.get
URI = (
    f"sip:{env('LIVEKIT_NUMBER', '+14155550199')}@{env('LIVEKIT_SIP', '127.0.0.1:5060')}"
    f";transport={env('LIVEKIT_TRANSPORT', 'tcp')}"
)
# The number to show; without it, the default caller ID of the account.
CALLER_ID = f" callerId={quoteattr(env('CALLER_ID'))}" if env("CALLER_ID") else ""
USERNAME, PASSWORD = env("LIVEKIT_USERNAME", "carillon"), env("LIVEKIT_PASSWORD", "")


async def answer(callback):
    headers = quoteattr(f"Call={callback.parameters.get('CallUUID', '')}")
    user = f"<User sipAuthUsername={quoteattr(USERNAME)} sipAuthPassword={quoteattr(PASSWORD)}>{escape(URI)}</User>"
    return f'<Response><Dial action="{public_url(PORT)}/end"{CALLER_ID} sipHeaders={headers}>{user}</Dial></Response>'


async def end(callback):
    status = callback.parameters.get("DialStatus")
    print("the agent's leg:", status, flush=True)
    if status == "completed":
        return "<Response><Hangup/></Response>"
    return "<Response><Speak>The assistant is not available. Please call again later.</Speak></Response>"


run(PORT, {"/answer": answer, "/end": end})
