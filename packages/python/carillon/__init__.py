"""Typed client of Carillon's REST API, and validation of its callbacks. Only the standard library is needed."""
from .client import Client
from .errors import ApiError, CarillonError, ConnectionLost, ReplyError, RequestTimeout
from .signatures import is_signed, is_signed_body
from .transport import Download

__all__ = [
    "ApiError",
    "CarillonError",
    "Client",
    "ConnectionLost",
    "Download",
    "ReplyError",
    "RequestTimeout",
    "is_signed",
    "is_signed_body",
]
