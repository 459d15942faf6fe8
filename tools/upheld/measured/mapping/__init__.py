"""Files of no known format, read by the mapping that their run record states."""
