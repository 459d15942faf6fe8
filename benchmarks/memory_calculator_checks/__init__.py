"""Memory calculators on the registry, and Upheld, asked for the same figures that engines printed.

`cases` picks the printed figures, `description` writes the configuration that each tool is given,
`adapters` call the tools, each in an interpreter where it is installed, `peers` talks to those,
`scores` compares, and `page` writes it down.
"""
