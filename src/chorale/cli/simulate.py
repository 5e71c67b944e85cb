"""`chorale simulate`"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Annotated

from chorale.cli.addresses import local_url, port_of
from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.bars import counting
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.simulating import HOST, CrowdClock, open_simulated_study, open_site, reserve_port, send_crowd
from chorale.cli.terminal import show
from chorale.engine.entering import arrive_as_expert
from chorale.engine.opening import serving_alone
from chorale.engine.running import Study
from chorale.engine.sessions import begin
from chorale.folder.draft import draft_folder
from chorale.folder.plan import plan_study
from chorale.folder.reading import StudyFolder as Folder
from chorale.folder.reading import load_folder
from chorale.folder.truth import unanswered_in_simulations
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.monitor.alarm import alarm_line
from chorale.monitor.status import Status, status, summary
from chorale.monitor.tables import stages_table, wage_line
from chorale.monitor.watching import suspicions
from chorale.platforms.simulated import CrowdMember
from chorale.present.shell import argument
from chorale.rehearsal import Crowd, read_crowd
from chorale.rehearsal.keeping import MARKER, copy_as_simulated
from chorale.rehearsal.over_http import Joining, crowd_members
from chorale.rehearsal.simulated import draw_arrivals, draw_experts
from chorale.store import Tx
from chorale.web.links import new_invitations, study_sessions
from chorale.web.sessions import WORKER_COOKIE

BY = "the simulation"
_ALL_SIMULATED = "All people are simulated. Do not invite anybody to this study."


def simulate(
    directory: StudyFolder,
    out: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Folder for the simulated copy. Default: DIR-simulated. An earlier simulated copy in this folder "
            "is replaced.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        Option(
            help="Number of simulated workers. Default: the number in rehearsal.toml; without one, based on the "
            "study's size.",
            min=1,
            max=2000,
        ),
    ] = None,
    seed: Annotated[int, Option(help="Random seed.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Send simulated workers through a copy of your study's site, to try the console, report and exports.

    The study itself does not change.
    """
    if (directory / MARKER).is_file():
        raise UserError(f"{directory} is a simulated copy. Name the study that it was made from.")
    folder = load_folder(directory)
    target = out or _beside(directory)
    crowd = read_crowd(folder, workers)
    with _replacing(target, folder), draft_folder(target) as draft:
        copy_as_simulated(folder, draft.study)
        result = _simulated(load_folder(draft.study), crowd, seed, as_json=as_json)
    warnings = unanswered_in_simulations(folder)
    if as_json:
        marked = {"simulated": True, "warnings": [_ALL_SIMULATED, *warnings]}
        print_json({"study": str(target), "from": str(directory), **marked, **result.json})
        return
    pay = folder.settings.pay
    show(stages_table(result.status, pay.currency))
    print_line(wage_line(result.status, pay.currency, pay.minimum_hourly))
    for alarm in result.alarms:
        print_line(alarm_line(alarm))
    for warning in warnings:
        print_line(f"Warning: {warning}")
    print_line(f"{target}: {_ALL_SIMULATED} Next, try:")
    for command in ("report", "export", "serve", "status"):
        print_line(f"  chorale {command} {argument(target)}")


def _beside(directory: Path) -> Path:
    """The default folder of the copy, next to the study; the path is as short as the study's own."""
    named = directory if directory.name not in ("", "..") else directory.resolve()
    return named.with_name(f"{named.name}-simulated")


class _Result:
    """The status of a simulated study, as tables and as JSON values, and its alarms."""

    def __init__(self, study: Study) -> None:
        self.status: Status = study.store.read(lambda tx: status(tx, study)).result()
        self.json = study.store.read(lambda tx: summary(tx, study)).result()
        self.alarms = study.store.read(lambda tx: suspicions(tx, study)).result()


@contextmanager
def _replacing(target: Path, folder: Folder) -> Iterator[None]:
    """Remove an earlier simulation at the target, and nothing else."""
    if target.resolve().is_relative_to(folder.path.resolve()):
        raise UserError(f"{target} is the study's own folder or inside it. Name a folder elsewhere with --out.")
    if folder.path.resolve().is_relative_to(target.resolve()):
        raise UserError(f"The study is inside {target}, which would be replaced. Name a folder elsewhere with --out.")
    if (target / MARKER).is_file() and not target.is_symlink():
        with serving_alone(target, None):
            shutil.rmtree(target)
    yield


def _simulated(folder: Folder, crowd: Crowd, seed: int, *, as_json: bool) -> _Result:
    clock = CrowdClock()
    with reserve_port(0) as bound:
        study = open_simulated_study(folder.path, clock, seed)
        try:
            people = _people(study, folder, crowd, seed)
            site = local_url(HOST, port_of(bound))
            if not as_json:
                print_line(f"{plural(len(people), 'simulated worker is', 'simulated workers are')} working on {site}")
            expected = sum(stage.judgments + stage.gold_answers for stage in plan_study(folder).stages)
            with open_site(study, bound, clock), counting("answers", expected, on_stderr=as_json) as count:
                send_crowd(study, clock.time, site, people, count)
            return _Result(study)
        finally:
            study.close()


def _people(study: Study, folder: Folder, crowd: Crowd, seed: int) -> list[CrowdMember]:
    """An invited worker for every simulated person, and experts for the stages that need them."""
    rng = Random(f"{seed}:crowd")
    models = crowd.people(crowd.settings.workers or 1, rng)
    sessions = study_sessions(study)
    links = study.store.write(lambda tx: new_invitations(tx, study, sessions, len(models), BY)).result()
    arrivals = draw_arrivals(len(models), crowd.settings.per_hour, rng)
    for_experts = [name for name, stage in study.stages.items() if stage.is_for_experts]
    others = [name for name in study.stages if name not in for_experts]
    joining = [Joining(link=link, after=after, stages=others) for link, after in zip(links, arrivals, strict=True)]
    if for_experts:
        experts = draw_experts(crowd.settings, rng)
        models = [*models, *experts]
        joining += [_expert(study, number, for_experts) for number in range(len(experts))]
    return crowd_members(folder, models, seed, joining, crowd.difficulty)


def _expert(study: Study, number: int, for_experts: Sequence[str]) -> Joining:
    """A signed-in expert: experts join through the console and work on the worker pages."""
    sessions = study_sessions(study)

    def sign_in(tx: Tx) -> str:
        return sessions.worker_cookie(begin(tx, study, arrive_as_expert(tx, study, f"simulated-expert-{number + 1}")))

    return Joining(cookies={WORKER_COOKIE: study.store.write(sign_in).result()}, stages=for_experts)
