"""What benchmark tools measured: their raw files, read and recomputed."""
