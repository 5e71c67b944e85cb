"""`chorale baseline`: systems to compare with, each runnable."""
