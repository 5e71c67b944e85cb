"""The console: where requesters watch and control a study, and experts review answers and gold."""

from collections.abc import Sequence

from fastapi import APIRouter

from chorale.web.console.annotators import add_annotator_routes
from chorale.web.console.arms import add_arm_routes
from chorale.web.console.columns import add_column_routes
from chorale.web.console.design import add_design_page
from chorale.web.console.differing import add_differing_routes
from chorale.web.console.export import add_export_routes
from chorale.web.console.frame import Console, console_route
from chorale.web.console.gates import add_gate_routes
from chorale.web.console.gold import add_gold_actions, add_gold_routes
from chorale.web.console.items import add_item_actions, add_item_routes
from chorale.web.console.moved import add_moved_routes
from chorale.web.console.overview import add_overview_routes
from chorale.web.console.payments import add_payment_routes
from chorale.web.console.quality import add_quality_routes
from chorale.web.console.queue import add_queue_routes
from chorale.web.console.records import add_record_routes
from chorale.web.console.recruiting import add_recruiting_routes
from chorale.web.console.report import add_report_routes
from chorale.web.console.review import add_review_routes, add_undo_routes
from chorale.web.console.selected_items import add_selected_gold_routes, add_selected_item_routes
from chorale.web.console.selected_links import add_selected_link_routes
from chorale.web.console.selected_workers import add_selected_worker_routes
from chorale.web.console.signing_in import add_signing_in_routes
from chorale.web.console.study import add_study_routes
from chorale.web.console.submissions import add_submission_routes
from chorale.web.console.team import add_team_routes
from chorale.web.console.worker import add_status_routes, add_worker_routes
from chorale.web.console.workers import add_worker_list_actions, add_worker_list_routes
from chorale.web.parts import SitePart
from chorale.web.serving import Site

_ADDING = (
    *(add_overview_routes, add_record_routes, add_report_routes, add_export_routes, add_arm_routes),
    *(add_item_routes, add_item_actions, add_queue_routes, add_review_routes, add_gold_routes, add_gold_actions),
    # These come first: the paths of single workers would treat “selected” as a worker's ID.
    *(add_quality_routes, add_worker_list_routes, add_worker_list_actions, add_selected_worker_routes),
    *(add_worker_routes, add_status_routes),
    *(add_recruiting_routes, add_submission_routes, add_gate_routes, add_payment_routes),
    *(add_study_routes, add_design_page, add_team_routes, add_annotator_routes, add_undo_routes),
    *(add_differing_routes, add_moved_routes, add_column_routes),
    *(add_selected_item_routes, add_selected_gold_routes, add_selected_link_routes),
)


def console_routes(site: Site, parts: Sequence[SitePart] = ()) -> APIRouter:
    """Every route for owners, viewers and experts, and those that kits add."""
    tabs = [tab for part in parts if part.recruiting_tabs for tab in part.recruiting_tabs(site.study)]
    console = Console(site, tabs)
    router = APIRouter(include_in_schema=False, route_class=console_route(console))
    add_signing_in_routes(console, router)
    for add in _ADDING:
        add(console)
    of_kits = [part.console_routes(console) for part in parts if part.console_routes]
    for each in (console.to_see, console.for_owner, console.for_experts, *of_kits):
        router.routes += each.routes
    return router
