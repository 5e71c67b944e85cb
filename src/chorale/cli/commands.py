"""The commands of this package, in the order people need them, and those of metric families whose kits declare none."""

from collections.abc import Iterable

from chorale.registry import Command, CommandGroup, families

_ELSEWHERE = {"review": "sync", "message": "sync", "resume": "pause", "close": "pause"}
"""Commands that are not in a module of their name, and the modules they are in."""


def _command(name: str, summary: str) -> Command:
    return Command((name,), summary, f"chorale.cli.{_ELSEWHERE.get(name, name)}:{name}")


COMMANDS: tuple[Command | CommandGroup, ...] = (
    _command("new", "Make a new study from a template, or from a table of your own (--from)."),
    _command("design", "Edit a study's form in the browser, with a live preview of the page that workers see."),
    _command("check", "Report every problem in a study's files, or what the study will ask for and cost."),
    _command(
        "rehearse",
        "Run a study against simulated workers, many times, and forecast its results, cost, wages and duration.",
    ),
    _command("serve", "Open a study's site. Ctrl-C closes it; whatever was accepted is on disk."),
    _command("status", "Show where a study stands: stages, workers, gates, cost, wages."),
    _command("export", "Write a study's results to a file, with pseudonyms for workers."),
    _command(
        "report",
        "Write a report on a study: results, methods, participant flow, costs and data card.",
    ),
    _command(
        "verify",
        "Recompute every reported number from what was recorded; exit with 1 where numbers differ, 3 if damaged.",
    ),
    _command("forget", "Erase a person: who they are and, as the study says, what they answered."),
    _command("retention", "Show whose data are to be erased by now, or erase them. The running site does so daily."),
    _command("person", "Write everything the study has about one person, for a person who asks for their data."),
    _command("gold", "List a study's gold and what could become gold after a pilot; make gold, retire it."),
    _command("invite", "Make signed links that let workers or an expert in; list them, and revoke them one by one."),
    _command(
        "team", "List the annotators who sign in with a password; invite, reset a password, deactivate an account."
    ),
    _command(
        "mail", "Send e-mail that is queued: invitations and messages, each once. The running site does so itself."
    ),
    _command(
        "publish", "Find people: make a study on Prolific, say what it costs, and publish it. Again, for more places."
    ),
    _command(
        "sync", "Take over what Prolific reports: who came, who left; approve, send messages, keep invitation lists."
    ),
    _command("message", "Send one message to people of a study on Prolific, all at once."),
    _command(
        "review",
        "Show submissions on Prolific that wait for a decision, or decide: approve, reject, ask for their return.",
    ),
    _command(
        "pay", "Pay people what the ledger says, each amount once: by Prolific's bonuses, by PayPal, others by a file."
    ),
    _command(
        "password",
        "Set the owner's password, typed twice or taken from CHORALE_PASSWORD; ends every session of theirs.",
    ),
    _command("rotate", "Replace the key that signs links and cookies: every session and every link from before ends."),
    _command(
        "backup",
        "Write a study's database and files to one file, checked and, with --encrypt, encrypted. The site may run.",
    ),
    _command(
        "restore",
        "Put a study back to the state of a backup. Everybody has to sign in again; the site must be closed.",
    ),
    _command(
        "pause", "Stop giving out items of a stage, or recruiting on Prolific; work that has begun can be finished."
    ),
    _command("resume", "Give out items of a paused stage again, or recruit again on Prolific."),
    _command("close", "Close a gate: decide who goes on, book bonuses, write messages, and end the round."),
    _command("aggregate", "Combine what several people said about each task into one answer, with its probability."),
    _command("agreement", "Say how far people agree on the same items, beyond chance."),
    _command("annotate", "Let the models of a study annotate its items. Run it again to continue where it ended."),
    _command("models", "Test whether models may take people's place, and say how far they agree with them."),
    _command(
        "estimate", "Estimate a mean, a share, a difference or a slope from many labels of a model and few of people."
    ),
    _command(
        "irt",
        "Fit item response theory: how hard items are, how well they tell responders apart, how able responders are.",
    ),
    _command("reproduce", "Compute a paper's numbers again from its published data, beside what the paper printed."),
    CommandGroup(("prepare",), "Make the items of a study from texts and resources."),
    CommandGroup(
        ("import",),
        "Make a study of finished work, or items and gold of one from published data. Files alone "
        "are files of judgments.",
        usual="judgments",
    ),
    Command(
        ("import", "judgments"),
        "Make a finished study of work that was done elsewhere: old data get the same console, report and exports.",
        "chorale.cli.importing.judgments:judgments",
    ),
    CommandGroup(("learn",), "Learn resources from raw material."),
    CommandGroup(("evaluate",), "Score a system's output, or annotators' work, against a gold standard."),
    CommandGroup(("browse",), "Look through results: what is clear, what people disagree on, and why."),
    CommandGroup(("train",), "Train a system on annotated data."),
    CommandGroup(("parse",), "Annotate texts with a trained system."),
    CommandGroup(("baseline",), "Run a system to compare with: name frames, guess answers from parts of the input."),
)


def family_commands(declared: Iterable[Command | CommandGroup]) -> list[Command]:
    """`chorale evaluate NAME` for every family that has no command of its own. No family is loaded."""
    taken = {command.path for command in declared}
    return [
        Command(("evaluate", name), family_summary(name), f"chorale.cli.evaluate:{name}")
        for name in families()
        if ("evaluate", name) not in taken
    ]


def family_summary(name: str) -> str:
    return f"Score by the metrics of the kit {families().kit_of(name)}, against a gold standard."
