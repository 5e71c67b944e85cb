"""Human performance on multiple-choice questions: against brute force, by hand, and through the command."""

import itertools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.metrics import DISCARDED, Ties, mcq_alpha, measure_mcq, outcomes_of, runs_of_models
from chorale.model import UserError
from examples import examples

INVALID = "option5"


def record(
    name: str, answers: list[int], *, writer: int = 1, options: int = 4, models: dict[str, int] | None = None
) -> dict[str, Any]:
    """A question whose validators gave these answers, counted from 1; one more than there are options is invalid."""
    return {
        "question_id": name,
        "options": ["word " * (number + 1) for number in range(options)],
        "gold_answer": f"option{writer}",
        "validation_data": [
            {"worker_answer": f"option{answer}", "unanswerable": answer == options + 1, "worker_id": f"w{place}"}
            for place, answer in enumerate(answers)
        ],
        "model_predictions": [[answer, model] for model, answer in (models or {}).items()],
    }


def write(path: Path, records: Any) -> Path:
    path.write_text(json.dumps(records), "utf-8")
    return path


def crowd(count: int, seed: int = 1, models: int = 2, ways: int = 10) -> list[dict[str, Any]]:
    """Questions of every degree of doubt, with two runs of one model and another model."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        right, doubt = rng.randint(1, 4), rng.choice([0.05, 0.2, 0.5])
        answers = [right if rng.random() > doubt else rng.randint(1, 5) for _ in range(ways if number % 3 else 2)]
        predicted = {f"bert_{run}": right - 1 if rng.random() > 0.3 else rng.randint(0, 3) for run in range(models)}
        if number % 5:
            predicted["t5"] = rng.randint(0, 3)
        made.append(record(f"q{number}", answers, writer=right, models=predicted))
    return made


def read(tmp_path: Path, records: Any) -> McqQuestions:
    return read_mcq(write(tmp_path / "questions.json", records))[0]


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["evaluate", "mcq", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def chorale_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(chorale(*arguments, "--json").stdout)
    return found


# One question


def by_brute_force(votes: tuple[int, ...], writer: int, drawn: int, ties: Ties) -> Counter[tuple[Any, ...]]:
    """Every way to draw, vote by vote."""
    answers = [answer for answer, count in enumerate(votes) for _ in range(count)]
    found: Counter[tuple[Any, ...]] = Counter()
    ways = list(itertools.combinations(range(len(answers)), drawn)) if len(answers) > drawn else [range(len(answers))]
    for taken in ways:
        gold_votes = Counter([answers[place] for place in taken] + [writer])
        rest = Counter(answer for place, answer in enumerate(answers) if place not in taken)
        gold, most = gold_votes.most_common(1)[0]
        if most <= sum(gold_votes.values()) / 2 or gold == len(votes) - 1:
            found[(DISCARDED, 0, None)] += 1
            continue
        human = None
        if rest:
            tied = [answer for answer, count in rest.items() if count == max(rest.values())]
            share = {"share": 1 / len(tied), "wrong": float(len(tied) == 1), "right": 1.0}[ties]
            human = share if gold in tied else 0.0
        found[(gold, most, human)] += 1
    return found


@settings(max_examples=examples(30, 150), deadline=None)
@given(
    votes=st.lists(st.integers(0, 4), min_size=3, max_size=5).map(tuple),
    drawn=st.integers(1, 5),
    ties=st.sampled_from(["share", "wrong", "right"]),
    data=st.data(),
)
def test_outcomes_are_those_of_every_draw(votes: tuple[int, ...], drawn: int, ties: Ties, data: st.DataObject) -> None:
    writer = data.draw(st.integers(0, len(votes) - 2))
    expected = by_brute_force(votes, writer, drawn, ties)
    found = outcomes_of(votes, writer, drawn, ties)
    assert sum(one.probability for one in found) == pytest.approx(1)
    assert {(one.gold, one.for_gold, one.human) for one in found} == set(expected)
    for one in found:
        assert one.probability == pytest.approx(expected[one.gold, one.for_gold, one.human] / expected.total())


def test_ten_votes_by_hand() -> None:
    """Eight right, two wrong: the gold is right in every draw, unanimous in C(8,4) of 210."""
    found = outcomes_of((8, 2, 0), writer=0)
    assert {one.gold for one in found} == {0}
    assert sum(one.probability for one in found if one.for_gold == 5) == pytest.approx(70 / 210)
    assert {one.human for one in found} == {1.0}


def test_two_votes_and_the_writers_make_a_majority_of_three() -> None:
    assert outcomes_of((1, 1, 0), writer=0)[0].gold == 0
    assert outcomes_of((0, 2, 0), writer=0)[0].gold == 1
    assert outcomes_of((0, 1, 0, 1), writer=2)[0].gold == DISCARDED
    assert outcomes_of((0, 0, 2), writer=0)[0].gold == DISCARDED
    assert outcomes_of((0, 2, 0), writer=0)[0].human is None


def test_a_tie_is_worth_what_was_asked_for() -> None:
    votes = (7, 3, 0)
    ways = {ties: sum(one.probability * (one.human or 0) for one in outcomes_of(votes, 0, ties=ties)) for ties in TIES}
    assert ways["wrong"] < ways["share"] < ways["right"]
    assert ways["share"] == pytest.approx((ways["wrong"] + ways["right"]) / 2)


TIES: tuple[Ties, ...] = ("share", "wrong", "right")


# A file of them


def test_people_who_are_all_right_score_one(tmp_path: Path) -> None:
    questions = read(tmp_path, [record(f"q{n}", [2] * 10, writer=2, models={"m": 1, "n": 0}) for n in range(5)])
    scores = measure_mcq(questions).scores()
    for section in ("resampled", "high", "unanimous"):
        assert scores[f"kept {section}"] == 5
        assert scores[f"human {section}"] == 1
        assert scores[f"gap m {section}"] == 0
        assert scores[f"gap n {section}"] == 1
    assert scores["m all"] == 1
    assert scores["n all"] == 0


def test_sections_are_nested_and_gaps_are_differences(tmp_path: Path) -> None:
    measures = measure_mcq(read(tmp_path, crowd(60)))
    scores = measures.scores()
    kept = [scores[f"kept {section}"] for section in ("all", "resampled", "high", "unanimous")]
    assert kept == sorted(kept, reverse=True)
    assert measures.n_resampled == 40
    for name in measures.models:
        for section in ("resampled", "high", "unanimous"):
            gap = scores[f"human {section}"] - scores[f"{name} {section}"]
            assert scores[f"gap {name} {section}"] == pytest.approx(gap)
    assert scores["bert all"] == pytest.approx((scores["bert_0 all"] + scores["bert_1 all"]) / 2)


def test_the_mean_over_draws_is_what_drawing_gives(tmp_path: Path) -> None:
    """An independent simulation of the paper's own procedure, draw by draw."""
    records = crowd(30)
    rng = random.Random(7)
    kept, right = [], []
    for _ in range(1500):
        n = good = 0.0
        for one in records:
            votes = [vote["worker_answer"] for vote in one["validation_data"]]
            if len(votes) == 2:
                continue
            rng.shuffle(votes)
            gold, most = Counter([*votes[:4], one["gold_answer"]]).most_common(1)[0]
            if most < 3 or gold == INVALID:
                continue
            n += 1
            rest = Counter(votes[4:])
            tied = [answer for answer, count in rest.items() if count == max(rest.values())]
            good += (gold in tied) / len(tied)
        kept.append(n)
        right.append(good / n)
    measures = measure_mcq(read(tmp_path, records))
    scores, drawn = measures.scores(), measures.resampled(draws=3000)
    assert scores["kept resampled"] == pytest.approx(np.mean(kept), abs=0.15)
    assert scores["human resampled"] == pytest.approx(np.mean(right), abs=0.01)
    low, high = np.quantile(right, [0.025, 0.975])
    assert drawn["human resampled"].low == pytest.approx(low, abs=0.02)
    assert drawn["human resampled"].high == pytest.approx(high, abs=0.02)


def test_the_sum_of_the_statistics_is_the_score(tmp_path: Path) -> None:
    measures = measure_mcq(read(tmp_path, crowd(20)))
    sums = measures.statistics.rows.sum(axis=0)
    assert measures.scores()["kept all"] == pytest.approx(sums[0])
    assert (measures.statistics.rows[:, 0] <= 1 + 1e-12).all()


def test_models_that_differ_by_a_number_are_runs() -> None:
    assert runs_of_models(["a-1", "a-2", "b1", "c"]) == {"a": ("a-1", "a-2")}
    assert runs_of_models(["a", "a_1", "a_2"]) == {}


@pytest.mark.parametrize("variant", ["with-writer", "kept"])
def test_alpha_is_krippendorffs(tmp_path: Path, variant: Any) -> None:
    records = crowd(40)
    table = []
    for one in records:
        votes = [vote["worker_answer"] for vote in one["validation_data"]]
        most = Counter([*votes, one["gold_answer"]]).most_common(1)[0]
        if variant == "with-writer":
            votes = [*votes, one["gold_answer"]]
        elif 2 * most[1] <= len(votes) + 1 or most[0] == INVALID:
            continue
        table.append([votes.count(f"option{number}") for number in range(1, 6)])
    expected = krippendorff.alpha(value_counts=np.array(table), level_of_measurement="nominal")
    assert mcq_alpha(read(tmp_path, records), variant).all == pytest.approx(expected)


def test_alpha_without_disagreement_to_expect_is_none(tmp_path: Path) -> None:
    questions = read(tmp_path, [record("a", [1, 1]), record("b", [1, 1])])
    assert mcq_alpha(questions).all is None
    assert mcq_alpha(questions).resampled is None


def test_choosing_the_longest_answer_is_measured(tmp_path: Path) -> None:
    """The options of these records grow: the last is the longest."""
    questions = read(tmp_path, [record("a", [4, 4], writer=4), record("b", [1, 1], writer=1)])
    assert measure_mcq(questions).scores()["longest all"] == 0.5


# The command


@pytest.fixture
def questions_file(tmp_path: Path) -> Path:
    return write(tmp_path / "arm.json", crowd(45))


def test_the_command_prints_the_promised_json(questions_file: Path) -> None:
    found = chorale_json(questions_file)
    arm = found["files"]["arm"]
    assert arm["questions"] == 45
    assert arm["kept"] + arm["discarded"] == pytest.approx(45)
    assert set(arm["human"]) == {"resampled", "high", "unanimous"}
    assert set(arm["models"]) == {"bert", "bert_0", "bert_1", "t5"}
    assert arm["runs"] == {"bert": ["bert_0", "bert_1"]}
    low, high = arm["human"]["resampled"]["interval"]
    assert low <= arm["human"]["resampled"]["accuracy"] <= high
    gap = arm["human"]["high"]["accuracy"] - arm["models"]["t5"]["high"]["accuracy"]
    assert arm["gap"]["t5"]["high"]["gap"] == pytest.approx(gap)
    assert arm["alpha"]["printed"] == "with-writer"
    assert {"with-writer", "kept"} < set(arm["alpha"])
    assert found["signature"].startswith(
        "mcq|gold-votes:4|ties:share|alpha:with-writer|ci:no|resamples:1000|seed:1|file/arm:"
    )
    assert any("t5 did not answer 9 questions" in note for note in found["notes"])


def test_the_order_of_records_and_votes_changes_nothing(questions_file: Path, tmp_path: Path) -> None:
    records = json.loads(questions_file.read_text("utf-8"))
    random.Random(3).shuffle(records)
    for one in records:
        random.Random(4).shuffle(one["validation_data"])
        one["model_predictions"].reverse()
    (tmp_path / "mixed").mkdir()
    other = tmp_path / "mixed" / "arm.jsonl"
    other.write_text("\n".join(map(json.dumps, records)), "utf-8-sig")
    ours, theirs = chorale_json(questions_file, "--ci"), chorale_json(other, "--ci")
    assert ours["files"] == theirs["files"]


def test_the_seed_decides_the_intervals_and_nothing_else(questions_file: Path) -> None:
    one, same, other = (chorale_json(questions_file, "--seed", seed)["files"]["arm"] for seed in (1, 1, 2))
    assert one == same
    assert one["human"]["resampled"]["accuracy"] == other["human"]["resampled"]["accuracy"]
    assert one["human"]["resampled"]["interval"] != other["human"]["resampled"]["interval"]


def test_ties_and_gold_votes_are_options(questions_file: Path) -> None:
    by_ties = [
        chorale_json(questions_file, "--ties", ties)["files"]["arm"]["human"]["resampled"]["accuracy"]
        for ties in ("wrong", "share", "right")
    ]
    assert by_ties == sorted(by_ties)
    assert by_ties[0] < by_ties[2]
    fewer = chorale_json(questions_file, "--gold-votes", 2)
    assert "gold-votes:2" in fewer["signature"]
    assert fewer["files"]["arm"]["sections"] != chorale_json(questions_file)["files"]["arm"]["sections"]


def test_different_questions_are_compared_unpaired(questions_file: Path, tmp_path: Path) -> None:
    others = [{**one, "question_id": f"other {one['question_id']}"} for one in crowd(40, seed=9)]
    found = chorale_json(questions_file, "--against", write(tmp_path / "second.json", others))
    scores = found["against"]["scores"]
    arm = found["files"]["arm"]
    assert scores["human high"]["value"] == arm["human"]["high"]["accuracy"]
    assert set(scores["human high"]) == {
        *("value", "other", "difference", "ci", "p_bootstrap", "p_permutation", "p_holm", "p_bh")
    }
    low, high = scores["t5 all"]["ci"]
    assert low < scores["t5 all"]["difference"] < high
    assert 0 < scores["t5 all"]["p_bootstrap"] <= 1
    assert any("the comparison is unpaired" in note for note in found["notes"])


def test_the_same_questions_are_compared_one_by_one(questions_file: Path, tmp_path: Path) -> None:
    records = json.loads(questions_file.read_text("utf-8"))
    for one in records:
        one["model_predictions"] = [
            [0 if model == "t5" else answer, model] for answer, model in one["model_predictions"]
        ]
    found = chorale_json(questions_file, "--against", write(tmp_path / "second.json", records))
    scores = found["against"]["scores"]
    assert scores["human high"]["difference"] == 0
    assert scores["human high"]["p_randomisation"] == 1
    assert any("paired" in note for note in found["notes"])


def test_alpha_has_an_interval_and_is_compared(questions_file: Path, tmp_path: Path) -> None:
    others = [{**one, "question_id": f"other {one['question_id']}"} for one in crowd(40, seed=9)]
    others[0] |= {"options": [*others[0]["options"], "one more", "another"]}
    unlike = chorale_json(questions_file, "--ci", "--against", write(tmp_path / "unlike.json", others))
    for variant in ("with-writer", "kept"):
        alpha = unlike["files"]["arm"]["alpha"][variant]
        for section in ("all", "resampled"):
            low, high = alpha["ci"][section]
            assert low < alpha[section] < high
    found = unlike["against"]["scores"]["alpha all"]
    assert found["value"] == unlike["files"]["arm"]["alpha"]["with-writer"]["all"]
    assert found["other"] == chorale_json(tmp_path / "unlike.json")["files"]["unlike"]["alpha"]["with-writer"]["all"]
    records = json.loads(questions_file.read_text("utf-8"))
    for one in records[:20]:
        one["validation_data"] = [{"worker_answer": one["gold_answer"]}] * 10
    agreed = write(tmp_path / "agreed.json", records)
    like = chorale_json(questions_file, "--against", agreed, "--alpha", "kept")["against"]["scores"]["alpha all"]
    assert like["difference"] < 0
    assert like["p_randomisation"] < 0.05
    assert like["other"] == chorale_json(agreed)["files"]["agreed"]["alpha"]["kept"]["all"]
    shown = chorale(questions_file, "--against", agreed).output
    assert "alpha, all" in shown and "human, with votes left" in shown and "human resampled" not in shown


def test_tables_come_for_terminals_and_papers(questions_file: Path, tmp_path: Path) -> None:
    shown = chorale(questions_file, "--ci").output
    assert "high agreement" in shown
    assert "95% interval" in shown
    assert "including the writer's vote" in shown
    assert "validators only" in chorale(questions_file, "--alpha", "kept").output
    assert "bert_0 " not in chorale(questions_file).stdout.partition("note:")[0]
    other = write(tmp_path / "b.json", [{**one, "question_id": one["question_id"] + "x"} for one in crowd(12, 2)])
    assert "difference" in chorale(questions_file, "--against", other).stdout
    latex = chorale(questions_file, "--latex").stdout
    assert latex.count(r"\begin{tabular}") == 2


@pytest.mark.parametrize("models", [None, {"t5": 0}])
def test_a_mean_number_of_questions_has_one_decimal(tmp_path: Path, models: dict[str, int] | None) -> None:
    """Some samples of four votes keep the doubtful question, others do not."""
    doubtful = record("q", [1, 1, 2, 2, 2, 3, 3, 4, 4, 4], writer=1, models=models)
    sure = [record(f"s{number}", [1, 1], models=models) for number in range(1185)]
    kept = chorale_json(path := write(tmp_path / "many.json", [doubtful, *sure]))["files"]["many"]["kept"]
    assert 1185 < kept < 1186
    assert f" 1,{kept - 1000:.1f} " in chorale(path).stdout


def test_questions_with_two_votes_only_have_no_human_performance(tmp_path: Path) -> None:
    found = chorale_json(write(tmp_path / "two.json", crowd(9, ways=2)))
    assert found["files"]["two"]["human"] == {"resampled": None, "high": None, "unanimous": None}
    assert found["files"]["two"]["models"]["t5"]["all"]["accuracy"] >= 0
    assert any("no human performance" in note for note in found["notes"])


def test_a_section_without_questions_is_said(tmp_path: Path) -> None:
    split = [record(f"q{n}", [1, 1, 1, 1, 1, 2, 2, 2, 2, 2], writer=3, models={"m": 0}) for n in range(3)]
    found = chorale_json(write(tmp_path / "split.json", split))
    assert found["files"]["split"]["human"]["unanimous"] is None
    assert any("“unanimous”" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question_id": None}, "record 2 has no question_id"),
        ({"question_id": "a"}, "has the same ID as another record (found 'a')"),
        ({"options": "abcd"}, "has no list of options (found 'abcd')"),
        ({"options": ["one"]}, "has 1 option. Write"),
        ({"options": ["one", " "]}, "has no text in option2"),
        ({"gold_answer": "option5"}, "gold_answer that is not one of its options (found 'option5')"),
        ({"gold_answer": None}, "gold_answer that is not one of its options (found 'nothing')"),
        ({"validation_data": {}}, "no list in validation_data"),
        ({"validation_data": ["option1"]}, "a validation that is not an object"),
        ({"validation_data": [{"worker_answer": "option6"}]}, "worker_answer that is not one of its options"),
        ({"validation_data": [{"worker_answer": "2"}]}, "or option5 for invalid"),
        ({"validation_data": [{"worker_answer": "option1", "unanswerable": "no"}]}, "neither true nor false"),
        (
            {"validation_data": [{"worker_answer": "option1", "worker_id": "w"}] * 2},
            "two validations by the same worker (found 'w')",
        ),
        ({"model_predictions": [["m", 1]]}, "not an option number with the name of a model"),
        ({"model_predictions": [[4, "m"]]}, "prediction that is not one of its options"),
        ({"model_predictions": [[float("nan"), "m"]]}, "prediction that is not one of its options"),
        ({"model_predictions": [[0, "m"], [1, "m"]]}, "two predictions by the same model"),
    ],
)
def test_bad_records_are_told_with_value_and_fix(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = write(tmp_path / "bad.json", [record("a", [1, 1]), {**record("b", [1, 1]), **change}])
    told = chorale(file, code=2).output
    assert str(file) in told
    assert message in told


def test_numbers_are_ids_as_well(tmp_path: Path) -> None:
    rows = [{**row, "question_id": number} for number, row in enumerate(crowd(3))]
    assert list(read(tmp_path, rows).ids) == ["0", "1", "2"]


def test_every_bad_line_is_told_at_once(tmp_path: Path) -> None:
    rows = [{**record("a", [1, 1]), "gold_answer": "option9"}, "nonsense", record("a", [1, 1]), {"question_id": "b"}]
    file = tmp_path / "bad.jsonl"
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    told = chorale(file, code=2).output
    for line, message in enumerate(
        ("gold_answer", "is not JSON", "has the same ID as another", "no list of options"), 1
    ):
        assert message in next(one for one in told.splitlines() if f"bad.jsonl:{line}:" in one)
    file.write_text("nonsense\n" * 1_000)
    assert len(chorale(file, code=2).output.splitlines()) <= 60


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.json", "", "is empty"),
        ("bad.json", "[]", "has no questions"),
        ("bad.json", '{"a": 1}', "is not a list of records"),
        ("bad.json", "[\n1,\n2", ":3: is not JSON"),
        ("bad.json", "[3]", "record 1 is not an object (found 3)"),
        ("bad.json", "[" * 100_000, "can't be read as JSON"),
        ("bad.jsonl", '\n{"question_id": ', ":2: is not JSON"),
        ("bad.jsonl", '\n{"question_id": "a"}', ":2: the record ('a') has no list of options"),
        ("bad.txt", "hello", "is not JSON"),
    ],
)
def test_bad_files_are_told(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert message in chorale(tmp_path / name, code=2).output


def test_files_that_make_no_sense_together_are_refused(questions_file: Path, tmp_path: Path) -> None:
    assert "have the name arm" in chorale(questions_file, questions_file, code=2).output
    bare = write(tmp_path / "bare.json", [record("a", [])])
    assert "nothing to compare with" in chorale(questions_file, "--against", bare, code=2).output
    assert "require each other" in chorale(questions_file, "--ledger", bare, code=2).output
    assert "requires predictions of models" in chorale(bare, "--irt", code=2).output
    assert "1 record of" in chorale(bare, "--partial-inputs", "light", code=2).output


def test_several_files_are_each_compared_with_another(questions_file: Path, tmp_path: Path) -> None:
    other, third = (write(tmp_path / f"{name}.json", crowd(3)) for name in "bc")
    found = json.loads(chorale(questions_file, other, "--against", third, "--json", "--resamples", 100).stdout)
    assert found["against"]["file"] == "c"
    assert set(found["against"]["files"]) == {"arm", "b"}
    assert "scores" not in found["against"]


@settings(max_examples=examples(30, 100), deadline=None)
@given(
    values=st.recursive(
        st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["option1", "option9", "m", ""]),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["question_id", "options", "gold_answer", "validation_data", "model_predictions"]),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, values: Any) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "q.json"
    records = [{**record("a", [1, 2]), **values}] if isinstance(values, dict) else values
    try:
        questions, _ = read_mcq(write(file, records))
    except UserError as error:
        assert error.problems
    else:
        assert len(questions) >= 1
        assert measure_mcq(questions).scores()["kept all"] <= len(questions)
