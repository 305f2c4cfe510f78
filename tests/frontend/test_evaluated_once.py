"""Every expression is evaluated as often as Python does, in Python's order: a function that prints stands in each place of the
language, and what is printed is compared."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

HEAD = '''"""t(k, v) says where it stands."""
import functools
import numpy as np

def t(k, v):
    print(k)
    return v

class Box:
    def __init__(self, a):
        self.a = a
        self.items = [a, a * 2]
    def get(self, k, more=0.0):
        return self.a * k + more
    def __getitem__(self, k):
        return self.items[k]
    def __add__(self, other):
        return Box(self.a + other)
    def __iter__(self):
        return iter(t("iter", self.items))
    def __len__(self):
        return t("len", 2)
    def __contains__(self, v):
        return t("in", v == self.a)
'''

BODIES = """
return sum([v * 2 for v in t(1, x)])

return sum(v * 2 for v in t(1, x))

return sum([v * w for v in t(1, x) for w in t(2, x[:2])])

return sum(v * w for v in t(1, x) for w in t(2, x[:2]) if t(3, v > w))

return sum([v for v in t(1, x) if t(2, v > 0) if t(3, v < 0.8)])

return sum([t(2, v) for v in t(1, [x[0], x[1]])])

return sum({k: t(3, v) for k, v in t(1, [(1, x[0]), (2, x[1])])}.values())

return sum({t(1, 'a'): t(2, x[0]), t(3, 'b'): t(4, x[1])}.values())

g = (v * 2 for v in t(1, x)); print(2); return sum(g)

g = (t(2, v) for v in t(1, [x[0], x[1]])); print(3); return sum(g)

a = [x[0], x[1]]; g = (v * 2 for v in a); a = [x[2]]; return sum(g)

a = [x[0], x[1]]; g = (v * 2 for v in a); a.append(x[2]); return sum(g)

y = x * 2; g = (v * 2 for v in y); y[0] = 5.0; y = x; return sum(g)

a, k = [x[0], x[1]], 2.0; g = (v * k for v in a); k = 3.0; return sum(g)

a = [x[0], x[1]]
m, z, r = map(lambda v: v * 2, a), zip(a, a), reversed(a)
a = [x[2]]
return sum(m) + sum(p * q for p, q in z) + sum(r)

return x[0] * any(v < 0.6 for v in t(1, x)) + all(t(3, v) > 0 for v in t(2, x))

return max(t(1, x[0]), t(2, x[1])) + min(v for v in t(3, x)) + max(t(4, [x[0], x[1]]), key=lambda v: t(5, -v))

return sum(t(1, [x[0]]), t(2, x[1])) + sum(sorted(t(3, x))) + sum(map(lambda v: t(5, v), t(4, [x[0], x[1]])))

return sum(i * v for i, v in enumerate(t(1, x), t(2, 1))) + sum(a * b for a, b in zip(t(3, x), t(4, x[1:])))

s = 0.0; k = 0;
while t(1, k) < t(2, 2):
    s += x[k]; k += 1
return s

s = 0.0
for v in t(1, x):
    s += v
return s

s = 0.0
for v in t(1, [x[0], x[1]]):
    s += v
else:
    s += t(2, 1.0)
return s

s = 0.0
for k in range(t(1, 0), t(2, 3), t(3, 2)):
    s += x[k]
return s

s = 0.0
while t(1, s) < 1.0 and t(2, True) or t(3, False):
    s += x[0]
return s

if t(1, x[0]) > 5:
    return x[0]
elif t(2, x[1]) > t(3, 0.1):
    return x[1]
elif t(4, True):
    return x[2]
return x[3]

return x[0] if t(1, x[0]) < t(2, x[1]) < t(3, x[2]) else x[1] if t(4, x[0]) > t(5, x[1]) > t(6, x[2]) else x[3]

return t(1, 0.0) or t(2, x[0]) or t(3, x[1])

return (t(1, x[0]) and t(2, x[1])) + (not t(3, x[0])) + (t(4, 2.0) if t(5, x[0] > 0) else t(6, 3.0))

x[t(2, 0)] = t(1, 5.0); return np.sum(x)

x[t(1, 0)] += t(2, 5.0); return np.sum(x)

x[t(1, 0) : t(2, 3) : t(3, 2)] *= t(4, 2.0); return np.sum(x)

t(2, x)[t(3, 1)] = t(1, x)[t(0, 0)]; return np.sum(x)

a = [x[0], x[1]]; a[t(2, 0)] = t(1, x[2]); a[t(3, 1)] += t(4, x[3]); del a[t(5, 0)]; return sum(a)

a = [x[0]]
t(1, a).append(t(2, x[1]))
t(3, a).insert(t(4, 0), t(5, x[2]))
t(6, a).extend(t(7, [x[3]]))
return sum(a) + t(8, a).pop(t(9, 0))

d = {'a': x[0]}
d[t(2, 'b')] = t(1, x[1])
d[t(3, 'a')] *= t(4, 2.0)
return t(5, d).get(t(6, 'c'), t(7, x[2])) + sum(t(8, d).values())

(a, b), c = t(1, (t(2, (x[0], x[1])), x[2])); p, *q = t(3, [a, b, c]); return p + sum(q) * 2

a = b = t(1, x * 2); a[0] = 1.0; return np.sum(b)

i, x[i] = t(1, 1), t(2, 3.0); return np.sum(x) * i

f = lambda p, q=t(1, x[0]), *r, s, **o: p + q + sum(r) + s + sum(o.values())
return f(t(2, 1.0), *t(3, [x[1]]), *t(4, (1.0,)), s=t(5, x[2]), **t(6, {'z': x[3]}))

b = t(1, Box)(t(2, x[0]))
b.a = t(3, x[1])
t(4, b).a += t(5, x[2])
return t(6, b).get(t(7, 2.0), more=t(8, 1.0))

b = Box(x[0]); return sum(b) + len(b) + (t(1, x[0]) in b) + b[t(2, 1)] + (t(3, b) + t(4, 1.0)).a

b = Box(x[0])
p, q = b
return p + sum([v for v in b]) + q * sum(v for v in b) + sum(map(lambda v: v * 2, b))

s = np.sum(t(1, x), axis=t(2, 0)) + np.dot(t(3, x), t(4, x))
return s + t(5, x).sum(axis=t(6, None)) + t(7, x)[t(8, 0)] + t(9, x).T[t(10, 1)]

return np.where(t(1, x > 0), t(2, x), t(3, 0.0)).sum() + np.maximum(t(4, x), t(5, 0.1))[0] + np.stack([t(6, x), t(7, x)])[0, 0]

s = float(t(1, x[0])) + int(t(2, 2)) + abs(t(3, x[1])) + round(t(4, 2.5)) + len(t(5, x))
return s + isinstance(t(6, x), np.ndarray) + pow(t(7, x[0]), t(8, 2)) + sum(divmod(t(9, 7), t(10, 2)))

assert t(1, x[0]) > 0, t(2, 'no')
print(t(3, 'a'), t(4, x.shape), f"{t(5, x[0]):.2f} {t(6, 3)}", sep=t(7, '-'))
return x[0]

s = functools.reduce(lambda a, b: t(2, a + b), t(1, [x[0], x[1], x[2]]), t(3, 1.0))
return s + functools.partial(t, t(4, 'p'))(t(5, x[0]))

y = np.zeros(t(1, 3))
y[:] = t(2, x[:3])
y += t(3, x[1:])
z = [t(4, 0.0)] * t(5, 2)
return y @ y + len(z)

return (w := t(1, x[0])) + w * t(2, 2.0) - t(3, w) / t(4, 2.0) ** t(5, 2) // t(6, 1.0) % t(7, 3.0) + -t(8, x[1])

a = [t(k, x[k]) for k in range(t(9, 3))]
return sum(a) + sum(t(v, x[v]) for v in (0, 2)) + sum([t(5, v) for v in {t(6, 1): 2}])

s = t(1, [*t(2, [x[0]]), *t(3, (x[1],)), t(4, x[2])])
return sum(s) + sum({**t(5, {'a': x[0]}), 'b': t(6, x[1])}.values()) + sum((t(7, 1.0), *t(8, x)))

n = t(1, 2)
return sum(sum(row) for row in t(2, [[t(3, x[i]) * j for j in range(t(4, n))] for i in range(t(5, n))]))
""".strip().split("\n\n")

X = np.array([0.9, 0.5, 0.7, -0.5])


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return module_of(HEAD, BODIES, tmp_path_factory.mktemp("once"))


@pytest.mark.parametrize("k", range(len(BODIES)))
@pytest.mark.sampled(4)
def test_once_and_in_order(programs, k, capsys):
    f = getattr(programs, f"f{k}")
    value = float(f(X.copy()))
    printed = capsys.readouterr().out
    for call in (lambda x: tp.vjp(f, x)[0], lambda x: tp.value_and_grad(f)(x)[0], tp.jit(f)):
        assert float(call(X.copy())) == pytest.approx(value)
        assert capsys.readouterr().out == printed
