"""The scoring commands given files and names that mean harm, or that carelessness makes."""

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.cli.progress import patiently
from chorale.kits.qasrl.files import read_bank, read_qasrl, read_sentences
from chorale.metrics.reading.judgment_files import read_judgments
from chorale.metrics.reading.responses import read_responses
from chorale.metrics.reading.truth_files import read_truth
from chorale.model import UserError

JUDGMENTS = "task,worker,label\nt1,a,x\nt1,b,x\nt2,a,y\nt2,b,x\nt3,a,y\nt3,b,y\n"
QASRL = (
    "qasrl_id,verb_idx,verb,question,answer_range,wh,aux,subj,obj,is_negated,is_passive\n"
    "s1,1,ran,Who ran?,0:1,who,_,_,_,False,False\n"
)
RULES = "lhs\trhs\tscore\neat\tconsume\t0.9\nrun\tmove\t0.4\n"
APPLICATIONS = "rule_lhs,rule_rhs,judgment\neat,consume,yes\nrun,move,no\n"
RESPONSES = "userid,i1,i2\na,1,0\nb,0,1\nc,1,1\n"


def conllu(role: str = "A0", sense: str = "run.01") -> str:
    rows = ("1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_\t" + role, f"2\tran\trun\tVERB\t_\t_\t0\troot\tY\t{sense}\t_")
    return "\n".join(rows) + "\n\n"


NO_PREDICATE = "1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_\n\n"


def record(**changes: Any) -> dict[str, Any]:
    votes = [{"worker_answer": f"option{number}"} for number in (1, 1, 2, 1, 1)]
    return {
        "question_id": "q",
        "options": ["a", "b"],
        "gold_answer": "option1",
        "validation_data": votes,
        "model_predictions": [[0, "m"]],
        **changes,
    }


def bank(**judgment: Any) -> dict[str, Any]:
    label = {
        "questionString": "Who ran?",
        "questionSources": ["turk-1"],
        "isPassive": False,
        "isNegated": False,
        "questionSlots": {"wh": "who"},
        "answerJudgments": [{"sourceId": "turk-1", "isValid": True, "spans": [[0, 1]], **judgment}],
    }
    verb = {"verbIndex": 1, "questionLabels": {"Who ran?": label}}
    return {"sentenceId": "s1", "sentenceTokens": ["She", "ran"], "verbEntries": {"1": verb}}


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("j.csv", JUDGMENTS),
        ("q.csv", QASRL),
        ("r.tsv", RULES),
        ("applications.csv", APPLICATIONS),
        ("i.csv", RESPONSES),
        ("s.conllu", conllu()),
        ("m.json", json.dumps([record()])),
        ("b.jsonl", json.dumps(bank()) + "\n"),
    ):
        Path(name).write_text(text, "utf-8")
    return tmp_path


# What is printed


def test_no_name_of_a_file_or_role_reaches_the_terminal_as_a_command(here: Path) -> None:
    Path("\x1b[31mred.conllu").write_text(conllu("\x1b[31mA0\x9b1m"), "utf-8")
    arguments = ("evaluate", "srl", "\x1b[31mred.conllu", "\x1b[31mred.conllu", "--confusion", "--worst", 2)
    told = chorale(*arguments).stdout
    assert "[31mA0" in told
    for shown in (told, chorale(*arguments, "--json").stdout, chorale(*arguments, "--latex").stdout):
        assert "\x1b" not in shown
        assert "\x9b" not in shown
    found = json.loads(chorale(*arguments, "--json").stdout)
    assert "\x1b[31mA0\x9b1m" in next(iter(found["systems"].values()))["conll05"]["roles"]


def test_a_name_that_can_not_be_encoded_is_no_crash(here: Path) -> None:
    name = os.fsdecode(b"\xff.conllu")
    Path(name).write_text(conllu(), "utf-8")
    # Not every terminal lets through what it can't encode.
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    command = [sys.executable, "-m", "chorale", "evaluate", "srl", name, name]
    for option in ([], ["--latex"], ["--json"]):
        done = subprocess.run([*command, *option], capture_output=True, check=False, env=strict)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["gold"]["name"] == name


@pytest.mark.parametrize("what", [{"question_id": "\ud800"}, {"model_predictions": [[0, "\udfff"]]}])
def test_half_a_surrogate_pair_in_a_question_is_refused(here: Path, what: dict[str, Any]) -> None:
    Path("m.json").write_text(json.dumps([record(), record(question_id="r") | what]), "utf-8")
    said = chorale("evaluate", "mcq", "m.json", "--json", code=2).stderr
    assert "record 2" in said
    assert "surrogate" in said


def test_half_a_surrogate_pair_in_the_bank_is_refused_and_whole_ones_are_not(here: Path) -> None:
    path = Path("b.jsonl")
    path.write_text(json.dumps(bank() | {"sentenceId": "\ud800"}) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"b\.jsonl:1: has a NUL character or half a surrogate pair"):
        read_bank(path)
    path.write_text(json.dumps(bank() | {"sentenceId": "\N{CAT FACE}"}) + "\n", "utf-8")
    assert "\\ud83d" in path.read_text("utf-8")
    assert list(read_bank(path).sentences) == ["\N{CAT FACE}"]


# What is read


@pytest.mark.parametrize("spans", [5, True, "0:1", {"0": 1}, [5], [[0]], [[True, "x"]]])
def test_spans_of_the_bank_that_are_no_spans_are_told(here: Path, spans: Any) -> None:
    Path("b.jsonl").write_text(json.dumps(bank(spans=spans)) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"b\.jsonl:1: has (no valid spans|an answer outside)"):
        read_bank(Path("b.jsonl"))


def test_a_verb_that_stands_twice_in_a_sentence_of_the_bank_is_told(here: Path) -> None:
    values = bank()
    values["verbEntries"]["again"] = values["verbEntries"]["1"]
    Path("b.jsonl").write_text(json.dumps(values) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"b\.jsonl:1: has the same verb twice \(found 1\)"):
        read_bank(Path("b.jsonl"))


@pytest.mark.parametrize("name", ["q.TSV", "q.tsv.gz", "q.csv.tsv"])
def test_the_last_ending_says_what_separates_cells(here: Path, name: str) -> None:
    raw = QASRL.replace(",", "\t").encode()
    Path(name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    assert len(read_qasrl(Path(name)).verbs) == 1
    Path("q.tsv.csv").write_text(QASRL, "utf-8")
    assert len(read_qasrl(Path("q.tsv.csv")).verbs) == 1


def test_sentences_without_a_single_one_are_refused(here: Path) -> None:
    Path("sentences.csv").write_text("qasrl_id,tokens\n", "utf-8")
    with pytest.raises(UserError, match=r"sentences\.csv: has no rows"):
        read_sentences(Path("sentences.csv"))


def test_items_may_have_numbers_of_any_length_in_their_names(here: Path) -> None:
    long = "9" * 5000
    Path("i.csv").write_text(f"userid,i{long},i10,i9,i010,i²\na,1,0,1,1,0\n", "utf-8")
    assert read_responses([Path("i.csv")]).items == ("i9", "i010", "i10", f"i{long}", "i²")


def test_whole_numbers_are_the_same_label_in_every_format(here: Path) -> None:
    rows = {"task": [1.0, 1.0, 2.5], "worker": ["a", "b", "a"], "label": [1.0, 2.5, -0.0]}
    pl.DataFrame(rows).write_parquet("j.parquet")
    Path("j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pl.DataFrame(rows).to_dicts()), "utf-8")
    found = [read_judgments(Path(name)).judgments for name in ("j.parquet", "j.jsonl")]
    assert found[0].label_names == found[1].label_names == ("0", "1", "2.5")
    assert found[0].task_names == found[1].task_names == ("1", "2.5")
    pl.DataFrame({"task": [1.0, 2.5], "label": [1.0, 2.5]}).write_parquet("truth.parquet")
    assert set(read_truth(Path("truth.parquet")).labels) == {"1", "2.5"}


def test_options_in_a_cell_are_the_same_as_options_in_a_list(here: Path) -> None:
    lists = [[1.0, "a"], [True], [2.5]]
    rows = [{"task": "t", "worker": str(number), "label": each} for number, each in enumerate(lists)]
    Path("lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    cells = [row | {"label": json.dumps(row["label"])} for row in rows]
    Path("cells.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cells), "utf-8")
    found = [read_judgments(Path("lists.jsonl")), read_judgments(Path("cells.jsonl"), sep="json")]
    assert found[0].judgments.options == found[1].judgments.options == ("1", "2.5", "a", "true")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"units": {"\\ud800": {"uqs": 1, "uas": {"A": 1}}}}', "surrogate"),
        ('{"units": {"u": {"uqs": 1, "uas": {"A": 1, "A": 0}}}}', "has a duplicate key"),
        ('{"units": {"u": {"uqs": 1, "uas": {"A": NaN}}}}', "not finite"),
    ],
)
def test_scores_that_crowdtruth_never_prints_are_refused(here: Path, text: str, why: str) -> None:
    Path("crowd.json").write_text(text, "utf-8")
    assert why in chorale("evaluate", "frames", "crowd.json", "crowd.json", code=2).stderr


@pytest.mark.parametrize("gap", ["nan", "NaN", "null", "<NA>"])
def test_a_label_that_looks_like_a_missing_one_is_remarked_on(here: Path, gap: str) -> None:
    Path("gaps.csv").write_text(JUDGMENTS.replace("x", gap), "utf-8")
    for command in ("agreement", "aggregate"):
        notes = json.loads(chorale(command, "gaps.csv", "--json").stdout)["notes"]
        assert any(repr(gap) in note and "counts as a label" in note for note in notes)
    assert not any(
        "counts as a label" in note for note in json.loads(chorale("agreement", "j.csv", "--json").stdout)["notes"]
    )


# What is said of nothing


@pytest.mark.parametrize(
    ("system", "gold", "note"),
    [
        (conllu(), NO_PREDICATE, "gold.conllu has no predicates: recall is 0 by definition."),
        (NO_PREDICATE, conllu(), "system.conllu has no predicates: precision is 0 by definition."),
        (conllu("_"), conllu(), "system.conllu has no arguments: argument precision is 0 by definition."),
        (conllu(), conllu("_"), "gold.conllu has no arguments: argument recall is 0 by definition."),
    ],
)
def test_a_share_of_nothing_is_remarked_on(here: Path, system: str, gold: str, note: str) -> None:
    Path("system.conllu").write_text(system, "utf-8")
    Path("gold.conllu").write_text(gold, "utf-8")
    assert note in json.loads(chorale("evaluate", "srl", "system.conllu", "gold.conllu", "--json").stdout)["notes"]


# What is written


WRITING = {
    "--alignment": ("evaluate", "qasrl", "q.csv", "q.csv"),
    "--curve": ("evaluate", "rules", "r.tsv", "applications.csv"),
    "--out": ("irt", "i.csv", "--model", "1pl"),
}


@pytest.mark.parametrize("option", WRITING)
def test_no_file_is_overwritten_unless_it_is_asked_for(here: Path, option: str) -> None:
    target = Path("target.csv")
    target.write_text("precious", "utf-8")
    assert "--force" in chorale(*WRITING[option], option, target, code=2).stderr
    assert target.read_text("utf-8") == "precious"
    chorale(*WRITING[option], option, target, "--force")
    assert target.read_text("utf-8") != "precious"


@pytest.mark.parametrize("option", WRITING)
def test_where_nothing_can_be_written_is_told_before_any_work(here: Path, option: str) -> None:
    assert "there is no folder nowhere" in chorale(*WRITING[option], option, "nowhere/x.csv", code=2).stderr
    Path("folder.csv").mkdir()
    assert "is a folder" in chorale(*WRITING[option], option, "folder.csv", code=2).stderr


@pytest.mark.parametrize("option", WRITING)
def test_a_folder_that_can_not_be_written_to_is_no_crash(
    here: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("chorale.files.tables.os.replace", full)
    said = chorale(*WRITING[option], option, "x.csv", code=2).stderr
    assert f"x.csv can't be written: No space left on device. Name another file with {option}." in said
    assert not list(here.glob("*x.csv*"))


# What signatures say


def signature_of(*arguments: object) -> str:
    return str(json.loads(chorale(*arguments, "--json").stdout)["signature"])


def test_systems_of_any_name_are_in_the_signature(here: Path) -> None:
    Path("other").mkdir()
    lines = []
    for role in ("A0", "A1"):
        Path("other/gold.conllu").write_text(conllu(role), "utf-8")
        lines.append(signature_of("evaluate", "srl", "other/gold.conllu", "s.conllu"))
    assert lines[0] != lines[1]
    rules = []
    for score in ("0.9", "0.1"):
        Path("judgments.tsv").write_text(RULES.replace("0.9", score), "utf-8")
        rules.append(signature_of("evaluate", "rules", "judgments.tsv", "applications.csv"))
    assert rules[0] != rules[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("aggregate", "j.csv", "--truth", "t.csv"), ("--truth-label", "second")),
        (("evaluate", "rules", "r.tsv", "applications.csv"), ("--at-recall", "0.3")),
        (("evaluate", "mcq", "m.json", "n.json"), None),
        (("evaluate", "qasrl", "b.jsonl", "--propbank", "s.conllu"), ("--valid", "1")),
        (("agreement", "j.csv", "--sep", "/"), ("--sep", "|")),
    ],
)
def test_whatever_changes_a_number_changes_the_signature(
    here: Path, one: tuple[str, ...], other: tuple[str, ...] | None
) -> None:
    Path("t.csv").write_text("task,label,second\nt1,x,y\nt2,y,y\n", "utf-8")
    Path("n.json").write_text(json.dumps([record(question_id="r")]), "utf-8")
    changed = ("evaluate", "mcq", "m.json", "--against", "n.json") if other is None else (*one, *other)
    assert signature_of(*one) != signature_of(*changed)


def test_the_frames_that_give_credit_are_in_the_signature(here: Path) -> None:
    lines = []
    for other in ("Motion", "Travel"):
        Path("frRelation.xml").write_text(
            "<frameRelations><frameRelationType name='Inheritance'>"
            f"<frameRelation subFrameName='Run' superFrameName='{other}'/></frameRelationType></frameRelations>",
            "utf-8",
        )
        arguments = ("evaluate", "srl", "s.conllu", "s.conllu", "--metric", "semeval07", "--framenet", ".")
        lines.append(signature_of(*arguments))
    assert "|framenet:" in lines[0]
    assert lines[0] != lines[1]


def test_columns_of_the_truth_need_the_truth(here: Path) -> None:
    assert "--truth-task and --truth-label" in chorale("aggregate", "j.csv", "--truth-task", "x", code=2).stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--dense", "--average", "macro"),
        ("--dense", "--no-redundant"),
        ("--dense", "--per-verb"),
    ],
)
def test_options_without_effect_are_refused(here: Path, options: tuple[str, ...]) -> None:
    said = chorale("evaluate", "qasrl", "b.jsonl", "b.jsonl", *options, code=2).stderr
    assert f"{next(one for one in options if one != '--dense')} has no effect" in said
    assert "--iou has no effect with --propbank" in (
        chorale("evaluate", "qasrl", "b.jsonl", "--propbank", "s.conllu", "--iou", "0.6", code=2).stderr
    )
    said = chorale("evaluate", "qasrl", "b.jsonl", "b.jsonl", "--found-by", "span", code=2).stderr
    assert "--found-by only applies with --propbank" in said
    said = chorale("evaluate", "qasrl", "b.jsonl", "b.jsonl", "--dense", "--no-redundant", "--per-verb", code=2).stderr
    assert "--no-redundant and --per-verb have no effect with --dense. Omit them." in said


# The bar


SLOW = """
import sys, time
import chorale.cli.progress as progress
progress.PATIENCE = float(sys.argv[1])
with progress.patiently("thinking") as report:
    if sys.argv[2] == "telling":
        report(1, 3)
    time.sleep(0.6)
print("done")
"""


def on_a_terminal(*arguments: str) -> tuple[bytes, bytes]:
    """What comes to standard output, and to standard error if that is a terminal."""
    outer, inner = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", SLOW, *arguments],
        stdout=subprocess.PIPE,
        stderr=inner,
        check=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.write(inner, b"END")
    os.close(inner)
    shown = b""
    while not shown.endswith(b"END"):
        shown += os.read(outer, 65536)
    os.close(outer)
    return done.stdout, shown.removesuffix(b"END")


@pytest.mark.parametrize("how", ["telling", "silent"])
def test_a_bar_shows_long_work_even_if_it_says_nothing(how: str) -> None:
    out, shown = on_a_terminal("0.1", how)
    assert out == b"done\n"
    assert b"thinking" in shown


def test_short_work_has_no_bar() -> None:
    assert on_a_terminal("5", "telling") == (b"done\n", b"")


def test_a_file_gets_no_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.cli.progress.PATIENCE", 0.0)
    with patiently("thinking") as report:
        report(1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "options", "line", "value"),
    [
        ("task,worker,label\nt1,a,0:2\nt1,b,5:3\n", ["--distance", "span"], 3, "5:3"),
        ("task,worker,label\nt1,a,0:2;1:3\nt1,b,0:1;nan\n", ["--distance", "ua-f1", "--sep", ";"], 3, "nan"),
        ("task,worker,label\n7x,a,1\n7x,b,2\nt2,a,7x\nt2,b,1\n", ["--level", "interval"], 4, "7x"),
        ("q,who,said\nt1,a,1\nt1,b,-2\n", ["--level", "ratio", "--task=q", "--worker=who", "--label=said"], 3, "-2"),
    ],
)
def test_a_label_that_does_not_fit_is_told_with_its_line(
    text: str, options: list[str], line: int, value: str, tmp_path: Path
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(text, "utf-8")
    told = CliRunner().invoke(app, ["agreement", str(file), *options])
    assert told.exit_code == 2
    assert f"labels.csv:{line}: " in told.stderr and repr(value) in told.stderr
    pl.read_csv(file, infer_schema=False).write_parquet(file.with_suffix(".parquet"))
    told = CliRunner().invoke(app, ["agreement", str(file.with_suffix(".parquet")), *options])
    assert told.exit_code == 2 and "labels.parquet: " in told.stderr


def test_rows_of_nobody_are_left_out_of_agreement_with_a_note(tmp_path: Path) -> None:
    header, row = QASRL.replace("verb,question", "verb,worker_id,question").splitlines()
    rows = [row.replace("ran,Who", f"ran,{worker},Who") for worker in ("ann", "", "bob", "")]
    file = tmp_path / "answers.csv"
    file.write_text("\n".join([header, *rows[:2], rows[2], rows[3].replace("s1", "s2")]), "utf-8")
    found = json.loads(CliRunner().invoke(app, ["evaluate", "qasrl", str(file), "--by", "worker_id", "--json"]).stdout)
    assert "2 rows left out: they have no worker_id." in found["notes"]
    assert [pair["first"] + pair["second"] for pair in found["pairs"]] == ["annbob"]
