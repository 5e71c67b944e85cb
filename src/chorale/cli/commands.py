"""The commands of this package, in the order people need them."""

from chorale.registry import Command, CommandGroup

COMMANDS: tuple[Command | CommandGroup, ...] = (
    Command(("new",), "Make a new study from a template.", "chorale.cli.new:new"),
    Command(
        ("check",),
        "Report every problem in a study's files, or what the study will ask for and cost.",
        "chorale.cli.check:check",
    ),
    Command(
        ("rehearse",),
        "Run a study against simulated workers, many times, and forecast its results, cost, wages and duration.",
        "chorale.cli.rehearse:rehearse",
    ),
    Command(
        ("serve",),
        "Open a study's site. Ctrl-C closes it; whatever was accepted is on disk.",
        "chorale.cli.serve:serve",
    ),
    Command(
        ("status",), "Show where a study stands: stages, workers, gates, cost, wages.", "chorale.cli.status:status"
    ),
    Command(
        ("export",), "Write a study's results to a file, with pseudonyms for workers.", "chorale.cli.export:export"
    ),
    Command(
        ("report",),
        "Write a report on a study: one page with protocol, numbers, charts and data card, to read, print and publish.",
        "chorale.cli.report:report",
    ),
    Command(
        ("verify",),
        "Recompute every reported number from what was recorded; exit with 1 where the database differs.",
        "chorale.cli.verify:verify",
    ),
    Command(
        ("gold",),
        "List a study's gold and what could become gold after a pilot; make gold, retire it.",
        "chorale.cli.gold:gold",
    ),
    Command(
        ("invite",),
        "Make signed links that let workers or an expert in; list them, and revoke them one by one.",
        "chorale.cli.invite:invite",
    ),
    Command(
        ("publish",),
        "Find people: make a study on Prolific, say what it costs, and publish it. Again, for more places.",
        "chorale.cli.publish:publish",
    ),
    Command(
        ("sync",),
        "Take over what Prolific reports: who came, who left; approve, send messages, keep invitation lists.",
        "chorale.cli.sync:sync",
    ),
    Command(
        ("review",),
        "Show submissions on Prolific that wait for a decision, or decide: approve or reject.",
        "chorale.cli.sync:review",
    ),
    Command(
        ("pay",),
        "Pay people what the ledger says, each amount once: Prolific's by bonuses, others by a file.",
        "chorale.cli.pay:pay",
    ),
    Command(
        ("password",),
        "Set the owner's password, typed twice or taken from CHORALE_PASSWORD; ends every session of theirs.",
        "chorale.cli.password:password",
    ),
    Command(
        ("rotate",),
        "Replace the key that signs links and cookies: every session and every link from before ends.",
        "chorale.cli.rotate:rotate",
    ),
    Command(
        ("backup",),
        "Write a study's database and files to one file, checked and, with --encrypt, encrypted. The site may run.",
        "chorale.cli.backup:backup",
    ),
    Command(
        ("restore",),
        "Put a study back to the state of a backup. Everybody has to sign in again; the site must be closed.",
        "chorale.cli.restore:restore",
    ),
    Command(
        ("pause",),
        "Stop giving out items of a stage; answers to those already given out are still taken.",
        "chorale.cli.pause:pause",
    ),
    Command(("resume",), "Give out items of a paused stage again.", "chorale.cli.pause:resume"),
    Command(
        ("close",),
        "Close a gate: decide who goes on, book bonuses, write messages, and end the round.",
        "chorale.cli.close:close",
    ),
    Command(
        ("aggregate",),
        "Combine what several people said about each task into one answer, with its probability.",
        "chorale.cli.aggregate:aggregate",
    ),
    Command(
        ("agreement",), "Say how far people agree on the same items, beyond chance.", "chorale.cli.agreement:agreement"
    ),
    Command(
        ("irt",),
        "Fit item response theory: how hard items are, how well they tell responders apart, how able responders are.",
        "chorale.cli.irt:irt",
    ),
    Command(
        ("reproduce",),
        "Compute a paper's numbers again from its published data, beside what the paper printed.",
        "chorale.cli.reproduce:reproduce",
    ),
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
    CommandGroup(("baseline",), "Run a system to compare with: name frames, guess answers from parts of the input."),
)
