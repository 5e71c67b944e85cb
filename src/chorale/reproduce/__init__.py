"""Reproductions of papers' numbers from their published data."""

from chorale.reproduce.checking import CheckedFile, FileState, check_data
from chorale.reproduce.contract import Cell, CellAgreement, NeededFile, Paper, PaperData, Repository

__all__ = [
    "Cell",
    "CellAgreement",
    "CheckedFile",
    "FileState",
    "NeededFile",
    "Paper",
    "PaperData",
    "Repository",
    "check_data",
]
