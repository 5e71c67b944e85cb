"""The papers' own numbers, computed again from their published data."""

from chorale.reproduce.contract import Cell, NeededFile, Paper, Repository

__all__ = ["Cell", "NeededFile", "Paper", "Repository"]
