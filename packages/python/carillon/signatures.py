"""Validation of callback signatures."""
import hashlib
import hmac
from base64 import b64encode
from typing import Iterable, List, Mapping, Tuple, Union
from urllib.parse import parse_qsl

Parameters = Union[Mapping[str, str], Iterable[Tuple[str, str]]]


def is_signed(headers: Mapping[str, str], url: str, auth_token: str, parameters: Parameters = ()) -> bool:
    """Tells whether a callback was signed with the account's token.

    ``url``: the URL as configured, with its query and without fragment. Behind a proxy, build it from the public
    host. ``parameters``: the form of the body; empty for GET and for the upgrade of a WebSocket, whose URL is given
    with ``https`` for ``wss`` and ``http`` for ``ws``.
    """
    got = {name.lower(): value for name, value in headers.items()}
    signature = got.get("x-plivo-signature-v3", "")
    nonce = got.get("x-plivo-signature-v3-nonce", "")
    if not signature or not nonce:
        return False
    text = _signed_text(url, _pairs(parameters), nonce)
    digest = hmac.new(auth_token.encode(), text.encode(), hashlib.sha256).digest()
    return hmac.compare_digest(b64encode(digest), signature.encode())


def is_signed_body(headers: Mapping[str, str], body: bytes, auth_token: str) -> bool:
    """Tells whether a JSON event (of campaigns, alarms or balances) was signed with the account's token."""
    got = {name.lower(): value for name, value in headers.items()}
    digest = hmac.new(auth_token.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={digest}".encode(), got.get("x-vobiz-signature", "").encode())


def _pairs(parameters: Parameters) -> List[Tuple[str, str]]:
    return list(parameters.items()) if isinstance(parameters, Mapping) else list(parameters)


def _signed_text(url: str, body: List[Tuple[str, str]], nonce: str) -> str:
    base, _, query = url.partition("?")
    scheme, mark, rest = base.partition("://")
    host, _, path = rest.partition("/")
    base = f"{scheme}{mark}{host.rpartition('@')[2]}/{path}"
    pairs = "&".join(f"{k}={v}" for k, v in _ordered(parse_qsl(query, keep_blank_values=True)))
    if not body:
        return f"{base}{'?' + pairs if pairs else ''}.{nonce}"
    form = "".join(k + v for k, v in _ordered(body))
    return f"{base}?{pairs}{'.' if pairs else ''}{form}.{nonce}"


def _ordered(pairs: List[Tuple[str, str]]) -> List[Tuple[str, str]]:
    """Sorts by UTF-16 code units, as the service does."""
    return sorted(pairs, key=lambda pair: (pair[0].encode("utf-16-be"), pair[1].encode("utf-16-be")))
