"""The report: started here, created in the background, then read or downloaded."""

import asyncio
import shutil
import tempfile
from pathlib import Path as FilePath
from typing import Annotated, Literal

from fastapi import Form, Path, Request, Response
from fastapi.responses import FileResponse

from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.store import Tx, events
from chorale.web.console.export import Download
from chorale.web.console.frame import NO_NUL, Console, back_to
from chorale.web.console.report_jobs import ReportWish, dataset_folder, report_file, reports, start_report
from chorale.web.serving import Site

PATH = "/console/report"
_SHOWN = 10
Licence = Annotated[str, Form(max_length=100, pattern=NO_NUL)]
ReportName = Annotated[str, Path(pattern=r"^report-[0-9-]{1,40}$")]
# A report contains texts by others, so it is shown without scripts and without an origin.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox allow-popups"


def _folder_of(site: Site) -> FilePath:
    if site.folder is None:
        raise UserError("This site was started without a study folder, so it cannot create reports here.")
    return site.folder


def _note(tx: Tx, study: Study, by: str, wish: ReportWish) -> None:
    evidence = {"by": by, **({} if wish.format == "html" else {"format": wish.format})}
    # The command itself logs that it exports a dataset or shows the arms, by the person named here.
    events.record(tx, study.clock(), "report created", evidence)


def add_report_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.get("/report")
    async def page(request: Request) -> Response:
        made = [] if site.folder is None else await asyncio.to_thread(reports, site.folder)
        return console.live_page(request, "report", jobs=made[:_SHOWN], has_folder=site.folder is not None)

    @router.post("/report")
    async def create(
        request: Request,
        form: Annotated[Literal["html", "pdf", "markdown", "latex"], Form(alias="format")] = "html",
        arms: Annotated[bool, Form()] = False,
        dataset: Annotated[bool, Form()] = False,
        licence: Licence = "",
    ) -> Response:
        folder, study, by = _folder_of(site), site.study, request.state.staff.name
        address = study.store.address.render_as_string(hide_password=False)
        wish = ReportWish(form, arms and study.settings.arms is not None, dataset, licence.strip())
        started = await asyncio.to_thread(start_report, folder, address, by, study.clock(), wish)
        if started:
            await site.write(_note, by, wish)
        return back_to(PATH, "report-started" if started else "report-running")

    @router.get("/report/{name}")
    async def read(name: ReportName, download: bool = False) -> Response:
        file = report_file(_folder_of(site), name)
        if file is None:
            raise Refusal("not_found", "This report does not exist. The report page lists every report.", 404)
        is_page = file.suffix == ".html"
        return FileResponse(
            file,
            media_type="text/html; charset=utf-8" if is_page else "application/octet-stream",
            filename=file.name,
            content_disposition_type="inline" if is_page and not download else "attachment",
            headers={"Content-Security-Policy": _POLICY},
        )

    @router.get("/report/{name}/dataset")
    async def dataset(name: ReportName) -> Response:
        folder = dataset_folder(_folder_of(site), name)
        if folder is None:
            raise Refusal("not_found", "This report has no dataset. Create a report with its dataset.", 404)
        path = await asyncio.to_thread(_zipped, folder)
        return Download(path, filename=path.name, media_type="application/octet-stream")


def _zipped(folder: FilePath) -> FilePath:
    target = FilePath(tempfile.mkdtemp(prefix="chorale-dataset-"))
    return FilePath(shutil.make_archive(str(target / folder.name), "zip", folder.parent, folder.name))
