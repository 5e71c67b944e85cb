"""Commands about multiple-choice questions.

Modules that need a study database are loaded only for a study folder. Files are scored without them.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.kits.questions.commands.study_folder import questions_of_folder

__getattr__, __dir__ = attach(__name__, {"study_folder": ("questions_of_folder",)})

__all__ = ["questions_of_folder"]
