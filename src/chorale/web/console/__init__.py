"""The console: where requesters watch and steer a study, and experts look after its gold."""

from fastapi import APIRouter

from chorale.web.console.export import export_routes
from chorale.web.console.frame import Console
from chorale.web.console.gates import gate_routes
from chorale.web.console.gold import gold_routes
from chorale.web.console.overview import overview_routes
from chorale.web.console.results import results_routes
from chorale.web.console.signing_in import signing_in_routes
from chorale.web.serving import Site


def console_routes(site: Site) -> APIRouter:
    """Every route of the requester's and the experts'."""
    console = Console(site)
    router = APIRouter()
    for routes in (signing_in_routes, overview_routes, results_routes, gold_routes, gate_routes, export_routes):
        router.include_router(routes(console))
    return router


__all__ = ["console_routes"]
