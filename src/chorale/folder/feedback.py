"""Feedback messages: a requester's template filled with a worker's results, overall and answer by answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chorale.model import GradedAnswer
from chorale.protocol import GateVerdict, criterion_of

LISTED = 3
"""Maximum number of best and of worst answers in a message."""
LONGEST_TEXT = 1500
FLAGGED_BELOW = 0.5
"""Feedback names the criteria whose mean mark is lower than this."""

_SAME = 1e-9
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~])")
_TEMPLATES = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, trim_blocks=True)


class TemplateMistakeError(Exception):
    """A template that can't be filled, with the line, the reason and the fix."""

    def __init__(self, line: int | None, why: str, fix: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why
        self.fix = fix


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """A graded answer for a template. All text is escaped for Markdown."""

    item: str
    answer: str
    score: float
    reasons: tuple[str, ...]
    """The reasons for the grade: differences from the expert's answer, failed criteria, and comments."""
    comments: tuple[str, ...]
    """The graders' comments among the reasons, which may be positive."""
    flagged: bool
    """Whether the grade has a negative reason."""
    expert: str
    """The expert's answer; empty if the worker's answer was graded by people."""


def compose(
    template: str,
    verdict: GateVerdict,
    own: Sequence[GradedAnswer],
    averages: Mapping[str, float],
    extra: Mapping[str, Any],
) -> str:
    """The message to one worker, in Markdown.

    The template can use `score`, `average`, `rank`, `of`, `needed`, `passed`, `promoted`; `answers`, all graded answers
    of the worker in order; `best` and `worst`, some answers of the better and the worse half; `flagged`, those with a
    problem, and `flagged_share`; `criteria`, for every criterion of a rubric the worker's mean (`own`) and everybody's
    (`average`, from `averages`); `by_criterion`, with `clear_1`, `clear_2` and so on merged to `clear`; `too_low`, the
    criteria that the worker failed; and the values in `extra`.
    """
    shown = [_shown(answer) for answer in own]
    by_score = sorted(shown, key=lambda answer: -answer.score)
    better = (len(shown) + 1) // 2
    flagged = [answer for answer in shown if answer.flagged]
    criteria, everybodys = mean_criteria(own), _without_numbers(averages)
    return _filled(
        template,
        {
            **extra,
            "score": verdict.score,
            "average": verdict.evidence["average"],
            "rank": verdict.evidence["rank"],
            "of": verdict.evidence["of"],
            "needed": verdict.evidence["needed"],
            "passed": verdict.passed,
            "promoted": verdict.promoted,
            "answers": shown,
            "best": [answer for answer in by_score[:better] if _is_good(answer, shown)][:LISTED],
            # Lowest first. If all have the same score, none is the worst.
            "worst": [answer for answer in by_score[better:][::-1] if answer.score < by_score[0].score][:LISTED],
            "flagged": flagged,
            "flagged_share": len(flagged) / len(shown) if shown else 0.0,
            "criteria": {name: {"own": mean, "average": averages[name]} for name, mean in criteria.items()},
            "by_criterion": {
                name: {"own": mean, "average": everybodys[name]} for name, mean in _without_numbers(criteria).items()
            },
            "too_low": verdict.too_low,
        },
    )


def check_template(template: str, extra: Mapping[str, Any]) -> None:
    """Fill a template with sample data; TemplateMistakeError if that fails."""
    evidence = {"average": 0.5, "rank": 1, "of": 2, "needed": 0.5}
    marks = {"clarity": 0.4, "depth": 0.6}
    answer = GradedAnswer(1, "w", 1, 1, 0.5, ("clarity", "a comment"), "an answer", {"text": "an item"}, marks)
    several = [replace(answer, score=place / 7) for place in range(7)]
    for passed in (True, False):
        made_up = GateVerdict("w", 0.5, passed, passed, "", evidence, () if passed else ("clarity",))
        # Many answers, few answers, and only wrong answers.
        for own in (several, [answer], [replace(answer, score=0.0)]):
            compose(template, made_up, own, answer.criteria, extra)


def _filled(template: str, values: Mapping[str, Any]) -> str:
    try:
        return _compiled(template).render(values)
    except TemplateSyntaxError as error:
        why = (error.message or "can't be understood").rstrip(".")
        raise TemplateMistakeError(error.lineno, why, "Correct the {% … %} and {{ … }} tags.") from None
    except (TemplateError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
        fix = "docs/protocols.md lists the names a message may use."
        raise TemplateMistakeError(None, str(error), fix) from None


@lru_cache(maxsize=64)
def _compiled(template: str) -> Template:
    return _TEMPLATES.from_string(template)


def mean_criteria(answers: Iterable[GradedAnswer]) -> dict[str, float]:
    """The mean of every criterion of a rubric, over the answers that were graded by it."""
    marks: dict[str, list[float]] = {}
    for answer in answers:
        for name, mark in answer.criteria.items():
            marks.setdefault(name, []).append(mark)
    return {name: fmean(of_it) for name, of_it in marks.items()}


def _without_numbers(means: Mapping[str, float]) -> dict[str, float]:
    """The mean of a criterion over all numbered variants, such as the first and second question."""
    by_name: dict[str, list[float]] = {}
    for name, mean in means.items():
        by_name.setdefault(criterion_of(name), []).append(mean)
    return {name: fmean(several) for name, several in by_name.items()}


def _is_good(answer: ShownAnswer, among: Sequence[ShownAnswer]) -> bool:
    """Whether an answer can be shown as one of the best: at least the worker's average, and above 0.

    If most answers are wrong, even the better half contains wrong ones.
    """
    return answer.score > 0 and answer.score >= fmean(other.score for other in among) - _SAME


def wanting(criteria: Mapping[str, float]) -> list[str]:
    """The criteria of a rubric with a mean mark below the threshold."""
    return [name for name, mark in criteria.items() if mark < FLAGGED_BELOW]


def _shown(answer: GradedAnswer) -> ShownAnswer:
    # Without a rubric, all reasons are differences from the expert's answer.
    against = wanting(answer.criteria) if answer.criteria else answer.reasons
    comments = [reason for reason in answer.reasons if reason not in against] if answer.criteria else []
    return ShownAnswer(
        in_markdown(_in_words(answer.payload)),
        in_markdown(_by_name(answer.answer)),
        answer.score,
        tuple(map(in_markdown, answer.reasons)),
        tuple(map(in_markdown, comments)),
        bool(against),
        in_markdown(_by_name(answer.expert)),
    )


def _by_name(value: Any) -> str:
    """The non-empty fields of an answer, with their names."""
    if not isinstance(value, dict):
        return _in_words(value)
    return " · ".join(f"{name}: {text}" for name, part in value.items() if (text := _in_words(part)))


def _in_words(value: Any) -> str:
    """An answer or item in one line."""
    if isinstance(value, dict):
        return " · ".join(text for part in value.values() if (text := _in_words(part)))
    if isinstance(value, list):
        return ", ".join(text for part in value if (text := _in_words(part)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def in_markdown(text: str) -> str:
    """Text escaped for Markdown, in one line and shortened."""
    line = " ".join(text.split())
    cut = line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}…"
    return _MARKDOWN.sub(r"\\\1", cut)
