"""Results on disk: a JSON file for each suite, a row for each problem and size. A run replaces the rows that it measures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
Row = dict[str, Any]


def key_of(row: Row) -> str:
    return f"{row['suite']}/{row['name']}/{row['size']}"


def load(suite: str, folder: Path = RESULTS) -> dict[str, Row]:
    """The rows of a suite by key; empty if nothing has been measured."""
    path = folder / f"{suite}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(row: Row, folder: Path = RESULTS) -> None:
    """Stores a row, atomically: the file is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {**load(row["suite"], folder), key_of(row): row}
    path = folder / f"{row['suite']}.json"
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def ordered(keys: Iterable[str], folder: Path = RESULTS) -> list[Row]:
    """The stored rows in the order of the keys; keys without a row, and rows without a key, are left out."""
    rows: dict[str, Row] = {}
    keys = list(keys)
    for suite in dict.fromkeys(key.split("/")[0] for key in keys):
        rows.update(load(suite, folder))
    return [rows[key] for key in keys if key in rows]
