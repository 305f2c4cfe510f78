"""The package that generated code may import. It never imports transpile."""

if __name__ != "transpile_runtime":  # one set of tables for each process, which compiled code finds by this name
    raise ImportError(f"this package is imported as 'transpile_runtime', not as {__name__!r}")
