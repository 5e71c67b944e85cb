"""`chorale demo`: runs a study with its site and a simulated crowd, and shows the results."""

import shutil
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from statistics import fmean
from typing import Annotated, Any
from urllib.parse import urlsplit

from rich.table import Table

from chorale.cli.addresses import local_url, port_of
from chorale.cli.arguments import AsJson
from chorale.cli.bars import counting
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.simulating import HOST, CrowdClock, open_simulated_study, open_site, reserve_port, send_crowd
from chorale.cli.terminal import show
from chorale.engine.opening import bring_in_additions, serving_alone
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.folder.plan import plan_stage
from chorale.folder.reading import StudyFolder, load_folder
from chorale.folder.templates import create_study
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
from chorale.present.shell import argument
from chorale.present.terminal import add_row, table_of
from chorale.rehearsal.over_http import Joining, crowd_members
from chorale.rehearsal.simulated import Knowledge, mixed_crowd
from chorale.store import Tx
from chorale.store.items import all_items
from chorale.web.links import new_invitations, new_staff_link, setup_link_path, study_sessions

MARKER = ".chorale-demo"
EXPERT = "demo-expert"
BY = "the demo"
APPLICATIONS_SHOWN = 10
KEPT_BACK = 12


def demo(
    directory: Annotated[
        Path, Argument(metavar="DIR", help="Folder for the demo's study. An earlier demo there is replaced.")
    ] = Path("demo-study"),
    once: Annotated[bool, Option(help="Exit when the crowd is done instead of leaving the site open.")] = False,
    workers: Annotated[int, Option(help="Number of simulated workers.", min=6, max=400)] = 40,
    seed: Annotated[int, Option(help="Random seed.")] = 2012,
    port: Annotated[
        int | None,
        Option(
            metavar="PORT",
            help="Port of the site. Default: 8000, or a free port if it is in use.",
            min=0,
            max=65535,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a study with a simulated crowd, show the results, and leave the site open."""
    Demonstration(directory, workers, seed, port, as_json).run(leave_up=not once)


@dataclass(frozen=True, slots=True)
class Demonstration:
    directory: Path
    workers: int
    seed: int
    port: int | None
    as_json: bool

    def run(self, *, leave_up: bool) -> None:
        with reserve_port(self.port) as bound:
            self._make_folder()
            with serving_alone(self.directory, None):
                self._run(bound, leave_up)

    def _say(self, text: str) -> None:
        """Prints a line, except with --json, where only one object is printed."""
        if not self.as_json:
            print_line(text)

    def _run(self, bound: socket, leave_up: bool) -> None:
        kept = _keep_back(self.directory) if leave_up else ""
        folder = load_folder(self.directory)
        clock = CrowdClock()
        study = open_simulated_study(self.directory, clock, self.seed)
        site = local_url(HOST, port_of(bound))
        try:
            with open_site(study, bound, clock):
                self._send_crowd(study, clock, folder, site)
                clock.follow_machine()
                self._report(study, folder, site)
                if leave_up:
                    _add_kept(study, self.directory, kept)
                self._print_links(_links(study, site), leave_up)
                if leave_up:
                    self._stay()
        finally:
            study.close()

    def _make_folder(self) -> None:
        """Creates the study from its template. Replaces only an earlier demo."""
        directory = self.directory
        if (directory / MARKER).is_file() and not directory.is_symlink():
            with serving_alone(directory, None):
                self._say(f"Replacing {directory} from an earlier demo.")
                shutil.rmtree(directory)
        elif directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise UserError(f"{directory} already exists and is not a demo. Choose another folder.")
        create_study(directory, "rules")
        made = "`chorale demo` created this folder and replaces it on its next run.\n"
        (directory / MARKER).write_text(made, "utf-8")

    def _send_crowd(self, study: Study, clock: CrowdClock, folder: StudyFolder, site: str) -> None:
        crowd = mixed_crowd(self.workers, self.seed)
        people = crowd_members(folder, crowd, self.seed, [Joining()] * len(crowd))
        self._say(f"{len(people)} simulated workers of mixed quality are working on {site}")
        with counting("answers", StudyTruth(folder).expected_submissions(), on_stderr=self.as_json) as count:
            send_crowd(study, clock.time, site, people, count)

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
        serve = f"`chorale serve {argument(self.directory)} --port {urlsplit(links['worker']).port}`"
        closed = f"The site is closed. To open it again: {serve}. Then sign in as:"
        self._say("\n" + ("A few items are left for you to judge. Open the site as:" if leave_up else closed))
        for who, link in links.items():
            self._say(f"  {who:<9} {link}")

    def _stay(self) -> None:
        self._say("\nThe site stays open until you press Ctrl-C.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            self._say(f"\nThe site is closed. To open it again: `chorale serve {argument(self.directory)}`")


class StudyTruth:
    """The correct answers in a study folder, from its gold and truth files."""

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
        """Approximate number of answers the study needs if every possible item is derived."""
        plans = (
            plan_stage(content, {content.settings.name: len(content.items) or len(content.truth)}, 0.0)
            for content in self._folder.stages
        )
        return sum(plan.judgments + plan.gold_answers for plan in plans)

    def accuracy(self, judged: Iterable[Application]) -> float | None:
        """The fraction of judged rule applications with the correct outcome, or None without judgments."""
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


def _keep_back(directory: Path) -> str:
    """Hides the last applications from the simulated crowd, for visitors of the site."""
    items = directory / "applications.jsonl"
    lines = items.read_text("utf-8").splitlines(keepends=True)
    items.write_text("".join(lines[:-KEPT_BACK]), "utf-8")
    return "".join(lines[-KEPT_BACK:])


def _add_kept(study: Study, directory: Path, kept: str) -> None:
    with (directory / "applications.jsonl").open("a", encoding="utf-8") as file:
        file.write(kept)
    bring_in_additions(study, directory)


@dataclass(frozen=True, slots=True)
class _Results:
    status: Status
    confidence: Mapping[str, float | None]
    """The mean confidence of every stage's labels."""
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
        print_line(f"{len(results.judged)} applications judged, {accuracy:.1%} correctly (by the study's truth files).")
        print_line(f"Cost: {money_text(spent, pay.currency)}, or {each} per judged application.")
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
    """Table of judged rule applications, as in the paper."""
    table = table_of("first phrase", "second phrase", "judgment", "confidence#")
    for each in applications:
        confidence = "" if each.confidence is None else f"{each.confidence:.2f}"
        add_row(table, each.payload["lhs"], each.payload["rhs"], each.judgment or each.outcome, confidence)
    return table
