"""The report: started here, created in the background, then read or downloaded."""

import asyncio
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import Form, Path, Request, Response
from fastapi.responses import FileResponse

from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.store import Tx, events
from chorale.web.console.frame import Console, back_to
from chorale.web.console.report_jobs import report_file, reports, start_report
from chorale.web.serving import Site

PATH = "/console/report"
_SHOWN = 10
ReportName = Annotated[str, Path(pattern=r"^report-[0-9-]{1,40}$")]
# A report holds texts of others: it is shown without scripts, and without an origin of its own.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox allow-popups"


def _folder_of(site: Site) -> FilePath:
    if site.folder is None:
        raise UserError("This site was started without a study folder, so it cannot create reports here.")
    return site.folder


def _note(tx: Tx, study: Study, by: str) -> None:
    events.record(tx, study.clock(), "report created", {"by": by})


def add_report_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.get("/report")
    async def page(request: Request) -> Response:
        made = [] if site.folder is None else await asyncio.to_thread(reports, site.folder)
        return console.live_page(request, "report", jobs=made[:_SHOWN], has_folder=site.folder is not None)

    @router.post("/report")
    async def create(request: Request, arms: Annotated[bool, Form()] = False) -> Response:
        folder, study, by = _folder_of(site), site.study, request.state.staff.name
        address = study.store.address.render_as_string(hide_password=False)
        with_arms = arms and study.settings.arms is not None
        started = await asyncio.to_thread(start_report, folder, address, by, study.clock(), arms=with_arms)
        if started:
            await site.write(_note, by)
        return back_to(PATH, "report-started" if started else "report-running")

    @router.get("/report/{name}")
    async def read(name: ReportName, download: bool = False) -> Response:
        file = report_file(_folder_of(site), name)
        if file is None:
            raise Refusal("not_found", "This report does not exist. The report page lists every report.", 404)
        return FileResponse(
            file,
            media_type="text/html; charset=utf-8",
            filename=file.name,
            content_disposition_type="attachment" if download else "inline",
            headers={"Content-Security-Policy": _POLICY},
        )
