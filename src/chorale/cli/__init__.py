"""The command line: parse arguments, call the library, print results.

Names are loaded when they are first used: a package that declares commands does not import the code that runs them.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.cli.bars import progress_bar, standard_error
    from chorale.cli.program import app, main
    from chorale.cli.terminal import show

__getattr__, __dir__ = attach(
    __name__, {"bars": ("progress_bar", "standard_error"), "program": ("app", "main"), "terminal": ("show",)}
)

__all__ = ["app", "main", "progress_bar", "show", "standard_error"]
