"""The criteria of graders' rubrics, in words for the workers whose answers were graded."""

from collections.abc import Iterable

from chorale.engine.running import RunningGate, Study
from chorale.model.wording import worded
from chorale.protocol.gates import is_criterion


def criteria_in_words(study: Study, gate: RunningGate, criteria: Iterable[str]) -> str:
    """The questions that graders of the gate's stages answer about the criteria, in the study's language.

    A criterion without a question is shown by its name.
    """
    asks = {
        name: ask
        for stage in study.stages.values()
        if set(stage.settings.graded_stages) & set(gate.settings.stage)
        for name, ask in stage.task.grading.asks.items()
    }
    shown: dict[str, None] = {}
    for criterion in criteria:
        asked = [worded("“{text}”", text=ask) for name, ask in asks.items() if ask and is_criterion(name, criterion)]
        shown |= dict.fromkeys(map(study.language.translated, asked) if asked else [criterion.replace("_", " ")])
    return ", ".join(shown)
