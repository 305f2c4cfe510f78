"""Classes of the user's: with attributes, inheritance, operators, properties; made inside and outside."""

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("object")
program = PROGRAMS.program


@dataclass
class State:
    pos: np.ndarray
    vel: np.ndarray
    t: float = 0.0
    tag: Optional[str] = None

    @property
    def energy(self):
        return 0.5 * np.sum(self.vel**2) + 0.5 * np.sum(self.pos**2)

    def step(self, dt):
        a = -self.pos
        v = self.vel + dt * a
        return State(self.pos + dt * v, v, self.t + dt, self.tag)

    def kick(self, f):
        self.vel += f
        return self


@program(args=lambda: (normal(2), normal(2, seed=1), 0.1), wrt=(0, 1, 2))
def dataclass_state(x, v, dt):
    """Dataclass with a method and a property, carried through a loop."""
    s = State(x, v)
    for i in range(4):
        s = s.step(dt)
        if s.tag is None and i > 10:
            s.tag = "x"
    return s.energy * s.t


@program(args=lambda: (normal(2), normal(2, seed=1), 0.1), wrt=(0, 1, 2))
def dataclass_kick(x, v, dt):
    """A method that writes; dataclasses.replace."""
    s = State(x, v.copy())
    for i in range(3):
        s.kick(dt * s.pos)
        s = replace(s, pos=s.pos + dt * s.vel, t=s.t + dt)
    return s.energy + s.t


@dataclass(frozen=True)
class Cfg:
    n: int = 3
    rate: float = 0.5
    f: Callable = np.tanh
    axis: Optional[int] = None

    def __call__(self, x):
        return self.f(x * self.rate)

    @classmethod
    def default(cls):
        return cls()

    @staticmethod
    def scale(x, k=2.0):
        return x * k


@program(args=lambda: (normal(3), Cfg(rate=0.7)))
def frozen_cfg(x, cfg):
    """A dataclass that is called."""
    for _ in range(cfg.n):
        x = cfg(x) + Cfg.scale(x)
    return np.sum(x, axis=cfg.axis)


class Base:
    kind = "base"
    act = np.tanh

    def __init__(self, k, w=None):
        self.k = k
        self.w = np.ones(3) if w is None else w
        self.calls = 0

    def energy(self, x):
        self.calls += 1
        return np.sum(self.w * x) * self.k

    def __call__(self, x):
        return self.energy(x) + self.shift()

    def shift(self):
        return 1.0

    @property
    def norm(self):
        return np.sqrt(np.sum(self.w**2))

    @classmethod
    def make(cls, k):
        return cls(k * 2)

    @staticmethod
    def sq(x):
        return x * x


class Derived(Base):
    kind = "derived"

    def __init__(self, k, w, extra):
        super().__init__(k, w)
        self.extra = extra

    def shift(self):
        return super().shift() + self.extra

    def energy(self, x):
        e = super().energy(x)
        return e + super(Derived, self).energy(x) * 0.5


@program(args=lambda: (normal(3), 1.5), wrt=(0, 1))
def make_derived(x, k):
    """Classes of one's own, with super."""
    d = Derived(k, x * 2, k**2)
    e = Derived(2.0, w=x, extra=1.0)
    assert isinstance(d, Base) and d.kind == "derived" and not isinstance(Base(1.0), Derived)
    return d(x) + e(x) + Derived.sq(k) + Base.make(k)(x)


@dataclass
class Vec:
    x: float
    y: float

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __len__(self):
        return 2

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    def __call__(self, s):
        return self.x * s


@program(args=lambda: (0.3, 0.8), wrt=(0, 1))
def vec_ops2(a, b):
    """Operators of a dataclass."""
    u = Vec(a, b)
    v = Vec(b, 1.0)
    w = 2.0 * (u + v) + (-u)
    return u @ w + abs(w) * w[1] + len(w)


class NV(NamedTuple):
    x: float
    y: float

    def __add__(self, o):
        return NV(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return NV(self.x * k, self.y * k)

    def dot(self, o):
        return self.x * o.x + self.y * o.y


@program(args=lambda: (0.3, 0.8), wrt=(0, 1))
def nt_ops(a, b):
    """A named tuple whose + adds."""
    u = NV(a, b)
    v = NV(b, 1.0)
    w = u + v
    z = w * 2
    return w.dot(u) + z.x * z.y


class Prop:
    def __init__(self, a):
        self._a = a

    @property
    def a(self):
        return self._a * 2

    @a.setter
    def a(self, v):
        self._a = v / 2


@program(args=lambda: (0.3,))
def setter(a):
    """A property that is set."""
    q = Prop(a)
    q.a = a * 3
    q.a += 1.0
    return q.a * q._a


class Integrator:
    def __init__(self, f, dt):
        self.f, self.dt, self.t, self.log = f, dt, 0.0, []

    def step(self, y):
        k1 = self.f(self.t, y)
        k2 = self.f(self.t + self.dt, y + self.dt * k1)
        self.t += self.dt
        y = y + 0.5 * self.dt * (k1 + k2)
        self.log.append(y)
        return y


@program(args=lambda: (normal(2), 0.1), wrt=(0, 1))
def integrate(y, dt):
    """An object that keeps its history."""
    it = Integrator(lambda t, y: -y * t + np.array([y[1], -y[0]]), dt)
    for _ in range(4):
        y = it.step(y)
    return np.sum(np.stack(it.log) ** 2) + it.t


@dataclass
class Post:
    a: float
    b: float = field(default=2.0)
    c: list = field(default_factory=list)
    d: float = field(init=False)

    def __post_init__(self):
        self.d = self.a * self.b
        self.c.append(self.d)


@dataclass
class Inh(Post):
    z: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        self.z = self.d * 2


@program(args=lambda: (0.3, 0.8), wrt=(0, 1))
def post_init_inh(a, b):
    """__post_init__, inherited."""
    q = Inh(a, b)
    return q.z + q.d


OUTSIDE = Derived(1.5, normal(3), 0.5)


@program(args=lambda: (normal(3),))
def super_calls(x):
    """An object from outside whose method calls super."""
    return np.sum(np.tanh(x)) * OUTSIDE.shift() + OUTSIDE.norm


def make(k, name="a"):
    def f(x):
        if name == "a":
            return x**k
        return x * k

    return f


f1 = make(2.0)
f2 = make(3.0, "b")
f3 = make(np.array([1.0, 2.0, 3.0]))


@program(args=lambda: (normal(3),))
def factories(x):
    """Functions of one factory: one code, several closures."""
    return np.sum(f1(x) * f2(x)) + np.sum(f3(x * x))


MADE = [make(k) for k in (1.0, 2.0, 3.0)]


@program(args=lambda: (normal(3),))
def listfs(x):
    """The same, in a list."""
    s = 0.0
    for f in MADE:
        s += np.sum(f(x)) * f(2.0)
    return s


class Mode(enum.Enum):
    A = 1
    B = "b"


class IM(enum.IntEnum):
    X = 0
    Y = 1


@program(args=lambda: (normal(3), Mode.A))
def enum_arg(x, m):
    """Enums, one of integers."""
    if m is Mode.A:
        s = x[IM.Y] * x[0]
    elif m == Mode.B:
        s = x[1]
    else:
        raise ValueError(m)
    return s * (2 if m in (Mode.A, Mode.B) else 1) + m.value + len(m.name)


@program(args=lambda: (normal(3), 0.5))
def asked_for(x, s):
    """Arrays have the attributes that NumPy gives them, numbers those of Python."""
    t = x.max() - x.min() if not hasattr(x, "ptp") else np.ptp(x)
    t += np.sum(x) if hasattr(x, "ctypes") and not hasattr(x, "weights") else 0.0
    return t * (s if hasattr(s, "is_integer") and not hasattr(s, "sum") else 2.0)


class Interval:
    """With all that Python asks of an object when it is compared, tested and searched."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __contains__(self, v):
        return self.low <= v <= self.high

    def __eq__(self, other):
        return self.low == other.low if isinstance(other, Interval) else NotImplemented

    def __lt__(self, other):
        return self.low < other.low

    def __len__(self):
        return 2

    def __iter__(self):
        return iter([self.low, self.high])


class Amount:
    """True where there is some, whatever its length."""

    def __init__(self, count):
        self.count = count

    def __bool__(self):
        return self.count > 1

    def __len__(self):
        return self.count


class Plain:
    """Equal to itself only."""


@dataclass(order=True)
class Pair:
    a: float
    b: float


UNIT = Interval(0.6, 1.0)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def searched(x):
    """``in`` of objects, of lists of objects, and of what is iterated."""
    inside = Interval(x[1], 1.0)
    total = 0.0
    for v in x:
        if v in UNIT:
            total += v * v
        if v not in inside:
            total += v * 3
    known = [Interval(x[0], x[1]), Interval(x[2], x[1])]
    total *= 2.0 if Interval(x[2], 0.0) in known else 3.0
    a, b = Plain(), Plain()
    total *= 5.0 if b in [a] or a not in [b, a] else 7.0
    return total * (11.0 if 0.6 in [v for v in UNIT] else 13.0) * known.index(Interval(x[2], 0.0))


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def tested(x):
    """Truth by ``__bool__``, then ``__len__``."""
    s = x[0] * (2.0 if Amount(1) else 3.0) * (5.0 if UNIT else 7.0) * (11.0 if Plain() else 13.0)
    s *= len(Amount(1) or Amount(3)) * (17.0 if Amount(2) and not Amount(0) else 19.0)
    return s * (23.0 if bool(Amount(2)) else 29.0)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def compared(x):
    """Equality and order by methods of the left or of the right side, by identity, by fields."""
    s = x[0] * (2.0 if Interval(x[0], 1.0) == Interval(x[0], 2.0) else 3.0)
    s *= 5.0 if Interval(x[0], 1.0) != Interval(x[1], 1.0) else 7.0
    s *= 11.0 if Interval(x[0], 1.0) > Interval(x[1], 1.0) else 13.0
    s *= 17.0 if Interval(x[0], 1.0) == 1.0 or 2.0 == UNIT else 19.0
    a, b = Plain(), Plain()
    s *= 23.0 if a == b or a != a else 29.0
    s *= 31.0 if Pair(x[0], x[1]) < Pair(x[0], x[2]) and Pair(x[0], 1.0) == Pair(x[0], 1.0) else 37.0
    return s * (41.0 if Pair(x[0], 1.0) != (x[0], 1.0) else 43.0)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def of_one_kind(x):
    """Lists are not tuples; their order is that of the first items that differ."""
    s = x[0] * (2.0 if x.shape == [4] or (4,) == [4] else 3.0) * (5.0 if [4] != (4,) else 7.0)
    s *= 11.0 if [x[0], 1] < [x[0], x[2]] and not (x[0], 1) < (x[0],) else 13.0
    s *= 17.0 if [1, (2, 3)] == [1, [2, 3]] or {"a": x[0]} != {"a": x[0]} else 19.0
    return s * (23.0 if [x[1], x[2]] >= [x[1]] and [] < [x[0]] else 29.0)
