"""`chorale evaluate`: one command per family of metrics.

What needs a study's database is loaded when a folder is named: files are scored without it.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.cli.evaluate.mcq_folder import questions_of_folder

__getattr__, __dir__ = attach(__name__, {"mcq_folder": ("questions_of_folder",)})

__all__ = ["questions_of_folder"]
