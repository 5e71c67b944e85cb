"""`chorale demo`: the product's main job at a glance: a study, a site, a crowd, and what comes out."""

import asyncio
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from socket import socket
from statistics import fmean
from typing import Annotated, Any
from urllib.parse import urlsplit

from rich.table import Table
from uvicorn import Config

from chorale.cli.addresses import local_url, port_of, reserve
from chorale.cli.arguments import AsJson
from chorale.cli.bars import counting
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.terminal import show
from chorale.engine.clock import fast_clock, wall_clock
from chorale.engine.opening import bring_in_additions, open_study, serving_alone
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.simulation import note_simulated_people
from chorale.folder.plan import plan_stage
from chorale.folder.reading import StudyFolder, load_folder
from chorale.folder.templates import create_study
from chorale.folder.view_key import view_key
from chorale.kits.rules.tasks.entailment import (
    Application,
    ApplicationOutcome,
    MeaninglessLeft,
    application_outcome,
    applications,
)
from chorale.kits.rules.tasks.meaningful import RULES_MEANINGFUL
from chorale.model import Answer, Label, UserError, money_text
from chorale.monitor.outcomes import stage_results, tallies
from chorale.monitor.status import Status, status, summary
from chorale.monitor.tables import dropped_table, outcomes_table, stages_table, wage_line
from chorale.platforms.simulated import CrowdError, CrowdMember, CrowdSite, run_crowd
from chorale.present.terminal import add_row, table_of
from chorale.rehearsal.simulated import Knowledge, WorkerModel, mixed_crowd, prospects
from chorale.store import Tx, stages
from chorale.store.items import all_items
from chorale.web.app import create_app
from chorale.web.links import new_invitations, new_staff_link, setup_link_path, study_sessions
from chorale.web.servers import SiteServer

HOST = "127.0.0.1"
USUAL_PORT = 8000
MARKER = ".chorale-demo"
EXPERT = "demo-expert"
BY = "the demo"
SPEED = 20.0
APPLICATIONS_SHOWN = 10
KEPT_BACK = 12
# A worker who is dropped late opens items again when others have left: they are called back this often.
MOST_ROUNDS = 4
# For stages that do not say how long a judgment takes.
USUAL_SECONDS = 10.0


def demo(
    directory: Annotated[
        Path, Argument(metavar="DIR", help="Where the demo's study goes; an earlier demo there is replaced.")
    ] = Path("demo-study"),
    once: Annotated[bool, Option(help="Exit when the crowd is done instead of leaving it up.")] = False,
    workers: Annotated[int, Option(help="How many simulated workers.", min=6, max=400)] = 40,
    seed: Annotated[int, Option(help="Seed of the crowd.")] = 2012,
    port: Annotated[
        int | None,
        Option(metavar="PORT", help="The port to listen on; 8000, or a free one, if not given.", min=0, max=65535),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the rules study with a simulated crowd, show what comes out, and leave the site up."""
    Demonstration(directory, workers, seed, port, as_json).run(leave_up=not once)


@dataclass(frozen=True, slots=True)
class Demonstration:
    directory: Path
    workers: int
    seed: int
    port: int | None
    as_json: bool

    def run(self, *, leave_up: bool) -> None:
        with _reserve(self.port) as bound:
            self._make_folder()
            with serving_alone(self.directory, None):
                self._run(bound, leave_up)

    def _say(self, text: str) -> None:
        """For people: what reads JSON gets one object and nothing else."""
        if not self.as_json:
            print_line(text)

    def _run(self, bound: socket, leave_up: bool) -> None:
        kept = _keep_back(self.directory) if leave_up else ""
        folder = load_folder(self.directory)
        clock = DemoClock(SPEED)
        study = open_study(self.directory, clock=clock)
        site = local_url(HOST, port_of(bound))
        try:
            with _open_site(study, bound):
                self._let_crowd_work(study, folder, site)
                clock.slow_down()
                self._report(study, folder, site)
                if leave_up:
                    _add_kept(study, self.directory, kept)
                self._print_links(_links(study, site), leave_up)
                if leave_up:
                    self._stay()
        finally:
            study.close()

    def _make_folder(self) -> None:
        """The study from its template; an earlier demo there makes room, and nothing else does."""
        directory = self.directory
        if (directory / MARKER).is_file() and not directory.is_symlink():
            with serving_alone(directory, None):
                self._say(f"{directory} is there from an earlier demo, and is made anew.")
                shutil.rmtree(directory)
        elif directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise UserError(f"{directory} was not made by `chorale demo`, so it is left alone. Name another folder.")
        create_study(directory, "rules")
        made = "`chorale demo` made this folder and replaces it when it runs again.\n"
        (directory / MARKER).write_text(made, "utf-8")

    def _let_crowd_work(self, study: Study, folder: StudyFolder, site: str) -> None:
        crowd = mixed_crowd(self.workers, self.seed)
        truth = StudyTruth(folder)
        people = [_person(folder, truth, model, f"{self.seed}:{number}") for number, model in enumerate(crowd)]
        study.store.write(lambda tx: note_simulated_people(tx, study, len(people))).result()
        place = CrowdSite(site, folder.settings.arrival, list(study.stages), SPEED)
        self._say(f"{len(people)} simulated workers of mixed quality are at work on {site}")
        with counting("judgments", truth.expected_submissions(), on_stderr=self.as_json) as count:
            for _ in range(MOST_ROUNDS):
                try:
                    asyncio.run(run_crowd(place, people, count))
                except CrowdError as error:
                    raise UserError(f"the crowd could not work: {error}") from None
                settle_everything(study)
                if not study.store.read(_wants_more).result():
                    break

    def _report(self, study: Study, folder: StudyFolder, site: str) -> None:
        settle_everything(study)
        results = study.store.read(lambda tx: _results(tx, study)).result()
        accuracy = StudyTruth(folder).accuracy(results.judged)
        if self.as_json:
            json = {
                **study.store.read(lambda tx: summary(tx, study)).result(),
                "mean_confidence": results.confidence,
                "accuracy": accuracy,
            }
            print_json({"study": str(self.directory), **json, "links": _links(study, site)})
            return
        _print_results(study, results, accuracy)

    def _print_links(self, links: Mapping[str, str], leave_up: bool) -> None:
        serve = f"`chorale serve {self.directory} --port {urlsplit(links['worker']).port}`"
        closed = f"The site is closed. {serve} opens it again; then come in as"
        self._say("\n" + ("A few applications are left for you to judge. Open the site as" if leave_up else closed))
        for who, link in links.items():
            self._say(f"  {who:<9} {link}")

    def _stay(self) -> None:
        self._say("\nThe site stays up. Ctrl-C closes it.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            self._say(f"\nClosed. `chorale serve {self.directory}` opens it again.")


class StudyTruth:
    """What a study folder says of the right answers, in its gold and in the truth it rehearses with."""

    def __init__(self, folder: StudyFolder) -> None:
        self._folder = folder
        self._known = {
            content.settings.name: Knowledge(
                [(content.task.form.shown(row.item.payload), row.answer) for row in content.gold]
                + [(row.view, row.answer) for row in content.truth]
            )
            for content in folder.stages
        }

    def answer(self, stage: str, view: Mapping[str, Any]) -> Answer | None:
        return self._known[stage].get(view)

    def expected_submissions(self) -> int:
        """About how many answers it takes, if every item that should be derived is."""
        plans = (
            plan_stage(content, {content.settings.name: len(content.items) or len(content.truth)}, 0.0)
            for content in self._folder.stages
        )
        return sum(plan.judgments + plan.gold_answers for plan in plans)

    def accuracy(self, judged: Iterable[Application]) -> float | None:
        """The share of judged rule applications that came out as they should; None of none."""
        right = [self._outcome(each) is each.outcome for each in judged]
        return sum(right) / len(right) if right else None

    def _outcome(self, application: Application) -> ApplicationOutcome:
        phrases = [content for content in self._folder.stages if content.task is RULES_MEANINGFUL]
        names = [content.settings.name for content in self._folder.stages if content not in phrases]
        lhs, rhs = application.payload["lhs"], application.payload["rhs"]
        return application_outcome(
            self._label(phrases[0].settings.name, {"phrase": lhs}),
            self._label(phrases[0].settings.name, {"phrase": rhs}),
            self._label(names[0], {"lhs": lhs, "rhs": rhs}),
            1.0,
            MeaninglessLeft.SET_ASIDE,
        )[0]

    def _label(self, stage: str, view: Mapping[str, Any]) -> Label | None:
        answer = self.answer(stage, view)
        return None if answer is None else Label(answer, 1.0, 1, released=True)


class DemoClock:
    """Runs fast while the crowd works and like any other clock afterwards, without ever going back."""

    def __init__(self, speed: float) -> None:
        self._fast = fast_clock(speed)
        self._ahead: int | None = None

    def __call__(self) -> int:
        return self._fast() if self._ahead is None else wall_clock() + self._ahead

    def slow_down(self) -> None:
        self._ahead = self._fast() - wall_clock()


def _reserve(port: int | None) -> socket:
    if port is not None:
        return reserve(HOST, port)
    try:
        return reserve(HOST, USUAL_PORT)
    except UserError:
        return reserve(HOST, 0)


def _keep_back(directory: Path) -> str:
    """Take the last applications out of the crowd's sight, for visitors of the site."""
    items = directory / "applications.jsonl"
    lines = items.read_text("utf-8").splitlines(keepends=True)
    items.write_text("".join(lines[:-KEPT_BACK]), "utf-8")
    return "".join(lines[-KEPT_BACK:])


def _add_kept(study: Study, directory: Path, kept: str) -> None:
    with (directory / "applications.jsonl").open("a", encoding="utf-8") as file:
        file.write(kept)
    bring_in_additions(study, directory)


@contextmanager
def _open_site(study: Study, bound: socket) -> Iterator[None]:
    """The study's site, in a thread of this process, for as long as the block runs."""
    config = Config(create_app(study), log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    is_up = threading.Event()
    server = SiteServer(config, is_up.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="chorale-site", daemon=True)
    thread.start()
    try:
        while not is_up.wait(0.1):
            if not thread.is_alive():
                raise UserError("the site did not start. The messages above say why.")
        yield
    finally:
        server.should_exit = True
        thread.join()


def _person(folder: StudyFolder, truth: StudyTruth, model: WorkerModel, seed: str) -> CrowdMember:
    """Somebody who answers like the model, and the same item always the same way."""
    tasks = {content.settings.name: content.task for content in folder.stages}
    expected = {
        content.settings.name: content.settings.pay.expected_seconds or USUAL_SECONDS for content in folder.stages
    }
    pace = Random(f"{seed}:pace")

    def answer(stage: str, view: Mapping[str, Any]) -> Any:
        rng = Random(f"{seed}:{stage}:{view_key(view)}")
        right, choices = prospects(tasks[stage], view, truth.answer(stage, view), rng)
        return model.answer(right, choices, rng)

    return CrowdMember(
        external_id=f"{Random(f'{seed}:id').getrandbits(96):024x}",
        answer=answer,
        seconds=lambda stage: model.seconds(expected[stage], pace),
    )


def _wants_more(tx: Tx) -> bool:
    return any(stage.complete < stage.items for stage in stages.stage_counts(tx))


@dataclass(frozen=True, slots=True)
class _Results:
    status: Status
    confidence: Mapping[str, float | None]
    """The mean of every stage's results."""
    judged: list[Application]


def _results(tx: Tx, study: Study) -> _Results:
    confidence: dict[str, float | None] = {}
    for name in study.stages:
        values = [label.confidence for item in all_items(tx, name) if (label := item.label()) is not None]
        confidence[name] = fmean(values) if values else None
    pairs = stage_results(tx, study, study.stage("entailment"))
    judged = [each for each in applications(pairs) if each.judgment is not None]
    return _Results(status(tx, study), confidence, judged)


def _print_results(study: Study, results: _Results, accuracy: float | None) -> None:
    pay = study.settings.pay
    show(
        stages_table(results.status, pay.currency, results.confidence),
        _applications_table(results.judged[:APPLICATIONS_SHOWN]),
        *[outcomes_table(tally) for tally in study.store.read(lambda tx: tallies(tx, study)).result().values()],
        *([dropped_table(results.status.dropped, pay.currency)] if results.status.dropped else []),
    )
    if results.judged and accuracy is not None:
        spent = results.status.spent
        each = money_text(round(spent / len(results.judged)), pay.currency)
        judged = f"{len(results.judged)} applications are judged"
        print_line(f"{judged}, {accuracy:.1%} of them as the study's author would.")
        print_line(f"The study cost {money_text(spent, pay.currency)}: {each} for each judged application.")
    print_line(wage_line(results.status, pay.currency, pay.minimum_hourly))


def _links(study: Study, site: str) -> dict[str, str]:
    sessions = study_sessions(study)
    (invitation,) = study.store.write(lambda tx: new_invitations(tx, study, sessions, 1, BY)).result()
    expert = study.store.write(lambda tx: new_staff_link(tx, study, sessions, "expert", EXPERT, BY)).result()
    return {
        "worker": site + invitation,
        "expert": site + expert,
        "requester": site + (setup_link_path(study) or "/console"),
    }


def _applications_table(applications: Iterable[Application]) -> Table:
    """Judged rule applications, like the paper's table."""
    table = table_of("first phrase", "second phrase", "judgment", "confidence#")
    for each in applications:
        confidence = "" if each.confidence is None else f"{each.confidence:.2f}"
        add_row(table, each.payload["lhs"], each.payload["rhs"], each.judgment or each.outcome, confidence)
    return table
