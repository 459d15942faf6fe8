"""How a kind of attention stores its keys and values: one class a file."""
