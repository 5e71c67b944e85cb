"""Review policies: automatic review of answers, as on Mechanical Turk.

`ScoreMyKnownAnswers/2011-09-01` scores every assignment when it is submitted, `SimplePlurality/2011-09-01` all
assignments of a HIT when it ends. Scores are whole percentages, rounded down.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.kits.mturk.api.errors import invalid, missing
from chorale.kits.mturk.api.requests import YEAR

ASSIGNMENT, HIT = "Assignment", "HIT"
"""Level of a policy."""
KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"
LONGEST_ANSWER = 256
"""Maximum length of answers that are compared."""
MOST_QUESTIONS = 15
Answers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Acts:
    """Actions by score: thresholds for approval, rejection and extension."""

    approve_from: int | None
    approve_reason: str
    reject_below: int | None
    reject_reason: str
    extend_below: int | None
    most: int
    """Maximum number of assignments of a HIT after extensions."""
    seconds: int
    """Minimum time that an extended HIT stays available."""


@dataclass(frozen=True, slots=True)
class KnownAnswerPolicy:
    key: Mapping[str, frozenset[str]]
    """All values of the correct answer, by question."""
    acts: Acts

    def right(self, answers: Answers) -> dict[str, bool]:
        return {question: _values(answers.get(question, "")) == right for question, right in self.key.items()}

    def score(self, answers: Answers) -> int:
        return 100 * sum(self.right(answers).values()) // len(self.key)


@dataclass(frozen=True, slots=True)
class HitAgreement:
    """Agreement between the assignments of a HIT."""

    questions: Mapping[str, tuple[str | None, int]]
    """The agreed answer, if any, and the percentage of the most frequent answer."""
    hit: int
    workers: Mapping[str, int]
    """Scores by assignment."""


@dataclass(frozen=True, slots=True)
class Plurality:
    questions: tuple[str, ...]
    threshold: int
    without_rejected: bool
    known_at_least: int | None
    """Assignments with a lower score on known answers do not count."""
    acts: Acts

    def agreement(self, given: Mapping[str, Answers]) -> HitAgreement:
        """Agreement of assignments, from their answers."""
        questions = {question: self._agreed(question, given.values()) for question in self.questions}
        agreed = {question: answer for question, (answer, _) in questions.items() if answer is not None}
        alike = {
            name: sum(_shown(answers.get(question, "")) == right for question, right in agreed.items())
            for name, answers in given.items()
        }
        workers = {name: 100 * count // max(1, len(agreed)) for name, count in alike.items()}
        return HitAgreement(questions, 100 * len(agreed) // len(questions), workers)

    def _agreed(self, question: str, given: Iterable[Answers]) -> tuple[str | None, int]:
        shown = [_shown(answers.get(question, "")) for answers in given]
        # For ties, the first answer in alphabetical order wins, independent of the order of assignments.
        counts = sorted(Counter(entry for entry in shown if entry).items(), key=lambda entry: (-entry[1], entry[0]))
        if not counts:
            return None, 0
        answer, count = counts[0]
        score = 100 * count // len(shown)
        return (answer if score > self.threshold else None), score


def _values(answer: str) -> frozenset[str]:
    return frozenset(one.strip() for one in answer.split("|") if one.strip())


def _shown(answer: str) -> str:
    """A normalised answer for comparison: stripped, with sorted values; empty if it is too long."""
    return "" if len(answer) > LONGEST_ANSWER else "|".join(sorted(_values(answer)))


class _Parameters:
    """The parameters of a policy. Reading a parameter removes it, so that unknown ones remain."""

    def __init__(self, name: str, policy: Mapping[str, Any]) -> None:
        self.name = name
        self._left = {parameter["Key"]: parameter for parameter in policy["Parameters"] or []}

    def values(self, key: str, kind: str = "Values") -> list[Any]:
        return list(self._left.pop(key, {}).get(kind) or [])

    def text(self, key: str) -> str:
        return ", ".join(self.values(key))

    def number(self, key: str, fewest: int, most: int) -> int | None:
        values = self.values(key)
        if not values:
            return None
        try:
            number = int(values[0])
        except ValueError:
            number = fewest - 1
        if len(values) > 1 or not fewest <= number <= most:
            raise invalid(f"{self.name}.{key}", f"must be a whole number from {fewest:,} to {most:,}")
        return number

    def nothing_else(self) -> None:
        if self._left:
            raise invalid(f"{self.name}.{next(iter(self._left))}", "is not a parameter of this policy")


def _acts(parameters: _Parameters, score: str, of_hit: str) -> Acts:
    extend_below = parameters.number(f"ExtendIf{of_hit}ScoreIsLessThan", 0, 101)
    most = parameters.number("ExtendMaximumAssignments", 2, 25)
    seconds = parameters.number("ExtendMinimumTimeInSeconds", 60, YEAR)
    if extend_below is not None and (most is None or seconds is None):
        absent = "ExtendMaximumAssignments" if most is None else "ExtendMinimumTimeInSeconds"
        raise missing(f"{parameters.name}.{absent}")
    acts = Acts(
        parameters.number(f"ApproveIf{score}ScoreIsAtLeast", 0, 101),
        parameters.text("ApproveReason"),
        parameters.number(f"RejectIf{score}ScoreIsLessThan", 0, 101),
        parameters.text("RejectReason") or "Your answer differs from the known answer or from other people's answers.",
        extend_below,
        most or 0,
        seconds or 0,
    )
    parameters.nothing_else()
    return acts


def read_known_answers(policy: Mapping[str, Any]) -> KnownAnswerPolicy:
    parameters = _named(policy, "AssignmentReviewPolicy", KNOWN_ANSWERS)
    key = {
        str(entry["Key"]): frozenset(value.strip() for value in entry.get("Values") or [])
        for entry in parameters.values("AnswerKey", "MapEntries")
    }
    if not key or not all(key.values()):
        raise missing("AssignmentReviewPolicy.AnswerKey with its questions and their answers")
    return KnownAnswerPolicy(key, _acts(parameters, "KnownAnswer", "KnownAnswer"))


def read_plurality(policy: Mapping[str, Any]) -> Plurality:
    parameters = _named(policy, "HITReviewPolicy", PLURALITY)
    # One value per question, or a single value with commas.
    questions = tuple(
        name.strip() for text in parameters.values("QuestionIds") for name in text.split(",") if name.strip()
    )
    threshold = parameters.number("QuestionAgreementThreshold", 0, 100)
    if not questions or threshold is None:
        raise missing(f"HITReviewPolicy.{'QuestionAgreementThreshold' if questions else 'QuestionIds'}")
    if len(questions) > MOST_QUESTIONS:
        raise invalid("HITReviewPolicy.QuestionIds", f"must list at most {MOST_QUESTIONS} questions")
    without = parameters.text("DisregardAssignmentIfRejected").lower() == "true"
    at_least = parameters.number("DisregardAssignmentIfKnownAnswerScoreIsLessThan", 0, 101)
    return Plurality(questions, threshold, without, at_least, _acts(parameters, "WorkerAgreement", "HITAgreement"))


def stored(known: Mapping[str, Any] | None, plurality: Mapping[str, Any] | None) -> str | None:
    """Validates the policies of a request for storage."""
    if known is not None:
        read_known_answers(known)
    if plurality is not None:
        read_plurality(plurality)
    policies = {level: policy for level, policy in ((ASSIGNMENT, known), (HIT, plurality)) if policy is not None}
    return json.dumps(policies) if policies else None


def policies_of(text: str | None) -> dict[str, dict[str, Any]]:
    """Stored policies by level."""
    policies: dict[str, dict[str, Any]] = json.loads(text or "{}")
    return policies


def _named(policy: Mapping[str, Any], name: str, wanted: str) -> _Parameters:
    if policy["PolicyName"] != wanted:
        raise invalid(f"{name}.PolicyName", f"must be {wanted}")
    return _Parameters(name, policy)


def decided(acts: Acts, score: int) -> str | None:
    """The action for an assignment by its score: approve, reject, or none."""
    if acts.approve_from is not None and score >= acts.approve_from:
        return "approve"
    return "reject" if acts.reject_below is not None and score < acts.reject_below else None
