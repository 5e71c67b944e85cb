"""`chorale prepare`: one command per kind of items."""
