"""Spellings run in a process that has imported nothing else of the runtime."""

import subprocess
import sys

SCRIPT = """
import re
from transpile.ops.run_spelling import _modules, spelling
from transpile.ops.tables import prims

names = {n for p in prims().values() for n in re.findall(r"transpile_runtime[.](\\w+)", str(p.render))}
print(sorted(n for n in names if not hasattr(_modules()["transpile_runtime"], n)), len(names) > 1)
"""


def test_what_spellings_name_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.stdout.strip() == "[] True", done.stderr
