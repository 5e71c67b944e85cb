"""`chorale import`: one command per kind of published data."""
