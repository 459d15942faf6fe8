"""Each claim held against its evidence: verdicts and the gate."""
