"""The console's navigation: five sections with the pages that somebody's role may see."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.engine.running import Study
from chorale.model import EXPERT as EXPERT_QUALIFICATION
from chorale.web.links import EXPERT, OWNER, QUEUE, VIEWER

Page = tuple[str, str]
"""The path of a page, and its name."""
_EVERYBODY = (OWNER, VIEWER)


@dataclass(frozen=True, slots=True)
class ConsoleSection:
    """Pages that belong together."""

    name: str
    pages: tuple[Page, ...]

    @property
    def path(self) -> str:
        """The page a section opens with."""
        return self.pages[0][0]

    def page_at(self, here: str) -> str | None:
        """The path of the page in this section that an address belongs to."""
        inside = [
            path for path, _ in self.pages if here == path or (path != "/console" and here.startswith(f"{path}/"))
        ]
        return max(inside, key=len, default=None)


def sections(study: Study, role: str, of_kits: Sequence[Page] = ()) -> list[ConsoleSection]:
    """The sections for a role. Sections without pages for the role are left out."""
    settings, stages = study.settings, study.stages.values()
    has_gates = bool(study.gates) or any(EXPERT_QUALIFICATION in one.entry.qualifications for one in settings.stage)
    has_choices = any(one.task.combining.chosen is not None or one.task.shape.compared for one in stages)
    pages: dict[str, list[tuple[Page, tuple[str, ...], bool]]] = {
        "Overview": [
            (("/console", "Progress"), _EVERYBODY, True),
            (("/console/arms", "Arms"), (OWNER,), settings.arms is not None),
            (("/console/report", "Report"), (OWNER,), True),
            (("/console/export", "Export"), (OWNER,), True),
            (("/console/activity", "Activity log"), _EVERYBODY, True),
        ],
        "Items": [
            (("/console/items", "All items"), _EVERYBODY, True),
            ((QUEUE, "Review queue"), (OWNER, EXPERT), True),
            (("/console/review", "Adjudication"), (OWNER, EXPERT), True),
            (("/console/gold", "Gold"), (OWNER, EXPERT), True),
            (("/console/quality", "Quality"), _EVERYBODY, has_choices),
        ],
        "People": [
            (("/console/workers", "Workers"), _EVERYBODY, True),
            (("/console/annotators", "Annotators"), (OWNER,), True),
            (("/console/recruiting", "Recruiting"), _EVERYBODY, True),
            (("/console/recruiting/submissions", "Submissions"), _EVERYBODY, settings.prolific is not None),
            *((page, _EVERYBODY, True) for page in of_kits),
            (("/console/gates", "Gates"), (OWNER,), has_gates),
        ],
        "Money": [
            (("/console/payments", "Payments"), _EVERYBODY, True),
            (("/console/ledger", "Ledger"), _EVERYBODY, True),
        ],
        "Settings": [
            (("/console/study", "Study"), (OWNER,), True),
            (("/console/team", "Team"), (OWNER,), True),
            (("/console/account", "Account"), (OWNER,), True),
        ],
    }
    shown = [
        ConsoleSection(name, tuple(page for page, roles, there in listed if role in roles and there))
        for name, listed in pages.items()
    ]
    return [section for section in shown if section.pages]


def place_of(sections_shown: Sequence[ConsoleSection], here: str) -> tuple[ConsoleSection | None, str | None]:
    """The section and the page that an address belongs to."""
    places = [(section, page) for section in sections_shown if (page := section.page_at(here)) is not None]
    return max(places, key=lambda one: len(one[1]), default=(None, None))
