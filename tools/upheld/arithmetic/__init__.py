"""Memory from shapes: every answer a tree of named terms, in exact bytes."""
