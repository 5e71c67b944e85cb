"""What stands in the place of what was erased."""

ERASED = "erased:"
"""How an id begins that was a platform's, and is nobody's now."""
ERASED_TEXT = "(erased)"
