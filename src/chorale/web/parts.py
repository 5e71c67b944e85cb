"""What a kit adds to a study's site."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter

from chorale.engine.running import Study
from chorale.store import Tx
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
