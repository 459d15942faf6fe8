"""Upheld: every claim, upheld or blocked."""

__version__ = "0.1.0"
