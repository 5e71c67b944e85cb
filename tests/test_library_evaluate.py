"""`chorale.evaluate`: every family of metrics gives in Python the score that its command prints."""

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import chorale
from chorale import Score, UserError
from chorale.metrics import Clusters, Family, Metric, Statistics, compare, intervals, ratio
from chorale.metrics.given_tables import taking_tables
from chorale.registry import families
from qasrl_files import row, where, write_rows

CONLL = """\
1	Ann	ann	ann	NNP	NNP	_	_	2	2	SBJ	SBJ	_	_	{}
2	bakes	bake	bake	VBZ	VBZ	_	_	0	0	ROOT	ROOT	Y	bake.01	_
3	bread	bread	bread	NN	NN	_	_	2	2	OBJ	OBJ	_	_	{}
"""


def printed(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "chorale", "evaluate", *map(str, arguments), "--ci", "--json"]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def check(score: Score, command: dict[str, Any]) -> None:
    assert json.loads(json.dumps(score.as_json())) == command
    assert score.interval is not None
    assert score.value is not None
    # These files are small: few tell how far a score would move.
    assert not score.interval.is_known or score.interval.low <= score.value <= score.interval.high
    assert score.signature in score._repr_html_()
    assert score.to_polars().height == len(score.to_pandas()) == len(score.values)


def test_qasrl(tmp_path: Path) -> None:
    gold = write_rows(tmp_path / "gold.csv", [row(), where(), row(qasrl_id="s2"), where(qasrl_id="s3")])
    system = write_rows(tmp_path / "system.csv", [row(), where(answer_range="4:7"), row(qasrl_id="s2", wh="what")])
    score = chorale.evaluate.qasrl(str(system), gold, against=str(gold))
    check(score, printed("qasrl", system, gold, "--against", gold))
    assert score.name == "ua_f1"
    assert score.test is not None
    assert score.test.second == 1
    with pytest.raises(UserError, match="GOLD is missing"):
        chorale.evaluate.qasrl(str(system))
    with pytest.raises(UserError, match="does not exist"):
        chorale.evaluate.qasrl("nowhere.csv", gold)


def test_qasrl_agreement(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "two.csv", [row(), where(), row(worker_id="bob"), where(worker_id="bob", wh="when")])
    check(chorale.evaluate.qasrl(file, by="worker_id"), printed("qasrl", file, "--by", "worker_id"))


def test_srl(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.conll", tmp_path / "system.conll"
    gold.write_text("\n".join([CONLL.format("A0", "A1")] * 3))
    system.write_text("\n".join([CONLL.format("A0", "A2"), *[CONLL.format("A0", "A1")] * 2]))
    score = chorale.evaluate.srl(str(system), str(gold), metric=["conll09"])
    check(score, printed("srl", system, gold, "--metric", "conll09"))
    assert score.name == "conll09.argument.f1"
    both = chorale.evaluate.srl([system, gold], gold, metric="conll09", ci=False)
    assert both.values["gold: conll09.argument.f1"] == 1
    with pytest.raises(UserError, match="Did you mean conll09"):
        chorale.evaluate.srl(system, gold, metric="conl09")


def test_frames(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.csv", tmp_path / "system.csv"
    gold.write_text("sentence_id,frame,score\ns1,motion,0.8\ns1,travel,0.5\ns2,cutting,0.4\ns2,harm,0.1\n")
    system.write_text("sentence_id,frame,score\ns1,motion,0.2\ns1,travel,0.5\ns2,cutting,0.4\ns2,harm,0.1\n")
    columns = ["--sentence", "sentence_id", "--frame", "frame", "--score", "score", "--gold-score", "score"]
    score = chorale.evaluate.frames(
        str(system), str(gold), sentence="sentence_id", frame="frame", score="score", gold_score="score"
    )
    check(score, printed("frames", system, gold, *columns))
    assert score.name == "tau_auc"


def test_rules(tmp_path: Path) -> None:
    rules, judged = tmp_path / "rules.tsv", tmp_path / "judged.tsv"
    rules.write_text("live in\treside in\t0.9\nkill\tmeet\t0.4\nown\thave\t0.7\n")
    lines = [
        f"{lhs}\t{rhs}\ta {lhs} {number}\ta {rhs} {number}\t{said}\t1"
        for number, (lhs, rhs, said) in enumerate(
            [("live in", "reside in", "yes"), ("kill", "meet", "no"), ("own", "have", "yes"), ("own", "have", "no")]
        )
    ]
    judged.write_text("\n".join(["rule_lhs\trule_rhs\tlhs\trhs\tjudgment\tconfidence", *lines]) + "\n")
    score = chorale.evaluate.rules(str(rules), str(judged))
    check(score, printed("rules", rules, judged))
    assert score.name == "auc"
    curve, chart = tmp_path / "curve.csv", tmp_path / "chart.svg"
    written = chorale.evaluate.rules(rules, judged, at_recall="0.5,1", curve=curve, chart=str(chart), ci=False)
    assert written.written == f"Wrote {len(curve.read_text().splitlines()) - 1} points to {curve}."
    assert "at-recall:0.5,1" in written.signature
    assert "</svg>" in chart.read_text()
    with pytest.raises(UserError, match="Add `force` to overwrite it"):
        chorale.evaluate.rules(rules, judged, chart=chart, force=False)


def mcq_records() -> list[dict[str, Any]]:
    random = np.random.default_rng(2)
    return [
        {
            "question_id": f"q{number}",
            "options": ["one", "two words", "three words here", "four"],
            "gold_answer": "option1",
            "validation_data": [
                {"worker_answer": f"option{1 if random.random() < 0.8 else 2}", "worker_id": f"w{worker}"}
                for worker in range(8)
            ],
            "model_predictions": [[int(random.integers(4)), "t5"]],
        }
        for number in range(12)
    ]


def test_mcq(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(mcq_records()))
    score = chorale.evaluate.mcq(str(file), written=True)
    check(score, printed("mcq", file, "--written"))
    check(chorale.evaluate.mcq(file, irt=True), printed("mcq", file, "--irt"))
    with pytest.raises(UserError, match="`round_files` requires `irt`"):
        chorale.evaluate.mcq(file, round_files=[file])
    assert score.name == "human resampled"


def test_families_are_listed_described_and_looked_up() -> None:
    listed = [name for name in dir(chorale.evaluate) if name[0] != "_"]
    assert listed == sorted(families())
    assert {"frames", "mcq", "qasrl", "rules", "srl"} <= set(listed)
    for name in listed:
        assert inspect.signature(getattr(chorale.evaluate, name)).parameters
        assert families()[name].summary
    with pytest.raises(AttributeError, match=r"no metric family 'qasr'.*Did you mean qasrl"):
        _ = chorale.evaluate.qasr


def read_words(path: Path) -> list[str]:
    return path.read_text().split()


def measure_words(system: list[str], gold: list[str], *, cased: bool = True) -> tuple[Statistics, Metric]:
    pairs = zip(system, gold, strict=True)
    rows = [[float(one == other or (not cased and one.lower() == other.lower())), 1.0] for one, other in pairs]
    metric = Metric(lambda sums: {"accuracy": ratio(sums[..., 0], sums[..., 1])})
    return Statistics(tuple(map(str, range(len(gold)))), np.array(rows)), metric


def test_a_reader_and_a_measure_make_a_family(tmp_path: Path) -> None:
    family = Family("words", "Words, one by one.", read_words, measure_words)
    (tmp_path / "gold").write_text("a b c d")
    (tmp_path / "system").write_text("a B c x")
    (tmp_path / "other").write_text("a b c x")
    score = family.score(str(tmp_path / "system"), tmp_path / "gold", against=tmp_path / "other", resamples=200)
    assert score.values == {"accuracy": 0.5}
    assert score.interval is not None
    assert score.test is not None
    assert score.test.difference == -0.25
    assert score.signature.startswith("words|resamples:200|seed:1|system:")
    assert "accuracy" in score._repr_html_()
    assert family.score(tmp_path / "system", tmp_path / "gold", cased=False).value == 0.75
    with pytest.raises(UserError, match="does not exist"):
        family.score("nowhere", tmp_path / "gold")


@pytest.mark.parametrize("additive", [True, False])
def test_items_of_one_unit_are_sampled_together(additive: bool) -> None:
    """Ten copies of every item say no more than one of each, if the copies are one unit."""
    random = np.random.default_rng(4)
    base = np.column_stack([random.random(30).round(2), np.ones(30)])
    other = np.column_stack([random.random(30).round(2), np.ones(30)])
    single = tuple(f"u{number:02}" for number in range(30))
    items = tuple(f"{unit}-{copy}" for unit in single for copy in range(10))
    clusters = Clusters(("unit",), ({item: item.partition("-")[0] for item in items},))

    def mean(given: Any) -> dict[str, Any]:
        sums = given if additive else given.sum(axis=0)
        return {"mean": ratio(sums[..., 0], sums[..., 1])}

    metric = Metric(mean, additive=additive)
    copied = Statistics(items, np.repeat(base, 10, axis=0))
    alone = intervals(Statistics(single, base), metric, resamples=2000)["mean"]
    together = intervals(copied, metric, resamples=2000, clusters=clusters)["mean"]
    apart = intervals(copied, metric, resamples=2000)["mean"]
    assert together.low == pytest.approx(alone.low, abs=0.02)
    assert together.high == pytest.approx(alone.high, abs=0.02)
    assert apart.high - apart.low < 0.5 * (together.high - together.low)
    rival = Statistics(items, np.repeat(other, 10, axis=0))
    by_unit = compare(copied, rival, metric, resamples=2000, clusters=clusters)["mean"]
    expected = compare(Statistics(single, base), Statistics(single, other), metric, resamples=2000)["mean"]
    assert by_unit.p_randomisation == pytest.approx(expected.p_randomisation, abs=0.05)
    assert by_unit.p_bootstrap == pytest.approx(expected.p_bootstrap, abs=0.05)
    with pytest.raises(UserError, match="--cluster unit: 1 item has no value, such as x"):
        intervals(Statistics(("x",), base[:1]), metric, clusters=clusters)


def as_tables(rows: list[dict[str, Any]]) -> list[Any]:
    columns = {name: [one[name] for one in rows] for name in rows[0]}
    return [rows, columns, pd.DataFrame(rows), pl.DataFrame(rows), pl.DataFrame(rows).lazy()]


def test_tables_go_in_where_files_do(tmp_path: Path) -> None:
    gold = [row(), where(), row(qasrl_id="s2"), where(qasrl_id="s3")]
    system = [row(), where(answer_range="4:7"), row(qasrl_id="s2", wh="what")]
    files = write_rows(tmp_path / "system.csv", system), write_rows(tmp_path / "gold.csv", gold)
    expected = chorale.evaluate.qasrl(*files, against=files[1])
    for ours, theirs in zip(as_tables(system), as_tables(gold), strict=True):
        score = chorale.evaluate.qasrl(ours, theirs, against=theirs)
        assert (score.values, score.intervals, score.tests) == (expected.values, expected.intervals, expected.tests)
        assert score.tables[0].title == "system.csv against gold.csv"
        assert score.as_json()["against"]["file"] == "against.csv"
    with pytest.raises(UserError) as failure:
        chorale.evaluate.qasrl([{"a": 1}], gold)
    assert "system.csv" in str(failure.value)
    assert "/tmp" not in str(failure.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for score in (chorale.evaluate.frames, chorale.evaluate.qasrl):
        with pytest.raises(UserError, match=r"system is empty\. Pass a path, a dataframe or a list of dicts\."):
            score([], [])
    with pytest.raises(UserError, match=r"gold is empty\."):
        chorale.evaluate.frames([{"sentence": "s", "frame": "f", "score": 1}], [])
    (tmp_path / "any.csv").write_text("a\n")
    with pytest.raises(UserError, match=r"`beside` requires `curves`\. Set `curves`"):
        chorale.evaluate.frames(tmp_path / "any.csv", tmp_path / "any.csv", beside=[tmp_path / "any.csv"])


def test_options_of_a_familys_own_are_no_tables(tmp_path: Path) -> None:
    family = Family("words", "Words, one by one.", read_words, measure_words)
    for name in ("gold", "system"):
        (tmp_path / name).write_text("a B" if name == "gold" else "a b")
    assert taking_tables(family.score)(tmp_path / "system", tmp_path / "gold", cased=False, ci=False).value == 1


def test_tables_of_frames_and_of_questions() -> None:
    said = [("s1", "motion", 0.8), ("s1", "travel", 0.5), ("s2", "cutting", 0.4), ("s2", "harm", 0.1)]
    rows = [{"sentence_id": sentence, "frame": frame, "score": score} for sentence, frame, score in said]
    names = {"sentence": "sentence_id", "frame": "frame", "score": "score", "gold_score": "score"}
    for table in as_tables(rows):
        assert chorale.evaluate.frames(table, table, **names, ci=False).values["tau_mean"] == 1
    score = chorale.evaluate.mcq(mcq_records(), resamples=100)
    assert score.name == "human resampled"
    assert "file/files:" in score.signature
