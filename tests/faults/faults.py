"""The faults, each one slip that an author of the compiler could make."""

from __future__ import annotations

from dataclasses import dataclass

# Semantic tests alone: a golden file notices any change of the text, right or wrong.
GROUPS = " or ".join(
    "wrong_elsewhere found_by_fuzz inplace exits indexing swaps whiles branches straight shapes views loops "
    "kernels_mechanics".split()
)
MODES = f"test_against_differences or test_recurrence or test_hessian or ((test_vjp or test_jvp) and ({GROUPS}))"
QUICK = ("tests/test_reverse.py", "tests/test_second_order.py", "tests/test_corpus.py", "-k", MODES)


@dataclass(frozen=True)
class Fault:
    """``old`` stands exactly once in ``file``; ``new`` takes its place. ``tests``: the pytest arguments to try first."""

    name: str
    file: str
    old: str
    new: str
    about: str
    tests: tuple[str, ...] = ()


FAULTS: tuple[Fault, ...] = (
    Fault(
        "dropped_zeroing",
        "transpile/transform/sweep.py",
        "elif self.is_touched_before(stmt):",
        "elif False:",
        "an overwritten place keeps its adjoint",
    ),
    Fault(
        "forward_order",
        "transpile/transform/sweep.py",
        "for stmt in reversed(block.stmts):",
        "for stmt in block.stmts:",
        "the reverse sweep runs forward",
    ),
    Fault(
        "loop_direction",
        "transpile/transform/sweep.py",
        "stmt.step, not stmt.backwards)",
        "stmt.step, stmt.backwards)",
        "a loop is mirrored in its own direction",
    ),
    Fault(
        "mask_of_the_wrong_side",
        "transpile/transform/sweep.py",
        'mask = b.elementwise("logical_not", test)',
        "mask = b.expr(test)",
        "both sides of a where get the mask of the first",
    ),
    Fault(
        "first_writer_counts",
        "transpile/transform/sweep.py",
        "return self.last_writer(stmt, value) if repeated else value",
        "return value",
        "repeated indices in a store all get an adjoint",
    ),
    Fault(
        "branches_swapped",
        "transpile/transform/sweep.py",
        "If(stmt.test, sides[0], sides[1],",
        "If(stmt.test, sides[1], sides[0],",
        "the mirror of a branch takes the other side",
    ),
    Fault(
        "carried_adjoint_lost",
        "transpile/transform/sweep.py",
        "self.adj.add(stmt.inits[k], b.expr(r))",
        "pass",
        "what a loop begins with gets no adjoint from it",
    ),
    Fault(
        "untouched_buffers",
        "transpile/transform/sweep.py",
        "return any(v in self.adj.buffers or v.type.kind",
        "return any(v.type.kind",
        "a loop that only writes has no mirror",
    ),
    Fault(
        "restart_after_any_store",
        "transpile/transform/sweep.py",
        "if not stmt.path and self.is_local(stmt.buf):",
        "if self.is_local(stmt.buf):",
        "a store to a part drops the whole adjoint",
    ),
    Fault(
        "scalars_not_carried",
        "transpile/transform/sweep.py",
        "scalars[var] = None",
        "pass",
        "scalars from outside a loop lose what the loop adds",
    ),
    Fault(
        "seed_of_two",
        "transpile/transform/sweep.py",
        "self.adj.add(output, b.expr(Const(1.0, output.type)))",
        "self.adj.add(output, b.expr(Const(2.0, output.type)))",
        "the sweep starts from 2",
    ),
    Fault(
        "accumulation_replaces",
        "transpile/transform/adjoints.py",
        "return Pending(plus(x.settle(), y.settle()))",
        "return y",
        "the last contribution wins",
    ),
    Fault(
        "mask_forgotten",
        "transpile/transform/adjoints.py",
        'return self.value.b.elementwise("where", self.mask, self.value, 0.0)',
        "return self.value",
        "the mask of a where is not applied",
    ),
    Fault(
        "buffer_starts_empty",
        "transpile/transform/adjoints.py",
        "self.buffers[var] = self._fresh(var, pending.settle())",
        "self.buffers[var] = self.b.zeros(self.name(var), var.type)",
        "an adjoint that becomes a buffer forgets what it had",
    ),
    Fault(
        "scatter_assigns",
        "transpile/transform/adjoints.py",
        "write = self.b.store if self.is_first(buffer, part) else self.b.add",
        "write = self.b.store",
        "an indexed read assigns its adjoint instead of adding",
    ),
    Fault(
        "sign_lost",
        "transpile/transform/calculus.py",
        "    if number == -1:\n        return -x",
        "    if number == -1:\n        return x",
        "a factor of -1 is dropped",
    ),
    Fault(
        "difference_turned",
        "transpile/transform/calculus.py",
        "return minus(x, b.expr(dy.args[0]))",
        "return minus(b.expr(dy.args[0]), x)",
        "a - b becomes b - a",
    ),
    Fault(
        "times_for_divided",
        "transpile/transform/calculus.py",
        "return bar / b.expr(made.args[1])",
        "return bar * b.expr(made.args[1])",
        "the adjoint of a quotient is multiplied",
    ),
    Fault(
        "doubling_forgotten",
        "transpile/transform/calculus.py",
        "doubled = by_number(x, 2.0)",
        "doubled = by_number(x, 1.0)",
        "x + x becomes x",
    ),
    Fault(
        "common_factor_of_one",
        "transpile/transform/calculus.py",
        "rest = _rest(b, prim, b.expr(dx.args[1 - k]), b.expr(dy.args[1 - j]))",
        "rest = b.expr(dx.args[1 - k])",
        "a common factor swallows the second term",
    ),
    Fault(
        "index_of_a_stopped_loop",
        "transpile/transform/record.py",
        "return (start + b.expr(level.index) * step).op",
        "return level.index",
        "a loop with break is mirrored from 0 by 1",
    ),
    Fault(
        "tape_never_written",
        "transpile/transform/record.py",
        "self.b.emit(Store(tape, self.tape_path(var), tuple(ordinals), var, self.b.loc))",
        "pass",
        "what is recorded is not stored",
    ),
    Fault(
        "maybe_undefined_length",
        "transpile/transform/record.py",
        "if any(isinstance(side.yields[k], Undef) for side in (found.stmt.then, found.stmt.orelse)):",
        "if False:",
        "a tape is as long as a number that only one branch defines",
    ),
    Fault(
        "reads_always_stable",
        "transpile/transform/needs.py",
        "is_there = self.is_lasting(root) and self.overwrites.is_stable(stmt)",
        "is_there = self.is_lasting(root)",
        "overwritten elements are read again",
    ),
    Fault(
        "originals_always_there",
        "transpile/analysis/overwrites.py",
        "return None if any(may_overwrite(self.defs, self.fn.symbols, w, site) for w in earlier) else source",
        "return source",
        "what was written into a copy is read from what was copied",
    ),
    Fault(
        "stored_values_always_kept",
        "transpile/transform/needs.py",
        "if stmt is None or not self.overwrites.is_kept(stmt):",
        "if stmt is None:",
        "a value is read back from a place that was overwritten",
    ),
    Fault(
        "trips_always_repeatable",
        "transpile/transform/rerun.py",
        "if overwrites.defs[root].nest or first is None or not overwrites.is_stable(first):",
        "if False:",
        "a trip that runs again reads what later trips have overwritten",
    ),
    Fault(
        "outer_needs_forgotten",
        "transpile/transform/needs.py",
        "            self.need(var)\n            return\n",
        "            return\n",
        "what a recomputation reads from an outer loop is not recorded",
    ),
    Fault(
        "order_turned",
        "transpile/analysis/overwrites.py",
        "if second.order > first.order:",
        "if second.order < first.order:",
        "later statements count as earlier",
    ),
    Fault(
        "touched_before_inverted",
        "transpile/analysis/overwrites.py",
        "return not any(self.may_touch_later(",
        "return any(self.may_touch_later(",
        "zeroing happens where it is not needed",
    ),
    Fault(
        "activity_inverted",
        "transpile/analysis/activity.py",
        "if partial is not ZERO and carries_derivative(arg):",
        "if partial is ZERO and carries_derivative(arg):",
        "the wrong operands are active",
    ),
    Fault(
        "loop_activity",
        "transpile/analysis/activity.py",
        "                    yield out, params[k]\n",
        "",
        "what a trip hands to the next is not active",
    ),
    Fault(
        "store_activity",
        "transpile/analysis/activity.py",
        "            yield stmt.value, stmt.buf\n",
        "            yield stmt.buf, stmt.buf\n",
        "what is stored is not active",
    ),
    Fault(
        "missing_unbroadcast",
        "transpile/rules/structure.py",
        "summed = m.sum(x_bar, (*range(lead), *stretched))",
        "summed = m.sum(x_bar, tuple(range(lead)))",
        "stretched axes are not summed",
    ),
    Fault(
        "transposed_back_wrongly",
        "transpile/rules/structure.py",
        "inverse[a] = k",
        "inverse[k] = a",
        "the adjoint of a transpose permutes forward",
    ),
    Fault(
        "product_rule",
        "transpile/rules/arithmetic.py",
        "lambda y, a, b: b, lambda y, a, b: a)",
        "lambda y, a, b: b, lambda y, a, b: b)",
        "d(ab)/db is b",
    ),
    Fault(
        "quotient_sign",
        "transpile/rules/arithmetic.py",
        "-(y / b)",
        "y / b",
        "d(a/b)/db has the wrong sign",
    ),
    Fault(
        "self_update_looks_away",
        "transpile/transform/selfupdate.py",
        "return any(buf in reads(s)",
        "return False and any(buf in reads(s)",
        "an adjoint that was read in between is left as it was",
    ),
    Fault(
        "self_update_rest",
        "transpile/transform/selfupdate.py",
        "return [replace(add, value=y if x is taken else x)]",
        "return []",
        "what an increment adds besides the old adjoint is lost",
    ),
    Fault(
        "reads_before_and_after",
        "transpile/transform/tidy.py",
        "self.versions[root] = self.versions.get(root, 0) + 1",
        "self.versions[root] = 0",
        "a read after a write is taken for the one before",
    ),
    Fault(
        "merged_branches_swapped",
        "transpile/transform/tidy.py",
        "((first.then, second.then), (first.orelse, second.orelse))",
        "((first.then, second.orelse), (first.orelse, second.then))",
        "neighbouring branches are merged crosswise",
    ),
    Fault(
        "tangent_of_a_constant_store",
        "transpile/transform/forward.py",
        "if value is None and isinstance(stmt, Add):",
        "if value is None:",
        "a constant written over a varying element leaves its tangent",
    ),
    Fault(
        "forward_where",
        "transpile/transform/forward.py",
        "self.tangent_or_zero(x), self.tangent_or_zero(y))",
        "self.tangent_or_zero(y), self.tangent_or_zero(x))",
        "the tangents of a where are swapped",
    ),
    Fault(
        "dead_pushes",
        "transpile/transform/dce.py",
        "            case Push():\n                self.writes.setdefault(stmt.stack, []).append(stmt)\n",
        "            case Push():\n                pass\n",
        "what is pushed counts as dead",
    ),
    Fault(
        "beginning_of_a_buffer",
        "transpile/transform/prepare.py",
        "case Alloc() if stmt.prim not in _PLAIN:",
        "case Alloc() if False:",
        "the partial at an allocation reads what was written later",
    ),
    Fault(
        "counter_over_bound",
        "transpile/render/names.py",
        "self.define(param, around | head |",
        "self.define(param, around |",
        "the printed trip counter hides the loop's bound",
    ),
    Fault(
        "routines_of_one_name",
        "transpile/core/routines.py",
        "def __str__(self) -> str:  # and",
        "def __repr__(self) -> str:  # and",
        "calls of two functions that have one name are one value",
        ("tests/test_recursion_known.py", "-k", "test_known_counts"),
    ),
    Fault(
        "complex_outside",
        "transpile/frontend/capture.py",
        "if found is not None:",
        "if False:",
        "what is captured may be complex",
        ("tests/test_complex.py",),
    ),
    Fault(
        "argument_renamed",
        "transpile/interpreted.py",
        "return dict(zip(single, names))",
        "return dict(zip(single, single))",
        "an argument that the text calls otherwise is given by its old name",
        ("tests/test_keywords.py",),
    ),
    Fault(
        "text_not_compared",
        "transpile/frontend/written.py",
        "if any(_is_among(own, _compiled(statement, before, own.co_filename, flags), shift) for before in befores):",
        "if True:",
        "the text at a function's place is taken for what runs",
        ("tests/test_written.py",),
    ),
    Fault(
        "constants_of_no_dtype",
        "transpile/rules/join.py",
        'return f"np.array([{inner}])" if dtype in PLAIN else',
        'return f"np.array([{inner}])" if dtype else',
        "an array of numbers forgets in the text that it is of float32",
        ("tests/test_corpus.py", "-k", "constants_of_single_precision"),
    ),
    Fault(
        "range_of_sizes_only",
        "transpile/rules/api_creation.py",
        "    if isinstance(x.op, Const):\n        return Dim(int",
        "    if isinstance(x.op, Const) and isinstance(x.op.value, float):\n        return Dim(int",
        "the step of a range is taken for a size, which is not negative",
        ("tests/matrix/test_matrix.py", "tests/test_corpus.py", "-k", "range_downwards"),
    ),
    Fault(
        "stretched_axis_not_summed",
        "transpile/rules/structure.py",
        "test = b.dim(size).eq(1)",
        "test = b.dim(size).eq(0)",
        "the adjoint of an axis that was broadcast at run time is not summed",
        ("tests/test_corpus.py", "-k", "sizes and test_vjp"),
    ),
    Fault(
        "size_taken_not_to_be_one",
        "transpile/frontend/symbols.py",
        "if left != right and noted:",
        "if False:",
        "nothing checks that a size that was not squeezed is not 1",
        ("tests/test_sizes.py",),
    ),
    Fault(
        "parts_of_other_ends",
        "transpile/frontend/measured.py",
        "for s in (item.start, item.stop, item.step))",
        "for s in (item.start, item.step))",
        "parts that begin alike count as equally long",
        ("tests/test_corpus.py", "-k", "sizes and (test_value or test_vjp)"),
    ),
)
