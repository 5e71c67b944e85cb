"""`chorale learn`: resources from raw material."""
