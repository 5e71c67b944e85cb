"""The papers' own numbers, computed again from their published data."""

from chorale.reproduce.checking import CheckedFile, FileState, check_data
from chorale.reproduce.contract import Cell, NeededFile, Paper, Repository

__all__ = ["Cell", "CheckedFile", "FileState", "NeededFile", "Paper", "Repository", "check_data"]
