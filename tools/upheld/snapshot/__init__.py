"""A decision frozen with all that it rests on, and checked again later."""
