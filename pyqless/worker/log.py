# SPDX-License-Identifier: MIT
"""Log records as JSON, for what collects them."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

__all__ = ["JsonFormatter"]

#: what every record has; the rest was given as ``extra``
_USUAL: Final = vars(logging.makeLogRecord({})).keys() | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """
    Formats a record as one line of JSON: time, level, logger, process, message, traceback if there is one, and the fields.

    A field that is called like one of those is left out; what JSON does not know is written as text.
    """

    def format(self, record: logging.LogRecord) -> str:
        """See ``logging.Formatter``."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        for name, value in vars(record).items():
            if name not in _USUAL and name not in line:
                line[name] = _plain(value)
        return json.dumps(line)


def _plain(value: Any) -> Any:
    """A value as JSON has it; as text, where it is none."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)
    return value
