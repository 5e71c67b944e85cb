"""The commands of this package, in the order people need them."""

from chorale.cli.specs import CommandSpec, GroupSpec

COMMANDS: tuple[CommandSpec | GroupSpec, ...] = (
    CommandSpec(("new",), "Make a new study from a template.", "chorale.cli.new:new"),
    CommandSpec(
        ("check",),
        "Report every problem in a study's files, or what the study will ask for and cost.",
        "chorale.cli.check:check",
    ),
    CommandSpec(
        ("rehearse",),
        "Run a study against simulated workers, many times, and forecast its results, cost, wages and duration.",
        "chorale.cli.rehearse:rehearse",
    ),
    CommandSpec(
        ("serve",),
        "Open a study's site. Ctrl-C closes it; whatever was accepted is on disk.",
        "chorale.cli.serve:serve",
    ),
    CommandSpec(
        ("status",), "Show where a study stands: stages, workers, gates, cost, wages.", "chorale.cli.status:status"
    ),
    CommandSpec(
        ("export",), "Write a study's results to a file, with pseudonyms for workers.", "chorale.cli.export:export"
    ),
    CommandSpec(
        ("report",),
        "Write a report on a study: one page with protocol, numbers, charts and data card, to read, print and publish.",
        "chorale.cli.report:report",
    ),
    CommandSpec(
        ("verify",),
        "Recompute every reported number from what was recorded; exit with 1 where the database differs.",
        "chorale.cli.verify:verify",
    ),
    CommandSpec(
        ("gold",),
        "List a study's gold and what could become gold after a pilot; make gold, retire it.",
        "chorale.cli.gold:gold",
    ),
    CommandSpec(
        ("invite",),
        "Make signed links that let workers or an expert in; list them, and revoke them one by one.",
        "chorale.cli.invite:invite",
    ),
    CommandSpec(
        ("publish",),
        "Find people: make a study on Prolific, say what it costs, and publish it. Again, for more places.",
        "chorale.cli.publish:publish",
    ),
    CommandSpec(
        ("sync",),
        "Take over what Prolific reports: who came, who left; approve, send messages, keep invitation lists.",
        "chorale.cli.sync:sync",
    ),
    CommandSpec(
        ("review",),
        "Show submissions on Prolific that wait for a decision, or decide: approve or reject.",
        "chorale.cli.sync:review",
    ),
    CommandSpec(
        ("pay",),
        "Pay people what the ledger says, each amount once: Prolific's by bonuses, others by a file.",
        "chorale.cli.pay:pay",
    ),
    CommandSpec(
        ("keys",),
        "List, make or end the access keys of scripts that speak Mechanical Turk's interface.",
        "chorale.kits.mturk.commands.keys:keys",
    ),
    CommandSpec(
        ("password",),
        "Set the owner's password, typed twice or taken from CHORALE_PASSWORD; ends every session of theirs.",
        "chorale.cli.password:password",
    ),
    CommandSpec(
        ("pause",),
        "Stop giving out items of a stage; answers to those already given out are still taken.",
        "chorale.cli.pause:pause",
    ),
    CommandSpec(("resume",), "Give out items of a paused stage again.", "chorale.cli.pause:resume"),
    CommandSpec(
        ("close",),
        "Close a gate: decide who goes on, book bonuses, write messages, and end the round.",
        "chorale.cli.close:close",
    ),
    CommandSpec(
        ("demo",),
        "Run the rules study with a simulated crowd, show what comes out, and leave the site up.",
        "chorale.kits.rules.commands.demo:demo",
    ),
    CommandSpec(
        ("aggregate",),
        "Combine what several people said about each task into one answer, with its probability.",
        "chorale.cli.aggregate:aggregate",
    ),
    CommandSpec(
        ("agreement",), "Say how far people agree on the same items, beyond chance.", "chorale.cli.agreement:agreement"
    ),
    CommandSpec(
        ("irt",),
        "Fit item response theory: how hard items are, how well they tell responders apart, how able responders are.",
        "chorale.cli.irt:irt",
    ),
    CommandSpec(
        ("reproduce",),
        "Compute a paper's numbers again from its published data, beside what the paper printed.",
        "chorale.cli.reproduce:reproduce",
    ),
    GroupSpec(("prepare",), "Make the items of a study from texts and resources."),
    CommandSpec(
        ("prepare", "frames"),
        "Find words with their candidate frames in a text, as diverse as can be, for `chorale new --template frames`.",
        "chorale.kits.frames.commands.prepare:frames",
    ),
    CommandSpec(
        ("prepare", "mcq"),
        "Cut texts into passages for a study of multiple-choice questions, each there once.",
        "chorale.kits.questions.commands.prepare:mcq",
    ),
    CommandSpec(
        ("prepare", "qasrl"),
        "Find the verbs of a text: one item each, with the verb's forms, for `chorale new --template qasrl`.",
        "chorale.kits.qasrl.commands.prepare:qasrl",
    ),
    CommandSpec(
        ("prepare", "rules"),
        "Apply inference rules to extractions, and write the applications as items for people to judge.",
        "chorale.kits.rules.commands.prepare:rules",
    ),
    GroupSpec(
        ("import",),
        "Make a study of finished work, or items and gold of one from published data. Files alone "
        "are files of judgments.",
        usual="judgments",
    ),
    CommandSpec(
        ("import", "judgments"),
        "Make a finished study of work that was done elsewhere: old data get the same console, report and exports.",
        "chorale.cli.importing.judgments:judgments",
    ),
    CommandSpec(
        ("import", "qasrl"),
        "Turn published QA-SRL data into items and gold: to browse, to consolidate again, to train people with.",
        "chorale.kits.qasrl.commands.importing:qasrl",
    ),
    GroupSpec(("learn",), "Learn resources from raw material."),
    CommandSpec(
        ("learn", "rules"),
        "Learn inference rules between predicates from extractions.",
        "chorale.kits.rules.commands.learn:rules",
    ),
    GroupSpec(("evaluate",), "Score a system's output, or annotators' work, against a gold standard."),
    CommandSpec(
        ("evaluate", "frames"),
        "Score frame disambiguation against a crowd that may see several frames: Kendall's τ and cosine.",
        "chorale.kits.frames.commands.evaluate:frames",
    ),
    CommandSpec(
        ("evaluate", "mcq"),
        "Measure human performance on multiple-choice questions, and the gap to models.",
        "chorale.kits.questions.commands.evaluate:mcq",
    ),
    CommandSpec(
        ("evaluate", "qasrl"),
        "Score questions and answers about verbs: arguments found (UA), with the right question (LA), and roles.",
        "chorale.kits.qasrl.commands.evaluate:qasrl",
    ),
    CommandSpec(
        ("evaluate", "rules"),
        "Score inference rules by what people say of their applications.",
        "chorale.kits.rules.commands.evaluate:rules",
    ),
    CommandSpec(
        ("evaluate", "srl"),
        "Score semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007.",
        "chorale.kits.srl.commands.evaluate:srl",
    ),
    GroupSpec(("browse",), "Look through results: what is clear, what people disagree on, and why."),
    CommandSpec(
        ("browse", "frames"),
        "Sentences by clarity, frames taken for one another and how they are related, and majorities.",
        "chorale.kits.frames.commands.browse:frames",
    ),
    CommandSpec(
        ("browse", "qasrl"),
        "Questions and answers about verbs, published or of a study: how many, what they ask, and "
        "each on its sentence.",
        "chorale.kits.qasrl.commands.browse:qasrl",
    ),
    GroupSpec(("baseline",), "Run a system to compare with: name frames, guess answers from parts of the input."),
    CommandSpec(
        ("baseline", "frames"),
        "Let a system name the frames of words in sentences, for `chorale evaluate frames`.",
        "chorale.kits.frames.commands.baseline:frames",
    ),
    CommandSpec(
        ("baseline", "train-frames"),
        "Train the classifier of os and os+ on FrameNet's annotated texts, and test it on texts held out.",
        "chorale.kits.frames.commands.train:train_frames",
    ),
    CommandSpec(
        ("baseline", "mcq"),
        "Can the right answers be told without the question, or the passage? Cross-validation, and transfer.",
        "chorale.kits.questions.commands.baseline:mcq",
    ),
)
