"""How one annotation of a predicate compares with another: the alignment of the metric, as grade and as feedback."""

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

# Symmetric: whoever repeats themselves is told so.
# One equivalent question is enough: grades and labels of studies in progress must not change with the scorer's default.
_RULES = Rules(redundant=False, questions="any")
_VERB = ("sentence", 0)
KEPT = ("roles_kept", "answers_kept")
"""What writers are graded by where their work is put together."""


def agreement(left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]) -> float:
    """Between 0 and 1: an argument that both have counts half, and whole if the questions ask for the same role.

    The mean of the F1 of arguments (UA) and of arguments with their questions (LA). Two that say nothing agree. An
    argument marked inexactly counts by its share of common words: “A” is half of “A stranger”.
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
    """The mean overlap of arguments that both have; exactly 1 if all are equal."""
    return float(overlaps.mean()) if len(overlaps) else 1.0


def distance(left: Answer, right: Answer) -> float:
    return 1 - agreement(left, right)


def grade(answer: Answer, gold: Answer) -> GradeResult:
    """Against the expert's, with what was missed and what is wrong in plain words."""
    score = agreement(answer, gold)
    return GradeResult(score, () if score >= 1 else tuple(_reasons(_aligned(answer, gold))))


def _aligned(answer: Answer, gold: Answer, tokens: Sequence[str] = ()) -> list[AlignedArgument]:
    return align_verb(as_qas(answer), as_qas(gold), tokens, _RULES)


def _reasons(rows: Sequence[AlignedArgument]) -> list[str]:
    matched = sum(row.status == "matched" for row in rows)
    wanted = sum(row.gold_span is not None for row in rows)
    reasons = [f"found {matched} of {wanted} answers"] if wanted else ["the expert says that there is nothing to ask"]
    reasons += [f"missed the answer to “{row.gold_questions[0]}”" for row in rows if row.status == "missed"]
    reasons += [
        f"not an answer the expert has: to “{row.system_questions[0]}”" for row in rows if row.status == "spurious"
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
    """What was missed and what is wrong, each shown on the sentence: the words stand in brackets."""
    tokens = item["tokens"]
    shown_reasons = [] if gold else ["The expert says that there is nothing to ask."]
    for row in _aligned(answer, gold, tokens):
        shown = _marked(tokens, row.gold_span or row.system_span or (0, 0))
        if row.status == "missed":
            shown_reasons.append(f"Missed: {row.gold_questions[0]} {shown}")
        elif row.status == "spurious":
            shown_reasons.append(f"Not an answer the expert has: {row.system_questions[0]} {shown}")
        elif not row.same_role:
            shown_reasons.append(
                f"Another question: {row.gold_questions[0]} (you asked: {row.system_questions[0]}) {shown}"
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
    """The comparison argument by argument, for the page to show on the sentence."""
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
    """The annotation that agrees best with the others; its confidence is how well, weighted by trust.

    People's questions are not mixed by a rule: putting them together is what consolidation is for.
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
"""Of writing and consolidating."""


def kept(written: Answer, settled: Answer) -> Kept:
    """How much of what somebody wrote is in what was settled on: the shares of their roles and of their answers.

    An answer stays if the result has one that overlaps with half of its words. A role stays if one of its answers does;
    each question of the result accounts for one role. So a better question, or half a word more, takes nothing away
    from a writer, and asking for the same twice adds nothing. Nothing to ask stays if nothing is asked.
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
    """Which questions of several writers belong together, disagreements first.

    Two questions of different writers belong together if they share an argument (an overlap of half its words) or ask
    for the same role. A group has the places of its questions, as set and number, and whether all agree: everybody
    has one question in it, the questions are equal, and so are the answers.
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
    """The first answer in the sentence."""
    spans = [span for number, at in group["members"] for span in qas[number, at].spans]
    return min(spans, default=(0, 0))
