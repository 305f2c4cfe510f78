"""All that generated code may import. It never imports transpile."""

if __name__ != "transpile_runtime":  # its tables are one a process: what is compiled finds them by this name
    raise ImportError(f"this package is imported as 'transpile_runtime', not as {__name__!r}")
