"""Placeholders for erased values."""

ERASED = "erased:"
"""The prefix of an erased platform ID."""
ERASED_TEXT = "(erased)"
