"""The console: where requesters watch and steer a study, and experts look after its gold."""

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
from chorale.web.serving import Site


def console_routes(site: Site) -> APIRouter:
    """Every route of the requester's and the experts'."""
    console = Console(site)
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
    ):
        router.routes += routes(console).routes
    return router


__all__ = ["console_routes"]
