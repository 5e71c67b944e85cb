"""Numbers of different answers per item."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, and_, func, literal_column, select

from chorale.model import Standing
from chorale.store.codec import as_text, from_text
from chorale.store.schema import participation, response


def different_answers(
    tx: Connection, item_ids: Sequence[int], written: Sequence[str] = ()
) -> Iterator[tuple[int, int, int]]:
    """The numbers of different and of all counted answers, by item.

    `written` are free-text fields, which are ignored.
    """
    counted = and_(
        response.c.item_id.in_(item_ids),
        response.c.kind == literal_column("'production'"),
        participation.c.standing == Standing.ACTIVE,
    )
    people = and_(participation.c.stage_id == response.c.stage_id, participation.c.worker_id == response.c.worker_id)
    if not written:
        query = select(response.c.item_id, func.count(response.c.answer.distinct()), func.count())
        rows = tx.execute(query.join(participation, people).where(counted).group_by(response.c.item_id))
        yield from ((item_id, different, given) for item_id, different, given in rows)
        return
    answers: dict[int, list[str]] = defaultdict(list)
    for item_id, text in tx.execute(
        select(response.c.item_id, response.c.answer).join(participation, people).where(counted)
    ):
        answer = from_text(text)
        kept = {name: value for name, value in answer.items() if name not in written}
        answers[item_id].append(as_text(kept))
    yield from ((item_id, len(set(given)), len(given)) for item_id, given in answers.items())
