"""Editing a form beside its preview, for the owner: saved to the study file, and used after a restart."""

import asyncio

from fastapi import APIRouter, Depends, Request, Response

from chorale.engine.started import refused_of
from chorale.folder.reading import ReadFolder
from chorale.model import Problem, Refusal
from chorale.store import events
from chorale.web.console.frame import Console
from chorale.web.design.drafts import Designer
from chorale.web.design.routes import DesignRoute, Desk, add_design_routes
from chorale.web.links import OWNER
from chorale.web.serving import Site
from chorale.web.staff import staff_only

PATH = "/console/design"
SAVED = "form saved"
"""The event."""
MOST_DESKS = 20
"""Maximum number of drafts kept, one for each owner."""
_AFTER_SAVING = "Restart the site so that workers get this form. Until then, they get the previous form."


class _Desks:
    """The design session of each owner: owners do not see each other's drafts."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._desks: dict[str, Desk] = {}

    async def of(self, request: Request) -> Desk:
        name = request.state.staff.name
        if name not in self._desks:
            return await self.opened(request)
        return self._desks[name]

    async def opened(self, request: Request) -> Desk:
        """A new design session with the study file as it is now."""
        site, name = self._site, request.state.staff.name
        if site.folder is None:
            raise Refusal("not_found", "The study has no folder on this server, so there is no file to edit.", 404)
        store, study = site.study.store, site.study

        def refused(read: ReadFolder) -> list[Problem]:
            return store.look(lambda tx: refused_of(tx, read))

        def saved(stage: str) -> None:
            # The stage is named in the evidence only: an event of the stage would mean that it was started.
            store.do(lambda tx: events.record(tx, study.clock(), SAVED, {"by": name, "form of": stage}))

        designer = await asyncio.to_thread(Designer, site.folder, refused, saved)
        self._desks.pop(name, None)
        while len(self._desks) >= MOST_DESKS:
            del self._desks[next(iter(self._desks))]
        self._desks[name] = Desk(designer, site.pages, site.url(PATH), _AFTER_SAVING)
        return self._desks[name]


def add_design_page(console: Console) -> None:
    """Routes of the page and its script, for the owner only."""
    site, desks = console.site, _Desks(console.site)
    asked = APIRouter(
        prefix="/console",
        dependencies=[Depends(staff_only(site, OWNER))],
        include_in_schema=False,
        route_class=DesignRoute,
    )
    add_design_routes(asked, desks.of)

    @console.for_owner.get("/design")
    async def design_page(request: Request) -> Response:
        return (await desks.opened(request)).page(back=site.url("/console/study"))

    console.for_owner.routes.extend(asked.routes)
