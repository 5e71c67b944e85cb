"""What a kit adds to a study's site."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter

from chorale.engine.running import Study
from chorale.registry import clash
from chorale.store import Tx
from chorale.web.pages import STATIC, TEMPLATES
from chorale.web.serving import Site

if TYPE_CHECKING:
    from chorale.web.console.frame import Console


@dataclass(frozen=True, slots=True)
class HomeCard:
    """Work that a kit offers on a worker's start page, beside the stages."""

    title: str
    is_open: bool
    """Whether there is something to do now."""
    facts: Sequence[tuple[int, str]]
    """Counts with the words behind them: `(3, "open to you")`."""
    url: str
    link: str
    """What the link says."""
    pay: Sequence[str] = ()
    """What the open work pays, in the language of the study."""
    only_if_empty: bool = False
    """Whether it is shown only on a page that has no stage to show."""


@dataclass(frozen=True, slots=True)
class SitePart:
    """Pages of a kit, and work to do while the site runs."""

    name: str
    """Its static files are served under `/static/NAME/`."""
    templates: Path | None = None
    """A folder of Jinja templates; they are named as they are under it."""
    static: Path | None = None
    add_routes: Callable[[APIRouter, Site], None] | None = None
    """Adds routes for workers and for programs."""
    console_routes: "Callable[[Console], APIRouter] | None" = None
    """Routes for requesters, and who may see them."""
    recruiting_tabs: Callable[[Study], Sequence[tuple[str, str]]] | None = None
    """Tabs of the console's page about recruiting: address and title."""
    home_card: Callable[[Tx, Study, int], HomeCard | None] | None = None
    """The card on the start page of a worker, by their number."""
    from_frames: frozenset[str] = frozenset()
    """Addresses that sandboxed frames may send forms to. They have no origin and no session; what they send is
    recognised by an id that cannot be guessed."""
    sweep: Callable[[Study], Awaitable[None]] | None = None
    """Called every few seconds while the site runs."""


def refuse_clashes(parts: Mapping[str, SitePart]) -> None:
    """Refuse parts of the site, by kit, whose files would hide those of another kit or of the site itself."""
    own = {("static folder", path.name) for path in STATIC.iterdir()} | set(_templates(TEMPLATES))
    holders: dict[tuple[str, str], list[str]] = {}
    for kit, part in parts.items():
        for named in (("static folder", part.name), *(() if part.templates is None else _templates(part.templates))):
            holders.setdefault(named, []).append(kit)
    for (kind, name), kits in holders.items():
        if len(kits) > 1 or (kind, name) in own:
            raise clash(kind, name, kits, own=(kind, name) in own)


def _templates(folder: Path) -> Iterator[tuple[str, str]]:
    return (("page template", path.relative_to(folder).as_posix()) for path in folder.rglob("*.html"))
