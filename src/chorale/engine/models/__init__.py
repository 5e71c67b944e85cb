"""Models that annotate: given items, asked, and their answers kept, graded, counted and paid for."""
