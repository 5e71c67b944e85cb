"""The language of the front page of several studies: the studies' common language, or the browser's."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fastapi import Request

from chorale.folder.study_language import study_language
from chorale.model import StudySettings
from chorale.present.languages import languages
from chorale.web.pages import Pages

_MOST_ASKED = 20
"""How many languages of a browser are considered."""


@dataclass(frozen=True)
class _Server:
    settings: StudySettings


class FrontPages:
    """The pages in front of several studies, in the language of each request."""

    def __init__(self, studies: Sequence[StudySettings]) -> None:
        self._like = studies[0]
        """The front page has no settings of its own. It uses those of the first study, without title and contact."""
        self._spoken = list(dict.fromkeys(each.study.language for each in studies))
        self._in = lru_cache(maxsize=None)(self._pages)

    def of(self, request: Request) -> Pages:
        """The pages in the studies' common language or, if they differ, in the browser's."""
        if len(self._spoken) == 1:
            return self._in(self._spoken[0])
        asked = preferred(request.headers.get("accept-language", ""), languages())
        return self._in(asked or self._spoken[0])

    def _pages(self, code: str) -> Pages:
        spoken = self._like.study.model_copy(update={"language": code})
        title = study_language(self._like.model_copy(update={"study": spoken})).say("Studies")
        own = spoken.model_copy(update={"title": title, "contact": ""})
        return Pages(_Server(self._like.model_copy(update={"study": own})))


def preferred(accepted: str, supported: Collection[str]) -> str | None:
    """The supported language that a browser prefers, by its header Accept-Language; None if there is none.

    >>> preferred("da, pt-BR;q=0.8, en; q=0.9", ["de", "en", "pt"]), preferred("de;q=0, *", ["de"])
    ('en', None)
    """
    codes = {code.lower(): code for code in supported}
    ranked: list[tuple[float, str]] = []
    for part in accepted.split(",")[:_MOST_ASKED]:
        code, _, weight = part.replace(" ", "").lower().partition(";q=")
        name = codes.get(code) or codes.get(code.partition("-")[0])
        if name is not None and (share := _number(weight)) > 0:
            ranked.append((share, name))
    # The first of those with the highest weight.
    return max(ranked, key=lambda each: each[0])[1] if ranked else None


def _number(weight: str) -> float:
    try:
        return float(weight or 1)
    except ValueError:
        return 0.0
