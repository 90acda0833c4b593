"""Tests of the client. Those of ``Service`` need a running service in CARILLON_URL, AUTH_ID, AUTH_TOKEN, ADMIN_TOKEN."""
import io
import os
import re
import threading
import unittest
from contextlib import redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, List, Tuple

from carillon import (
    ApiError,
    CarillonError,
    Client,
    ConnectionLost,
    ReplyError,
    RequestTimeout,
    is_signed,
    is_signed_body,
)

APPLICATIONS = "/api/v1/Account/{auth_id}/Application/"
APPLICATION = "/api/v1/Account/{auth_id}/Application/{app_id}/"
BALANCE = "/api/v1/Account/{auth_id}/balance/{currency}"


@unittest.skipUnless("CARILLON_URL" in os.environ, "no service in CARILLON_URL")
class Service(unittest.TestCase):
    def setUp(self) -> None:
        env = os.environ
        self.carillon = Client(
            env["CARILLON_URL"], env["AUTH_ID"], env["AUTH_TOKEN"], admin_token=env["ADMIN_TOKEN"]
        )

    def make(self, name: str, **options: Any) -> str:
        body = {"app_name": name, "answer_url": "https://bot.example/a b"}
        return self.carillon.post(APPLICATIONS, body, **options)["app_id"]

    def test_creates_reads_and_deletes_as_account_and_as_operator(self) -> None:
        app_id = self.make("python")
        self.assertEqual(self.carillon.get(APPLICATION, app_id=app_id)["app_name"], "python")
        self.assertIsNone(self.carillon.delete(APPLICATION, app_id=app_id))
        accounts = self.carillon.get("/admin/v1/accounts", query={"limit": 1})["accounts"]
        self.assertEqual(accounts[0]["auth_id"], os.environ["AUTH_ID"])

    def test_follows_the_pages_of_both_kinds_of_lists(self) -> None:
        made = {self.make(f"paged {n}") for n in range(5)}
        listed = [one["app_id"] for one in self.carillon.each(APPLICATIONS, query={"limit": 2})]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertLessEqual(made, set(listed))
        entries = self.carillon.each("/api/v1/Account/{auth_id}/transactions", query={"per_page": 1})
        total = self.carillon.get("/api/v1/Account/{auth_id}/transactions")["total"]
        self.assertEqual(len(list(entries)), total)

    def test_executes_a_repeated_post_with_the_same_key_once(self) -> None:
        self.assertEqual(self.make("once", idempotency_key="py"), self.make("once", idempotency_key="py"))
        self.assertNotEqual(self.make("twice"), self.make("twice"))

    def test_reports_status_text_and_fields_of_a_refusal(self) -> None:
        with self.assertRaises(ApiError) as caught:
            self.carillon.post(APPLICATIONS, {"app_name": "", "answer_url": "nowhere"})
        self.assertIsInstance(caught.exception, CarillonError)
        self.assertEqual(caught.exception.status, 400)
        self.assertEqual(caught.exception.operation, f"POST {APPLICATIONS}")
        self.assertIn("app_name", caught.exception.details)
        with self.assertRaises(ApiError) as refused:
            Client(os.environ["CARILLON_URL"], "MA_X", "x").get(BALANCE, currency="USD")
        self.assertEqual(refused.exception.status, 401)

    def test_runs_the_example_of_the_readme(self) -> None:
        text = (Path(__file__).parent.parent / "README.md").read_text()
        example = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
        with redirect_stdout(io.StringIO()) as printed:
            exec(example, {})
        self.assertRegex(printed.getvalue(), r"shop\n(.*\n)*404 ")

    def test_returns_a_file_unread(self) -> None:
        with self.carillon.file("/api/v1/Account/{auth_id}/cdr/export", query={"format": "csv"}) as export:
            self.assertRegex(b"".join(export).decode(), r"^\w+(,\w+)+\r\n")


class Scripted(unittest.TestCase):
    """Failures, with a server that answers as told."""

    def setUp(self) -> None:
        self.answers: List[Tuple[int, bytes, List[Tuple[str, str]]]] = []
        self.keys: List[str] = []
        self.waits: List[float] = []
        self.release = threading.Event()
        case = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                case.keys.append(self.headers.get("Idempotency-Key", ""))
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                status, body, headers = case.answers.pop(0)
                if status == 0:
                    case.release.wait()
                    return
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET
            do_DELETE = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def tearDown(self) -> None:
        self.release.set()
        self.server.shutdown()
        self.server.server_close()

    def client(self, **options: Any) -> Client:
        return Client(self.url, "MA_1", "t", wait=self.waits.append, **options)

    def test_retries_a_post_with_the_same_key_and_waits_as_told(self) -> None:
        self.answers = [(503, b"", [("Retry-After", "3")]), (502, b"", []), (200, b'{"app_id":"1"}', [])]
        self.assertEqual(self.client().post(APPLICATIONS, {"app_name": "a", "answer_url": "b"})["app_id"], "1")
        self.assertEqual(len(set(self.keys)), 1)
        self.assertEqual(self.waits[0], 3.0)
        self.assertEqual(len(self.waits), 2)

    def test_does_not_repeat_a_deletion_that_may_have_been_executed(self) -> None:
        self.answers = [(502, b"", []), (204, b"", [])]
        with self.assertRaises(ApiError):
            self.client().delete(APPLICATION, app_id="1")
        self.assertEqual(len(self.answers), 1)

    def test_gives_up_after_the_last_attempt(self) -> None:
        self.answers = [(429, b'{"error":"slow down"}', [])] * 3
        with self.assertRaisesRegex(ApiError, "slow down"):
            self.client().get(BALANCE, currency="USD")
        self.assertEqual(self.answers, [])

    def test_names_a_timeout_a_lost_connection_and_an_invalid_reply(self) -> None:
        self.answers = [(0, b"", [])]
        with self.assertRaises(RequestTimeout):
            self.client(retries=0).get(BALANCE, currency="USD", timeout=0.05)
        with self.assertRaises(ConnectionLost):
            Client("http://127.0.0.1:9", retries=0).get(BALANCE, currency="USD", auth_id="x")
        self.answers = [(200, b"<html>", []), (200, b'"' + b"x" * 100 + b'"', [])]
        with self.assertRaisesRegex(ReplyError, "not JSON"):
            self.client().get(BALANCE, currency="USD")
        with self.assertRaisesRegex(ReplyError, "larger"):
            self.client(max_reply_bytes=50).get(BALANCE, currency="USD")

    def test_refuses_a_missing_path_parameter_and_follows_no_redirect(self) -> None:
        with self.assertRaisesRegex(TypeError, "no currency"):
            self.client().get(BALANCE)
        self.answers = [(302, b"", [("Location", self.url)])]
        with self.assertRaises(ApiError):
            self.client().get(BALANCE, currency="USD")


class Signatures(unittest.TestCase):
    """Values of the service for the token ``secret``."""

    HEADERS = {
        "X-Plivo-Signature-V3": os.environ.get("SIGNATURE", ""),
        "X-Plivo-Signature-V3-Nonce": "12345678901234567890",
    }
    URL = "https://user:pw@bot.example/answer?b=2&a=1%20x"
    FORM = [("To", "14155550100"), ("From", "1"), ("From", "0"), ("Name", "Zoë 😀"), ("Ａ", "1"), ("😀", "2")]

    @unittest.skipUnless("SIGNATURE" in os.environ, "no signature of the service")
    def test_accepts_the_signature_of_the_service_only(self) -> None:
        self.assertTrue(is_signed(self.HEADERS, self.URL, "secret", self.FORM))
        self.assertFalse(is_signed(self.HEADERS, self.URL, "other", self.FORM))
        self.assertFalse(is_signed(self.HEADERS, self.URL, "secret", self.FORM[1:]))
        self.assertFalse(is_signed({}, self.URL, "secret", self.FORM))

    def test_checks_the_bytes_of_a_json_event(self) -> None:
        signature = "sha256=" + "64cdff3dcde1b5a70a3b94b9e5f6b0cbbd9bd4dbd1a8a4a6a6b6fb9a0c9b6b2b"
        self.assertFalse(is_signed_body({"X-VoBiz-Signature": signature}, b"{}", "secret"))
        right = "sha256=" + "77325902caca812dc259733aacd046b73817372c777b8d95b402647474516e13"
        self.assertTrue(is_signed_body({"x-vobiz-signature": right}, b"{}", "secret"))


if __name__ == "__main__":
    unittest.main()
