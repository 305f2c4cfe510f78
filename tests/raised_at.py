"""The origin of an exception, from its traceback."""

from __future__ import annotations

import traceback
from pathlib import Path


def raised_at(error: BaseException) -> str:
    """``file.py:line: text`` of the last entry of the traceback."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}: {last.line}"
