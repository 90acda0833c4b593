#!/usr/bin/env python3
"""Connects WhatsApp Business Calling: creates the carrier, its codec, and the business number with its application.

    ADMIN_TOKEN=… AUTH_ID=… AUTH_TOKEN=… NUMBER=14155550199 PASSWORD=… SOURCES=… ANSWER_URL=https://… \
        python3 examples/whatsapp/setup.py
"""
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "packages/python"))
from carillon import Client

env = os.environ
NUMBER = env["NUMBER"]
carillon = Client(
    env.get("CARILLON_URL", "http://127.0.0.1:8080"), env["AUTH_ID"], env["AUTH_TOKEN"], admin_token=env["ADMIN_TOKEN"]
)
carrier = json.loads((HERE / "carrier.json").read_text())
carrier["auth"] = {"username": NUMBER, "password": env["PASSWORD"]}
carrier["source_addresses"] = [source for source in env.get("SOURCES", "").split(",") if source]
carrier["host"] = env.get("WHATSAPP_HOST", carrier["host"])
carrier["port"] = int(env.get("WHATSAPP_PORT", carrier["port"]))
name = carillon.post("/admin/v1/carriers", carrier)["name"]
policy = {"codecs": ["OPUS"]}
carillon.put("/admin/v1/media-policies/{subject}/{name}", policy, subject="carrier", name=name)
number = {"e164": NUMBER, "country": env.get("COUNTRY", "US"), "currency": env.get("CURRENCY", "USD")}
carillon.post("/admin/v1/numbers", {**number, "account_id": env["AUTH_ID"]})
application = {"app_name": "whatsapp", "answer_url": env["ANSWER_URL"]}
app_id = carillon.post("/api/v1/Account/{auth_id}/Application/", application)["app_id"]
carillon.post(
    "/api/v1/Account/{auth_id}/numbers/{e164_number}/application",
    {"application_id": int(app_id)},
    e164_number=NUMBER,
)
print(f"carrier {name} and number {NUMBER} are ready", flush=True)
