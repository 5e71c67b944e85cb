"""Items that a model answered first: how many it labelled, how many went to people, and its accuracy."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.metrics.replacing.auditing import Audited, audited_share
from chorale.metrics.score_table import ScoreTable, shown_interval
from chorale.model import Item, ItemState, Standing
from chorale.model.plural import plural
from chorale.monitor.models import name_of
from chorale.protocol import WhyAsked
from chorale.store import Tx, first_pass
from chorale.store.codec import answer_from_text
from chorale.store.first_pass import FirstLabel
from chorale.store.items import all_items


@dataclass(frozen=True, slots=True)
class FirstRecord:
    """The results of a model that answers first in a stage."""

    stage: str
    model: str
    items: int
    """Number of items for which it has been decided whether people are asked."""
    below: float
    audit: float
    removed: bool
    why: Mapping[str, int]
    """Number of items, by the reason why people are or are not asked."""
    judgments: int
    """People's judgments of all items."""
    waiting: int
    """Number of items that people have not labelled yet."""
    sure: Audited
    """How often the model agrees with people on items at or above the confidence threshold."""
    unsure: Audited
    """How often the model agrees with people on items below the threshold."""

    @property
    def labelled(self) -> int:
        """Number of items whose label is the model's."""
        return 0 if self.removed else self.why.get(WhyAsked.NOT_ASKED, 0)

    def as_json(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.__slots__ if name not in ("sure", "unsure")}
        sides = {
            side: {"share": one.share, "ci": one.interval.as_list(), "audited": one.audited}
            for side, one in (("sure", self.sure), ("unsure", self.unsure))
        }
        return {**kept, "why": dict(self.why), "labelled": self.labelled, "agreement": sides}


def first_records(tx: Tx, study: Study) -> list[FirstRecord]:
    """The records of all stages in which a model answers first and has answered items."""
    return [one for stage in study.stages.values() if stage.asks_model_first for one in _records(tx, stage)]


def _records(tx: Tx, stage: RunningStage) -> Iterator[FirstRecord]:
    decided = first_pass.of_stage(tx, stage.id)
    rule = stage.settings.models
    if not decided or rule is None:
        return
    items = {one.key: one for one in all_items(tx, stage.name) if one.state != ItemState.WITHDRAWN}
    pairs = [(items[key], first) for key, first in decided.items() if key in items]
    first_decided = next(iter(decided.values()))
    sure = [(item, first) for item, first in pairs if first.why in (WhyAsked.AUDIT, WhyAsked.NOT_ASKED)]
    unsure = [(item, first) for item, first in pairs if first.why == WhyAsked.LOW_CONFIDENCE]
    yield FirstRecord(
        stage=stage.name,
        model=name_of(first_decided.model),
        items=len(pairs),
        below=rule.below,
        audit=rule.audit,
        removed=first_decided.standing != Standing.ACTIVE,
        why=Counter(first.why for _, first in pairs),
        judgments=sum(item.judgments for item, _ in pairs),
        waiting=sum(item.state == ItemState.OPEN for item, _ in pairs),
        sure=_agreement(stage, sure),
        unsure=_agreement(stage, unsure),
    )


def _agreement(stage: RunningStage, pairs: Sequence[tuple[Item, FirstLabel]]) -> Audited:
    """Agreement between the model's answers and people's labels, without free text."""
    compared = stage.task.shape.without_texts
    judged = [
        (compared(answer_from_text(first.answer)) == compared(item.answer), first.probability)
        for item, first in pairs
        if first.answer is not None and item.state == ItemState.COMPLETE and not first.is_label
    ]
    return audited_share([agrees for agrees, _ in judged], [each for _, each in judged], len(pairs))


def first_table(records: Sequence[FirstRecord]) -> ScoreTable | None:
    """A table of who labelled how many items, and the model's accuracy; None if no model answers first."""
    columns = (
        *(
            "stage",
            "model",
            "items#",
            "labelled by the model#",
            "people asked: model unsure#",
            "people asked: audit#",
            "people asked: other reasons#",
            "people's annotations#",
        ),
        *("agreement where model is sure#", "95% interval#", "agreement where model is unsure#"),
    )
    rows = []
    for row in records:
        unsure, audit = row.why.get(WhyAsked.LOW_CONFIDENCE, 0), row.why.get(WhyAsked.AUDIT, 0)
        other = row.items - unsure - audit - row.why.get(WhyAsked.NOT_ASKED, 0)
        counts = (row.items, row.labelled, unsure, audit, other, row.judgments)
        rows.append(
            (
                row.stage,
                row.model,
                *counts,
                row.sure.share,
                shown_interval(row.sure.interval),
                row.unsure.share,
            )
        )
    return ScoreTable("A model answers first", columns, rows) if rows else None


def first_sentences(records: Sequence[FirstRecord]) -> Iterator[str]:
    """Sentences for a paper about items that a model answered first."""
    for row in records:
        if row.removed:
            yield f"The model {row.model} was removed from {row.stage}, so people annotate all items of this stage."
            continue
        audit = row.why.get(WhyAsked.AUDIT, 0)
        right = ""
        if row.sure.share is not None:
            interval = f" (95% interval {shown_interval(row.sure.interval, 3)})" if row.sure.interval.is_known else ""
            right = f" It agreed with people in {row.sure.share:.1%} of the audited items{interval}."
        yield (
            f"In {row.stage}, the model {row.model} labelled {row.labelled:,} of "
            f"{plural(row.items, 'item', 'items')}, each with a confidence of at least {row.below:g} (calibrated on "
            f"gold). The other items went to people, including {audit:,} sampled at random for an audit (probability "
            f"{row.audit:g}).{right}"
        )


def estimate_columns(tx: Tx, stage: RunningStage, label: Any) -> dict[str, list[str | None]]:
    """Columns for `chorale estimate`, one row per item: the model's label, people's label, and the probability of
    asking people. `label` extracts the compared label from an answer. Items without an answer of the model are left
    out.
    """
    columns: dict[str, list[str | None]] = {"item": [], "model": [], "people": [], "probability": []}
    decided = first_pass.of_stage(tx, stage.id)
    for item in all_items(tx, stage.name):
        first = decided.get(item.key)
        if first is None or first.answer is None or item.state == ItemState.WITHDRAWN:
            continue
        by_people = item.state == ItemState.COMPLETE and not first.is_label
        said = label(answer_from_text(first.answer)), label(item.answer) if by_people else None
        columns["item"].append(item.key)
        columns["model"].append(said[0])
        columns["people"].append(said[1])
        columns["probability"].append(str(first.in_force[1]))
    return columns
