"""An install without extras scores files and checks study folders; what needs more says what to install."""

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from chorale.cli.commands import COMMANDS
from chorale.model.extras import EXTRAS
from chorale.registry import Command, commands
from qasrl_files import row, where, write_rows

ROOT = Path(__file__).parent.parent
# A process in which no package of any extra can be found.
BASE = f"""
import runpy, sys
from importlib.machinery import PathFinder
found = PathFinder.find_spec
missing = {sorted(package for brought in EXTRAS.values() for package in brought)}
hidden = lambda name, *rest: None if name.partition(".")[0] in missing else found(name, *rest)
PathFinder.find_spec = staticmethod(hidden)
"""
COMMAND_LINE = "runpy.run_module('chorale', run_name='__main__')"
LIBRARY = """
import chorale
score = chorale.alpha([["cat", "dog", "dog", "cat"], ["cat", "dog", "cat", "cat"]])
assert score.interval and score.signature and score.to_polars().height
chorale.evaluate.qasrl("system.csv", "gold.csv")
for name in dir(chorale.evaluate):
    getattr(chorale.evaluate, name)
table = {"task": ["t", "t", "u"], "worker": ["a", "b", "a"], "label": ["x", "x", "y"]}
print(chorale.aggregate.DawidSkene().fit_predict(table))
"""
SCORING = [
    "--help",
    "--version",
    "new study --template rules",
    "check study",
    "check study --json",
    "evaluate qasrl system.csv gold.csv --ci",
    "browse qasrl gold.csv --out verbs.html",
    "evaluate srl system.conll gold.conll --metric conll09 --json",
    "evaluate frames frames.csv frames.csv --sentence s --frame f --score x --gold-score x --latex",
    "evaluate rules rules.tsv judged.tsv --chart rules.svg",
    "evaluate mcq questions.json",
    "aggregate judgments.csv --method dawid-skene --out labels.csv",
    "evaluate labels labels.csv labels.csv --ci",
    "agreement judgments.csv --ci",
    "agreement judgments.csv --metric gwet --analytic",
    "models judgments.csv --model w2 --min-items 2 --plan",
    "estimate estimated.csv",
    "irt answers.csv --model 1pl",
    "prepare rules extractions.tsv rules.tsv --out items.jsonl --at-least 1 --per-extraction 1",
]
IN_BASE = {
    *("new", "check", "aggregate", "agreement", "models", "estimate", "irt", "reproduce", "import qasrl"),
    *("browse qasrl", "learn rules", "parse qasrl"),
    *(f"evaluate {name}" for name in ("frames", "labels", "mcq", "qasrl", "rules", "srl")),
    *(f"prepare {name}" for name in ("best-worst", "frames", "mcq", "pdf-pages", "qasrl", "rules")),
    *(f"train {name}" for name in ("frames", "mcq", "qasrl")),
    *(f"baseline {name}" for name in ("frames", "mcq")),
}
CONLL = """\
1	Ann	ann	ann	NNP	NNP	_	_	2	2	SBJ	SBJ	_	_	A0
2	bakes	bake	bake	VBZ	VBZ	_	_	0	0	ROOT	ROOT	Y	bake.01	_
3	bread	bread	bread	NN	NN	_	_	2	2	OBJ	OBJ	_	_	A1
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_rows(folder / "gold.csv", [row(), where(), row(qasrl_id="s2")])
    write_rows(folder / "system.csv", [row(), where(answer_range="4:7")])
    for name in ("gold.conll", "system.conll"):
        (folder / name).write_text(CONLL)
    (folder / "frames.csv").write_text("s,f,x\ns1,motion,0.8\ns1,travel,0.5\ns2,cutting,0.4\n")
    (folder / "rules.tsv").write_text("live in\treside in\t0.9\nown\thave\t0.7\n")
    judged = ["rule_lhs\trule_rhs\tlhs\trhs\tjudgment\tconfidence", "live in\treside in\ta\tb\tyes\t1"]
    (folder / "judged.tsv").write_text("\n".join([*judged, "own\thave\tc\td\tno\t1\n"]))
    (folder / "extractions.tsv").write_text("".join(f"Ann\tlive in\ttown {number}\n" for number in range(9)))
    judgments = [f"t{task},w{worker},{'ab'[task * worker % 2]}" for task in range(6) for worker in range(3)]
    (folder / "judgments.csv").write_text("\n".join(["task,worker,label", *judgments]) + "\n")
    (folder / "estimated.csv").write_text("model,people\nyes,yes\nno,no\nyes,no\nno,\n")
    answers = [f"r{who}," + ",".join(str(int(who > item)) for item in range(6)) for who in range(7)]
    (folder / "answers.csv").write_text("\n".join(["responder,a,b,c,d,e,f", *answers]) + "\n")
    question = {
        "options": ["one", "two", "three", "four"],
        "gold_answer": "option1",
        "validation_data": [{"worker_answer": "option1", "worker_id": f"w{worker}"} for worker in range(5)],
        "model_predictions": [[0, "t5"]],
    }
    records = [{"question_id": f"q{number}", **question} for number in range(4)]
    (folder / "questions.json").write_text(json.dumps(records))
    return folder


def run(files: Path, *process: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CHORALE"))}
    done = subprocess.run(process, cwd=files, env=kept, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == code, (process, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def base(*arguments: str, then: str = COMMAND_LINE) -> list[str]:
    return [sys.executable, "-c", BASE + then, *arguments]


@pytest.mark.slow
def test_scoring_works_in_a_base_install(files: Path) -> None:
    for line in SCORING:
        run(files, *base(*line.split()))
    assert "<svg" in (files / "rules.svg").read_text()
    run(files, *base(then=LIBRARY))


def test_every_command_works_or_names_the_extra(files: Path) -> None:
    """In one process, as starting it takes most of the time."""
    specs = [spec for spec in [*COMMANDS, *commands()] if isinstance(spec, Command)]
    asked = """
import sys
from click.testing import CliRunner
from chorale.cli import app
for line in sys.argv[1:]:
    done = CliRunner().invoke(app, [*line.split(), "--help"])
    print(line, done.exit_code, " ".join(done.output.split()), sep="|")
"""
    lines = run(files, *base(*(" ".join(spec.path) for spec in specs), then=asked)).stdout.splitlines()
    answers = {name: (int(code), output) for name, code, output in (line.split("|", 2) for line in lines)}
    assert {name for name, (code, _) in answers.items() if code == 0} == IN_BASE
    for name in answers.keys() - IN_BASE:
        code, output = answers[name]
        assert code == 2, name
        assert "Install it in your clone of Chorale: pip install '.[site]' (once Chorale is on PyPI: " in output, name


def test_learning_without_its_extra_names_it(files: Path) -> None:
    done = run(files, *base("learn", "rules", "extractions.tsv", "--method", "dirt", "--out", "learned.tsv"), code=2)
    assert "pip install 'chorale-crowd[rules]'" in " ".join(done.stderr.split())


def test_the_table_of_extras_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {extra: {_name(each) for each in needed} for extra, needed in project["optional-dependencies"].items()}
    assert set(declared) == set(EXTRAS)
    from_package = {package: {_name(each) for each in found} for package, found in packages_distributions().items()}
    for extra, packages in EXTRAS.items():
        for package in packages:
            # FastAPI brings Starlette. What is not installed here is called what it is imported as.
            assert from_package.get(package, {package}) & declared[extra] or package == "starlette", package
    base_needs = {_name(each) for each in project["dependencies"]}
    assert not base_needs & {"fastapi", "sqlalchemy", "alembic", "argon2-cffi"}


def _name(requirement: str) -> str:
    return requirement.partition(">")[0].partition("=")[0].partition("[")[0].strip().lower().replace("_", "-")


@pytest.mark.slow
def test_a_real_base_install_scores(files: Path, tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-m", "venv", "venv")
    python = str(tmp_path / "venv" / "bin" / "python")
    run(tmp_path, python, "-m", "pip", "install", "-q", str(ROOT))
    for line in SCORING:
        extra = ["--force"] if "--out" in line or "--chart" in line else []
        run(files, python, "-m", "chorale", *line.replace("study", "another-study").split(), *extra)
    run(files, python, "-c", LIBRARY)
    refused = run(files, python, "-m", "chorale", "serve", "another-study", code=2)
    assert "pip install 'chorale-crowd[site]'" in " ".join(refused.stderr.split())
