"""A worker's bonuses as shown to them: amount, day and reason.

Bonuses must not reveal which questions are gold. So gold bonuses are shown as one sum per stage, after the day is over.
Only the day is shown, since the time of a bonus would be the time of an answer. Until then, no sum that workers see
includes them: they would see it grow.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from chorale.engine.managing import BY_STAFF
from chorale.engine.paying import is_for_finishing
from chorale.engine.running import RunningStage, Study
from chorale.model.wording import worded
from chorale.registry import installed
from chorale.store import Tx, ledger
from chorale.store.ledger import BonusLine

MOST_BONUSES = 5
DAY_MS = 86_400_000
_WORDS: Mapping[str, Callable[[str], str]] = {
    "parts": lambda title: worded("For longer answers in “{title}”", title=title),
    "gold": lambda title: worded("For good answers in “{title}”", title=title),
    "correction": lambda title: worded("For correct answers in “{title}” that we had counted as wrong", title=title),
    "gate": lambda title: worded("For passing “{title}”", title=title),
    "unfinished": lambda title: worded("For your work in “{title}” before it ended", title=title),
}


@dataclass(frozen=True, slots=True)
class Bonus:
    day: date
    """The day in UTC; the last day if there are several bonuses."""
    amount: int
    times: int
    words: str
    """The reason."""
    quoted: bool
    """Whether a person wrote the reason."""


@dataclass(frozen=True, slots=True)
class WorkerBonuses:
    latest: tuple[Bonus, ...]
    """The newest first."""
    more: int
    """Number of earlier bonuses not listed."""


def adds_later(stages: Iterable[RunningStage]) -> bool:
    """Whether gold answers earn a bonus in any of these stages; such bonuses are shown after the day is over."""
    return any(pays_for_gold(stage) for stage in stages)


def pays_for_gold(stage: RunningStage) -> bool:
    gold = stage.settings.gold
    return gold is not None and gold.bonus is not None


def added_later(tx: Tx, study: Study, worker_id: int) -> Mapping[int, int]:
    """A worker's earnings of today that are shown after the day is over, by stage."""
    return ledger.gold_bonuses_since(tx, worker_id, _today(study)) if adds_later(study.stages.values()) else {}


def _today(study: Study) -> int:
    now = study.clock()
    return now - now % DAY_MS


def bonuses_of(tx: Tx, study: Study, worker_id: int) -> WorkerBonuses:
    """The latest bonuses of a worker."""
    rows, total = ledger.bonuses_of(tx, worker_id, _today(study), MOST_BONUSES)
    titles = {stage.id: stage.settings.title for stage in study.stages.values()}
    latest = tuple(_bonus(row, titles.get(row.stage_id, study.settings.study.title)) for row in rows)
    return WorkerBonuses(latest, total - len(latest))


def _bonus(row: BonusLine, title: str) -> Bonus:
    kind = row.cause.partition(":")[0]
    # Given by a person, or by a person's script through a kit: then its cause begins with the kit's name.
    quoted = kind == BY_STAFF or kind in installed().kits
    words = row.reason if quoted else _bonus_words(row.cause, kind, title)
    return Bonus(datetime.fromtimestamp(row.at / 1000, UTC).date(), row.amount, row.times, words, quoted)


def _bonus_words(cause: str, kind: str, title: str) -> str:
    """The worker's text for a bonus given by the study. The ledger's reason is for the requester."""
    if kind in _WORDS:
        return _WORDS[kind](title)
    if is_for_finishing(cause):
        return worded("For finishing “{title}”", title=title)
    return worded("For your work in “{title}”", title=title)
