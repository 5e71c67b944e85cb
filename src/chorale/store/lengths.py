"""Numbers of words that items show, counted once if pay depends on them."""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, select, update

from chorale.store.prepared import Prepared
from chorale.store.schema import assignment, item

_SET_WORDS = Prepared(
    update(item)
    .where(item.c.stage_id == bindparam("of_stage"), item.c.key == bindparam("of_key"))
    .values(words=bindparam("new_words"))
)
_WORDS_OF = Prepared(
    select(item.c.words)
    .join(assignment, assignment.c.item_id == item.c.id)
    .where(assignment.c.token == bindparam("token"))
)


def not_counted(tx: Connection, stage_id: int) -> list[tuple[str, str]]:
    """Key and content (as text) of a stage's items whose words are not counted yet."""
    query = select(item.c.key, item.c.payload).where(item.c.stage_id == stage_id, item.c.words.is_(None))
    return [(str(key), str(payload)) for key, payload in tx.execute(query)]


def note_words(tx: Connection, stage_id: int, counted: Iterable[tuple[str, int]]) -> None:
    """Store the numbers of words, by item key."""
    for key, words in counted:
        _SET_WORDS(tx, of_stage=stage_id, of_key=key, new_words=words)


def words_of(tx: Connection, token: str) -> int:
    """The number of words of an assignment's item; 0 if they were never counted."""
    return int(_WORDS_OF.value(tx, token=token) or 0)


def all_words(tx: Connection) -> dict[int, int]:
    """The numbers of words by item id, where counted."""
    query = select(item.c.id, item.c.words).where(item.c.words.is_not(None))
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}
