"""Calls the methods of Plivo's Python library against the service at argv[1], and prints each request that it sends as a line of JSON.

argv: url, auth id, auth token, UUID of a live call, UUID of a finished call, name of a conference and of a multi-party call.
Standard output: {"method", "path", "query", "body", "status"} a request; "path" is what follows the account's id.
"""
import json
import sys
from urllib.parse import parse_qsl, urlsplit

import plivo
from requests.adapters import HTTPAdapter

URL, AUTH_ID, TOKEN, LIVE, DONE, ROOM = sys.argv[1:]
VENDOR = "https://api.plivo.com"


class Here(HTTPAdapter):
    """What a user does by DNS and a certificate: the vendor's host is this service."""

    def send(self, request, **kwargs):
        request.url = request.url.replace(VENDOR, URL, 1)
        reply = super().send(request, **kwargs)
        parts = urlsplit(request.url)
        body = request.body
        line = {
            "method": request.method,
            "path": parts.path.replace(f"/v1/Account/{AUTH_ID}", "", 1),
            "query": dict(parse_qsl(parts.query)),
            "body": json.loads(body) if body else None,
            "status": reply.status_code,
        }
        print(json.dumps(line, sort_keys=True), flush=True)
        return reply


client = plivo.RestClient(AUTH_ID, TOKEN)
client.session.mount(VENDOR, Here())
ANSWER = "https://a.example/answer"

client.account.get()
client.account.update(name="Ada Py")

app = client.applications.create("py", answer_url=ANSWER)
client.applications.get(app.app_id)
client.applications.update(app.app_id, answer_method="GET")
client.applications.list(limit=5)

phone = client.endpoints.create("py", "longenough1", "py-1", app.app_id)
client.endpoints.get(phone.endpoint_id)
client.endpoints.update(phone.endpoint_id, alias="py-2")
client.endpoints.list()
client.endpoints.delete(phone.endpoint_id)
client.applications.delete(app.app_id, cascade=True)

client.subaccounts.create("team", True)
# The library refuses ids of this service (SA_…) in get, update and delete.
client.subaccounts.list()

client.calls.create("14155550100", "14155550101", ANSWER, time_limit=60)
client.calls.list(limit=5)
client.calls.get(DONE)
client.live_calls.list_ids()
client.live_calls.get(LIVE)
client.queued_calls.list_ids()
client.calls.transfer(LIVE, legs="aleg", aleg_url=ANSWER)
client.calls.start_recording(LIVE, time_limit=10)
client.calls.stop_recording(LIVE, ANSWER, "POST")
client.calls.start_playing(LIVE, "https://a.example/x.mp3")
client.calls.stop_playing(LIVE)
client.calls.start_speaking(LIVE, "Hello")
client.calls.stop_speaking(LIVE)
client.calls.send_digits(LIVE, "12#")
client.calls.start_stream(LIVE, "wss://bot.example/ws", bidirectional=True)
client.calls.get_all_streams(LIVE)
client.calls.delete_all_streams(LIVE)
client.calls.hangup(LIVE)

client.conferences.list()
client.conferences.get(ROOM)
client.conferences.member_mute(ROOM, "1")
client.conferences.member_mute_stop(ROOM, "1")
client.conferences.member_deaf(ROOM, "1")
client.conferences.member_deaf_stop(ROOM, "1")
client.conferences.member_play(ROOM, "1", "https://a.example/x.mp3")
client.conferences.member_play_stop(ROOM, "1")
client.conferences.member_speak(ROOM, "1", "Hello")
client.conferences.member_speak_stop(ROOM, "1")
client.conferences.record(ROOM)
client.conferences.record_stop(ROOM)
client.conferences.member_kick(ROOM, "1")
client.conferences.member_hangup(ROOM, "1")
client.conferences.hangup(ROOM)

mpc = client.multi_party_calls
mpc.list()
mpc.get(friendly_name=ROOM)
mpc.start(friendly_name=ROOM)
mpc.start_recording(friendly_name=ROOM)
mpc.pause_recording(friendly_name=ROOM)
mpc.resume_recording(friendly_name=ROOM)
mpc.stop_recording(friendly_name=ROOM)
mpc.add_participant("agent", friendly_name=ROOM, from_="14155550100", to_="14155550101")
mpc.list_participants(friendly_name=ROOM)
mpc.get_participant("1", friendly_name=ROOM)
mpc.update_participant("1", friendly_name=ROOM, mute=True)
mpc.start_participant_recording("1", friendly_name=ROOM)
mpc.pause_participant_recording("1", friendly_name=ROOM)
mpc.resume_participant_recording("1", friendly_name=ROOM)
mpc.stop_participant_recording("1", friendly_name=ROOM)
mpc.start_play_audio("1", friendly_name=ROOM, url="https://a.example/x.mp3")
mpc.stop_play_audio("1", friendly_name=ROOM)
mpc.kick_participant("1", friendly_name=ROOM)
mpc.stop(friendly_name=ROOM)

client.recordings.list(limit=1)

client.numbers.search("US", type="local", pattern="5550190")
client.numbers.buy("14155550190")
client.numbers.list(limit=5)
client.numbers.get("14155550190")
client.numbers.update("14155550190", subaccount="")
client.numbers.delete("14155550190")
client.pricing.get("GB")
client.token.create(AUTH_ID, sub="desk", outgoing_allow=True)
