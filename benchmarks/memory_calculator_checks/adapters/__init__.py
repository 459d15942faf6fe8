"""The compared tools, each called by its own functions.

These modules run in the interpreter where the tool is installed, so they import nothing of Upheld.
Each has `DISTRIBUTION` and `cache_gib(ask)`, which returns the tool's cache in GiB for a context.
"""
