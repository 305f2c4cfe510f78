"""Stores compiled functions as plain data and restores them, without Numba's own loader.

Numba's loader imports the modules of all callees and installs its registries, 0.15 to 0.3 s in a fresh process; object code
needs none of it. This uses private names of Numba, so only with versions that were tried.

For a function that was linked in, an environment is kept: its constants, and the name of its module, whose globals are not read
by code that runs without the interpreter. If the module is not imported, an empty dict stands for its globals.
"""

import importlib
import sys

import numba
from llvmlite import binding

TRIED = ((0, 68),)
_USES_GLOBALS = ("transpile_runtime.compiled.errors",)  # has a function that enters the interpreter
_PROVIDERS = {
    "transpile.": "transpile_runtime.compiled.symbols",
    "runtime_special_": "transpile_runtime.compiled.special",
}  # prefix of a symbol -> the module that registers it


def is_known():
    """Whether the private names of this version of Numba were tried."""
    return tuple(numba.version_info[:2]) in TRIED


def describe(result, linking):
    """The data of a compile result as a dict; with ``linking`` also the data needed to link other functions with it.

    With ``linking`` the ``typemap`` and ``calltypes`` of ``result.fndesc`` become None.
    """
    module = result.library._final_module
    called = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    read = [v.name for v in module.global_variables if v.is_declaration]
    name, kind, (code, bitcode) = result.library.serialize_using_object_code()
    assert kind == "object", kind
    found = {
        "name": name,
        "code": code,
        "symbols": sorted({*called, *read}),
        "init": result.reload_init,
        "environment": _environment(result.environment),
        "environments": [_environment(e) for e in result._find_referenced_environments()],
        "entry": (result.fndesc.llvm_cpython_wrapper_name, result.fndesc.qualname.split(".")[-1]),
    }
    if linking:
        result.fndesc.typemap = result.fndesc.calltypes = None
        found.update(bitcode=bitcode, fndesc=result.fndesc, signature=result.signature)
    return found


def _environment(environment):
    """The name of a function's environment, the name of its module, and its constants."""
    return environment.env_name, environment.globals.get("__name__"), list(environment.consts)


def can_be_kept(result):
    """True if the code of a compile result has the same meaning in another process."""
    return all(x.can_cache for x in result.lifted) and not result.library.has_dynamic_globals


def entry(found):
    """The callable of a function that `describe` described; it takes arguments of exactly its types. ImportError if its code
    lacks the symbol."""
    from numba import _dynfunc

    library, own = _library(found)
    symbol, name = found["entry"]
    address = library.codegen._engine.get_function_address(symbol)
    if not address:
        raise ImportError(f"compiled code lacks {symbol}")
    return _dynfunc.make_function(sys.modules[__name__], name, f"compiled {name}", address, own, (library,))


def compile_result(found, context):
    """The compile result, as Numba would have it, of a function described with ``linking``: other functions can call it, and be
    linked with it."""
    from numba.core.compiler import CompileResult

    library, own = _library(found)
    library._shared_module = binding.parse_bitcode(found["bitcode"])
    library.codegen._engine._load_defined_symbols(library._shared_module)
    given = dict.fromkeys(CompileResult._fields)
    given.update(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=own,
        entry_point=context.get_executable(library, found["fndesc"], own),
        fndesc=found["fndesc"],
        signature=found["signature"],
        objectmode=False,
        lifted=(),
        reload_init=found["init"],
        referenced_envs=library.kept,
    )
    return CompileResult(**given)


def _library(found):
    """``(library, environment)`` of a described function: its code, loaded into the process, and its environment."""
    from transpile_runtime.compiled import registries

    with registries.compiler() as (_, context):
        codegen = context.codegen()
        _register_helpers()
        for prepare in found["init"]:
            prepare()
        _provide(found["symbols"])
        library = codegen.create_library(found["name"])
        library.enable_object_caching()
        library._set_compiled_object(found["code"])
        library._finalize_final_module()
        library.kept = [_restored(*e) for e in found["environments"]]  # kept as long as the code
        for environment in library.kept:
            codegen.set_env(environment.env_name, environment)
        return library, _restored(*found["environment"])


def _register_helpers():
    """Registers the functions of Numba's runtime under their names with LLVM, unless Numba's runtime is initialised.

    Numba's `initialize` also compiles a module, which linked code contains.
    """
    from numba.core.runtime import _nrt_python, nrt

    if not nrt.rtsys._init:
        for name, address in _nrt_python.c_helpers.items():
            binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _provide(symbols):
    """Imports the modules that register these symbols with LLVM; ImportError if one is still missing, at which LLVM would
    terminate the process."""
    missing = [s for s in symbols if not binding.address_of_symbol(s)]
    for start, module in _PROVIDERS.items():
        if any(s.startswith(start) for s in missing):
            importlib.import_module(module)
    missing = [s for s in missing if not binding.address_of_symbol(s)]
    if missing:
        raise ImportError(f"compiled code needs {', '.join(missing)}")


def _restored(name, module, constants):
    """The environment of this name, the same object as before in this process, or a new one with these constants."""
    from numba.core.environment import Environment

    known = Environment._memo.get(name)
    if known is not None:
        return known
    made = Environment(_globals(module))
    made.consts[:] = constants
    made.env_name = name
    Environment._memo[name] = made
    return made


def _globals(module):
    """The namespace of the module of this name; if it is not imported, a dict with only the name."""
    if module in _USES_GLOBALS:
        importlib.import_module(module)
    loaded = sys.modules.get(module)
    return {"__name__": module} if loaded is None else loaded.__dict__
