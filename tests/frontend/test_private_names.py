"""Names with two underscores in classes: each kind of member, used in each way, of an object that is made inside, that is live and
of a file that is not executed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.cli import main

MEMBERS = {
    "attribute": ("", "self.__scale"),
    "method": ("def __part(self, x):\n        return self.__scale * x", "self.__part(x)"),
    "keyword": ("def __part(self, x, k=1.0):\n        return k * x", "self.__part(x, k=2.0) + self.__part(k=3.0, x=x)"),
    "static": ("@staticmethod\n    def __part(x):\n        return x * x", "self.__part(x) + Model.__part(2.0 * x)"),
    "of the class": ("@classmethod\n    def __part(cls, x):\n        return cls.__K * x", "self.__part(x)"),
    "property": ("@property\n    def __part(self):\n        return self.__scale * 2.0", "self.__part * x"),
    "constant": ("", "Model.__K * x + self.__K"),
    "parameter": ("def part(self, __x, *, __k=2.0):\n        return __x * __k", "self.part(x)"),
    "given": ("def p(self, f, x):\n        return f(x)\n\n    def __g(self, x):\n        return x", "self.p(self.__g, x * x)"),
    "lambda": ("", "(lambda __y: __y * self.__scale)(x)"),
    "local": ("def part(self, x):\n        __y = x * x\n        __y += 1.0\n        return __y", "self.part(x)"),
    "inner": ("def f(self, x):\n        def __g(y):\n            return y * self.__scale\n        return __g(x)", "self.f(x)"),
    "comprehension": ("def __part(self, x):\n        return x * x", "sum([self.__part(__v) for __v in (x, 2.0 * x)])"),
    "base's own": ("def __get(self, x):\n        return x * x", "self.__get(x) + self.base(x)"),
    "base's attribute": ("", "self._Base__scale * x + self._get()"),
    "global": ("def part(self, x):\n        return __half(x)", "self.part(x)"),
    "not private": ("def __part__(self, x):\n        return x * x", "self.__part__(x)"),
    "itself": ("def __part(self, x, n=3):\n        return x if n == 0 else x * self.__part(x, n - 1)", "self.__part(x)"),
}  # fmt: skip
TEXT = """
import numpy as np


def _{bare}__half(x):
    return 0.5 * x


class Base:
    def __init__(self, scale):
        self.__scale = 10.0 * scale

    def __get(self, x):
        return self.__scale * x

    def _get(self):
        return self.__scale

    def base(self, x):
        return self.__get(x)


class Model(Base):
    __K = 3.0

    def __init__(self, scale):
        super().__init__(scale)
        self.__scale = scale

    {member}

    def value(self, x):
        return {used}


def f(x: float):
    return Model(2.0).value(x) + 1.0
"""


def text_of(member: str, owner: str) -> str:
    made, used = MEMBERS[member]
    return re.sub(r"\bModel\b", owner, TEXT.format(member=made, used=used, bare=owner.lstrip("_")))


@pytest.mark.parametrize("owner", ["Model", "_Model"])
@pytest.mark.parametrize("member", MEMBERS)
def test_private_names(member: str, owner: str, tmp_path: Path, capsys: Any) -> None:
    text = text_of(member, owner)
    path = tmp_path / f"private_{abs(hash((member, owner)))}.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    f, live = names["f"], names[owner](2.0)
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tp.value_and_grad(f)(1.5), (f(1.5), slope), rtol=1e-7)
    np.testing.assert_allclose(tp.value_and_grad(live.value)(1.5), (f(1.5) - 1.0, slope), rtol=1e-7)
    if member == "itself":
        return  # its number of calls is known where the function is called, which nobody executes
    assert main(["grad", f"{path}:f"]) == 0
    printed: dict[str, Any] = {}
    exec(capsys.readouterr().out, printed)
    np.testing.assert_allclose(printed["f_grad"](1.5), slope, rtol=1e-7)
