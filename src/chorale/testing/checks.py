"""All promises of a task, one check each."""

from chorale.contract import Task
from chorale.testing import answers, pages, prompting
from chorale.testing.subject import Check, Subject, check_all


class TaskCheck(Check[Subject]):
    """One promise of a task."""

    def __call__(self, task: Task) -> None:
        self.check("task", task.name, lambda: Subject.of(task), code="its code")


TASK_CHECKS: tuple[TaskCheck, ...] = (
    TaskCheck("description", "It has a name, a version, a summary and documented options.", pages.description),
    TaskCheck("examples", "Its examples are valid, and the same after being written as JSON.", answers.examples),
    TaskCheck("refusals", "Whatever is sent is an answer or is refused with AnswerError.", answers.refusals),
    TaskCheck("view", "What a worker sees depends on the item alone and never shows an answer.", pages.view),
    TaskCheck("reveal", "What it reveals after a first answer is not shown before it.", pages.reveal),
    TaskCheck("page", "Its form loads nothing from elsewhere and has no scripts or styles inline.", pages.page),
    TaskCheck("files", "The files of its form exist and load nothing from elsewhere.", pages.files),
    TaskCheck("arrangement", "The order of things is the same whenever a worker comes back.", pages.arrangement),
    TaskCheck("grading", "Scores are from 0 to 1, and a gold answer graded against itself scores 1.", answers.grading),
    TaskCheck("marks", "Grades by a rubric are from 0 to 1, one for each criterion.", answers.marks),
    TaskCheck("parts", "No answer has more parts than a budget must cover.", answers.parts),
    TaskCheck("distance", "It is symmetric, from 0 to 1, and 0 from an answer to itself.", answers.distance),
    TaskCheck("combining", "Equal answers combine to that answer, in whatever order they came.", answers.combining),
    TaskCheck("chosen", "The options in an answer are texts, the same for equal answers.", answers.chosen),
    TaskCheck("deriving", "Nothing is derived from nothing.", answers.deriving),
    TaskCheck("simulating", "Simulated answers are valid, and the same for the same seed.", answers.simulating),
    TaskCheck("explaining", "Items, answers and grades can be shown to people.", answers.explaining),
    TaskCheck("prompting", "A model can be asked, and what it returns is an answer or refused.", prompting.prompting),
    TaskCheck("inputs", "Its functions change nothing that they are handed.", answers.inputs),
    TaskCheck("exports", "Its tables have the columns that they name.", pages.exports),
)
"""Every promise of a task, for `pytest.mark.parametrize("check", TASK_CHECKS, ids=repr)`."""


def check_task(task: Task) -> None:
    """Check all promises; ContractError names every one that the task breaks."""
    check_all(TASK_CHECKS, task)
