"""Pairs of options and of operands of NumPy's functions, which mean something together that neither means alone: NumPy's value in
its shape and dtype, or its exception; a refusal otherwise. The gradients beside differences.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_option_values import DTYPES, differs, operand, outcome, programs, spelled

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

CALLS = """
np.average(x, weights={x*x,x+1,mask+1,x.astype('float32')}, axis={None,0,-1}, returned={True,False})
np.average(np.array([200,100,3],{'uint8','int32','float32'}), weights=np.array([100,3,1],{'uint8','int8','bool'}))
np.vecdot({x,x[0]}, {x,x[1]}, axis={0,-1,-2})
np.gradient(x, {2,0.5}, {3.0,np.array([0.0,1.0,3.0])}, axis={(0,1),(1,0),(-1,0),(0,0)}, edge_order={1,2})
np.gradient(x, np.array([0.0,1.0,3.0]), axis={0,1,(1,),(1,0)})
np.nan_to_num(np.array([np.nan,np.inf,-np.inf]), nan={np.inf,1.0}, posinf={None,1.0,-np.inf}, neginf={None,2.0,np.inf})
np.{divide,hypot,floor_divide,left_shift,less,equal,copysign,subtract}.{accumulate,reduce}(x.astype({'int8','uint16','bool','int64'}))
np.{divide,hypot,add,multiply,maximum,less,logical_xor,subtract}.reduceat(x, {[0,2],[2,0,1],[1],[0,-1]}, axis={0,1})
np.{logaddexp,logaddexp2}.reduce(x.astype({'int16','uint16','int64'}), axis={0,None})
np.{subtract,divide,add,multiply,hypot}.reduce(x, axis={None,(0,1),1}, keepdims={True,False}, initial={2,0.5})
np.{logical_xor,bitwise_or,subtract,equal}.reduce(x > 1, axis={0,-1}, initial={2,True})
np.{add,multiply,maximum}.reduce(x, axis={0,None}, initial={None,2}, where={True,mask})
np.{nanstd,nanvar,std}(x, axis=0, ddof={1,3,4}, dtype={None,float,'float32'}, where={True,mask})
np.{nanargmax,nanargmin}(np.where(mask, np.nan, x * 1.0), axis={0,1,None}, keepdims={True,False})
np.nanargmax(np.where(x > 1, np.nan, x * 1.0), axis={0,1,None})
np.clip(x[0, 0], {np.float32(0.5),0,None}, {1,np.float64(2.0),None})
np.clip(2.5, {np.float32(0.5),0,None}, {1,np.float32(2.0),None})
np.insert(x, {0,[0],-1,k,[k],[1,1]}, {x,x[:1],x[:,:1],x[0],9.5}, axis={0,1,-1})
np.pad(x, {1,(1,2),0}, mode='linear_ramp', end_values={0,-2.5,(1,7)})
np.roll(x, {(1,2),np.array([1,-1]),[1],k}, axis={None,0,(0,1),(1,0),(0,0)})
np.histogram(x[0], 7, range={(-1,1),(0.1,0.7)}, density={True,False})
np.unwrap(x, {None,0.5,3}, axis={0,1}, period={4,5,2.5})
np.{polyadd,polysub}(x[0], {2,[1,2],x[0,0]})
np.ediff1d(x, to_end={1,[1,2],2.5}, to_begin={None,3})
tuple(np.{vsplit,hsplit,dsplit}({x,x[0]}, [1]))
np.moveaxis(x, {0,(0,1),(0,0)}, {1,(1,0),(1,1)})
np.{compress,extract}({mask,mask[0],[True,False,True]}, x)
np.matvec({x,x[0]}, {x,x[0]})
np.linalg.{eigvalsh,cholesky}(x @ x.T + 9, {'l','U','x'})
np.linalg.lstsq(np.diag([1.0,0.5,4e-16,0.0])[:,:3], np.ones(4), rcond={None,-1})[{0,2}]
scipy.linalg.lstsq(np.diag([1.0,0.5,4e-16,0.0])[:,:3], np.ones(4))[{0,2}]
np.piecewise(x, [x < 2, mask], [lambda t: t-t.min(), {2.7,lambda t: t*t.max()}])
scipy.special.logsumexp(np.array([1000.0,1.0,np.inf,np.nan]), b={np.array([0,1,0,0]),np.array([0.5,1,0,0])})
np.histogram(np.array([-0.4,0.2],'float32'), 10, range=(-1,1))[0]
np.piecewise(x, [x < 1, mask], [{lambda t: t-t.min(),2.7}, lambda t: np.cumsum(t), {lambda t: t[::-1],1.5}])
"""  # fmt: skip
WRITTEN = """
np.put(x, {[0,5],[]}, {[],np.linspace(0.3,4.0,3),7.5}, mode={'raise','wrap'})
np.putmask(x, {mask,True}, {np.array([]),np.linspace(0.3,4.0,3),[7.5,2]})
np.place(x, mask, {np.linspace(0.3,4.0,3),[7.5,2]})
np.copyto(x, {2,np.arange(3)}, where=mask)
np.{add,subtract,multiply}.at(x, {[0,0,1],(0,[1,1])}, {2.5,2})
np.put_along_axis(x, np.array([[1],[0],[2]]), 2, {0,1,-1,2})
"""
TEMPLATES = [*CALLS.strip().splitlines(), *WRITTEN.strip().splitlines()]
BIG = 2**60 + 3
"""An integer that no float is."""


def texts_of(template: str) -> list[str]:
    texts = dict.fromkeys(spelled(template))
    return [f"({t}, x)[1]" if template in WRITTEN else t for t in texts]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.sampled(16)
def test_a_pair_of_options_has_the_value_that_numpy_gives_it(template: str, tmp_path: Path) -> None:
    texts, wrong = texts_of(template), []
    for text, program in zip(texts, programs(texts, "pairs", tmp_path)):
        for dtype in DTYPES:
            x = operand(dtype)
            if dtype == "int64" and template in WRITTEN:
                x[0, 0] = BIG
            wanted = outcome(program, x)
            if isinstance(wanted, np.ndarray) and wanted.dtype.kind not in "fiub":
                continue
            got = outcome(Transformed(program, Level()), x)
            if differs(got, wanted) or (dtype == "int64" and template in WRITTEN and not same(got, wanted)):
                wrong.append(f"{dtype}: {text}: {got!r}, expected {wanted!r}")
    assert not wrong, "\n".join(wrong)


def same(got: Any, wanted: Any) -> bool:
    """Whether integers agree to the last digit, where both have some."""
    return not (isinstance(got, np.ndarray) and isinstance(wanted, np.ndarray)) or np.array_equal(got, wanted)


SMOOTH = """
np.partition(x, {3,(2,40),-5}, axis={0,1})
np.partition(x.ravel(), {3,100})
np.vecdot({x,x[0]}, {np.exp(x),x[1]}, axis={0,-1})
np.gradient(x, 0.5, 2.0, axis={(0,1),(1,0)}, edge_order={1,2})[0]
np.insert(x, {0,[0]}, {x[:1],x[:,:1],x[0,0]}, axis={0,1})
np.insert(x, [1,1], {x[:,:1],x[0,0],x[:,:2]}, axis=1)
np.piecewise(x, [x < 0], [lambda t: t - np.mean(t), lambda t: t * np.sum(t)])
np.linalg.eigvalsh(x + 9.0 * np.eye(50), {'l','u'})
np.{hypot,subtract,logaddexp}.reduceat(x, [2, 0, 1], axis={0,1})
np.pad(x, 2, mode='linear_ramp', end_values=x[0, 0])
np.average(x, weights=np.exp(x), axis={0,None})
"""


@pytest.mark.parametrize("template", SMOOTH.strip().splitlines())
@pytest.mark.sampled(8)
def test_and_its_derivative_is_that_of_the_value(template: str, tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((50, 50))
    weights = np.random.default_rng(1).standard_normal(200 * 200)
    texts = list(dict.fromkeys(spelled(template)))
    for text, program in zip(texts, programs(texts, "smooth", tmp_path)):
        value, pullback = tp.vjp(lambda x: program(x, None, 1), x)  # noqa: B023
        bar = weights[: np.size(value)].reshape(np.shape(value))
        slope, step = np.sum(pullback(bar)[0] * np.cos(x)), 1e-6 * np.cos(x)
        difference = np.sum(bar * (program(x + step, None, 1) - program(x - step, None, 1))) / 2e-6
        _, forward = tp.jvp(lambda x: program(x, None, 1), (x,), (np.cos(x),))  # noqa: B023
        np.testing.assert_allclose([slope, np.sum(bar * forward)], difference, rtol=1e-5, err_msg=text)


@pytest.mark.parametrize("points", [[0.5], [0.0, 0.5, 0.5]])
def test_at_the_last_of_points_without_a_segment_interp_has_its_value(points: list[float]) -> None:
    xp, fp = np.array(points), np.arange(1.0, len(points) + 1)
    slope, shares = tp.grad(lambda x, fp: np.interp(x, xp, fp), argnums=(0, 1))(0.5, fp)
    assert slope == 0.0
    np.testing.assert_array_equal(shares, np.eye(len(points))[-1])
