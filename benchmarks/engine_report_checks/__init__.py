"""What engines printed about memory at start-up, against what arithmetic says.

One module an engine, each with `checks(report, layers, shape)`; `figures` compares, `shapes` reads,
`loading` has the weights and `configurations` what they need beside a shape, `scores` puts the
cases together and `page` writes them down.
"""
