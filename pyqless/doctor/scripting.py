# SPDX-License-Identifier: MIT
"""Whether a store allows scripts: for information, since pyqless runs none. No script is sent to find out."""

from __future__ import annotations

from typing import Any

from pyqless.doctor.report import Check, Verdict
from pyqless.doctor.session import Session
from pyqless.storage.redis.protocol import ServerError

__all__ = ["scripting"]


def scripting(session: Session) -> Check:
    """Tell whether the server has EVAL and this user may send it, as far as the server says."""
    return Check("scripting", Verdict.OK, f"not needed; {_availability(session)}")


def _availability(session: Session) -> str:
    (known,) = session.ask(("COMMAND", "INFO", "eval"))
    if known in ([], [None], {}):
        return "the server has none"
    user = session.ask_one("ACL", "WHOAMI")
    if isinstance(user, ServerError):
        return "whether it is allowed, the server does not tell"
    allowed = _try_dry(session, user)
    if allowed is None:
        return "whether it is allowed, the server does not tell"
    return "allowed, but not used" if allowed else "forbidden to this user"


def _try_dry(session: Session, user: str) -> bool | None:
    """Ask what would be done, or before Redis 7 for the user's rules; None if neither is told."""
    dry, told = session.ask(
        ("ACL", "DRYRUN", user, "EVAL", "return 1", 0), ("ACL", "GETUSER", user)
    )
    if not isinstance(dry, ServerError):
        return bool(dry == "OK")
    return None if isinstance(told, ServerError) else _allowed_by(told)


def _allowed_by(told: Any) -> bool | None:
    """What the rules in a reply to ACL GETUSER say; each overrules those before it."""
    fields = told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))
    allowed = False
    for rule in str(fields.get("commands", "")).split():
        if rule[1:] in ("@all", "@scripting", "@slow", "eval"):
            allowed = rule.startswith("+")
    return allowed
