"""What one does with lists, tuples, ranges, dicts, sets and strings of every kind: as Python and NumPy do it, or refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fuzz.check import load

from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

MADE = {
    # by what Python knows of them: written out, or as many as only the run knows
    "list": "[x[0],x[1],x[2]]",
    "tuple": "(x[0],x[1],x[2])",
    "tuples": "[(x[0],x[1]),(x[2],x[0])]",
    "lists": "[[x[0],x[1]],[x[2],x[0]]]",
    "grown": "[v for v in x]",
    "grown_tuples": "[(v,v*v) for v in x]",
    "grown_lists": "[[v,v*v] for v in x]",
    "arrays": "[x[:2],x[1:3]]",
    "grown_arrays": "[v*x[:2] for v in x]",
    "dict": "{'a':x[0],'b':x[1]}",
    "set": "{1,2}",
    "string": "'ab'",
    "empty": "[]",
    "empty_tuple": "()",
    "grown_empty": "[v for v in x if v>99]",
    "range": "range(3)",
    "range_of_size": "range(len(x))",
    "grown_matrices": "[v * np.outer(x, x[:2]) for v in x]",
    "grown_of_lists": "[[[v, 1.0], [v * v, 2.0]] for v in x]",
    "grown_integers": "[k for k in range(len(x))]",
    "sorted": "sorted(x)",
    "of_array": "list(x)",
    "parts": "np.split(x,3)",
}
OTHER = {
    "list": "[x[1],x[0],x[2]]",
    "tuple": "(x[1],x[0],x[2])",
    "tuples": "[(x[0],x[2]),(x[2],x[0])]",
    "lists": "[[x[0],x[2]],[x[2],x[0]]]",
    "grown": "[v+1 for v in x]",
    "grown_tuples": "[(v,v+1) for v in x]",
    "grown_lists": "[[v,v+1] for v in x]",
}
USES = [
    "{a}+{a}", "{a}*2", "2*{a}", "{a}*x", "{a}+x[:3]", "{a}*np.float64(2)", "{a}*1.5", "-{a}", "+{a}", "abs({a})", "{a}/2",
    "{a}**2", "{a}-{a}", "{a}@{a}", "~{a}", "sum({a})", "sum({a},{b})", "len({a})", "max({a})", "min({a})", "sorted({a})",
    "sorted({a},reverse=True)", "list(reversed({a}))", "list({a})", "tuple({a})", "list(zip(*{a}))", "list(zip({a},{a}))",
    "{a}=={a}", "{a}!={b}", "{a}<{b}", "{a}<={a}", "x[0] in {a}", "(x[0],x[1]) in {a}", "{a} in {a}", "np.array({a})",
    "np.sum({a})", "np.sum({a},axis=0)", "np.sort({a})", "np.max({a})", "np.mean({a},axis=-1)", "bool({a})", "not {a}",
    "any({a})", "all({a})", "{a}[0]", "{a}[-1]", "{a}[1:]", "{a}[::-1]", "{a}[5]", "{a}[x[0]]", "{a}.index({a}[1])",
    "{a}.count(x[0])", "{a}.copy()", "round({a})", "float({a})", "int({a})", "np.sin({a})", "np.stack({a})",
    "np.concatenate({a})", "np.dot({a},{a})", "math.fsum({a})", "math.prod({a})", "math.dist({a},{b})", "math.hypot(*{a})",
    "[*{a},*{a}]", "dict({a})", "str({a})==''", "isinstance({a},list)", "type({a}) is tuple", "{a} is {a}", "{a} and 1.0",
    "{a} or 2.0", "x[0]*{a}", "x[0]+{a}", "x+{a}", "divmod({a},2)", "np.asarray({a}).shape", "np.ndim({a})", "np.size({a})",
    "np.where({a})", "np.argmax({a})", "np.cumsum({a})", "np.linalg.norm({a})", "list(map(lambda v:v,{a}))",
    "list(filter(None,{a}))", "list(enumerate({a}))[1]", "{a}.sort()", "{a}.pop()", "next(iter({a}))", "x[{a}]",
    "x[np.array({a})]", "{a}+(1.0,)", "{a}+[1.0]", "sum({a},0.0)", "sum({a},[])", "sum({a},())", "np.float32(1)*{a}",
    "True*{a}", "{a}*True", "{a}*len(x)", "{a}[True]", "{a}[:len(x)-1]", "{a}[len(x)-2:]", "max({a},{b})", "min({a},key=len)",
    "len({a}[0])", "{a}[0][0]", "{a}[-1][-1]", "np.stack({a},axis=1)", "np.stack({a},axis=-1)", "np.stack({a},1)",
    "np.stack({a},dtype=np.float32)", "np.concatenate({a},axis=1)", "np.concatenate({a},axis=None)",
    "np.concatenate({a},axis=-1)", "np.concatenate({a},dtype=np.float32)", "np.vstack({a})", "np.hstack({a})",
    "np.dstack({a})", "np.column_stack({a})", "np.array({a},dtype=np.float32)", "np.array({a},ndmin=3)", "np.array({a}).T",
    "np.asarray({a})", "np.block({a})", "np.append({a},1.0)", "np.append({a},{a})", "np.append({a},{a},axis=0)",
    "np.mean({a},0)", "np.max({a},axis=-1)", "np.cumsum({a},axis=0)", "np.diff({a})", "np.transpose({a})",
    "np.reshape({a},-1)", "np.ravel({a})", "np.array_split({a},2)[0]", "np.split(np.array({a}),3)[0]", "np.tile({a},2)",
    "np.repeat({a},2)", "np.repeat({a},2,axis=0)", "np.flip({a})", "np.roll({a},1)", "np.argsort({a})", "np.unique({a})",
    "np.inner({a},{a})", "np.outer({a},{a})", "np.kron({a},{a})", "np.linalg.norm({a},axis=0)",
    "np.where(np.array({a})>1,{a},0.0)", "np.full(3,{a})", "np.zeros_like({a})", "np.ones_like({a})", "np.full_like({a},2)",
    "np.interp(1.2,{a},{a})", "np.polyval({a},2.0)", "np.trapezoid({a})", "np.gradient({a})", "np.convolve({a},{a})",
    "np.shape({a})", "np.atleast_2d({a})", "np.expand_dims({a},0)", "np.squeeze({a})", "np.add({a},{a})", "np.add({a},1)",
    "np.multiply({a},2.0)", "np.maximum({a},1.0)", "np.einsum('i->',{a})", "np.searchsorted({a},1.2)", "np.median({a})",
    "np.std({a})", "np.percentile({a},30)", "np.prod({a})", "np.any({a})", "np.all({a})", "np.allclose({a},{a})",
    "np.array_equal({a},{a})", "np.isclose({a},1.0)", "np.take({a},[0,2])", "np.take({a},1,axis=0)",
    "np.compress([True,False,True],{a})", "np.delete({a},0)", "np.insert({a},0,9.0)", "np.meshgrid({a},{a})[0]",
    "np.diag({a})", "np.tril({a})", "np.clip({a},1,2)", "np.round({a})", "np.abs({a})", "np.count_nonzero({a})",
    "np.nonzero({a})[0]", "np.average({a})", "np.average({a},weights={a})", "np.cov({a})", "np.histogram({a})[0]",
    "np.digitize({a},[1,2])", "np.moveaxis(np.array({a}),0,-1)", "np.pad({a},1)", "{a}*x[0]", "x[0]@{a}",
    "np.float64(2)*np.array({a})", "np.vander({a})", "np.trace({a})", "np.linalg.det({a})", "np.matmul({a},{a})",
    "np.tensordot({a},{a},0)", "np.cross({a},{a})", "np.broadcast_to({a},(2,)+np.shape({a}))", "np.asarray({a})[::-1]",
    "[{a}.extend({b}),{a}]", "[{a}.append({b}),{a}]", "[{a}.insert(1,{b}),{a}]", "[{a}.insert(-1,2.0),{a}]",
    "[{a}.remove({a}[0]),{a}]", "[{a}.pop(0),{a}]", "[{a}.pop(),{a}]", "[{a}.pop(1.0),{a}]", "[{a}.pop('a'),{a}]",
    "[{a}.pop('z',2.0),{a}]", "[{a}.clear(),{a}]", "[{a}.reverse(),{a}]", "[{a}.sort(reverse=True),{a}]",
    "[{a}.update({b}),{a}]", "[{a}.update({a},k=2.0),{a}]", "[{a}.update({a},{b}),{a}]", "{a}|{b}", "{a}.get('a')",
    "{a}.get('z',2.0)", "{a}.get('z')", "[{a}.setdefault('a',2.0),{a}]", "[{a}.setdefault('z',2.0),{a}]",
    "(lambda d:[d.update({a}),d])({{'a':1.0}})", "(lambda d:[d.update({a},a=2.0),d])({{'a':1.0}})", "dict({a},k=1.0)",
    "(lambda d:[d.update(zip('ab',{a})),d])({{'a':1.0}})", "(lambda d:[d.update(enumerate({a})),d])({{0:1.0}})",
    "(lambda d:[d.extend({a}),d])([1.0])", "(lambda d:[d.append({a}),d])([1.0])", "dict(zip('ab',{a}))",
    "dict(enumerate({a}))", "{{**{a},'z':1.0}}", "{{'z':1.0,**{a}}}", "dict.fromkeys({a},1.0)", "list({a}.items())",
    "list({a}.keys())", "max({a}.values())", "{a}.items()=={b}.items()", "{a}.index({a}[0],1)", "{a}.index({a}[0],-1)",
    "{a}.index({a}[0],0,1)", "{a}.count({a}[0])",
]  # fmt: skip
# where NumPy raises, or Python gives the integer 0 or 1 of no items: an array, infinity, a float
GIVES = ("np.delete({a},0)", "np.average({a},weights={a})")
EMPTY_GIVES = ("sum({a})", "math.prod({a})")


def text_of(number: int, made: str, use: str) -> str:
    other = OTHER.get(made, MADE[made])
    return f"def of_{number}(x):\n    a = {MADE[made]}\n    b = {other}\n    return {use.format(a='a', b='b')}\n"


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    texts = [text_of(n, made, use) for n, (made, use) in enumerate((m, u) for m in MADE for u in USES)]
    return load(
        "import math\nimport numpy as np\n" + "\n".join(texts), "list_calls_made", tmp_path_factory.mktemp("lists")
    )


def outcome(function):
    """The result, or the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(np.array([0.5, 1.5, -2.0]))
        except Exception as e:
            return e


def same(a, b):
    """The same structure, truth values, numbers, shapes and kinds of dtypes."""
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(same(v, w) for v, w in zip(a, b))
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, (bool, int, float, np.generic, np.ndarray)):
        both = np.asarray(a), np.asarray(b)
        if both[0].shape != both[1].shape or both[0].dtype != both[1].dtype:
            return False
        return np.allclose(*both, rtol=1e-12, atol=1e-12, equal_nan=True)
    return a == b


def judge(module, made, part, parts):
    first = list(MADE).index(made) * len(USES)
    wrong = []
    for k in range(part, len(USES), parts):
        function = getattr(module, f"of_{first + k}")
        wanted, found = outcome(function), outcome(Transformed(function, Level()))
        loose = USES[k] in GIVES or (made == "grown_empty" and USES[k] in EMPTY_GIVES)
        if isinstance(found, TranspileError) or (loose and not isinstance(found, Exception)):
            continue
        if isinstance(wanted, Exception):
            right = isinstance(found, type(wanted))
        elif isinstance(found, Exception):
            right = "empty" in made and isinstance(found, (ValueError, IndexError))  # a list of nothing has no shape
        else:
            right = same(wanted, found)
        if not right:
            wrong.append(f"{USES[k].format(a=MADE[made], b='b')}: {found!r}, not {wanted!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.sampled(16)
def test_what_one_does_with_it(module, made):
    """One use in eight here, all in the slow test."""
    judge(module, made, list(MADE).index(made) % 8, 8)


@pytest.mark.slow
@pytest.mark.parametrize("made", MADE)
def test_all_that_one_does_with_it(module, made):
    judge(module, made, 0, 1)
