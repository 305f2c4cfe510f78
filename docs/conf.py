"""Sphinx's settings. The pages are put together by ``docs/_generate/site.py``, which runs Sphinx (``make site``)."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime"), str(ROOT / "docs/_generate")]

import transpile  # noqa: E402

project = "transpile"
author = "The transpile developers"
copyright = "The transpile developers"
version = release = transpile.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"transpile {version}"
html_static_path = [str(ROOT / "docs/_static")]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_show_search_summary = False  # a page that is opened as a file may not fetch others
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "github-dark"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]  # docs/errors.md shows what does not parse

default_role = "py:obj"  # `grad` in a docstring
toc_object_entries_show_parents = "hide"
myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"

_DEFAULTS = {"options.FIRST": "0", "_UNSET": "...", "_MISSING": "..."}


def shown_signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: Any, returns: Any) -> Any:
    """Default values as a caller writes them."""
    for own, plain in _DEFAULTS.items():
        signature = re.sub(rf"\b{re.escape(own)}\b", plain, signature) if signature else signature
    return signature, returns


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", shown_signature)
