"""`chorale browse`: results to look through, one command per kind."""
