"""`chorale forget`"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import click

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.engine.forgetting import BY_REQUESTER, ErasureRequest, Forgotten, scrub, worker_to_forget
from chorale.engine.forgetting import forget as erase
from chorale.engine.opening import DATABASE
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.model import UserError, money_text
from chorale.model.plural import plural

WorkerName = Annotated[
    str | None,
    Argument(
        metavar="WORKER",
        help="The person's participant ID in this study. If you leave it out, the command asks for a participant or "
        "platform ID, so that the ID does not appear in your shell history.",
    ),
]


def forget(
    directory: StudyFolder,
    worker: WorkerName = None,
    answers: Annotated[
        Literal["keep", "remove"] | None,
        Option(
            help="`keep`: keep the person's answers without their identity. `remove`: erase the answers, too.",
            show_default="retention.withdrawn_answers in study.toml",
        ),
    ] = None,
    even_unpaid: Annotated[
        bool,
        Option(
            help="Erase the person's identity now, even if they are owed money. After that, you can no longer pay them."
        ),
    ] = False,
    yes: Annotated[bool, Option(help="Do not ask for confirmation.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Erase a person's identity and, depending on the study's settings, their answers."""
    with started_study(directory, db) as study:
        name = asked_for(worker)
        person = study.store.look(lambda tx: worker_to_forget(tx, name))
        treatment = answers or study.settings.retention.withdrawn_answers
        kept = "keep their answers" if treatment == "keep" else "their answers"
        question = f"Erase {person.pseudonym} and {kept}? This can't be undone"
        if not yes and not _agreed(question):
            raise UserError("Nothing was erased.")
        done = erase(study, person.id, ErasureRequest(BY_REQUESTER, treatment == "remove", even_unpaid))
        scrub(study)
        if as_json:
            print_json(asdict(done))
        else:
            _print(study, done)
            _print_copies(directory)


def asked_for(worker: str | None) -> str:
    """The person a command is for: from the argument, typed without echo, or the first line of standard input."""
    if worker is not None:
        return worker
    if sys.stdin.isatty():
        return str(click.prompt("Their platform or participant ID (not shown)", hide_input=True)).strip()
    name = sys.stdin.readline().strip()
    if not name:
        raise UserError("Name a worker: a participant ID as an argument, or a platform ID on standard input.")
    return name


def _agreed(question: str) -> bool:
    try:
        return bool(click.confirm(question, err=True))
    except click.Abort:
        raise UserError("Not confirmed, so nothing was erased. Add --yes to confirm in advance.") from None


_NAMES = {
    "ids": ("platform ID", "platform IDs"),
    "addresses": ("address", "addresses"),
    "sessions": ("session", "sessions"),
    "submissions": ("submission", "submissions"),
    "accounts": ("account", "accounts"),
    "messages": ("message", "messages"),
    "reasons": ("reason about them in the activity log", "reasons about them in the activity log"),
    "answers": ("answer", "answers"),
    "evidence": ("copy of their answers in the activity log", "copies of their answers in the activity log"),
}
"""The kinds of erased data in words, as singular and plural."""


def _print(study: Study, done: Forgotten) -> None:
    counts = ", ".join(plural(count, *_NAMES.get(what, (what, what))) for what, count in done.erased.items() if count)
    nothing = "none, because everything was already erased" if done.identity else "no further data"
    print_line(f"Erased data of {done.worker}: {counts or nothing}.")
    if not done.identity:
        owed = money_text(done.owed, study.settings.pay.currency)
        why = f"They are owed {owed}" if done.owed else "A payment to them is not complete"
        print_line(
            f"{why}, so their identity is kept until they are paid (`chorale pay`). The site then erases it within a "
            "day; `chorale retention --run` does so at once."
        )


_COPIES = (f"{DATABASE}.before-*", f"{DATABASE}.replaced-*", "replaced-*.zip")
"""Copies of the database that an update or a restore left in the folder."""


def _print_copies(directory: Path) -> None:
    copies = sorted(path for pattern in _COPIES for path in directory.glob(pattern))
    if copies:
        names = ", ".join(path.name for path in copies)
        print_line(f"Older copies of the database may still contain their data: {names}. Delete them.")
    print_line("Earlier backups and exports still contain their data. See docs/data-protection.md.")
