"""The page of an audit."""

from __future__ import annotations

from pathlib import Path


def page(keep: Path) -> str:
    return ""
