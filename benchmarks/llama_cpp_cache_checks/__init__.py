"""llama.cpp run here: which settings, what it printed, and what arithmetic says of the same."""
