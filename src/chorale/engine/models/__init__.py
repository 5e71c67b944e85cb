"""Models as annotators: assigning items, sending requests, and storing, grading, counting and paying for answers."""
