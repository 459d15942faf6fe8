"""Records from files in other forms. Each module reads one form; none opens or writes a file."""
