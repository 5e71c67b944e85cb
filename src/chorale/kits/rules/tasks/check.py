"""Expert check: an expert judges a sample of the crowd's applications without seeing its answers."""

from collections.abc import Sequence
from dataclasses import replace

from chorale.contract.task import Deriving, Options, Task
from chorale.kits.rules.tasks.entailment import RULES_ENTAILMENT
from chorale.model import NewItem, SourceItem


def _as_it_is(sources: Sequence[SourceItem], _confidence: float) -> list[NewItem]:
    """All labelled applications, whatever the confidence of the label. A sample of confident labels would
    overestimate the crowd's accuracy.
    """
    return [
        NewItem(source.key, source.payload, group=source.group, sources=(source.id,))
        for source in sources
        if source.label is not None
    ]


RULES_CHECK: Task = replace(
    RULES_ENTAILMENT,
    name="rules-check",
    summary="Expert check: is the second phrase true, given the first?",
    options=Options(),
    deriving=Deriving(derive=_as_it_is, any_confidence=True),
    exports=(),
)
