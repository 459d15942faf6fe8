"""Results as text and JSON, one format a file."""
