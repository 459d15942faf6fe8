"""Running a benchmark and noting, around it, what no benchmark tool writes down."""
