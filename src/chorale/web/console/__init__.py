"""The console: where requesters watch and steer a study, and experts look after its gold."""

from collections.abc import Sequence

from fastapi import APIRouter

from chorale.web.console.arms import arm_routes
from chorale.web.console.colleagues import colleague_routes
from chorale.web.console.desk import desk_routes
from chorale.web.console.export import export_routes
from chorale.web.console.frame import Console
from chorale.web.console.gates import gate_routes
from chorale.web.console.gold import gold_routes
from chorale.web.console.items import item_routes
from chorale.web.console.overview import overview_routes
from chorale.web.console.quality import quality_routes
from chorale.web.console.recruiting import recruiting_routes
from chorale.web.console.signing_in import signing_in_routes
from chorale.web.console.worker import worker_routes
from chorale.web.console.workers import worker_list_routes
from chorale.web.parts import SitePart
from chorale.web.serving import Site


def console_routes(site: Site, parts: Sequence[SitePart] = ()) -> APIRouter:
    """Every route of the requester's and the experts', and those that kits add."""
    tabs = [tab for part in parts if part.recruiting_tabs for tab in part.recruiting_tabs(site.study)]
    console = Console(site, tabs)
    router = APIRouter()
    for routes in (
        signing_in_routes,
        overview_routes,
        worker_list_routes,
        worker_routes,
        item_routes,
        gold_routes,
        desk_routes,
        gate_routes,
        quality_routes,
        arm_routes,
        colleague_routes,
        recruiting_routes,
        export_routes,
        *(part.console_routes for part in parts if part.console_routes),
    ):
        router.routes += routes(console).routes
    return router


__all__ = ["console_routes"]
