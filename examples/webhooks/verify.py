#!/usr/bin/env python3
"""Validation of callbacks: AUTH_TOKEN=… python3 examples/webhooks/verify.py [port]

``/answer`` and ``/hangup`` are callbacks with a form, ``/event`` gets JSON events, for example of campaigns. Requests
with a wrong signature get 403.
"""
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "packages/python")]
from carillon import is_signed, is_signed_body
from carillon_bot import port_or, public_url

PORT = port_or(9027)
TOKEN = os.environ.get("AUTH_TOKEN", "")
MAX_BODY = 1 << 20


class Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        size = int(self.headers.get("Content-Length", "0"))
        if size > MAX_BODY:
            return self.send_error(413)
        body = self.rfile.read(size)
        # The URL as configured: behind a proxy, PUBLIC_URL has the public scheme and host.
        url = public_url(PORT) + self.path
        if self.headers.get("Content-Type", "").startswith("application/json"):
            valid = is_signed_body(self.headers, body, TOKEN)
        else:
            valid = is_signed(self.headers, url, TOKEN, parse_qsl(body.decode(), keep_blank_values=True))
        print(f"{self.path}: {'signed by the service' if valid else 'REFUSED'}", flush=True)
        document = b"<Response><Speak>Hello.</Speak></Response>" if valid else b""
        self.send_response(200 if valid else 403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(document)))
        self.end_headers()
        self.wfile.write(document)

    do_GET = do_POST

    def log_message(self, *_):
        pass


print(f"serving {public_url(PORT)}", flush=True)
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
