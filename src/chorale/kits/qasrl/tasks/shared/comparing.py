"""Compares two annotations of a predicate with the alignment of the metric, for grades and feedback."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from chorale.contract.combined import Combined
from chorale.contract.peoples_grades import Kept
from chorale.contract.task import Combining, Explaining, GradeResult
from chorale.kits.qasrl.files import Qa, QuestionAnswers
from chorale.kits.qasrl.metrics import MEASURES, AlignedArgument, Rules, align, align_verb, counts, label_of, statistics
from chorale.kits.qasrl.metrics.assignment import SpanEdge, best_matching
from chorale.kits.qasrl.metrics.matching import iou
from chorale.kits.qasrl.tasks.shared.answers import as_qas, presented, role_of
from chorale.kits.qasrl.tasks.shared.predicates import caption, excerpt, pieces, view_of
from chorale.metrics import FloatArray
from chorale.model import Answer, Judgment, Payload
from chorale.model.plural import plural

# Symmetric: redundant answers lower the score of either side.
# One equivalent question is enough: grades and labels of studies in progress must not change with the scorer's default.
_RULES = Rules(redundant=False, questions="any")
_VERB = ("sentence", 0)
KEPT = ("roles_kept", "answers_kept")
"""Comparison that grades writers against the consolidated result."""


def agreement(left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]) -> float:
    """Similarity from 0 to 1: a shared argument counts half, and fully if the questions ask for the same role.

    The mean of the F1 of arguments (UA) and of arguments with their questions (LA). Two empty annotations agree. A
    partly matching span counts by its fraction of common words: “A” is half of “A stranger”.
    """
    ours, theirs = as_qas(left), as_qas(right)
    if ours == theirs or not ours or not theirs:
        return float(ours == theirs)
    first, second = QuestionAnswers.of({_VERB: ours}), QuestionAnswers.of({_VERB: theirs})
    alignment = align(first, second, _RULES)
    measured = counts(statistics(alignment))
    overlap, same = alignment.pairs.iou, alignment.questions.equivalent
    exact = [_share(overlap), _share(overlap[same])]
    return sum(measured[name].f1 * share for name, share in zip(MEASURES[:2], exact, strict=True)) / 2


def _share(overlaps: FloatArray) -> float:
    """Mean overlap of shared arguments; exactly 1 if all are equal."""
    return float(overlaps.mean()) if len(overlaps) else 1.0


def distance(left: Answer, right: Answer) -> float:
    return 1 - agreement(left, right)


def grade(answer: Answer, gold: Answer) -> GradeResult:
    """Grades an answer against the expert's, and explains missed and wrong arguments in plain words."""
    score = agreement(answer, gold)
    return GradeResult(score, () if score >= 1 else tuple(_reasons(_aligned(answer, gold))))


def _aligned(answer: Answer, gold: Answer, tokens: Sequence[str] = ()) -> list[AlignedArgument]:
    return align_verb(as_qas(answer), as_qas(gold), tokens, _RULES)


def _reasons(rows: Sequence[AlignedArgument]) -> list[str]:
    matched = sum(row.status == "matched" for row in rows)
    wanted = sum(row.gold_span is not None for row in rows)
    reasons = (
        [f"found {matched} of {plural(wanted, 'answer', 'answers')}"]
        if wanted
        else ["the expert says that there is nothing to ask"]
    )
    reasons += [f"missed the answer to “{row.gold_questions[0]}”" for row in rows if row.status == "missed"]
    reasons += [
        f"an answer to “{row.system_questions[0]}” that the expert does not have"
        for row in rows
        if row.status == "spurious"
    ]
    reasons += [
        f"asked “{row.system_questions[0]}” where the expert asks “{row.gold_questions[0]}”"
        for row in rows
        if row.status == "matched" and not row.same_role
    ]
    reasons += [f"inexact words for “{row.gold_questions[0]}”" for row in rows if _is_inexact(row)]
    return reasons


def _is_inexact(row: AlignedArgument) -> bool:
    return row.status == "matched" and row.gold_span != row.system_span


def reasons(item: Payload, answer: Answer, gold: Answer) -> tuple[str, ...]:
    """Missed and wrong arguments, each shown in the sentence with its words in brackets."""
    tokens = item["tokens"]
    shown_reasons = [] if gold else ["The expert says that there is nothing to ask."]
    for row in _aligned(answer, gold, tokens):
        shown = _marked(tokens, row.gold_span or row.system_span or (0, 0))
        if row.status == "missed":
            shown_reasons.append(f"Missed: {row.gold_questions[0]} {shown}")
        elif row.status == "spurious":
            shown_reasons.append(f"Not among the expert's answers: {row.system_questions[0]} {shown}")
        elif not row.same_role:
            shown_reasons.append(
                f"Different question: {row.gold_questions[0]} (you asked: {row.system_questions[0]}) {shown}"
            )
        if _is_inexact(row):
            yours, theirs = (_words(tokens, span) for span in (row.system_span, row.gold_span))
            shown_reasons.append(f"Inexact: “{yours}” instead of “{theirs}”. {row.gold_questions[0]} {shown}")
    return tuple(shown_reasons)


def _marked(tokens: Sequence[str], span: tuple[int, int]) -> str:
    cut = pieces(tokens)
    start, end = span
    return f"{''.join(cut[: 2 * start])}[{excerpt(tokens, span)}]{''.join(cut[2 * end - 1 :])}"


def feedback(item: Payload, answer: Answer, gold: Answer) -> dict[str, Any]:
    """The comparison of each argument, for display in the sentence."""
    tokens = item["tokens"]
    rows = _aligned(answer, gold, tokens)
    shown = view_of(item)
    return {
        "pieces": shown["pieces"],
        "verb_index": shown["verb_index"],
        "arguments": [
            {
                "status": _status(row),
                "span": list(row.gold_span or row.system_span or (0, 0)),
                "yours": {"questions": list(row.system_questions), "answer": _words(tokens, row.system_span)},
                "expert": {"questions": list(row.gold_questions), "answer": _words(tokens, row.gold_span)},
            }
            for row in rows
        ],
    }


def _status(row: AlignedArgument) -> str:
    if row.status != "matched":
        return row.status
    return "asked" if not row.same_role else "inexact" if _is_inexact(row) else "matched"


def _words(tokens: Sequence[str], span: tuple[int, int] | None) -> str:
    return "" if span is None else excerpt(tokens, span)


def combine(judgments: Sequence[Judgment]) -> Combined | None:
    """The annotation that agrees best with the others. The confidence is this agreement, weighted by gold accuracy.

    Annotations are not merged by rule: that is the purpose of consolidation.
    """
    if not judgments:
        return None
    by_text = sorted(judgments, key=lambda judgment: (repr(judgment.answer), judgment.worker))
    weight = sum(judgment.trust for judgment in by_text)
    if weight <= 0:
        return None
    support = [judgment.trust for judgment in by_text]
    for (first, left), (second, right) in combinations(enumerate(by_text), 2):
        shared = agreement(left.answer, right.answer)
        support[first] += right.trust * shared
        support[second] += left.trust * shared
    most = max(round(each, 9) for each in support)
    tied = [number for number, each in enumerate(support) if round(each, 9) == most]
    best = tied[by_text[0].draw % len(tied)]
    return Combined(by_text[best].answer, min(1.0, support[best] / weight))


COMBINING = Combining(distance=distance, combine=combine)
EXPLAINING = Explaining(feedback=feedback, reasons=reasons, present=presented, caption=caption)
"""Aggregation for writing and consolidation."""


def kept(written: Answer, settled: Answer) -> Kept:
    """Fractions of a writer's roles and answers that remain in the consolidated result.

    An answer remains if it overlaps an answer of the result by at least half. A role remains if one of its answers
    does; each question of the result accounts for one role. Rewording a question or adjusting a span therefore costs a
    writer nothing, and duplicate questions gain nothing. “Nothing to ask” remains if the result has no questions.
    """
    if not written or not settled:
        same = float(not written and not settled)
        return Kept(dict.fromkeys(KEPT, same), 0)
    ours, theirs = as_qas(written), as_qas(settled)
    rows = [row for row in align_verb(ours, theirs, (), _RULES) if row.system_span is not None]
    by_role: dict[str, list[Qa]] = {}
    for stored, qa in zip(written, ours, strict=True):
        by_role.setdefault(role_of(stored), []).append(qa)
    edges = [
        SpanEdge(number, place, 1, 1)
        for number, asked in enumerate(by_role.values())
        for place, other in enumerate(theirs)
        if any(_share_an_answer(qa, other) for qa in asked)
    ]
    roles = len(best_matching(edges))
    answers = sum(row.status == "matched" for row in rows)
    return Kept(dict(zip(KEPT, (roles / len(by_role), answers / len(rows)), strict=True)), roles)


# Two sets side by side


def groups(sets: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Groups questions of several writers that belong together, disagreements first.

    Two questions of different writers belong together if they share an argument (an overlap of half its words) or ask
    for the same role. A group lists its questions as set and number, and whether all agree: every writer has one
    question in it, with the same wording and answers.
    """
    places = [(number, at) for number, place in enumerate(sets) for at in range(len(place))]
    qas = {(number, at): as_qas([{**sets[number][at], "redundant": False}])[0] for number, at in places}
    root = {place: place for place in places}

    def find(place: tuple[int, int]) -> tuple[int, int]:
        while root[place] != place:
            place = root[place]
        return place

    for place in places:
        for other in places:
            if place[0] < other[0] and _belong_together(qas[place], qas[other]):
                first, second = sorted((find(place), find(other)))
                root[second] = first
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for place in places:
        members.setdefault(find(place), []).append(place)
    described = [
        {
            "members": [list(place) for place in group],
            "agreed": _agree([(number, qas[number, at]) for number, at in group], len(sets)),
        }
        for group in members.values()
    ]
    return sorted(described, key=lambda group: (group["agreed"], _where(group, qas)))


def _belong_together(left_qa: Qa, right_qa: Qa) -> bool:
    return _share_an_answer(left_qa, right_qa) or label_of(left_qa.question) == label_of(right_qa.question)


def _share_an_answer(left_qa: Qa, right_qa: Qa) -> bool:
    return any(iou(left, right) >= _RULES.iou for left in left_qa.spans for right in right_qa.spans)


def _agree(group: Sequence[tuple[int, Qa]], writers: int) -> bool:
    one_each = len(group) == writers and len({number for number, _ in group}) == writers
    return one_each and len({(qa.question.text.lower(), qa.spans) for _, qa in group}) == 1


def _where(group: Mapping[str, Any], qas: Mapping[tuple[int, int], Qa]) -> tuple[int, int]:
    """Position of the first answer in the sentence."""
    spans = [span for number, at in group["members"] for span in qas[number, at].spans]
    return min(spans, default=(0, 0))
