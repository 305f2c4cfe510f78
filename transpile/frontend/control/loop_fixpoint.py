"""Lifts the body of a core loop: guesses what it carries, lifts, compares, and lifts again with what was learnt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type, computes_alike, promote
from transpile.errors import TranspileError
from transpile.frontend.control import carries, dynamic_list_reads, dynamic_lists, shrinking, structure_changes
from transpile.frontend.control.slots import (
    SMALL,
    Again,
    Body,
    Key,
    Once,
    Slot,
    StructureChanges,
    same,
    state_around,
)
from transpile.frontend.control.structure_changes import ONE_DTYPE, ONE_STRUCTURE
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import name_lookup
from transpile.frontend.restarts import Dead, NeedBuffer
from transpile.frontend.sources import writes
from transpile.frontend.sources.name_liveness import assigned, handed, rebound
from transpile.frontend.state import Frame, State
from transpile.frontend.values import aliases, carried_aliases, memory
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Cell, Conflict, Items, Maybe, Ref, Scalar


class Carrying:
    """One loop that is being lifted."""

    def __init__(
        self,
        lx: Lifter,
        node: Any,
        body: list[gast.stmt],
        assigned_in: Sequence[gast.AST],
        learnt: Any,
        ran: Callable[[], ir.Operand],
        length: Dim | None = None,
        trip: Callable[[], ir.Operand] | None = None,
        known: Collection[str] | None = None,
    ) -> None:
        self.lx, self.node, self.body, self.learnt, self.ran = lx, node, body, learnt, ran
        self.length, self.trip = length, trip  # how many trips there are, and the number of a trip: if they are known
        self.known = frozenset(lx.b.symbols) if known is None else known  # the sizes that are the same in each trip
        self.index_name = ""
        self.frame = lx.frame
        self.pending: dict[Key, Any] = {}  # names that a trip reads before it assigns them, and where it does
        self.grow: dict[Cell, Any] = {}  # lists that become arrays before the loop
        self.short: dict[Cell, None] = {}  # lists that grew before, and that the body appends to beyond their room
        self.tally: dict[Cell, int] = {}  # how often the body appends to a list
        self.deep: dict[Cell, None] = {}  # lists that it appends to in loops inside
        self.shrinks: dict[Cell, None] = {}  # lists that it makes shorter
        self.reserved: dict[Cell, Dim] = {}  # for how many there is room in each trip
        self.even: dict[Cell, Dim] = {}  # such arrays to which each trip appends equally many elements: how many
        self.counts: dict[Cell, ir.Operand] = {}  # how many elements they have when a trip begins
        others = rebound(assigned_in)
        self.own = [n for n in assigned(assigned_in) if n in others or not self._is_written(n)]
        self.handed = handed(body)
        self.sites: dict[Cell, Any] = {}  # a cell by its name and its number among those of that name
        self.cells: dict[Cell, dict[int, None]] = {}  # containers of outside that the body changes: which items
        self.mixed: dict[Key, dict[int, None]] = {}  # leaves that are a number or an array of rank 0, by the trip
        self.late: dict[Key, Any] = {}  # names that only the body assigns and that later trips or statements read
        self.learnt_aliases = carried_aliases.Learnt()
        self.written: dict[Cell, None] = {}  # what the body has written so far
        self.kept: dict[Key, Any] = {}  # names that only the body assigns: arrays and containers of outside
        self.gone: dict[Key, None] = {}  # names that a trip may remove
        self.unlike: dict[Key, Conflict] = {}  # names that only the body assigns, whose shape changes from trip to trip

    def run(
        self,
        lift: Callable[[], ir.Operand | None],
        emit: Callable[[Body], None],
        test: Callable[[], ir.Operand] | None = None,
    ) -> None:
        """Lifts until the guess is right, then emits the loop and leaves the state behind it."""
        writes.prepare(self.lx, self.body)
        for _ in range(40):
            try:
                self.lx.loops.append(self)
                self._try(lift, emit, test)
                return
            except Again:
                continue
            except NeedBuffer as needed:
                memory.to_buffer(self.lx, needed.cell)
            except dynamic_lists.NeedArray as needed:
                if needed.loop is not self:
                    raise
                dynamic_lists.as_array(self, needed.cell)
            except dynamic_lists.NeedWider as needed:
                if needed.loop is not self:
                    raise
                dynamic_lists.as_wider(self, needed.cell)
            finally:
                self.lx.loops.pop()
        message = "the types of the variables of this loop change in every iteration"
        raise self.lx.error(
            "T206", message, self.node, "give each variable one dtype and shape before the loop and in it"
        )

    def _try(self, lift: Any, emit: Any, test: Any) -> None:
        lx = self.lx
        self._grow()
        self.written.clear()
        self.entered = lx.state
        slots = self._slots()
        block = ir.Block(tuple(p for s in slots for p in s.params))
        self.learnt.params = dict.fromkeys(block.params)
        state = lx.state.fork()
        stop: ir.Operand | None = None
        with lx.forked(state), lx.region(), lx.into(block):
            self._enter(slots)
            lifted_test = self._test(slots, test) if test is not None else None
            dead = False
            try:
                stop = lift()
            except Dead:
                dead = True
            self._compare(slots, state, dead)
            if not dead:
                carried_aliases.at_end(self, slots)
            ends = self._ends(slots, dead)
            late = self._late(state, dead)
            ends_of_late = [aliases.cells_of(lx, state.vars[key]) for key, _, _ in late]
            shared = None if dead else carried_aliases.Ends(self, slots, ends_of_late)
            block.yields = tuple(o for e in ends for o in e)
            block.stop = stop
        results = [ir.Var(p.name, p.type) for s in slots for p in s.params]
        for result, param in zip(results, block.params):
            memory.note_dtypes(lx, result, param)
        inits = [o for s in slots for o in s.inits]
        self._add_late(block, late, inits, results, lifted_test)
        emit(Body(block, tuple(inits), tuple(results), lifted_test))
        self._leave(slots, late, results, state, shared)

    def is_known(self, key: Key) -> bool:
        """Whether a trip begins with what the name holds, or with nothing if no trip has assigned it."""
        return key in self.late or key in self.entered.vars

    def _is_live(self, frame: Any, name: str) -> bool:
        """Whether a name may be read in the next trip or after the loop."""
        code = frame.code
        return frame is not self.lx.frame or not code.body or name in code.liveness.head(self.node)

    def _is_written(self, name: str) -> bool:
        """Whether ``name += ...`` writes into what the name holds, an array or a list, and leaves the name as it is."""
        frame = name_lookup.scope(self.lx, self.lx.frame, name)
        return frame is not None and isinstance(self.lx.state.vars.get((frame, name)), (Array, Ref))

    # ---- lists that grow

    def _grow(self) -> None:
        lx = self.lx
        for cell, (element, most) in self.grow.items():
            more = Dim(0) if most == Dim(0) or self.length is None else most * self.length
            dynamic_lists.convert(
                lx, cell, element, more + dynamic_lists.count_dim(lx, cell), self.known, self.node, [self]
            )
            self.reserved[cell] = most
        self.grow.clear()
        self.short.clear()
        self.tally.clear()
        self.deep.clear()
        self.shrinks.clear()

    def _counted(self, trip: ir.Operand) -> None:
        """Gives the lists that grow evenly the number of elements that they have when a trip begins."""
        lx = self.lx
        for cell, per_trip in self.even.items():
            held: Items = state_around(lx).cells[cell]
            count = lx.b.expr(held.items[0].op) + lx.b.expr(trip) * lx.b.dim(per_trip)
            lx.state.cells[cell] = Items("grown", (Scalar(count.op),), None, held.cls)
            self.counts[cell] = count.op

    def _is_even(self, cell: Cell, held: Items, now: Items) -> bool:
        """Notes a list to which each trip appends equally many elements."""
        lx = self.lx
        if held.kind != "grown" or self.trip is None or self.length is None:
            return False
        inside = self.counts[cell] if cell in self.even else held.items[0].op
        gap = lx.symbols.resolve(lx.b.form(now.items[0].op) - lx.b.form(inside))
        if not lx.symbols.is_size(gap):
            self.even.pop(cell, None)
            return False
        if self.even.get(cell) != gap:
            self.even[cell] = gap
            raise Again
        return True

    # ---- before the body

    def _slots(self) -> list[Slot]:
        lx = self.lx
        keys: dict[Key, None] = {}
        for name in self.own:
            frame = name_lookup.scope(lx, lx.frame, name)
            value = None if frame is None else lx.state.vars.get((frame, name))
            stays = isinstance(value, Ref) or (isinstance(value, Array) and name in self.handed)
            if value is None or not self._is_live(frame, name) or (stays and name not in self.learnt.rebound):
                continue
            keys[frame, name] = None
        keys.update(self.learnt.names)
        slots: list[Slot] = []
        for key in keys:
            value = lx.state.vars.get(key)
            if key in self.gone and value is not None:
                value = carries.as_maybe(value, carries.TRUE)
            if value is not None and not isinstance(value, Conflict):
                slots.append(self._slot(key, value, key[1]))
        slots += [self._slot(cell, lx.state.cells[cell], cell.name, places) for cell, places in self.cells.items()]
        for key, value in self.late.items():
            if key not in lx.state.vars:
                slots.append(self._late_slot(key, value))
        return slots

    def _slot(self, key: Key, entry: Any, name: str, places: dict[int, None] | None = None) -> Slot:
        slot = Slot(key, entry, places=places)
        name = dynamic_list_reads.name_of_count(name, entry)
        for k, op in self._entry_leaves(slot):
            wanted = self.learnt.types.get((self._site(key), k))
            if wanted is not None:
                common = promote(op.type, wanted)
                wanted = Type(common.dtype, op.type.dims, common.weak and not op.type.dims)
            before = op
            op = op if wanted is None else self.lx.b.cast(op, wanted).op
            slot.inits.append(op)
            slot.numbers.append(k)
            slot.params.append(self._parameter(slot, k, name, op.type if wanted is None else wanted))
            memory.note_dtypes(self.lx, slot.params[-1], before, op)
        if isinstance(entry, Array):
            shrinking.add_counts(self.lx, slot, list(self.learnt.short.get(self._site(key), ())))
        return slot

    def _site(self, key: Key) -> Any:
        """The key in the memory of the loop, which outlives frames and cells. A name alone would be that of two objects of one
        class, of two functions, or of one function that is called again in another iteration of an unrolled loop."""
        if not isinstance(key, Cell):
            frame, name = key
            return (frame.code, frame.caller, frame.depth, frame.turns, name, self.lx.turns)
        if key not in self.sites:
            same = [c for c in self.entered.cells if c.name == key.name]
            self.sites.update((c, (c.name, k, self.frame.turns, self.lx.turns)) for k, c in enumerate(same))
        return self.sites[key]

    def _parameter(self, slot: Slot, k: int, name: str, type_: Type) -> ir.Var:
        """A parameter of the body, with the dtypes that it is known to have in other trips."""
        made = ir.Var(name or ir.SYNTHETIC, type_)
        others = self.learnt.dtypes.get((self._site(slot.key), k))
        if others:
            self.lx.b.others[made] = others
        if (self._site(slot.key), k) in self.learnt.either:
            self.lx.b.either.add(made)
        return made

    def _entry_leaves(self, slot: Slot) -> list[tuple[int, ir.Operand]]:
        """The leaves that are carried, with their numbers among all leaves of the name or container."""
        if not isinstance(slot.entry, Items):
            return list(enumerate(carries.leaves(self.lx, slot.entry)))
        found: list[tuple[int, ir.Operand]] = []
        number = 0
        for k, value in enumerate(slot.entry.items):
            ops = carries.leaves(self.lx, value)
            if slot.places is None or k in slot.places:
                found += enumerate(ops, number)
            number += len(ops)
        return found

    def _late_slot(self, key: Key, value: Any) -> Slot:
        """A name that some trips assign: nothing, and a flag that says so, before the loop."""
        like, types = value
        types = [self.learnt.types.get((self._site(key), k), t) for k, t in enumerate(types)]
        slot = Slot(key, like)
        slot.inits = [*carries.undefined_like(self.lx, types), carries.FALSE]
        slot.params = [self._parameter(slot, k, key[1], t) for k, t in enumerate(types)]
        slot.params.append(ir.Var(f"has_{key[1]}", carries.FALSE.type))
        slot.numbers = list(range(len(slot.params)))
        return slot

    def _enter(self, slots: list[Slot]) -> None:
        """The state in which the body begins."""
        lx = self.lx
        memory.drop_snapshots(lx)
        for slot in slots:
            self._place(slot, iter(slot.params))
        if self.trip is not None and self.even:
            self._counted(self.trip())
        self.parts = carried_aliases.note(self, slots)

    def _place(self, slot: Slot, ops: Any) -> None:
        lx = self.lx
        entry = carries.as_mixed(lx, slot.entry, self.mixed.get(slot.key, ()))
        ops = shrinking.cut(lx, slot, ops)
        if isinstance(slot.key, Cell):
            name = dynamic_list_reads.name_of_count(slot.key.name, entry)
            slot.inside = carries.rebuilt_items(lx, entry, ops, name, slot.places)
            lx.state.cells[slot.key] = slot.inside
        else:
            slot.inside = carries.rebuilt(lx, entry, ops, slot.key[1])
            lx.state.vars[slot.key] = slot.inside
        slot.skeleton = self._skeleton(slot.inside)
        slot.kinds = carries.kinds(lx, slot.inside)

    def _skeleton(self, value: Any) -> Any:
        return carries.items_skeleton(self.lx, value) if isinstance(value, Items) else carries.skeleton(self.lx, value)

    def _test(self, slots: list[Slot], test: Callable[[], ir.Operand]) -> ir.Block:
        """The test of a *while*, with parameters of its own."""
        lx = self.lx
        copies = [[ir.Var(p.name, p.type) for p in s.params] for s in slots]
        block = ir.Block(tuple(v for c in copies for v in c))
        with lx.forked(lx.state.fork()), lx.region(), lx.into(block):
            for slot, own in zip(slots, copies):
                inside = slot.inside
                self._place(slot, iter(own))
                slot.inside = inside
            block.yields = (test(),)
        return block

    # ---- behind the body

    def _compare(self, slots: list[Slot], state: State, dead: bool) -> None:
        """Finds what the body changed that it does not carry."""
        lx, before = self.lx, state_around(self.lx)
        if dead:
            return
        carried = {s.key for s in slots}
        learnt = False
        for key, value in before.vars.items():
            if key in carried or same(state.vars.get(key), value):
                continue
            frame, name = key
            if not self._is_live(frame, name):
                continue
            self.learnt.names[key] = None
            if name in self.own:
                self.learnt.rebound[name] = None
            learnt = True
        for cell, held in before.cells.items():
            now = state.cells.get(cell)
            if not isinstance(held, Items) or not isinstance(now, Items) or now is held:
                continue
            if dynamic_lists.is_full(lx, self, cell, self._at_start(cell, held, slots), now):
                learnt = True
            elif cell in carried:
                learnt |= self._changes(cell, held, now)
            else:
                if cell in self.short or carries.items_skeleton(lx, now) != carries.items_skeleton(lx, held):
                    dynamic_lists.restructured(self, cell, held, now)
                elif self._is_even(cell, held, now):
                    continue
                else:
                    self.cells[cell] = {}
                    self._changes(cell, held, now)
                learnt = True
        if learnt:
            raise Again

    def _at_start(self, cell: Cell, held: Items, slots: list[Slot]) -> Items:
        """What a container was when the trip began."""
        return next((s.inside for s in slots if s.key is cell), held)

    def structure_changes(self, name: str, held: Items, now: Items) -> TranspileError:
        """The diagnostic of a container whose structure a trip changes."""
        return structure_changes.diagnostic(self.lx, name, held, now, self.node)

    def _changes(self, cell: Cell, held: Items, now: Items) -> bool:
        """Whether items of a container changed that were not known to."""
        known = self.cells[cell]
        found = [k for k, (a, b) in enumerate(zip(held.items, now.items)) if k not in known and not same(a, b)]
        known.update(dict.fromkeys(found))
        return bool(found)

    def _ends(self, slots: list[Slot], dead: bool) -> list[list[ir.Operand]]:
        """The leaves at the end of a trip, in the types of the parameters."""
        lx = self.lx
        ends: list[list[ir.Operand]] = []
        learnt = False
        for slot in slots:
            if dead:
                ends.append(list(slot.params))
                continue
            end = lx.state.cells[slot.key] if isinstance(slot.key, Cell) else lx.state.vars.get(slot.key)
            ops = self._end_leaves(slot, end)
            learnt |= self._is_mixed(slot, end)
            ready: list[ir.Operand] = []
            for k, op, param in zip(slot.numbers, ops, slot.params):
                wider = self._wider(slot, op, param)
                if wider is not None:
                    self.learnt.types[self._site(slot.key), k] = wider
                    learnt = True
                learnt |= self._has_others(slot, k, op, param)
                ready.append(op if isinstance(op, ir.Undef) or wider is not None else self._as(op, param.type, slot))
            ends.append(shrinking.filled_up(lx, slot, ops[0], slot.key[1]) if slot.short and not learnt else ready)
        if learnt:
            raise Again
        return ends

    def _has_others(self, slot: Slot, k: int, op: ir.Operand, param: ir.Var) -> bool:
        """Notes the dtypes of a value, and whose a truth value is, after an iteration if that was not known before it."""
        if isinstance(op, ir.Undef):
            return False
        known = self.lx.b.others.get(param, frozenset())
        found = set(self.lx.b.dtypes(op)) - {param.type.dtype}
        self.learnt.dtypes[self._site(slot.key), k] = known | found
        return self._is_of_either(slot, k, op, param) or not found <= known

    def _is_of_either(self, slot: Slot, k: int, op: ir.Operand, param: ir.Var) -> bool:
        if param.type.dims or not op.type.is_bool or not param.type.is_bool or param in self.lx.b.either:
            return False
        if not memory.are_either(self.lx, op, param):
            return False
        self.learnt.either[self._site(slot.key), k] = None
        return True

    def _is_mixed(self, slot: Slot, end: Any) -> bool:
        """Notes the leaves that are a number before a trip and an array of rank 0 after it, or the other way round."""
        pairs = zip(slot.kinds, carries.kinds(self.lx, end))
        found = [k for k, (a, b) in enumerate(pairs) if a != b and a != "mixed" and k in slot.numbers]
        self.mixed.setdefault(slot.key, {}).update(dict.fromkeys(found))
        return bool(found)

    def _as(self, op: ir.Operand, wanted: Type, slot: Slot) -> ir.Operand:
        x = self.lx.b.cast(op, wanted)
        if slot.short:
            return x.op
        return self.lx.b.broadcast(x, wanted.dims).op if wanted.dims else x.op

    def _end_leaves(self, slot: Slot, end: Any) -> list[ir.Operand]:
        lx = self.lx
        if isinstance(end, Conflict):
            raise StructureChanges(lx.error("T119", f"{end.message}, in a loop", self.node, end.hint or ONE_STRUCTURE))
        late = isinstance(slot.entry, Maybe)
        if not late and (end is None or isinstance(end, Maybe)):
            self.gone[slot.key] = None
            raise Again
        if end is None:
            return [*(ir.Undef(p.type) for p in slot.params[:-1]), carries.FALSE]
        if self._skeleton(end) != slot.skeleton:
            self._mismatch(slot, end)
        if isinstance(end, Items):
            return [o for v in slot.parts(end) for o in carries.leaves(lx, v)]
        ops = carries.leaves(lx, end)
        return [*ops, carries.TRUE] if late and not isinstance(end, Maybe) else ops

    def _mismatch(self, slot: Slot, end: Any) -> None:
        lx = self.lx
        name = slot.key.name if isinstance(slot.key, Cell) else slot.key[1]
        if not isinstance(end, Items) and not isinstance(slot.inside, Items):
            was, is_ = describe(lx, slot.inside), describe(lx, end)
            text = f"{name!r} is {was} before the loop body and {is_} after it"
            if was == is_:
                text = f"{name!r} is {was} whose length or contents change in the loop body"
            raise StructureChanges(lx.error("T119", text, self.node, ONE_STRUCTURE))
        text = f"the structure of {name!r} changes between iterations of the loop"
        raise StructureChanges(lx.error("T119", text, self.node, ONE_STRUCTURE))

    def _wider(self, slot: Slot, op: ir.Operand, param: ir.Var) -> Type | None:
        """The type that holds both the parameter and the end of a trip, if the parameter's does not."""
        lx = self.lx
        if isinstance(op, ir.Undef):
            return None
        name = slot.key.name if isinstance(slot.key, Cell) else slot.key[1]
        if len(op.type.dims) == len(param.type.dims):
            pairs = list(zip(op.type.dims, param.type.dims))
            unlike = [
                k for k, (p, q) in enumerate(pairs) if k not in slot.short and p != q and not self._fits(slot, p, q)
            ]
            self._learn_shorter(slot, op, param, unlike)
            fits = not unlike
        else:
            fits = False
        if not fits:
            text = f"{name!r} is {param.type} before the loop body and {op.type} after it"
            is_array = op.type.dims or param.type.dims
            hint = "make an array of the final size before the loop, and fill it" if is_array else ONE_DTYPE
            raise StructureChanges(lx.error("T206", text, self.node, hint))
        if not computes_alike(op.type, param.type):
            text = f"{name!r} is {param.type} before the loop body and {op.type} after it"
            raise StructureChanges(lx.error("T206", text, self.node, ONE_DTYPE))
        common = promote(op.type, param.type)
        wider = Type(common.dtype, param.type.dims, common.weak and not param.type.dims)
        return None if wider == param.type else wider

    def _learn_shorter(self, slot: Slot, op: ir.Operand, param: ir.Var, axes: list[int]) -> None:
        """Carries an array that gets shorter in its first size; where the trips are few and known they are unrolled."""
        few = self.length is not None and self.length.is_const and self.length.const <= SMALL
        if not axes or few or not shrinking.can_carry(slot, op, param):
            return
        if all(shrinking.gets_shorter(self.lx, param.type.dims[k], op.type.dims[k]) for k in axes):
            self.learnt.short.setdefault(self._site(slot.key), {}).update(dict.fromkeys(axes))
            raise Again

    def _fits(self, slot: Slot, p: Dim, q: Dim) -> bool:
        """Whether sizes before and after a trip are equal, or checked to be; what may have no value has no size to compare."""
        if isinstance(slot.entry, Array) and not self.lx.symbols.is_size(p) and shrinking.gets_shorter(self.lx, q, p):
            return False
        if self._differs(p, q):
            return False
        known = all(self.lx.symbols.is_size(d) for d in (p, q))
        with self.lx.symbols.at_once():
            return (known or not isinstance(slot.entry, Maybe)) and self.lx.b.same(p, q)

    def _differs(self, p: Dim, q: Dim) -> bool:
        """Whether a size is more than the other one, or not that on one of the paths that meet in it."""
        symbols = self.lx.symbols
        gap = symbols.resolve(p) - symbols.resolve(q)
        if gap.is_const:
            return gap.const != 0
        if gap.is_size and not symbols.is_size(gap):
            return True  # longer by what only the run knows
        return any(self._differs(d, q) for d in symbols.joined.get(p.as_symbol or "", ()))

    # ---- names that only the body assigns

    def _late(self, state: State, dead: bool) -> list[tuple[Key, Any, list[ir.Operand]]]:
        """Names first assigned by the body and read after it, with their leaves at the end of a trip."""
        lx, before = self.lx, state_around(self.lx)
        found: list[tuple[Key, Any, list[ir.Operand]]] = []
        for key, node in self.pending.items():
            if key not in self.late and (dead or state.vars.get(key) is None):
                raise lx.error("T116", f"{key[1]!r} is read before it is set", node, "set it before the loop")
        if dead:
            return found
        for key, value in state.vars.items():
            frame, name = key
            if key in before.vars or key in self.late or isinstance(value, Conflict) or not self._alive(frame):
                continue
            if not self._is_live(frame, name) or isinstance(getattr(value, "value", None), Conflict):
                continue
            if key in self.pending and not isinstance(value, Maybe):
                value = Maybe(value, lambda: carries.TRUE, "a loop that may not run")
            if isinstance(value, Maybe):
                self.late[key] = (carries.template(lx, value), [o.type for o in carries.leaves(lx, value.value)])
                raise Again
            if isinstance(value, (Array, Ref)) and value.cell in before.cells:
                self.kept[key] = value
                continue
            if carries.holds_iterator(lx, value):
                text = f"{name!r} is an iterator that is made in a loop, and used after it"
                self.unlike[key] = Conflict("T120", text, "make a list of it in the loop")
                continue
            leaves = carries.leaves(lx, value)
            if any(dynamic_lists.varies(lx, o.type, self.known) for o in leaves):
                text = f"the shape of {name!r} may change between iterations of its loop"
                self.unlike[key] = Conflict(
                    "T206", text, "make an array of the final size before the loop, and fill it"
                )
                continue
            found.append((key, carries.template(lx, value), leaves))
        return found

    def _alive(self, frame: Any) -> bool:
        here: Frame | None = self.lx.frame
        while here is not None:
            if here is frame:
                return True
            here = here.up
        return False

    def _add_late(
        self, block: ir.Block, late: Any, inits: list[ir.Operand], results: list[ir.Var], test: ir.Block | None
    ) -> None:
        for key, _, ops in late:
            types = [o.type.strong if o.type.dims else o.type for o in ops]
            own = [ir.Var(key[1], t) for t in types]
            block.params += tuple(own)
            block.yields += tuple(ops)
            inits += carries.undefined_like(self.lx, types)
            results += [ir.Var(key[1], t) for t in types]
            for result, op in zip(results[-len(ops) :], ops):
                memory.note_dtypes(self.lx, result, op)
            if test is not None:
                test.params += tuple(ir.Var(key[1], t) for t in types)

    # ---- after the loop

    def _leave(
        self, slots: list[Slot], late: Any, results: list[ir.Var], end: State, shared: carried_aliases.Ends | None
    ) -> None:
        lx = self.lx
        ops = iter(results)
        for key, before in list(lx.state.vars.items()):  # what the body changed and nobody reads any more
            if not same(end.vars.get(key), before):
                lx.state.vars.pop(key)
        memory.drop_snapshots(lx)
        for slot in slots:
            self._place(slot, ops)
        for cell, per_trip in self.even.items():
            assert self.length is not None
            grown: Items = lx.state.cells[cell]
            count = lx.symbols.sized(lx, lx.b.form(grown.items[0].op) + per_trip * self.length)
            lx.state.cells[cell] = Items("grown", (Scalar(count),), None, grown.cls)
        flag = Once(self.ran)
        after: list[list[Cell]] = []
        for key, value, _ in late:
            again = carries.rebuilt(lx, value, ops, key[1])
            lx.state.vars[key] = Maybe(again, flag, "a loop that may not run")
            after.append(aliases.cells_of(lx, again))
        carried_aliases.note(self, slots, shared, after)
        lx.state.vars.update(self.unlike)
        for key, value in self.kept.items():
            lx.state.vars[key] = Maybe(value, flag, "a loop that may not run")
