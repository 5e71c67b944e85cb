"""Reviews of a random sample of the work."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chorale.engine.running import RunningStage
from chorale.files.answer_text import answer_text
from chorale.metrics.score_table import ScoreTable
from chorale.model import Item
from chorale.model.plural import plural
from chorale.monitor.arm_outcomes import share_estimate
from chorale.report.disagreement import brief, item_text
from chorale.report.document import Part, Section
from chorale.report.questions import StageQuestion, questions_of
from chorale.store.responses import CountedAnswer

_EXAMPLES = 10

Stages = Mapping[str, tuple[RunningStage, Sequence[CountedAnswer]]]


def monitoring_sections(stages: Stages, items: Mapping[str, Sequence[Item]]) -> list[Section]:
    """One section about all stages that review a sample of others; none in a study without them."""
    reviews = {name: review for name, (stage, _) in stages.items() if (review := _reviewed(stages, stage, items[name]))}
    if not reviews:
        return []
    parts: list[Part] = []
    details: list[Part] = []
    for name, review in reviews.items():
        parts.append(review["summary"])
        rows = [(row["question"] or name, *list(row.values())[1:]) for row in review["answers"]]
        columns = ("question", "answer", "times#", "fraction#", "95% interval, low#", "high#")
        if rows:
            parts.append(ScoreTable(f"{name}: answers of the reviewers", columns, rows, digits=3))
        examples = [tuple(row.values()) for row in review["examples"]]
        if examples:
            shown = ("item", "reviewed work", "review")
            details.append(ScoreTable(f"{name}: reviews that differ from the usual answer", shown, examples))
    return [Section("monitoring", "Review of a random sample", parts, reviews, details)]


def _reviewed(stages: Stages, stage: RunningStage, items: Sequence[Item]) -> dict[str, Any] | None:
    """The answers of a stage whose items are a sample of other stages' work; None for other stages."""
    settings = stage.settings
    if settings.items is None or settings.items.sample == 1:
        return None
    _, responses = stages[stage.name]
    sources = ", ".join(settings.sources)
    done = len({row.item for row in responses})
    reviewed = f", of which {plural(done, 'was', 'were')} reviewed" if items else ""
    summary = (
        f"A random {100 * settings.items.sample:g}% sample of the work in {sources} was sent for review in the stage "
        f"{stage.name} (“{settings.title}”): {plural(len(items), 'item', 'items')}{reviewed}."
    )
    questions = [question for question in questions_of(stage) if not question.by_distance]
    counts = [(question, _counted(question, responses)) for question in questions]
    return {
        "summary": summary,
        "items": len(items),
        "reviewed": done,
        "answers": [row for question, counted in counts for row in _shares(question, counted)],
        "examples": _unlike_most(stage, responses, items, *counts[0]) if counts else [],
    }


def _counted(question: StageQuestion, responses: Sequence[CountedAnswer]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in responses:
        label = question.label_of(row.answer)
        counts.update(label if isinstance(label, list) else () if label is None else [label])
    return counts


def _shares(question: StageQuestion, counts: Counter[str]) -> list[dict[str, Any]]:
    total = counts.total()
    rows = []
    for label, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        estimate = share_estimate(count, total)
        if estimate is not None:
            ends = {"share": estimate.value, "low": estimate.low, "high": estimate.high}
            rows.append({"question": question.name, "answer": label, "times": count, **ends})
    return rows


def _unlike_most(
    stage: RunningStage,
    responses: Sequence[CountedAnswer],
    items: Sequence[Item],
    question: StageQuestion,
    counts: Counter[str],
) -> list[dict[str, str]]:
    """Some reviews that differ from the most frequent answer, which usually says that the work is correct."""
    usual = max(sorted(counts), key=lambda label: counts[label], default=None)
    payloads = {item.key: item.payload for item in items}
    unlike = [row for row in responses if question.label_of(row.answer) not in (usual, None) and row.item in payloads]
    return [
        {
            "item": row.item,
            "text": item_text(stage, payloads[row.item]),
            "review": brief(answer_text(stage.task.explaining.present(payloads[row.item], row.answer))),
        }
        for row in unlike[:_EXAMPLES]
    ]
