"""Prompt for models that grade questions."""

from chorale.contract.prompting import Prompting
from chorale.kits.questions.files.columns import INVALID
from chorale.kits.questions.tasks.grade.rubric import RUBRIC


def grading(*, answer_first: bool) -> Prompting:
    lines = [
        f"- `{one.name}_N`: {one.ask} {'; '.join(f'`{level}`: {words}' for level, words in one.levels.items())}."
        for one in RUBRIC
    ]
    own = f"- `answer_N`: the option that you think is correct, or `{INVALID}` if none is." if answer_first else ""
    return Prompting(
        "Grade each question about the passage. Its writer marked the option in `right_N` as correct (`a` is "
        "option_N_1), and may explain it in `why_N`. N is the number of the question.\n\n"
        + "\n".join([*lines, *([own] if own else [])])
    )
