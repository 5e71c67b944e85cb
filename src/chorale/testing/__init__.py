"""Contract checks for kits and tasks, which any package can run on its own, and simulated workers for tests.

`check_kit(kit)` and `check_task(task)` run all checks. `KIT_CHECKS` and `TASK_CHECKS` list the single checks, for
pytest's `parametrize`. A `ScriptedWorker` does the work of a study.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.testing.checks import TASK_CHECKS, TaskCheck, check_task
    from chorale.testing.kits import KIT_CHECKS, KitCheck, check_kit
    from chorale.testing.subject import ContractError
    from chorale.testing.workers import ScriptedWorker

__getattr__, __dir__ = attach(
    __name__,
    {
        "checks": ("TASK_CHECKS", "TaskCheck", "check_task"),
        "kits": ("KIT_CHECKS", "KitCheck", "check_kit"),
        "workers": ("ScriptedWorker",),
        "subject": ("ContractError",),
    },
)

__all__ = [
    "KIT_CHECKS",
    "TASK_CHECKS",
    "ContractError",
    "KitCheck",
    "ScriptedWorker",
    "TaskCheck",
    "check_kit",
    "check_task",
]
