"""Of dicts and lists outside a function a call asks for the parts that were read: no more, and no less."""

import itertools

import numpy as np
import pytest

import transpile as tp
from transpile.driver.specialize import Split

TABLE: dict = {}
ROWS: list = []


class Body:
    table: dict = {}

    def __init__(self, a, b):
        self.a, self.b = a, b

    @classmethod
    def named(cls, name):
        return cls(cls.table[name]["a"], cls.table[name]["b"])


class Holder:
    def __init__(self, table):
        self.table = table

    def value(self, x):
        return x * self.table["k1"]["a"]


def record(k):
    return {
        "name": f"n{k}",
        "a": 1.0 + k,
        "b": np.full(2, 2.0 + k),
        "flag": k % 2 == 0,
        "more": [1.0, (2.0, 3.0), {"z": 5.0}],
    }


def fresh(count=3):
    return {f"k{k}": record(k) for k in range(count)}


def one(x):
    return x * TABLE["k1"]["a"]


def by_name(x):
    return x * TABLE["k1"]["a"] if TABLE["k1"]["name"] == "n1" else 100.0 * x


def by_flag(x):
    return 3.0 * x if TABLE["k2"]["flag"] else x


def array(x):
    return np.sum(x * TABLE["k0"]["b"])


def deep(x):
    return x * TABLE["k0"]["more"][2]["z"] + TABLE["k0"]["more"][0]


def of_tuple(x):
    return x * TABLE["k0"]["more"][1][0]


def from_end(x):
    return x * ROWS[-1]["a"]


def position(x):
    return x * ROWS[1]["a"]


def length(x):
    return x * len(TABLE) * TABLE["k1"]["a"]


def keys(x):
    total = 0.0
    for k in TABLE:
        total = total + x * TABLE[k]["a"]
    return total


def values(x):
    return x * sum(r["a"] for r in TABLE.values())


def got(x):
    return x * TABLE.get("k1", {"a": 7.0})["a"]


def has(x):
    return x * (2.0 if "k2" in TABLE else 3.0) * TABLE["k1"]["a"]


def aliased(x):
    row = TABLE["k1"]
    return x * row["a"] * len(row)


def handed_on(x):
    return summed(TABLE["k1"], x) + x * TABLE["k0"]["a"]


def summed(row, x):
    return x * row["a"] * (2.0 if row["flag"] else 1.0)


def rows(x):
    return x * sum(r["a"] for r in ROWS)


def unpacked(x):
    first, second, third = ROWS
    return x * first["a"] + second["a"] * third["a"]


def of_class(x):
    body = Body.named("k1")
    return x * body.a


def chosen(x):
    return x * (TABLE if len(ROWS) > 3 else {**TABLE})["k1"]["a"]


def inside(x):
    return tp.grad(lambda y: y * y * TABLE["k1"]["a"])(x)


FUNCTIONS = [one, by_name, by_flag, array, deep, of_tuple, from_end, position, length, keys, values, got, has, aliased, handed_on,
             rows, unpacked, of_class, chosen, inside, Holder(TABLE).value]  # fmt: skip

CHANGES = {
    "a number": lambda t, r: t["k1"].update(a=11.0),
    "of another type": lambda t, r: t["k1"].update(a=np.float32(11.0)),
    "an array for it": lambda t, r: t["k1"].update(a=np.ones(3)),
    "a string": lambda t, r: t["k1"].update(name="other"),
    "a flag": lambda t, r: [one.update(flag=not one["flag"]) for one in (t["k1"], t["k2"])],
    "a shape": lambda t, r: t["k0"].update(b=np.ones(1)),
    "another dtype": lambda t, r: t["k0"].update(b=np.ones(2, np.float32)),
    "a record": lambda t, r: t.update(k1={**record(1), "a": 12.0}),
    "a record more": lambda t, r: t.update(k9=record(9)),
    "a record less": lambda t, r: t.pop("k2"),
    "another order": lambda t, r: t.update(k0=t.pop("k0")),
    "a key more": lambda t, r: t["k1"].update(extra=4.0),
    "a list more": lambda t, r: t["k0"]["more"].insert(0, 9.0),
    "deep": lambda t, r: t["k0"]["more"][2].update(z=6),
    "a tuple": lambda t, r: t["k0"]["more"].__setitem__(1, (7.0,)),
    "a row more": lambda t, r: r.append(record(5)),
    "rows turned": lambda t, r: r.reverse(),
    "an unread record": lambda t, r: t["k2"].update(a="text"),
}


def set_up():
    TABLE.clear()
    TABLE.update(fresh())
    ROWS[:] = [record(k) for k in range(3)]
    Body.table = TABLE


def outcome(f, x):
    try:
        return f(x)
    except Exception as failed:
        return failed


def same(f, g, x, what):
    expected, found = outcome(f, x), outcome(g, x)
    if isinstance(expected, Exception) or np.ndim(expected):  # refused, or as Python says
        assert isinstance(found, Exception) or np.array_equal(found, expected), f"{what}: {found!r}, not {expected!r}"
    else:
        assert not isinstance(found, Exception), f"{what}: {found!r}"
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=what)


def each_change(f):
    x = 1.5
    transformed = [tp.vmap(f), tp.value_and_grad(f)]

    def of_lanes(x):
        return transformed[0](np.full(2, x))[0]

    def of_gradient(x):
        return transformed[1](x)[0]

    for (name, change), again in itertools.product(CHANGES.items(), (False, True)):
        set_up()
        for g in (of_gradient, of_lanes):
            for _ in range(3):
                same(f, g, x, f"{name}, before")
        change(TABLE, ROWS)
        for g in (of_gradient, of_lanes):
            for _ in range(1 + again):
                same(f, g, x, name)


SAMPLED = [pytest.param(f, marks=[] if k % 7 == 1 else pytest.mark.slow) for k, f in enumerate(FUNCTIONS)]


@pytest.mark.parametrize("f", SAMPLED)
def test_what_changes_is_seen(f):
    each_change(f)


def reads_of(call):
    (program,) = call._specializer.table.values()
    return [r for r in program.reads if r.tree is not None or r.kind == "part"], program


@pytest.mark.parametrize("count", [3, 40])
@pytest.mark.parametrize(
    ("f", "most"), [(one, 0), (of_class, 0), (by_name, 1), (deep, 0), (position, 0), (Holder(TABLE).value, 0)]
)
def test_what_is_asked_does_not_grow_with_the_table(f, most, count):
    set_up()
    TABLE.update(fresh(count))
    ROWS.extend(record(k) for k in range(3, count))
    call = tp.vmap(f)
    for _ in range(3):
        call(np.full(2, 1.5))
    reads, program = reads_of(call)
    assert len(reads) <= most and not isinstance(program, Split)
    assert len(program.reads) + len(program.places) <= 10


def test_what_is_not_read_may_change():
    set_up()
    call = tp.vmap(one)
    call(np.full(2, 1.5))
    _, program = reads_of(call)
    for name in ("a record more", "an unread record", "another order", "a key more"):
        CHANGES[name](TABLE, ROWS)
        call(np.full(2, 1.5))
        assert reads_of(call)[1] is program, name


@pytest.mark.numba
def test_from_the_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    set_up()
    for _ in range(2):
        call = tp.jit(lambda x: by_name(x) + 1.0)
        assert call(1.5) == 4.0
    TABLE["k1"]["name"] = "other"
    assert call(1.5) == 151.0
    assert tp.jit(lambda x: by_name(x) + 1.0)(1.5) == 151.0
