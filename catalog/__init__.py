"""Sources, pulls, listings and postings: the evidence, and nobody's opinion of it."""
