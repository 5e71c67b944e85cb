"""The contract of tasks, one check per promise."""

from chorale.contract import Task
from chorale.testing import answers, pages, prompting
from chorale.testing.subject import Check, Subject, check_all


class TaskCheck(Check[Subject]):
    """One promise of a task."""

    def __call__(self, task: Task) -> None:
        self.check("task", task.name, lambda: Subject.of(task), code="its code")


TASK_CHECKS: tuple[TaskCheck, ...] = (
    TaskCheck("description", "It has a name, a version, a summary and documented options.", pages.description),
    TaskCheck("examples", "Its examples are valid, and do not change when they are stored as JSON.", answers.examples),
    TaskCheck("refusals", "Every input is either accepted as an answer or refused with AnswerError.", answers.refusals),
    TaskCheck("view", "The worker's view depends only on the item and never contains an answer.", pages.view),
    TaskCheck("reveal", "Content revealed after the first answer is not shown before it.", pages.reveal),
    TaskCheck("page", "Its form loads nothing from other sites and has no inline scripts or styles.", pages.page),
    TaskCheck("files", "The files of its form exist and load nothing from other sites.", pages.files),
    TaskCheck("arrangement", "The order of options is the same whenever a worker returns.", pages.arrangement),
    TaskCheck("grading", "Scores are from 0 to 1, and a gold answer graded against itself scores 1.", answers.grading),
    TaskCheck("marks", "Grades by a rubric are from 0 to 1, one for each criterion.", answers.marks),
    TaskCheck("parts", "No answer has more parts than `most_parts`.", answers.parts),
    TaskCheck("distance", "The distance is symmetric, from 0 to 1, and 0 from an answer to itself.", answers.distance),
    TaskCheck(
        "combining",
        "Equal answers are aggregated to the same answer, and the order of answers does not matter.",
        answers.combining,
    ),
    TaskCheck("chosen", "The options in an answer are texts, and equal answers have the same options.", answers.chosen),
    TaskCheck("deriving", "No items are derived if there are no items to derive them from.", answers.deriving),
    TaskCheck("simulating", "Simulated answers are valid, and the same for the same seed.", answers.simulating),
    TaskCheck("explaining", "Items, answers and grades can be shown to people.", answers.explaining),
    TaskCheck(
        "prompting", "A model can be prompted, and its output is either accepted or refused.", prompting.prompting
    ),
    TaskCheck("inputs", "Its functions do not change their arguments.", answers.inputs),
    TaskCheck("exports", "Its export tables have the columns that they declare.", pages.exports),
)
"""Every promise of a task, for `pytest.mark.parametrize("check", TASK_CHECKS, ids=repr)`."""


def check_task(task: Task) -> None:
    """Run all checks; ContractError lists every broken promise."""
    check_all(TASK_CHECKS, task)
