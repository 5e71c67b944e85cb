"""The commands of this package, in the order people need them, and `chorale evaluate NAME` for metric families."""

from collections.abc import Iterable

from chorale.registry import Command, CommandGroup, families

_ELSEWHERE = {"review": "sync", "message": "sync", "resume": "pause", "close": "pause"}
"""Modules of the commands whose module has a different name."""


def _command(name: str, summary: str) -> Command:
    return Command((name,), summary, f"chorale.cli.{_ELSEWHERE.get(name, name)}:{name}")


COMMANDS: tuple[Command | CommandGroup, ...] = (
    _command(
        "new", "Make a new study from your own table (--from), a template (--template) or a layout (--html, --csv)."
    ),
    _command("design", "Edit a study's form in the browser, with a live preview of the page that workers see."),
    _command(
        "check",
        "List every problem in a study's files. If there are none, show the plan: annotations, cost, wages, workers.",
    ),
    _command(
        "rehearse",
        "Simulate the whole study many times with simulated workers, and forecast results, cost, wages and duration.",
    ),
    _command(
        "simulate",
        "Send simulated workers through a copy of your study's site, to try the console, report and exports.",
    ),
    _command("serve", "Open a study's site. Ctrl-C closes the site; no submitted answer is lost."),
    _command("status", "Show a study's progress: stages, workers, gates, cost, wages."),
    _command("export", "Write a study's results to a file, with participant IDs for workers."),
    _command(
        "report",
        "Write a report on a study: results, methods, participant flow, costs and data card.",
    ),
    _command(
        "verify",
        "Recompute every reported number from the answers. Exits with 1 if any differs, 3 if the database is damaged.",
    ),
    _command("forget", "Erase a person's identity and, depending on the study's settings, their answers."),
    _command(
        "retention",
        "List people whose data are due to be erased, or erase the data. An open site erases due data daily.",
    ),
    _command("person", "Export all data that the study has about one person, to answer data access requests."),
    _command(
        "gold",
        "List a study's gold (items with known answers) and the items that could become gold; add or retire gold.",
    ),
    _command("invite", "Make, list or revoke signed invitation links for workers or experts."),
    _command(
        "team",
        "List or invite annotators who sign in with a password, reset a password, deactivate or reactivate an account.",
    ),
    _command("mail", "Send each queued e-mail (invitation or message) once. An open site does this automatically."),
    _command(
        "publish",
        "Recruit on Prolific: create a study there, show its cost, and publish it. To add places, run it again.",
    ),
    _command("sync", "Synchronise with Prolific: import and approve submissions, send messages, update allow-lists."),
    _command("message", "Send a message to all participants of a study on Prolific, or to some of them."),
    _command(
        "review",
        "List submissions on Prolific that need a decision, or approve, reject or request the return of submissions.",
    ),
    _command(
        "pay",
        "Pay workers what they are owed, exactly once: by Prolific bonuses, by PayPal, or with a file of payments.",
    ),
    _command(
        "password",
        "Set the owner's password. You type it twice, or set CHORALE_PASSWORD. All sessions of the owner end.",
    ),
    _command("rotate", "Replace the key that signs links and cookies. All existing sessions and links stop working."),
    _command(
        "backup",
        "Back up a study's database and files to one file, and check the backup. The site can stay open.",
    ),
    _command(
        "restore",
        "Restore a study from a backup. Close the site first. Everybody has to sign in again.",
    ),
    _command(
        "pause",
        "Stop assigning items of a stage, or stop recruiting on Prolific. Workers can finish the items they have.",
    ),
    _command("resume", "Assign items of a paused stage again, or resume recruiting on Prolific."),
    _command(
        "close",
        "Close a gate: decide who continues, book bonuses, write messages to workers, and end the gate's stages.",
    ),
    _command("aggregate", "Aggregate annotations of several people into one label per item, with its probability."),
    _command("agreement", "Measure agreement between annotators, corrected for chance."),
    _command(
        "annotate", "Annotate a study's items with its models. Run the command again to continue where it stopped."
    ),
    _command("models", "Test whether models can replace annotators, and measure the models' agreement with people."),
    _command("estimate", "Estimate a mean, share, difference or slope from many model labels and few human labels."),
    _command(
        "irt",
        "Fit an item response model: difficulty and discrimination of items, ability of responders.",
    ),
    _command(
        "reproduce",
        "Reproduce a paper's numbers from its published data, and show them next to the numbers in the paper.",
    ),
    CommandGroup(("prepare",), "Make the items of a study from texts and resources."),
    CommandGroup(
        ("import",),
        "Import finished annotations as a study, or items and gold from published data. Without a COMMAND, it imports "
        "files of judgments.",
        usual="judgments",
    ),
    Command(
        ("import", "judgments"),
        "Import annotations collected elsewhere as a finished study, with the same console, report and exports.",
        "chorale.cli.importing.judgments:judgments",
    ),
    CommandGroup(("learn",), "Learn resources, such as inference rules, from extractions."),
    CommandGroup(("evaluate",), "Score a system's output, or annotators, against a gold standard."),
    CommandGroup(("browse",), "Browse results: clear cases, disagreements, and their causes."),
    CommandGroup(("train",), "Train a system on annotated data."),
    CommandGroup(("parse",), "Annotate texts with a trained system."),
    CommandGroup(("baseline",), "Run a baseline system: predict frames, or answer questions from partial inputs."),
)


def family_commands(declared: Iterable[Command | CommandGroup]) -> list[Command]:
    """`chorale evaluate NAME` for every metric family without a command of its own. No family is loaded."""
    taken = {command.path for command in declared}
    return [
        Command(("evaluate", name), family_summary(name), f"chorale.cli.evaluate:{name}")
        for name in families()
        if ("evaluate", name) not in taken
    ]


def family_summary(name: str) -> str:
    return f"Score by the metrics of the kit {families().kit_of(name)}, against a gold standard."
