"""Commands about multiple-choice questions.

What needs a study's database is loaded when a study's folder is named: files are scored without it.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.kits.questions.commands.study_folder import questions_of_folder

__getattr__, __dir__ = attach(__name__, {"study_folder": ("questions_of_folder",)})

__all__ = ["questions_of_folder"]
