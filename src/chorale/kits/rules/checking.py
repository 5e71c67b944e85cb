"""Compares the crowd's labels of applications with those of an expert, as in section 4 of Zeichner et al. (2012)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chorale.engine.running import RunningStage, Study
from chorale.metrics.given_tables import taking_tables
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval
from chorale.model import Label
from chorale.monitor.outcomes import stage_results
from chorale.registry import families
from chorale.store import Tx
from chorale.store.items import all_items

CHECK_TASK = "rules-check"


@dataclass(frozen=True, slots=True)
class Checked:
    """An application that both the crowd and the expert judged."""

    key: str
    lhs: str
    rhs: str
    crowd: Label
    unanimous: bool
    expert: str


def checked_applications(tx: Tx, study: Study, check: RunningStage) -> list[Checked]:
    """The applications of a check stage with labels from both the crowd and the expert."""
    expert = {item.key: str(label.answer) for item in all_items(tx, check.name) if (label := item.label()) is not None}
    checked = []
    for name in check.settings.sources:
        results = stage_results(tx, study, study.stage(name))
        for item in results.items:
            if item.key in expert and item.label is not None:
                answers = {judgment.answer for judgment in results.judgments(item)}
                lhs, rhs = item.payload["lhs"], item.payload["rhs"]
                checked.append(Checked(item.key, lhs, rhs, item.label, len(answers) == 1, expert[item.key]))
    return checked


def check_score(checked: list[Checked], resampling: Resampling) -> Score:
    """The scores of `chorale evaluate labels` for the crowd's labels against the expert's."""
    score = taking_tables(families()["labels"].score)
    crowd = [{"item": each.key, "label": str(each.crowd.answer)} for each in checked]
    expert = [{"item": each.key, "label": each.expert} for each in checked]
    said_yes = any("yes" in (each.expert, each.crowd.answer) for each in checked)
    return score(
        crowd,
        expert,
        positive="yes" if said_yes else None,
        ci=True,
        resamples=resampling.resamples,
        seed=resampling.seed,
    )


def check_parts(checked: list[Checked]) -> Iterator[tuple[str, list[Checked]]]:
    """All checked applications, those with an accepted label, and those the crowd agreed on."""
    yield "all", checked
    yield "label accepted", [each for each in checked if each.crowd.released]
    yield "unanimous", [each for each in checked if each.unanimous]


def check_tables(scores: Mapping[str, Score], checked: list[Checked]) -> list[ScoreTable]:
    """The scores by part, and the disagreements."""
    columns = (
        *("applications", "checked#", "agreement#", "95% interval#", "κ#", "95% interval of κ#"),
        *("false positives#", "false negatives#"),
    )
    counts = {name: len(part) for name, part in check_parts(checked)}
    rows = [(name, counts[name], *_cells(score)) for name, score in scores.items()]
    apart = [each for each in checked if each.crowd.answer != each.expert]
    apart.sort(key=lambda each: (-each.crowd.confidence, each.key))
    differing = [(each.lhs, each.rhs, str(each.crowd.answer), each.crowd.confidence, each.expert) for each in apart]
    tables = [ScoreTable("Crowd against expert", columns, rows, digits=3)]
    if differing:
        names = ("first phrase", "second phrase", "crowd", "confidence#", "expert")
        tables.append(ScoreTable("Disagreements", names, differing, digits=2))
    return tables


def _cells(score: Score) -> tuple[Cell, ...]:
    values, around = score.values, score.intervals
    return (
        values["agreement"],
        shown_interval(around.get("agreement"), 3),
        values["kappa"],
        shown_interval(around.get("kappa"), 3),
        values.get("false_positive_share"),
        values.get("false_negative_share"),
    )
