"""Where a function's text is, and that text as gast nodes in structured form.

In: a function object or a file. Out: a `sources.Source`: statements without ``break`` and early ``return``, with exact places.
Must not: look at values.
"""
