"""The frozen records: a JSON file for each suite, and the environment in which they were produced."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from oracle.values import differences

FROZEN = Path(__file__).parent / "frozen"
Records = dict[str, dict[str, dict[str, dict[str, Any]]]]  # suite, program, transform, stage


def environment() -> dict[str, Any]:
    """The facts on which texts for Numba and LLVM depend, besides the compiler."""
    import llvmlite
    import numba
    import numpy

    from transpile_runtime.compiled.machine import has_fused

    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "fused multiply-add": has_fused(),
    }


def same_environment(folder: Path = FROZEN) -> bool:
    return _read(folder / "environment.json") == environment()


def frozen(folder: Path = FROZEN) -> Records:
    """All frozen records; empty if there are none."""
    return {path.stem: _read(path) for path in sorted(folder.glob("*.json")) if path.stem != "environment"}


def write(records: Records, is_whole: bool, folder: Path = FROZEN) -> None:
    """Freezes records: replaces all if ``is_whole``, else merges them into the existing ones."""
    folder.mkdir(exist_ok=True)
    if not is_whole:
        records = merged(frozen(folder), records)
    for suite, programs in records.items():
        _write(folder / f"{suite}.json", programs)
    _write(folder / "environment.json", environment())


def merged(old: Records, new: Records) -> Records:
    """The old records, updated with the new ones."""
    for suite, programs in new.items():
        for program, transforms in programs.items():
            for transform, stages in transforms.items():
                old.setdefault(suite, {}).setdefault(program, {}).setdefault(transform, {}).update(stages)
    return old


def without(records: Records, stages: Collection[str]) -> Records:
    """The records without those of these stages."""
    kept: Records = {}
    for suite, program, transform, stage, record in _each(records):
        found = kept.setdefault(suite, {}).setdefault(program, {}).setdefault(transform, {})
        if stage not in stages:
            found[stage] = record
    return kept


def changes(found: Records, wanted: Records, is_whole: bool) -> Iterator[tuple[str, str, str, str, str]]:
    """The differences from the frozen records: suite, program, transform, stage, and text; for a whole run missing records
    too."""
    for suite, program, transform, stage, record in _each(found):
        old = wanted.get(suite, {}).get(program, {}).get(transform, {}).get(stage)
        said = how(stage, record, old)
        if said:
            yield suite, program, transform, stage, said
    for suite, program, transform, stage, _ in _each(wanted) if is_whole else ():
        if stage not in found.get(suite, {}).get(program, {}).get(transform, {}):
            yield suite, program, transform, stage, "is gone"


def how(stage: str, record: Any, old: Any) -> str:
    """How a record differs from the frozen one; "" if it does not."""
    if old is None:
        return "is not frozen"
    if isinstance(record, dict) and isinstance(old, dict) and stage == "values":
        return "\n".join(differences(record, old))
    if record == old:
        return ""
    said, before = (one["raised"] if isinstance(one, dict) else "a text" for one in (record, old))
    return "changed" if said == before == "a text" else f"gives {said}\nfrozen: {before}"


def _each(records: Records) -> Iterator[tuple[str, str, str, str, Any]]:
    for suite, programs in records.items():
        for program, transforms in programs.items():
            for transform, stages in transforms.items():
                for stage, record in stages.items():
                    yield suite, program, transform, stage, record


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
