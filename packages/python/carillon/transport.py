"""One HTTP request at a time, with a limit on its duration. Redirects are not followed."""
import http.client
import io
import socket
import ssl
import time
from typing import IO, Any, Dict, Iterator, Mapping, Optional, Union
from urllib.parse import urlsplit

from .errors import ConnectionLost, RequestTimeout

Body = Union[bytes, IO[bytes], None]
CHUNK_BYTES = 1 << 16


class Download:
    """A response with an unread body. Use it as a context manager, or close it."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._response = response
        self.status: int = response.status
        #: Header fields, with names in lower case.
        self.headers: Dict[str, str] = {name.lower(): value for name, value in response.getheaders()}

    def read(self, size: int = -1) -> bytes:
        """Reads at most ``size`` bytes, or the rest of the body."""
        try:
            return self._response.read() if size < 0 else self._response.read(size)
        except (socket.timeout, TimeoutError) as error:
            raise RequestTimeout("the reply was not complete within the timeout") from error
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLost(f"the connection was lost: {error}") from error

    def __iter__(self) -> Iterator[bytes]:
        while True:
            part = self.read(CHUNK_BYTES)
            if not part:
                return
            yield part

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Download":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Transport:
    """Opens one connection per request, so that a client can be used by several threads."""

    def __init__(self, url: str, context: Optional[ssl.SSLContext] = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an http:// or https:// URL: {url}")
        self._is_tls = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._context = context
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def open(self, method: str, path: str, headers: Mapping[str, str], body: Body, timeout: float) -> Download:
        """Sends a request. Each step (connect, write, response headers) ends within the timeout in seconds."""
        connection = self._connection(timeout)
        try:
            connection.request(method, self._prefix + path, body, dict(headers), encode_chunked=_is_stream(body))
            return Download(connection, connection.getresponse())
        except (socket.timeout, TimeoutError) as error:
            connection.close()
            raise RequestTimeout(f"{method} {path}: no reply within {timeout:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionLost(f"cannot reach the service at {self._shown}") from error

    def read(self, download: Download, deadline: float, limit: int) -> bytes:
        """Reads a body of at most ``limit`` bytes before the deadline, and one byte more if it is longer."""
        whole = io.BytesIO()
        with download:
            while whole.tell() <= limit:
                if time.monotonic() > deadline:
                    raise RequestTimeout("the reply was not complete within the timeout")
                part = download.read(min(CHUNK_BYTES, limit + 1 - whole.tell()))
                if not part:
                    break
                whole.write(part)
        return whole.getvalue()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._is_tls:
            context = self._context or ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)


def _is_stream(body: Body) -> bool:
    return body is not None and not isinstance(body, bytes)
