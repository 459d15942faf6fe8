"""Files into a linked corpus: discovery, safe YAML with positions, ids, links."""
