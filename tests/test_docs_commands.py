"""Every `chorale` command that a block of the docs shows is run, or is listed with the reason why it is not."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.opening import open_study
from chorale.folder.templates import create_study

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md"))) if path.name != "commands.md"}
_BLOCK = re.compile(r"^ *```(?:console|sh)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^ *(?:\$ )?(chorale .+)$", re.MULTILINE)

RUN_ELSEWHERE = {
    "README.md": "test_docs.py",
    "quickstart.md": "test_docs.py",
    "tutorial-csv.md": "test_docs.py",
    "tutorial-quiz.md": "test_docs.py",
    "tutorial-scoring.md": "test_docs.py",
    "mturk-to-prolific.md": "test_mturk_to_prolific.py",
}
"""Pages all of whose commands another file of tests runs."""

PUBLISHED = "needs published data, which the tests named after it read where they are"
MODELS = "needs torch and a trained or downloaded model"
NOT_RUN = {
    "aggregate.md": {"Batch_123": "a batch file of Mechanical Turk's: test_aggregate.py"},
    "baselines.md": {"": f"{PUBLISHED}: test_baselines_frames.py, test_baselines_mcq.py; {MODELS}"},
    "billion.md": {"": "needs a cluster"},
    "deploying.md": {"chorale serve": "needs a public address"},
    "evaluate-frames.md": {"": f"{PUBLISHED}: test_evaluate_frames.py"},
    "evaluate-mcq.md": {"": f"{PUBLISHED}: test_evaluate_mcq.py"},
    "evaluate-qasrl.md": {"": f"{PUBLISHED}: test_evaluate_qasrl.py"},
    "evaluate-rules.md": {"": f"{PUBLISHED}: test_evaluate_rules.py"},
    "evaluate-srl.md": {"": f"{PUBLISHED}: test_evaluate_srl.py"},
    "exports.md": {"": "every format is written by test_export.py"},
    "frames.md": {"framenet": "needs FrameNet"},
    "importing.md": {"import batch.csv": "shows an error"},
    "learn.md": {"": "needs many extractions: test_learn_rules.py"},
    "mcq.md": {
        "OANC": "needs the Open American National Corpus",
        "evaluate": "needs finished work: test_trial.py",
    },
    "models.md": {
        "annotate": "needs a model's server; the notebook model-against-people runs it with a program",
        "models my-study": "needs a model's answers: the notebook model-against-people",
        "report": "as above",
        "estimate my-study": "as above",
        "rehearse my-study": "needs the models of a study: test_rehearsal.py",
    },
    "mturk.md": {
        "mturk run": "needs a script: test_mturk_to_prolific.py",
        "map-workers": "needs Mechanical Turk's file of workers: test_mturk_moving.py",
    },
    "paying.md": {"--yes": "needs people who are owed something: test_pay.py", "--paid": "as above"},
    "postgresql.md": {"": "needs a PostgreSQL server: the fixture `database` starts one"},
    "prepare.md": {
        "mcq": "needs the Open American National Corpus",
        "frames": "needs FrameNet",
        "rules": "needs many extractions: test_learn_rules.py",
        "qasrl": "needs spaCy's model: test_prepare_qasrl.py",
        "pdf-pages": "needs documents: test_prepare_pdf.py",
    },
    "qasrl.md": {
        "": "the first block is run by test_prepare_qasrl.py; the others need finished work: test_qasrl_end_to_end.py"
    },
    "recruiting.md": {"--send": "needs a mail server: test_mail.py"},
    "team.md": {"chorale serve": "needs several studies: test_serving_several.py"},
    "reporting.md": {"report.pdf": "needs Chromium: test_report_study.py"},
    "reproduce.md": {"--data": "needs the authors' repository"},
    "rules.md": {"learn": "needs many extractions: test_learn_rules.py", "prepare": "as above"},
}
"""By page: what such a command has in it, and why it is not run. Nothing stands for all commands of the page."""

_SHOWN = re.compile(r"^ *```text\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)
"""Blocks of commands for files that the reader has, which a page does not show."""

SLOW = {"frames.md", "mcq.md", "rehearsal.md", "rules.md"}


def commands_of(page: str) -> list[str]:
    text = PAGES[page].read_text("utf-8").replace("\\\n", " ")
    lines = [line for block in _BLOCK.finditer(text) for line in _COMMAND.findall(block["text"])]
    return [part for line in lines for part in re.split(r" && ", re.sub(r"\s+#.*", "", line))]


def reason_not_to_run(page: str, command: str) -> str | None:
    reasons = NOT_RUN.get(page, {})
    return next((reason for part, reason in reasons.items() if part in command), None)


def judgments(seed: int = 1) -> Iterator[tuple[str, str, str]]:
    """Forty tasks, five workers, who mostly agree."""
    rng = Random(seed)
    for task in range(40):
        truth = rng.choice(("yes", "no"))
        for worker in ("ann", "bob", "cho", "dan", "eva"):
            yield f"t{task}", worker, truth if rng.random() < 0.85 else rng.choice(("yes", "no", "unsure"))


def table(name: str, header: str, rows: list[str]) -> None:
    Path(name).write_text("\n".join([header, *rows]) + "\n", "utf-8")


def write_judgments() -> None:
    table("judgments.csv", "task,worker,label", [",".join(row) for row in judgments()])
    table("gold.csv", "task,label", [f"t{number},yes" for number in range(40)])
    table("comparisons.csv", "worker,left,right,label", ["ann,a,b,a", "bob,b,c,b", "cho,c,a,c", "ann,a,c,a"])
    table("transcripts.csv", "task,worker,text", ["t1,ann,a red fox", "t1,bob,a red box", "t1,cho,the red fox"])
    table("ratings.csv", "task,worker,label", ["t1,ann,2", "t1,bob,3", "t2,ann,4.5"])
    table("words.csv", "task,worker,label", ["u1,ann,big red", "u1,bob,red", "u2,ann,old", "u2,bob,old"])
    for name, seed in (("crowd.csv", 2), ("model.csv", 3), ("expert.csv", 4)):
        rng = Random(seed)
        table(name, "item,label", [f"t{number},{rng.choice(('toxic', 'fine'))}" for number in range(40)])


def write_levels() -> None:
    rng = Random(5)
    rows = [f"t{task},{worker},{rng.randint(1, 5)}" for task in range(40) for worker in ("ann", "bob")]
    table("judgments.csv", "task,worker,label", rows)
    table("spans.csv", "task,worker,label", ["t1,ann,0:2;3:4", "t1,bob,0:2", "t2,ann,1:3", "t2,bob,1:2"])
    cells = [
        f'{item},{worker},"[{{""start"": {at}, ""end"": {at + 2}}}]"'
        for item, worker, at in (("i1", "ann", 0), ("i1", "bob", 1), ("i2", "ann", 3), ("i2", "bob", 3))
    ]
    table("form-answers.csv", "item,worker,evidence", cells)


def write_answers() -> None:
    rng = Random(6)
    people = [f"p{number}" for number in range(60)]
    for name, most in (("answers.csv", 1), ("rte.csv", 1), ("cosmosqa.csv", 1), ("ratings.csv", 3)):
        items = [f"{name[0]}{number}" for number in range(12)]
        rows = [f"{one},{item},{rng.randint(0, most)}" for one in people for item in items]
        table(name, "responder,item,answer", rows)


def write_model_judgments() -> None:
    rng = Random(7)
    for name, labels in (("judgments.csv", ("toxic", "fine")), ("ratings.csv", ("1", "2", "3"))):
        rows = [
            f"i{item},{worker},{kind},{rng.choice(labels)}"
            for item in range(40)
            for worker, kind in (("ana", "human"), ("ben", "human"), ("cho", "human"), ("gpt", "model"))
        ]
        table(name, "task,worker,kind,label", rows)
    labelled = [f"i{item},{rng.choice(('toxic', 'fine'))},{('toxic', 'fine', '')[item % 3]}" for item in range(90)]
    table("items.csv", "id,gpt,expert", labelled)


def write_batch() -> None:
    rows = [f"h{task},{worker},Approved,some text {task},yes" for task in range(3) for worker in ("A1", "A2")]
    table("Batch_2947651_batch_results.csv", "HITId,WorkerId,AssignmentStatus,Input.text,Answer.Q1", rows)


def write_layout() -> None:
    Path("layout.html").write_text("<p>${bird}</p><input name='sings' required><button>Submit</button>", "utf-8")
    table("batch.csv", "bird", ["wren", "crow"])


def started(template: str, name: str = "my-study") -> Callable[[], None]:
    def make() -> None:
        create_study(Path(name), template)
        open_study(Path(name)).close()

    return make


def invited() -> None:
    started("qasrl", "DIR")()
    table("people.csv", "email", ["ada@example.org", "bo@example.org"])


def with_backups() -> None:
    started("rules")()
    Path("backups").mkdir()


def small_rules_study() -> None:
    create_study(Path("my-study"), "rules")
    items = Path("my-study/applications.jsonl")
    items.write_text("".join(items.read_text("utf-8").splitlines(keepends=True)[:12]), "utf-8")


def best_worst_texts() -> None:
    table("words.csv", "id,text", [f"w{number},word {number}" for number in range(12)])


PREPARED: dict[str, Callable[[], None]] = {
    "aggregate.md": write_judgments,
    "agreement.md": write_levels,
    "crowdtruth.md": write_judgments,
    "deploying.md": with_backups,
    "evaluate-labels.md": write_judgments,
    "importing.md": write_batch,
    "irt.md": write_answers,
    "models.md": write_model_judgments,
    "mturk.md": write_layout,
    "paying.md": started("rules", "DIR"),
    "prepare.md": best_worst_texts,
    "recruiting.md": invited,
    "rehearsal.md": small_rules_study,
    "reporting.md": started("rules"),
    "security.md": started("rules"),
    "team.md": started("rules"),
}
"""By page: makes the files that its commands read."""

TO_RUN = [
    page
    for page in PAGES
    if page not in RUN_ELSEWHERE and any(reason_not_to_run(page, command) is None for command in commands_of(page))
]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] if page in SLOW else []) for page in TO_RUN]
)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHORALE_PASSPHRASE", "correct horse battery")
    PREPARED.get(page, lambda: None)()
    for command in commands_of(page):
        if reason_not_to_run(page, command) is None:
            run(shlex.split(command)[1:])


def run(words: list[str]) -> None:
    """A command as it is shown; a server is opened and closed again, and a simulation runs once.

    Blocks of a page need not follow each other, so that what one has written may be written again.
    """
    if words[0] == "serve":
        open_study(Path(words[1])).close()
        return
    if words[0] == "new":
        shutil.rmtree(words[1], ignore_errors=True)
    if "--out" in words:
        Path(words[words.index("--out") + 1]).unlink(missing_ok=True)
    once = ["--seeds", "1"] if words[0] == "rehearse" else []
    done = CliRunner().invoke(app, [*words, *once])
    lists_files = words[0] == "reproduce" and "--data" not in words
    assert done.exit_code == (2 if lists_files else 0), (words, done.output, done.exception)


QASRL = """\
qasrl_id,verb_idx,question,wh,aux,subj,obj,is_negated,is_passive,answer_range
s1,1,Who sat somewhere?,who,_,_,_,False,False,0:1
s1,1,Where did someone sit?,where,did,someone,_,False,False,2:5
"""
CONLLU = """\
1\tAnn\tAnn\tPROPN\t_\t_\t2\tnsubj\t_\t_\tA0
2\tsold\tsell\tVERB\t_\t_\t0\troot\tY\tsell.01\t_
3\ttea\ttea\tNOUN\t_\t_\t2\tobj\t_\t_\tA1

"""


def write_own_files(command: str) -> None:
    """The files that a reader has for such a command. Different commands read files of the same name."""
    Path("comments.csv").write_text("id,text\nc1,What a lovely photo.\nc2,Nobody asked you.\n", "utf-8")
    write_batch()
    Path("Batch_2947651_batch_results.csv").rename("Batch_123_batch_results.csv")
    (write_levels if "ordinal" in command else write_judgments)()
    for name in ("system.csv", "gold.csv", "other.csv"):
        Path(name).write_text(QASRL if "qasrl" in command else "item,label\nt1,yes\nt2,no\n", "utf-8")
    for name in ("system.conllu", "gold.conllu"):
        Path(name).write_text(CONLLU, "utf-8")


def shown_commands(page: str) -> list[str]:
    """Those in blocks of text that need nothing but files, with `design`, which opens a site, left out."""
    text = PAGES[page].read_text("utf-8")
    lines = [
        line for block in _SHOWN.finditer(text) for line in re.findall(r"^chorale .+", block["text"], re.MULTILINE)
    ]
    return [line for line in lines if not line.startswith("chorale design ")]


@pytest.mark.parametrize("page", [page for page in PAGES if shown_commands(page)])
def test_commands_for_own_files_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in shown_commands(page):
        write_own_files(command)
        run(shlex.split(command)[1:])


def test_every_command_that_is_not_run_has_a_reason() -> None:
    for page, reasons in NOT_RUN.items():
        for part, reason in reasons.items():
            assert len(reason) >= len("as above")
            assert any(part in command for command in commands_of(page)), f"{page} has no command with {part!r}"
            for test in re.findall(r"\btest_\w+\.py", reason):
                assert (ROOT / "tests" / test).is_file(), f"{page}: {test}"
    for page, test in RUN_ELSEWHERE.items():
        assert f'"{page}"' in (ROOT / "tests" / test).read_text("utf-8") or page.split("-")[0] == "tutorial"


def test_most_commands_are_run() -> None:
    shown = [(page, command) for page in PAGES for command in commands_of(page)]
    left_out = [one for one in shown if reason_not_to_run(*one) is not None]
    assert len(shown) > 150
    assert len(left_out) < len(shown) / 2
