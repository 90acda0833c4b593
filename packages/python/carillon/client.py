"""Client of the REST API: credentials, retries, errors and pages. The generated class ``Api`` declares its types."""
import json
import random
import re
import ssl
import time
import uuid
from base64 import b64encode
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, TypeVar
from urllib.parse import quote, urlencode

from .api import PAGES, Api
from .errors import ApiError, CarillonError, ConnectionLost, ReplyError, RequestTimeout
from .transport import Download, Transport

FIRST_WAIT = 0.25
#: Maximum wait in seconds. A longer ``Retry-After`` makes the error final.
LONGEST_WAIT = 30.0
#: Statuses of requests that were refused before execution: rate limit or overload.
REFUSED_UNDONE = (429, 503)
#: Statuses from a proxy that lost the service. The request may have been executed.
MAYBE_DONE = (502, 504)
Result = TypeVar("Result")
Reader = Callable[[Download, float], Result]


class Client(Api):
    """Client of one service, as an account (``auth_id``) or as the operator (``admin_token``).

    A client has no state between requests: threads can share it.
    """

    def __init__(
        self,
        url: str,
        auth_id: Optional[str] = None,
        auth_token: Optional[str] = None,
        *,
        access_token: Optional[str] = None,
        admin_token: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 2,
        max_reply_bytes: int = 64 << 20,
        ssl_context: Optional[ssl.SSLContext] = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """``url``: base URL of the service without a path. ``access_token``: read-only token instead of
        ``auth_token``. ``timeout``: seconds per attempt. ``retries``: number of retries after the first attempt.
        """
        self._transport = Transport(url, ssl_context)
        self._auth_id = auth_id
        self._auth_token = auth_token
        self._access_token = access_token
        self._admin_token = admin_token
        self._timeout = timeout
        self._attempts = 1 + max(0, retries)
        self._max_reply_bytes = max_reply_bytes
        self._wait = wait

    def _json(self, method: str, path: str, **options: Any) -> Any:
        return self._send(method, path, options, self._parsed)

    def _file(self, path: str, **options: Any) -> Download:
        return self._send("GET", path, options, lambda download, _: download)

    def _upload(self, path: str, file: Any, content_type: str, **options: Any) -> Any:
        # A stream cannot be read again, so uploads are not retried.
        return self._send("POST", path, {**options, "file": file, "content_type": content_type}, self._parsed)

    def _each(self, path: str, query: Any = None, **options: Any) -> Iterator[Any]:
        """Yields the entries of all pages of a list."""
        kind, member = PAGES[path]
        asked = dict(query or {})
        seen = 0
        page = int(asked.get("page") or 1)
        start = int(asked.get("offset") or 0)
        while True:
            place = {"page": page} if kind == "page" else {"offset": start + seen}
            reply = self._json("GET", path, query={**asked, **place}, **options)
            entries = reply[member]
            yield from entries
            seen += len(entries)
            page += 1
            total = _total(reply)
            if not entries or (kind == "offset" and total is not None and start + seen >= total):
                return

    def _send(self, method: str, path: str, options: Mapping[str, Any], read: "Reader[Result]") -> Result:
        operation = f"{method} {path}"
        timeout = options.get("timeout") or self._timeout
        target = self._target(path, options)
        headers = self._headers(method, path, options)
        file = options.get("file")
        body = options.get("body")
        content = file if file is not None else None if body is None else json.dumps(body).encode()
        attempts = 1 if file is not None else self._attempts
        for attempt in range(1, attempts + 1):
            try:
                deadline = time.monotonic() + timeout
                download = self._transport.open(method, target, headers, content, timeout)
                if 200 <= download.status < 300:
                    return read(download, deadline)
                raise self._refusal(operation, download, deadline)
            except CarillonError as error:
                seconds = _wait_before(error, attempt, method in ("GET", "POST"))
                if attempt == attempts or seconds is None:
                    raise
                self._wait(seconds)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _target(self, template: str, options: Mapping[str, Any]) -> str:
        def value(match: "re.Match[str]") -> str:
            name = match.group(1)
            given = options.get(name) or (self._auth_id if name == "auth_id" else None)
            if not given:
                raise TypeError(f"{template}: no {name}")
            return quote(str(given), safe="")

        query = {name: _text(given) for name, given in (options.get("query") or {}).items() if given is not None}
        return re.sub(r"\{(\w+)\}", value, template) + (f"?{urlencode(query)}" if query else "")

    def _headers(self, method: str, path: str, options: Mapping[str, Any]) -> Dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "carillon-python"}
        authorization = self._authorization(path)
        if authorization is not None:
            headers["Authorization"] = authorization
        if "content_type" in options:
            headers["Content-Type"] = options["content_type"]
        elif options.get("body") is not None:
            headers["Content-Type"] = "application/json"
        if method == "POST":
            # The service executes a key once. A retry sends the same key.
            headers["Idempotency-Key"] = options.get("idempotency_key") or str(uuid.uuid4())
        return headers

    def _authorization(self, path: str) -> Optional[str]:
        if path.startswith("/admin/"):
            return None if self._admin_token is None else f"Bearer {self._admin_token}"
        if self._access_token is not None:
            return f"Bearer {self._access_token}"
        if self._auth_id is None or self._auth_token is None:
            return None
        return "Basic " + b64encode(f"{self._auth_id}:{self._auth_token}".encode()).decode()

    def _parsed(self, download: Download, deadline: float) -> Any:
        content = self._transport.read(download, deadline, self._max_reply_bytes)
        if len(content) > self._max_reply_bytes:
            raise ReplyError(f"the reply is larger than {self._max_reply_bytes} bytes")
        if not content:
            return None
        try:
            return json.loads(content)
        except ValueError:
            raise ReplyError("the reply is not JSON") from None

    def _refusal(self, operation: str, download: Download, deadline: float) -> ApiError:
        seconds = download.headers.get("retry-after", "")
        text = self._transport.read(download, deadline, self._max_reply_bytes).decode("utf-8", "replace")
        again = float(seconds) if re.fullmatch(r"\d{1,6}", seconds) else None
        return ApiError(operation, download.status, text, again)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _total(reply: Mapping[str, Any]) -> Optional[int]:
    meta = reply.get("meta")
    total = meta.get("total_count") if isinstance(meta, dict) else reply.get("total")
    return total if isinstance(total, int) else None


def _wait_before(error: CarillonError, attempt: int, is_repeatable: bool) -> Optional[float]:
    """Seconds before the next attempt, or None if the error is final."""
    if not _may_repeat(error, is_repeatable):
        return None
    reported = error.retry_after if isinstance(error, ApiError) else None
    own = FIRST_WAIT * 2.0 ** (attempt - 1) * (0.5 + random.random())
    seconds = max(reported or 0.0, own)
    return None if seconds > LONGEST_WAIT else seconds


def _may_repeat(error: CarillonError, is_repeatable: bool) -> bool:
    if isinstance(error, ApiError):
        return error.status in REFUSED_UNDONE or (is_repeatable and error.status in MAYBE_DONE)
    if isinstance(error, ConnectionLost):
        return is_repeatable or isinstance(error.__cause__, ConnectionRefusedError)
    return isinstance(error, RequestTimeout) and is_repeatable
