"""Options of NumPy's functions in every value that matters, on operands of every dtype: NumPy's value in its shape and dtype, or
its exception; a refusal otherwise.

`tests/numpy_api/test_options.py` gives each function each option once; here are the values of an option that need a formula of
their own.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

CALLS = """
np.{nanvar,nanstd,var,std}(x, axis={None,0,(0,1)}, ddof={1,2,3,5,0.5})
np.{nanvar,std}(x, axis=0, {ddof=1,correction=3,ddof=5}, {where=mask,where=False,where=True,mean=np.zeros(3)})
np.{var,nanstd}(x, ddof={1,0}, correction={1,0,2})
np.{sum,prod,all,any,nansum,mean}(x, axis={None,-1}, keepdims={True,False}, where={False,True,mask})
np.{nanprod,nanmean,add.reduce,multiply.reduce}(x, axis={None,-1}, keepdims={True,False}, where={False,True,mask})
np.{max,min,nanmax,nanmin}(x, axis=0, initial=2, where={False,True,mask})
np.{sum,prod,nansum,nanprod}(x, axis={None,0}, initial={3,True})
np.{sum,prod,nansum,nanprod,nanmean}(x, axis={None,0}, dtype={int,float,'float32','>f8'})
np.{sum,mean,max,all,argmax,std,nansum,count_nonzero,add.reduce}(x, axis={[0],(0,),-1,2,(0,0),()})
np.average(x, axis={0,1}, weights={np.arange(1.0,4.0),np.arange(1,4),np.ones(3,'float32')}, returned={True,False})
np.{quantile,nanquantile}(x, {0.3,np.array([0.1,0.7])}, axis={None,0}, method={'lower','higher','nearest','midpoint','no'})
np.{quantile,nanquantile}(x, {0.3,[0.1,0.7]}, method={'inverted_cdf','averaged_inverted_cdf','closest_observation'})
np.{sort,argsort}(x, axis={0,None}, kind={'stable','quicksort','heapsort','mergesort','bogus','q',None})
np.{sort,argsort,partition,argpartition}(x, {0,1}, order={None,'F','x'})
np.{partition,argpartition}(x, 1, kind={'introselect','bogus',None,'stable'})
np.{sort,argsort}(x, kind={'stable',None}, stable={True,False,None})
np.{zeros,ones,empty}({3,(2,3)}, order={'C','F','A','K','x','c'}).shape
np.{zeros_like,full_like,copy,array,asarray}(x, {order='F',order='x',order='k',dtype='>i4',device='gpu'}).shape
np.{full,eye,tri,arange}(3, {order='x',order='A',order='F',device='gpu',device='cpu',dtype='>f8'})
np.{sin,add,negative}(x, {casting='bogus',casting='no',order='x',order='F',subok=True})
np.linspace(np.ones((2,3)), 2.0, 4, axis={0,1,2,-1,-2,3,(-1,)})
np.{linspace,logspace}(0.5, 2.0, {4,1,0}, axis={0,-1,1})
np.linspace(0.5, 2.0, {4,1,0,k,k+2}, {True,False}, retstep=True)
np.trace(x, {0,1}, {0,1}, {0,1,-1})
np.trace(np.array([[200,1],[1,100]],'uint8'))
np.diagonal(x, {0,-1}, {0,1}, {0,1,-1})
np.ravel_multi_index((np.array([3,1],{'uint8','int32','int64'}), {np.array([2,1],'uint8'),1}), (90, 95))
np.pad(x, {1,(1,2)}, mode={'mean','maximum','edge','wrap','constant','linear_ramp'})
np.pad(x, 1, mode={'mean','edge','constant','linear_ramp'}, {constant_values=2,end_values=1})
np.clip(x, {0,2}, {2,3}, {min=1,max=1})
np.meshgrid(x[0], x[1], indexing={'xy','ij','no'})
np.linalg.norm(x, {1,2,None}, axis={0,(0,1),(0,0),(1,-1),[0]})
np.linalg.matrix_power(x, {2,2.0,0,k,True})
np.{polyder,polyint}(x[0], {0,1,2,-1})
np.cov(x, ddof={0,1,0.5,1.0})
np.expand_dims(x, {None,0,(0,1),3,(0,0)})
x.{astype,view}({float,'>f8',int,'bogus'})
"""  # fmt: skip
DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


def choices(text: str) -> list[str]:
    """The alternatives between braces: commas inside of brackets are their own."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return found


def spelled(template: str) -> Iterator[str]:
    """The calls that a line stands for."""
    parts = re.split(r"{([^{}]*)}", template)
    for chosen in itertools.product(*(choices(p) for p in parts[1::2])):
        yield "".join(itertools.chain.from_iterable(zip(parts[::2], (*chosen, ""))))


def operand(dtype: str) -> Any:
    x = np.array([[0.7, 3.0, 1.4], [2.2, 0.2, 5.3], [1.9, 4.1, 0.0]])
    if dtype.startswith("float"):
        x[1, 2] = np.nan
    return (x > 1) if dtype == "bool" else x.astype(dtype)


MASK = np.array([[True, False, True], [True, False, False], [False, False, True]])


def outcome(run: Any, x: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(x.copy(), MASK.copy(), 1)
        except Exception as e:
            return e


def differs(got: Any, wanted: Any) -> bool:
    """Whether it is neither NumPy's value or exception nor a refusal."""
    if isinstance(got, tp.TranspileError):
        return False
    if isinstance(got, Exception) or isinstance(wanted, Exception):
        return not (isinstance(got, type(wanted)) or (isinstance(got, Exception) and isinstance(wanted, type(got))))
    if isinstance(wanted, tuple):
        return len(got) != len(wanted) or any(differs(a, b) for a, b in zip(got, wanted))
    a, b = np.asarray(got), np.asarray(wanted)
    rtol = 1e-6  # what rounds to float32 on the way does it elsewhere in NumPy
    return a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, rtol=rtol, atol=rtol, equal_nan=True)


def programs(texts: list[str], name: str, folder: Path) -> list[Any]:
    lines = ["import math", "import numpy as np", "import scipy.linalg", "import scipy.special", ""]
    for k, text in enumerate(texts):
        lines += [f"def program{k}(x, mask, k):", f"    return {text}", ""]
    module = load("\n".join(lines), name, folder)
    return [getattr(module, f"program{k}") for k in range(len(texts))]


TEMPLATES = CALLS.strip().splitlines()


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.sampled(8)
def test_an_option_has_the_value_that_numpy_gives_it(template: str, tmp_path: Path) -> None:
    texts = list(dict.fromkeys(spelled(template)))
    wrong = []
    for text, program in zip(texts, programs(texts, "values", tmp_path)):
        for dtype in DTYPES:
            wanted = outcome(program, operand(dtype))
            if isinstance(wanted, np.ndarray) and wanted.dtype.kind not in "fiub":
                continue
            got = outcome(Transformed(program, Level()), operand(dtype))
            if differs(got, wanted):
                wrong.append(f"{dtype}: {text}: {got!r}, expected {wanted!r}")
    assert not wrong, "\n".join(wrong)


COMPILED = """
np.nanvar(x, axis=0, ddof=k + 2)
np.var(x, axis=0, where=mask, ddof=2)
np.sum(x, axis=0, where=False)
np.nansum(x, axis=0, dtype=int)
np.nansum(x, axis=0, initial=k)
np.average(x, axis=0, weights=np.arange(1, 4), returned=True)
np.quantile(x, 0.3, axis=0, method="higher")
np.trace(x)
np.linspace(0.5, 2.0, k, retstep=True)
np.linspace(np.ones((2, 3)), 2.0, 4, axis=1)
"""


@pytest.mark.numba
@pytest.mark.parametrize("text", COMPILED.strip().splitlines())
@pytest.mark.sampled(3)
def test_and_in_compiled_code(text: str, tmp_path: Path) -> None:
    (program,) = programs([text], "compiled", tmp_path)
    for dtype in ("float64", "int32"):
        got, wanted = outcome(tp.jit(program), operand(dtype)), outcome(program, operand(dtype))
        assert not differs(got, wanted), f"{dtype}: {got!r}, expected {wanted!r}"
