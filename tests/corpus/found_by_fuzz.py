"""Programs that once came out wrong, as small as they could be made."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection()
program = PROGRAMS.program


@program(args=lambda: (normal(4), 3), tags="for break")
def bound_named_as_counter(x, trips):
    """The printed trip counter must not take the name of the loop's own bound."""
    total = 0.3
    for j in range(trips):
        total += x[j] ** 2
        if total > 100.0:
            break
    return total * total


@program(args=lambda: (normal(3, 3),), tags="inplace rows")
def overwritten_beginning(a):
    """A buffer that begins as tanh(a): its derivative needs tanh(a), which the buffer no longer holds."""
    grid = np.tanh(a)
    for row in grid:
        row += 1.0
    return grid


@program(args=lambda: (1.7, normal(4, 4)), wrt=(0, 1), tags="return for rows")
def recomputed_from_a_branch(s, a):
    """What a loop in a branch recomputes reads a value of that branch."""
    if s > 100.0:
        return np.mean(a)
    row_means = np.mean(a, axis=1)
    total = 0.0
    for j, t in enumerate(row_means):
        total += np.sin(t / s) * (j + 1)
    return total


@program(args=lambda: (normal(9),), tags="for break step")
def stopped_with_start_and_step(x):
    """The mirror of a loop with a break has to find the indices again: they begin at 2 and go by 3."""
    total = 0.0
    for i in range(2, len(x), 3):
        total += x[i] ** 2 * (i + 1)
        if total > 50.0:
            break
    return total


@program(args=lambda: (normal(4),), tags="inplace overwritten for")
def stored_then_overwritten(x):
    """exp(x[i]) stands in h[i] only until the second loop."""
    h = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        h[i] = np.exp(x[i])
        total += h[i] * (i + 1)
    for i in range(len(x)):
        h[i] = 2.0 * x[i]
        total += h[i] ** 2
    return total


@program(args=lambda: (normal(5),), tags="inplace overwritten for")
def written_between_read_and_update(x):
    """u[i] is read, perhaps overwritten (where j is i), then set from what was read."""
    u = x.copy()
    for i in range(len(x)):
        before = u[i]
        j = len(x) - 1 - i
        u[j] = np.sin(x[i])
        u[i] = before + x[i]
    return np.sum(u * u)


@program(args=lambda: (normal(4), normal(4, seed=1)), wrt=(0, 1), tags="return for")
def array_returned_from_a_loop(x, y):
    """One array or another leaves a loop."""
    for i in range(len(x)):
        if x[i] > 0.5:
            return y * x[i]
    return y


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="for mask inplace")
def sizes_compared_again(x, y):
    """The body is lifted twice; the check that both masks select equally many must stand in the second text too."""
    for i in range(len(x)):
        y[y > 0.23] = np.sin(y[y > 0.23])
    w = x[1:3]
    w += np.ones(2)
    return y * x


@program(args=lambda: (normal(3), normal(4, seed=1)), wrt=(0, 1), tags="for inplace alias")
def augmented_under_two_names(x, y):
    """x += ... writes into the array; it makes no other, in a loop either."""
    z = x
    total = 0.0
    for e in y:
        x += 0.5 * x[::-1]
        total += z[0] * e
    return total


@program(args=lambda: (normal(6),), tags="inplace slice for")
def increments_in_place(u):
    """The adjoint of an increment stays, and what is added to it has both signs."""
    u = u.copy()
    for _ in range(3):
        u[1:-1] -= 0.1 * np.sin(u[1:-1]) * u[2:]
    return np.sum(u**2)


@program(args=lambda: (normal(4) + 1.0, 3), tags="for break return exit")
def break_then_return(x, trips):
    """A loop that one test leaves and another ends the function in."""
    for k in range(trips):
        if x[k] < -5.0:
            break
        if x[k] > 0.5:
            return x[k] * x[0]
    return 0.5 * x[1]


@program(args=lambda: (normal(3), normal(3, 3, seed=1), 0.5), wrt=(0, 1, 2), tags="for rows inplace nested")
def rows_added_to_themselves(x, a, s):
    """Each row is a view of the matrix that all are added to."""
    for t, rate in zip(x, a):
        for row in a:
            row += rate * t
        s += np.sum(a * a)
    return s


@program(args=lambda: (normal(5), 3), wrt=(0,), tags="for inplace alias inner")
def written_then_named_then_scaled(x, trips):
    """u *= 1.1 would scale what w is, too."""

    def relax(u):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        return u

    u = x.copy()
    w = x
    for _ in range(trips):
        w = relax(u)
        u = w * 1.1
    return np.sum(u * w)


@program(args=lambda: (normal(4), normal(4, seed=1), 3), wrt=(0, 1), tags="for dict inplace")
def one_item_written_another_replaced(x, y, trips):
    """The loop carries the item that it replaces; the other stays the array that came in."""
    s = {"u": x, "v": y}
    for k in range(trips):
        s["u"][k] = np.sin(s["v"][k + 1])
        s["v"] = s["v"] * s["u"]
    return np.sum(s["u"] * s["v"]) + np.sum(x)


@program(args=lambda: (normal(4), normal(4, seed=1), 3), wrt=(0, 1), tags="for dict nested inplace")
def nested_items(x, y, trips):
    s = {"p": {"u": x.copy(), "v": y.copy()}, "t": 0}
    w = s["p"]["u"]
    for k in range(trips):
        w[k] = np.sin(s["p"]["v"][k])
        s["p"]["v"] = s["p"]["v"] * s["p"]["u"]
        s["t"] = s["t"] + np.sum(s["p"]["v"])
    return s["t"]


@program(args=lambda: (normal(5), normal(5, seed=1), 3), wrt=(0, 1), tags="for append alias")
def new_arrays_in_a_list(x, y, trips):
    """What is appended is written before, not after."""
    u = x.copy()
    steps = [u]
    for _ in range(trips):
        new = u.copy()
        new[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0] = 0.0
        steps.append(new)
        u = new
    return np.sum(np.stack(steps) ** 2 * y)


@program(args=lambda: (normal(4), 4), wrt=(0,), tags="for append alias")
def one_array_many_times(x, trips):
    """It was written before the loop."""
    b = np.zeros(4)
    b[1:] = x[:-1] ** 2
    rows = []
    for _ in range(trips):
        rows.append(b)
    return np.stack(rows)


@program(args=lambda: (normal(4), 3), wrt=(0,), tags="for nested mask inplace")
def masked_in_nested_loops(x, trips):
    """The trips run again in the reverse sweep, with sizes of their own."""
    for k in range(trips):
        for _ in range(k):
            if x[0] < 3.0:
                x[x < 0.42] *= x[0]
    return x


@program(args=lambda: (normal(4), normal(4, seed=1), 3), wrt=(0, 1), tags="for alias inplace")
def named_in_the_body_alone(x, y, trips):
    """After the loop v is still another name of z."""
    z = y.copy()
    for k in range(trips):
        v = z
        z[k] = np.sin(x[k])
    v[0] = 2.0 * x[1]
    return np.sum(z * x)


@program(args=lambda: (normal(4), normal(4, seed=1), 3), wrt=(0, 1), tags="for alias dict inplace")
def changed_and_returned(x, y, trips):
    """state = step(state) where step changes what it gives: no trip makes another dict or array."""

    def step(state, k):
        state["u"][k] = np.sin(state["u"][k] * state["c"])
        state["c"] = 0.5 * state["c"] + state["u"][k - 1]
        return state

    def relax(u):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        return u

    state = {"u": x, "c": 0}
    z = y
    for k in range(trips):
        state = step(state, k)
        z = relax(z)
    return np.sum(state["u"] * y) + np.sum(x * z) + state["c"]


@program(args=lambda: (normal(4), normal(4, seed=1)), wrt=(0, 1), tags="return for nested inplace")
def returned_or_written(x, y):
    """What a return in a loop gives is not written any more, though its loops go on writing where it was not reached."""
    for i in range(len(x)):
        for j in range(i):
            x[j] *= np.cos(y[i])
            if x[j] > 0.9:
                return x
        y[i] += 0.5 * x[0]
    x[0] = y[1]
    return x


@program(args=lambda: (normal(3),), tags="view transpose")
def written_through_a_reshape(x):
    """The adjoint of a transposed array lies in memory the other way round, and is written through a reshape."""
    n = len(x)
    h = np.zeros((n, n))
    flat = h.reshape(-1)
    h[0] += x
    flat[1] *= 0.3
    return h.T + np.mean(h)


@program(args=lambda: (normal(3, 3), normal(3, seed=1), normal(4, 3, seed=2)), wrt=(0, 1, 2))
def fixed_state(w, v, xs):
    """Sizes of arguments that must be equal to each other and to a number."""
    h = np.zeros(3)
    loss = 0.0
    for x in xs:
        h = np.tanh(w @ h + x)
        e = v @ h
        loss += 0.5 * e * e
    return loss


@program(args=lambda: (normal(5), normal(5, seed=1), normal(5, seed=2)), wrt=(0, 1), tags="for if")
def running_sum_in_a_branch(x, y, c):
    """What the reverse sweep carries is added to twice, once in a branch, and read between the trips."""
    s = 0.0
    total = 0.0
    for i in range(len(x)):
        if c[i] > 0.0:
            total += np.sin(s * y[i])
        total += np.exp(s * y[i])
        s = s + np.tanh(x[i])
    return total


@program(args=lambda: (0.7, 2), tags="for if continue")
def continued_sum(x, n):
    """A slope that a branch doubles: its own derivative runs the trips from the first to the last."""
    r = 0.3
    for _ in range(n):
        p = np.full(n + 1, x * 1.25) + 0.1 * r
        r += np.sum(np.sin(p))
        if r < 2.0:
            continue
        r += np.sum(np.sin(p))
    return r


@program(args=lambda: (normal(4), normal(4, seed=1)), wrt=(0, 1), tags="for inplace loops")
def added_after_it_was_read(w, z):
    """Both loops run forward and backward at once: the derivative of the second reads what that of the first adds to."""
    row = np.sin(w)
    row[0] = 0.5
    total = 0.0
    for i in range(len(w)):
        total += np.exp(row[i] * z[i])
    for i in range(len(w)):
        row[i] += np.exp(w[i])
    return total + np.sum(row)


@program(args=lambda: (normal(19), normal(3, seed=1), np.array([1.0]), np.array([-1.0])), wrt=(0, 1), tags="for if")
def dropped_sum(x, y, p, q):
    """A branch adds to a sum and another one in it goes on with what the sum was before."""
    s = 0.0
    for i in range(len(x)):
        t = x[i]
        for j in range(len(y)):
            t = t * y[j] + 0.1 * t * t
        d = q[0] > 0.0
        if p[0] > 0.0:
            u = s + t
            if d:
                s = u
    return s


@program(args=lambda: (normal(5), normal(3, 5, seed=1)), tags="for inplace")
def carried_into_an_element(x, a):
    """What the outer loop carries is written before the inner loop, and goes on after it: the loops are not exchanged."""
    m, n = a.shape
    sums = np.zeros(n)
    rows = np.zeros((m, n))
    s = 0.0
    for i in range(n):
        sums[i] = s
        for j in range(m):
            rows[j, i] = a[j, i] * x[i]
        s = s + x[i]
    return np.sum(sums * sums) + np.sum(rows)


@program(args=lambda: (normal(3), normal(4), np.array([0, 2, 2, 1])), wrt=(0, 1), tags="for inplace gather overwritten")
def rows_with_one_place_twice(x, y, places):
    """Of the entries of a row that go to one place only the last stands there, and all are needed again."""
    rows = np.zeros((3, 4))
    total = 0.0
    for i in range(3):
        row = np.exp(x[i] * y)
        rows[i, places] = row
        total += row @ row
    return total + np.sum(rows)


@program(args=lambda: (normal(4), normal(3)), wrt=(0, 1), tags="for inplace overwritten nested")
def data_of_a_trip(x, y):
    """Each trip runs forward and backward at once, and overwrites data that its inner loops would read when they run again."""
    data = np.ones(len(y))
    total = 0.0
    for i in range(len(x)):
        s = x[i]
        for j in range(len(y)):
            for k in range(len(y)):
                s = 0.2 * s * s * data[k] + x[i] * y[j]
        total += s
        data *= 0.5
    return total


@program(args=lambda: (1.7, -1.0), wrt=(0,), tags="if")
def zero_of_a_branch(x, c):
    """Zero on one side, minus zero on the other: they are not one number."""
    zero = 0.0
    if c < 0.0:
        zero = -0.0
    return np.copysign(x, zero) * x


@program(args=lambda: (normal(3), np.array([2**53 + 1, -(2**61) - 3, 5])), wrt=(0,), tags="integers")
def rounded_integers(x, k):
    """An integer of 64 bits is rounded where it becomes a float, and stays so where that becomes an integer."""
    return np.sum(x * (k.astype(np.float64).astype(np.int64) - k))


@program(args=lambda: (normal(3),), tags="reduction")
def chosen_by_a_flag(x):
    """A choice whose test is known still has the shape of both sides, and so has one between equal numbers."""
    scaled = True
    half = 0.5
    return np.sum(np.where(scaled, half, x)) * x[0] + np.sum(np.where(x > 0.0, half, half))


@program(args=lambda: (normal(2, 3, 4),), tags="reduction")
def length_of_a_block(t):
    """All lanes at once it is a norm of three axes of four, which np.linalg.norm does not take."""
    return np.linalg.norm(t) ** 2


@program(args=lambda: (normal(4), normal(3, seed=1)), wrt=(0, 1), tags="indexing")
def places_of_truths(x, y):
    """np.take reads truth values as numbers, an index as a mask."""
    return np.sum(np.take(y, x > 0.0) * x)


@program(args=lambda: (normal(5), normal(3, seed=1)), tags="shapes")
def whole_steps(x, a):
    """The points between arrays are rounded as NumPy rounds them, and the last one is exact: their floors are else others."""
    return np.sum(np.linspace(a, np.round(3.0 * a), 5, dtype=int)[:, 0] * x)


@program(args=lambda: (normal(5), np.zeros((0, 5)), normal(5, seed=2)), wrt=(0, 2), tags="for inplace empty")
def beside_an_empty_loop(x, a, t):
    """The loops may change places only if the inner one has a trip: else the last element is written too early."""
    m, n = a.shape
    row = np.sin(t)
    total = 0.0
    for i in range(n):
        s = 0.0
        row[i] = x[i]
        for j in range(m):
            s += a[j, i]
        total += row[n - 1 + m] * s + row[n - 1 + m]
    return total


@program(args=lambda: (normal(4), 0.5, normal(4, 4, seed=1)), wrt=(0, 1, 2), tags="for if inplace empty")
def beside_a_loop_that_is_empty_here(x, s, a):
    """Where the size is known, so is that neither sweep has a trip: the branch gives the reverse one its start."""
    n = len(x)
    p = x.copy()
    if a[0, 0] > 0.0:
        for _ in range(n - 1, 1):
            p[0] *= s
            s += p[0]
    return s + np.sum(a[:, 0] * p)


@program(args=lambda: (normal(4), 0.5, normal(4, 4, seed=1)), wrt=(0, 1, 2), tags="for if")
def run_in_one_of_three_branches(x, s, a):
    """The branch hands the reverse loop its start, and a start on the sides without a loop."""
    n = len(x)
    if s < 0.25:
        x = x * s
    elif np.sqrt(1.0 + a[1, 0] ** 2) > 0.13:
        for _ in range(n - 1, 0, -2):
            p = np.tanh(x[::-1] * s)
            p[:] = np.tanh(p + a[0])
            x = np.sin(p * s)
    else:
        x = x + 1.0
    return np.sum(x) * s
