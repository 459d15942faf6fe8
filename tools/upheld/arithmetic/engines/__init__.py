"""What each engine computes before it prints, one module an engine, by version where they differ.

Each names the source files that its formulas come from.
"""
