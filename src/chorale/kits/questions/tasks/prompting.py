"""Prompts for models that write, compare and answer multiple-choice questions."""

from chorale.contract.prompting import Prompting
from chorale.kits.questions.files.columns import INVALID, QuestionsOptions

COMPARING = Prompting(
    "`asked` is the criterion for comparing the two questions about the passage. `first` is question_1 with its "
    "options "
    "option_1_1 and so on, `second` is question_2. Answer with the one that `asked` asks for."
)


def writing(options: QuestionsOptions, *, justify: bool) -> Prompting:
    why = "In `why_1` and so on, explain in one to three sentences why that is right, and what makes it hard. "
    return Prompting(
        f"Write {options.questions} questions about the passage, each with {options.choices} different options of "
        "which exactly one is right. Put them into `question_1` and `options_1`, and the right option into `right_1` "
        f"(`option1` is the first). {why if justify else ''}A good question is clear and takes close reading. Its "
        "wrong options mislead somebody who skims. Do not copy the words of the passage."
    )


VALIDATING = Prompting(
    "Which option of each question is right, according to the passage? `answer_1` is for question_1: `option1` stands "
    f"for option_1_1, and so on. `{INVALID}`: the question is broken, or none of its options is right."
)
