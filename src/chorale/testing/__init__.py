"""The promises every task keeps, as checks that any package can run over its own tasks.

`check_task(task)` runs all of them. `TASK_CHECKS` has them one by one, for pytest's `parametrize`.
"""

from chorale.testing.checks import TASK_CHECKS, TaskCheck, check_task
from chorale.testing.subject import ContractError

__all__ = ["TASK_CHECKS", "ContractError", "TaskCheck", "check_task"]
