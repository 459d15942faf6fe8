"""Caches of Transformers: measured on tiny random models, and compared with the arithmetic."""
