"""Check that exactly the data that had to be erased are gone."""

from collections.abc import Collection, Iterator

from chorale.engine.forgetting import made_of_answers, written_fields
from chorale.engine.running import Study
from chorale.model.plural import plural
from chorale.store import Tx, erased_labels, erasing, events, remaining

ALL = 1_000_000


def erasure_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Check that every erasure is logged, that its data are gone, and that nothing else is missing."""
    rows = erasing.erasures(tx)
    recorded = list(reversed(events.recent(tx, ALL, kinds=("erased",))))
    if [(one.at, one.worker) for one in rows] != [(event.at, event.worker) for event in recorded]:
        yield (
            f"erasures: {len(rows)} stored and {len(recorded)} in the log"
            if len(rows) != len(recorded)
            else "erasures: the log has different workers or times than the stored erasures"
        )
    nameless = {one.worker for one in rows if one.identity}
    silent = {one.worker for one in rows if one.answers}
    with_others = erasing.repeated(tx, made_of_answers(study)).responses
    state = remaining.erased_state(tx, with_others)
    for missing, erased_but_there, present, expected in (
        ("identity is missing", "identity was erased, but still exists", state.nameless, nameless),
        ("answers are missing", "answers were erased, but still exist", state.silent, silent & state.answered),
    ):
        for worker in sorted(present - expected):
            yield f"worker {worker}: the {missing} without a recorded erasure"
        for worker in sorted(expected - present):
            yield f"worker {worker}: the {erased_but_there}"
    erased = {one.worker for one in rows}
    for worker in sorted(state.stopped - erased):
        yield f"worker {worker}: marked as withdrawn, without a recorded erasure"
    for worker in sorted(erased - state.stopped):
        yield f"worker {worker}: erased, but not marked as withdrawn"
    for number, kind in erased_labels.words_left(tx, written_fields(study)):
        yield f"event {number} ({kind}): its label may still contain erased text"


def not_recomputed(tx: Tx, study: Study, silent: Collection[str], gone: Collection[int]) -> Iterator[str]:
    """Describe what can't be recomputed because answers were erased. `gone` are the erased responses."""
    if not silent:
        return
    with_others = erasing.repeated(tx, made_of_answers(study)).responses
    if lost := len(with_others.intersection(gone)):
        of_erased = "to items made from erased answers"
        answers = plural(lost, f"answer {of_erased} was", f"answers {of_erased} were")
        yield f"{answers} erased, too: the pay is compared with the ledger, not recomputed"
    if left := len(with_others.difference(gone)):
        answers = plural(left, "answer", "answers")
        yield f"{answers} arrived after the erasure and may contain erased text: `chorale retention --run` erases them"
    many = f"{len(silent):,} {'worker' if len(silent) == 1 else 'workers'}"
    yield f"the erased answers of {many}: gold scores and pay are compared with the activity log, not recomputed"
    if any(stage.settings.quality is not None for stage in study.stages.values()):
        yield "removals by worker quality that depend on answers erased later"
