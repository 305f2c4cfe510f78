"""Fixtures and settings of all tests: the tests' own modules can be imported, linear algebra runs on one thread, and the core
after each pass is verified."""

import ctypes
import functools
import os
import sys
import types
import zlib
from pathlib import Path

import numpy as np
import pytest

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # two workers on two cores, and the same sums in every run

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
if CORES < 2:
    os.environ.setdefault("NUMBA_NUM_THREADS", "2")  # with 1, nothing would run on threads

_ALIVE: list = []  # callbacks that compiled code may call, kept alive

HERE = Path(__file__).parent
PACKAGES = [  # the folders of the layers: tests of one layer import modules of another
    str(folder)
    for folder in sorted({path.parent for path in HERE.glob("*/test_*.py")})
    if all(path.name.startswith("test_") for path in folder.glob("*.py"))
]
sys.path[:0] = [path for path in (str(HERE), *PACKAGES) if path not in sys.path]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the cases of a test marked ``sampled(n)``, one in ``n``, chosen by name, and at least one, is not slow;
    if TRANSPILE_SAMPLES is "all", all of them."""
    if os.environ.get("TRANSPILE_SAMPLES") == "all":
        return
    cases: dict = {}
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and item.get_closest_marker("slow") is None:
            cases.setdefault((item.path, item.originalname, mark.args[0]), []).append(item)
    for (*_, n), several in cases.items():
        kept = [i for i in several if zlib.crc32(i.name.encode()) % n == 0] or several[:1]
        for item in several:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def verified_passes():
    """Verifies the core after each pass, for everything that tests lift, transform or compile."""
    from verified import checked_passes

    with checked_passes():
        yield


@pytest.fixture(autouse=True)
def same_numbers(request):
    """Seeds the generators of a test's module, so that its numbers do not depend on the tests before it."""
    for generator in _generators(request.module):
        generator.bit_generator.state = np.random.default_rng(
            zlib.crc32(request.node.nodeid.encode())
        ).bit_generator.state


@functools.cache
def _generators(module):
    """The random generators of a test module, and of the modules whose functions it uses."""
    here = list(vars(module).values())
    there = [w for v in here if isinstance(v, types.FunctionType) for w in v.__globals__.values()]
    found = [v for v in (*here, *there) if isinstance(v, np.random.Generator)]
    return list({id(v): v for v in found}.values())


@pytest.fixture(scope="module")
def cache_directory(tmp_path_factory):
    """A directory for compiled code, for the tests of one module; TRANSPILE_CACHE_DIR if it is set."""
    previous = os.environ.get("TRANSPILE_CACHE_DIR")
    os.environ.setdefault("TRANSPILE_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
    yield
    if previous is None:
        del os.environ["TRANSPILE_CACHE_DIR"]


@pytest.fixture
def always(monkeypatch):
    """Loops run on threads however short they are, and all code is written directly in LLVM's language."""

    def direct(*args):
        try:
            return original(*args)
        except Unsupported as error:
            raise AssertionError(str(error)) from error

    from thread_calls import cut

    from transpile.codegen.llvm import Unsupported, function
    from transpile.loops import passes

    original = function.compile_function
    monkeypatch.setattr("transpile.codegen.llvm.compile_function", direct)
    monkeypatch.setattr(passes, "PASSES", passes.PASSES.instead("parallel schedule", cut))


@pytest.fixture
def forks(monkeypatch):
    """The chunks of each start of threads; they run one after another, the last one first."""
    from llvmlite import binding

    from transpile.codegen.llvm import threads

    body = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4)  # keeps the interpreter lock, as the threading layer does
    found = []

    @ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, *[ctypes.c_ssize_t] * 3)
    def run(address, args, sizes, steps, data, dimensions, count, active):
        chunks = ctypes.c_ssize_t.from_address(sizes).value
        found.append(chunks)
        for k in reversed(range(chunks)):
            first, one = ctypes.c_void_p(k), ctypes.c_ssize_t(1)
            body(address)(ctypes.addressof(first), ctypes.addressof(one), steps, data)

    _ALIVE.append(run)
    name = f"transpile_tests_run_{len(_ALIVE)}"
    binding.add_symbol(name, ctypes.cast(run, ctypes.c_void_p).value)
    monkeypatch.setattr(threads.layer, "RUN", name)
    return found
