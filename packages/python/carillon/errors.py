"""Errors of the client."""
import json
from typing import Any, Dict, Optional


class CarillonError(Exception):
    """Base class of all client errors. Its text is one readable line."""


class ApiError(CarillonError):
    """The service refused the request."""

    #: HTTP status.
    status: int
    #: Operation of the request: ``GET /api/v1/Account/{auth_id}/cdr``.
    operation: str
    #: Error texts by field; empty if the service returned none.
    details: Dict[str, str]
    #: Response body: parsed JSON, otherwise text.
    body: Any
    #: Seconds after which to retry; None if the service did not specify it.
    retry_after: Optional[float]

    def __init__(self, operation: str, status: int, text: str, retry_after: Optional[float] = None) -> None:
        self.operation = operation
        self.status = status
        self.retry_after = retry_after
        try:
            self.body = json.loads(text)
        except ValueError:
            self.body = text
        self.details = {}
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        """The error text of the response. The API has five error formats, and some contain details by field."""
        if not isinstance(self.body, dict):
            return f"HTTP {self.status}"
        nested = self.body.get("error")
        error = nested if isinstance(nested, dict) else self.body
        named = nested if isinstance(nested, str) else None
        details = error.get("details")
        if isinstance(details, dict):
            self.details = {str(field): str(text) for field, text in details.items()}
        message = error.get("message")
        # The details contain the same text, field by field.
        said = (named or message) if self.details else (message or named)
        return "; ".join([str(said or f"HTTP {self.status}"), *(f"{k} {v}" for k, v in self.details.items())])


class ConnectionLost(CarillonError):
    """The service did not respond: connection refused or lost. See ``__cause__``."""


class RequestTimeout(CarillonError):
    """No response within the timeout. The service may or may not have executed the request."""


class ReplyError(CarillonError):
    """The response is not a valid API response: not JSON, for example a proxy's page, or too large."""
