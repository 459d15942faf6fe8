"""Pages as plain Markdown, and the thin MkDocs plug-in that serves them."""
