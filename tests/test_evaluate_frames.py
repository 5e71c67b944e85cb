"""Frame disambiguation: the measures, the files, the command, and the paper's numbers on a corpus made here."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chorale.cli import app
from chorale.kits.frames.files.scores import FrameScores, read_frame_scores
from chorale.kits.frames.metrics.agreement import area, cosines, frame_agreement, kendall_tau_b
from chorale.kits.frames.reproduction import PAPER
from chorale.metrics.aggregation.crowdtruth import crowdtruth
from chorale.metrics.judgments import Judgments
from chorale.model import UserError
from chorale.reproduce.contract import Cell

Scores = Mapping[str, Mapping[str, float]]

CROWD: Scores = {
    "s1": {"motion": 0.8, "travel": 0.5, "arriving": 0.1, "none": 0.0},
    "s2": {"cutting": 0.4, "cause_harm": 0.4, "none": 0.2},
    "s3": {"statement": 1.0, "communication": 0.0},
}


def frame_scores(scores: Scores, quality: Mapping[str, float] | None = None) -> FrameScores:
    rows = [(sentence, frame, score) for sentence, frames in scores.items() for frame, score in frames.items()]
    sentences, frames, values = zip(*rows, strict=True)
    return FrameScores.from_columns(sentences, frames, values, quality=quality)


def scored(
    gold: Scores, system: Scores, quality: Mapping[str, float] | None = None, **options: Any
) -> dict[str, float]:
    found = frame_agreement(frame_scores(gold, quality), frame_scores(system), **options)
    return found.metric().scores(found.statistics())


# The measures


rows_of_scores = st.integers(2, 8).flatmap(
    lambda size: st.lists(
        st.tuples(*[st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0]), min_size=size, max_size=size)] * 2),
        min_size=1,
        max_size=5,
    )
)


@given(rows_of_scores)
def test_tau_is_that_of_scipy(rows: list[tuple[list[float], list[float]]]) -> None:
    first, second = np.array([one for one, _ in rows]), np.array([other for _, other in rows])
    expected = [stats.kendalltau(*row).statistic for row in rows]
    assert kendall_tau_b(first, second) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(rows_of_scores)
def test_cosine_is_the_product_over_the_lengths(rows: list[tuple[list[float], list[float]]]) -> None:
    ours = cosines(np.array([one for one, _ in rows]), np.array([other for _, other in rows]))
    for value, (one, other) in zip(ours, rows, strict=True):
        length = math.sqrt(sum(x * x for x in one) * sum(y * y for y in other))
        assert value == pytest.approx(sum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0)


def test_cosine_of_very_small_and_very_large_scores_is_the_same() -> None:
    assert cosines(np.array([[1e-200, 2e-200]]), np.array([[1e200, 2e200]]))[0] == pytest.approx(1.0)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_the_area_is_that_of_trapezoids_under_the_descending_curve(values: list[float]) -> None:
    curve = np.sort(np.array(values))[::-1]
    assert area(np.array(values)) == pytest.approx(np.trapezoid(curve) / len(values), abs=1e-12)


def test_one_value_makes_no_curve_and_none_has_no_area() -> None:
    assert area(np.array([0.3])) == 0.3
    assert area(np.array([])) == 0.0


def test_the_crowd_itself_is_perfect_but_for_the_ends_of_the_curve() -> None:
    found = scored(CROWD, CROWD)
    assert found["tau_mean"] == found["cosine_mean"] == pytest.approx(1.0)
    assert found["cosine_auc"] == pytest.approx(2 / 3)


def test_the_top_frame_alone_is_worked_out_by_hand() -> None:
    found = frame_agreement(frame_scores(CROWD), frame_scores(CROWD), top=True)
    assert found.tau == pytest.approx([3 / math.sqrt(6 * 3), 1 / math.sqrt(2 * 2), 1.0])
    assert found.cosine == pytest.approx([0.8 / math.sqrt(0.9), 0.4 / 0.6, 1.0])


def test_frames_a_system_does_not_name_have_no_score() -> None:
    found = frame_agreement(frame_scores(CROWD), frame_scores({"s1": {"motion": 1.0}, "s3": {"statement": 0.7}}))
    assert found.without_score == 1
    assert found.constant.tolist() == [False, True, False]
    assert found.tau[1] == found.cosine[1] == 0.0


def test_frames_and_sentences_outside_the_gold_are_left_out_and_counted() -> None:
    inside = {"s1": {"motion": 1.0}, "s2": {"cutting": 1.0}, "s3": {"statement": 1.0}}
    outside = {
        **inside,
        "s1": {"motion": 1.0, "statement": 0.9, "unheard_of": 0.8, "travel": 0.0},
        "s9": {"motion": 1.0},
    }
    one, other = (frame_agreement(frame_scores(CROWD), frame_scores(system)) for system in (inside, outside))
    assert (one.tau == other.tau).all()
    assert (other.outside, other.unknown) == (2, 1)
    assert (one.outside, one.unknown) == (0, 0)


def test_a_constant_sentence_counts_as_zero_or_not_at_all() -> None:
    flat = {**CROWD, "s2": {"cutting": 0.4, "cause_harm": 0.4, "none": 0.4}}
    zero, skip = scored(flat, CROWD), scored(flat, CROWD, constant="skip")
    assert zero["tau_mean"] == pytest.approx(2 / 3)
    assert skip["tau_mean"] == pytest.approx(1.0)
    assert skip["tau_auc"] == pytest.approx(1 / 2)
    assert zero["cosine_mean"] == skip["cosine_mean"]


def test_where_every_sentence_is_skipped_tau_is_zero() -> None:
    flat = {"s1": {"a": 0.4, "b": 0.4}}
    assert scored(flat, flat, constant="skip")["tau_auc"] == 0.0


def test_the_weighted_mean_follows_sentence_quality() -> None:
    system = {"s1": {"motion": 1.0}, "s2": {"none": 1.0}, "s3": {"statement": 1.0}}
    found = frame_agreement(frame_scores(CROWD, {"s1": 0.5, "s2": 0.0, "s3": 1.0}), frame_scores(system))
    values = found.metric().scores(found.statistics())
    assert values["cosine_w_avg"] == pytest.approx((0.5 * found.cosine[0] + found.cosine[2]) / 1.5)
    assert values["tau_w_avg"] == pytest.approx((0.5 * found.tau[0] + found.tau[2]) / 1.5)
    assert "tau_w_avg" not in scored(CROWD, system)
    assert scored(CROWD, system, dict.fromkeys(CROWD, 0.0))["tau_w_avg"] == 0.0


@given(st.permutations([(s, f, x) for s, frames in CROWD.items() for f, x in frames.items()]))
def test_the_order_of_rows_changes_nothing(rows: list[tuple[str, str, float]]) -> None:
    sentences, frames, values = zip(*rows, strict=True)
    gold = FrameScores.from_columns(sentences, frames, values)
    system = frame_scores({"s1": {"travel": 0.6, "motion": 0.5}, "s2": {"none": 0.2}})
    one, other = frame_agreement(gold, system), frame_agreement(frame_scores(CROWD), system)
    assert one.tau.tolist() == other.tau.tolist()
    assert one.cosine.tolist() == other.cosine.tolist()


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="the same length"):
        FrameScores.from_columns(["s"], ["a", "b"])
    with pytest.raises(ValueError, match="at least 0"):
        FrameScores.from_columns(["s"], ["a"], [-0.1])
    with pytest.raises(ValueError, match="twice"):
        FrameScores.from_columns(["s", "s"], ["Cause harm", "cause_harm"])


# The files


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def as_csv(scores: Scores, column: str = "fss_sent_centric", *, scale: float = 1.0) -> str:
    lines = [f"frame,{column},{column}_initial,sent_id,sentence,word"]
    for sentence, frames in scores.items():
        lines += [f"{f},{x * scale},{x},{sentence},A text of {sentence}.,word" for f, x in frames.items()]
    return "\n".join(lines) + "\n"


def test_a_published_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "FSS.csv", as_csv(CROWD, scale=0.5))
    final, initial = read_frame_scores([path]), read_frame_scores([path], initial=True)
    assert final.sentences == ("s1", "s2", "s3")
    assert (final.score * 2 == initial.score).all()
    assert final.quality is None


def test_names_of_frames_are_folded(tmp_path: Path) -> None:
    path = write(tmp_path / "pred.csv", "sent_id,frame\ns1,Motion\ns2,Cause harm\n")
    assert read_frame_scores([path]).frames == ("cause_harm", "motion")


def test_several_files_are_one_corpus_in_any_order(tmp_path: Path) -> None:
    first = write(tmp_path / "1.csv", as_csv({"s1": CROWD["s1"]}))
    second = write(tmp_path / "2.csv", as_csv({"s2": CROWD["s2"]}))
    one, other = read_frame_scores([first, second]), read_frame_scores([second, first])
    assert one.sentences == other.sentences == ("s1", "s2")
    assert one.digest == other.digest
    assert one.digest not in (read_frame_scores([first]).digest, read_frame_scores([second]).digest)


def test_json_lines_and_other_columns_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "p.jsonl", '{"key": 7, "what": "Motion", "p": 0.25}\n{"key": 8, "what": "none", "p": "1e-3"}\n'
    )
    found = read_frame_scores([path], sentence="key", frame="what", score="p")
    assert found.sentences == ("7", "8")
    assert found.score.tolist() == [0.25, 0.001]


def test_the_output_of_crowdtruth_is_a_gold_standard_with_quality(tmp_path: Path) -> None:
    units = {"s1": {"uqs": 0.5, "uas": {"Motion": 0.75, "none": 0.25}, "uas_initial": {"Motion": 0.5, "none": 0.5}}}
    path = write(tmp_path / "crowd.json", json.dumps({"units": units}))
    found = read_frame_scores([path], need_scores=True)
    assert found.quality is not None
    assert found.quality.tolist() == [0.5]
    assert found.score.tolist() == [0.75, 0.25]
    assert read_frame_scores([path], initial=True).score.tolist() == [0.5, 0.5]


HEAD = "sent_id,frame,score\n"


def test_an_empty_place_that_nobody_chose_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEAD + "s1,a,1\ns1,,0.0\n", "utf-8")
    assert read_frame_scores([path]).frames == ("a",)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("f.csv", "", "is empty"),
        ("f.csv", HEAD, "has no frame scores"),
        ("f.csv", "a,b\n1,2\n", "has no column with a usual name for the sentence"),
        ("f.csv", "sent_id,b\n1,2\n", "has no column with a usual name for the frame"),
        ("f.csv", HEAD + "s1,a,high\n", "f.csv:2: has no number of at least 0 in 'score' (found 'high')"),
        ("f.csv", HEAD + "s1,a,nan\n", "(found 'nan')"),
        ("f.csv", HEAD + "s1,a,inf\n", "(found 'inf')"),
        ("f.csv", HEAD + "s1,a,-1\n", "(found '-1')"),
        ("f.csv", HEAD + "s1,a,\n", "(found '')"),
        ("f.csv", HEAD + "s1, ,1\n", "has no valid value for 'frame'"),
        ("f.csv", HEAD + ",a,1\n", "has no valid value for 'sent_id'"),
        ("f.csv", HEAD + "s1,a,1\ns1,A,1\n", "f.csv:3: repeats a sentence and frame (found 's1, A')"),
        ("f.csv", "sent_id,frame,score,sqs\ns1,a,1,0.5\ns1,b,1,0.6\n", "f.csv:3: has a different sentence quality"),
        ("f.csv", "sent_id,frame,score,sqs\ns1,a,1,\n", "in 'sqs'"),
        ("f.jsonl", '{"sent_id": "s", "frame": "a", "score": true}\n', "in 'score' (found true)"),
        (
            "f.jsonl",
            '{"sent_id": "s", "frame": "a", "score": 1}\n{"sent_id": "s"}\n',
            "has no valid value for 'frame'",
        ),
        ("f.json", "{", "is not JSON"),
        ("f.json", "[]", "is not the output of"),
        ("f.json", '{"units": {"s": {"uqs": 1}}}', "is not the output of"),
        ("f.json", '{"units": {"s": {"uqs": 1, "uas": {"a": "x"}}}}', "'a' of unit 's'"),
        ("f.json", '{"units": {}}', "has no frame scores"),
        ("f.parquet", "x", "has an unsupported format"),
    ],
)
def test_bad_files_are_refused_with_line_and_value(name: str, text: str, told: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(UserError) as caught:
        read_frame_scores([path])
    assert told in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_scores_are_an_error_where_they_are_needed(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.csv", "sent_id,frame\ns1,a\n")
    assert read_frame_scores([path]).score.tolist() == [1.0]
    with pytest.raises(UserError, match="has no column with a usual name for scores"):
        read_frame_scores([path], need_scores=True)
    with pytest.raises(UserError, match="has no column 'fit'"):
        read_frame_scores([path], score="fit")


def test_a_sentence_in_two_files_is_an_error(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{number}.csv", as_csv({"s1": CROWD["s1"]})) for number in (1, 2)]
    with pytest.raises(UserError, match="is also in another file") as caught:
        read_frame_scores(paths)
    assert len(caught.value.problems) == 4


def test_many_problems_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "f.csv", HEAD + "".join(f"s{number},a,x\n" for number in range(80)))
    with pytest.raises(UserError, match="30 more problems") as caught:
        read_frame_scores([path])
    assert len(caught.value.problems) == 50


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    for name, head in (("f.csv", HEAD.encode()), ("f.jsonl", b""), ("f.json", b'{"units": ')):
        (folder / name).write_bytes(head + raw)
        try:
            read_frame_scores([folder / name])
        except UserError as error:
            assert error.problems


# The command


runner = CliRunner()


def run(*arguments: str | Path) -> dict[str, Any]:
    result = runner.invoke(app, ["evaluate", "frames", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold = write(tmp_path / "gold.csv", as_csv(CROWD))
    pred = write(tmp_path / "pred.csv", "sent_id,frame\ns1,Travel\ns2,Cutting\ns3,Statement\n")
    return pred, gold


def test_a_gold_file_without_scores_names_the_option_for_gold(files: tuple[Path, Path]) -> None:
    pred, _ = files
    refused = runner.invoke(app, ["evaluate", "frames", str(pred), str(pred)])
    assert refused.exit_code == 2 and "or set it with --gold-score" in " ".join(refused.stderr.split())
    baseline = runner.invoke(app, ["baseline", "frames", "tc", str(pred), "--out", str(pred.with_name("o.csv"))])
    assert baseline.exit_code == 2 and "set it with" not in baseline.stderr


def test_the_command_prints_what_scripts_rely_on(files: tuple[Path, Path]) -> None:
    printed = run(*files)
    assert set(printed["tau"]) == set(printed["cosine"]) == {"auc", "mean", "w_avg"}
    assert printed["n_sentences"] == 3
    assert printed["n_candidates"] == 9
    expected = scored(CROWD, {"s1": {"travel": 1}, "s2": {"cutting": 1}, "s3": {"statement": 1}})
    assert printed["tau"]["auc"] == pytest.approx(expected["tau_auc"])
    assert printed["cosine"]["mean"] == pytest.approx(expected["cosine_mean"])
    assert printed["tau"]["w_avg"] is None
    assert any("sqs" in note for note in printed["notes"])
    assert printed["signature"].startswith("frames|top:no|constant:zero|scores:final|pred:")


def test_the_command_gives_intervals_and_items(files: tuple[Path, Path]) -> None:
    printed = run(*files, "--ci", "--resamples", "200", "--items")
    # Three sentences do not tell how far a mean would move.
    assert printed["ci"]["tau_auc"] is None
    assert set(printed["ci"]) == {"tau_auc", "tau_mean", "cosine_auc", "cosine_mean"}
    assert set(printed["sentences"]) == {"s1", "s2", "s3"}
    assert printed["sentences"]["s3"] == {"tau": 1.0, "cosine": 1.0}
    assert "resamples:200|seed:1" in printed["signature"]
    assert printed["ci"] == run(*files, "--ci", "--resamples", "200")["ci"]


def test_the_command_compares_two_systems(tmp_path: Path) -> None:
    crowd = {f"s{number:02}": {"a": 0.9, "b": 0.3, "none": 0.0} for number in range(40)}
    gold = write(tmp_path / "gold.csv", as_csv(crowd))
    good = write(tmp_path / "good.csv", "sent_id,frame\n" + "".join(f"{sentence},a\n" for sentence in crowd))
    bad = write(
        tmp_path / "bad.csv", "sent_id,frame\n" + "".join(f"{sentence},none\n" for sentence in list(crowd)[:30])
    )
    printed = run(good, gold, "--against", bad)
    compared = printed["against"]["tau_auc"]
    assert compared["difference"] == pytest.approx(compared["value"] - compared["other"])
    assert compared["difference"] > 0
    assert compared["p_bootstrap"] < 0.01
    assert compared["p_randomisation"] < 0.01
    assert any(note.startswith(str(bad)) for note in printed["notes"])
    assert sum("sqs" in note for note in printed["notes"]) == 1
    same = run(good, gold, "--against", good, "--resamples", "100")["against"]["cosine_mean"]
    assert same["difference"] == 0
    assert same["p_bootstrap"] == same["p_randomisation"] == 1.0


def test_options_change_the_result_and_the_signature(files: tuple[Path, Path], tmp_path: Path) -> None:
    pred, gold = files
    top = run(gold, gold, "--top")
    assert top["tau"]["mean"] < run(gold, gold)["tau"]["mean"] == pytest.approx(1.0)
    assert "top:yes" in top["signature"]
    weighted = write(tmp_path / "weighted.csv", as_csv({"s1": {"motion": 1.0, "travel": 0.5}}, scale=0.0))
    final, initial = run(pred, weighted), run(pred, weighted, "--scores", "initial")
    assert final["cosine"]["mean"] == 0.0 != initial["cosine"]["mean"]
    assert "scores:initial" in initial["signature"]
    skipped = run(pred, weighted, "--constant", "skip", "--items")
    assert skipped["sentences"]["s1"]["tau"] is None
    assert any("only the cosine counts" in note for note in skipped["notes"])
    assert any("With a single sentence" in note for note in skipped["notes"])
    column = run(pred, gold, "--gold-score", "fss_sent_centric_initial")
    assert "gold-score:fss_sent_centric_initial" in column["signature"]


def test_sentence_quality_gives_weighted_averages(tmp_path: Path, files: tuple[Path, Path]) -> None:
    gold = write(
        tmp_path / "q.csv", "sent_id,frame,score,sqs\ns1,motion,1,0.2\ns1,travel,0.5,0.2\ns3,statement,1,0.8\n"
    )
    printed = run(files[0], gold)
    assert printed["cosine"]["w_avg"] == pytest.approx(0.2 * printed_cosine(1.0, 0.5) + 0.8)
    assert "cosine_w_avg" in run(files[0], gold, "--ci", "--resamples", "100")["ci"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("s1,0.2\n", "is missing 1 of 2 sentences (found 's3')"),
        ("s1,\ns3,0.8\n", "q.csv:2: has no sentence quality"),
        ("s1,0.2\ns3,0.8\ns1,0.3\n", "q.csv:4: repeats a sentence"),
        ("s1,-1\ns3,0.8\n", "q.csv:2: has no sentence quality (found '-1')"),
    ],
)
def test_sentence_quality_may_have_a_file_of_its_own(
    rows: str, told: str, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    scores = "sent_id,frame,score\ns1,motion,1\ns1,travel,0.5\ns3,statement,1\n"
    gold = write(tmp_path / "gold.csv", scores)
    qualities = write(tmp_path / "q.csv", "sent_id,word,sqs\ns1,go,0.2\ns3,say,0.8\ns4,see,\n")
    printed = run(files[0], gold, "--sqs", qualities)
    assert printed["cosine"]["w_avg"] == pytest.approx(0.2 * printed_cosine(1.0, 0.5) + 0.8)
    assert printed["signature"] != run(files[0], gold)["signature"]
    write(qualities, f"sent_id,sqs\n{rows}")
    refused = runner.invoke(app, ["evaluate", "frames", str(files[0]), str(gold), "--sqs", str(qualities)])
    assert refused.exit_code == 2 and told in refused.output


def printed_cosine(top: float, chosen: float) -> float:
    return chosen / math.sqrt(top**2 + chosen**2)


def test_tables_for_people_and_for_papers(files: tuple[Path, Path]) -> None:
    shown = runner.invoke(app, ["evaluate", "frames", *map(str, files), "--ci", "--items", "--resamples", "100"])
    assert shown.exit_code == 0
    assert "Kendall's tau" in shown.stdout
    assert "95% interval" in shown.stdout
    assert "Sentences" in shown.stdout
    latex = runner.invoke(app, ["evaluate", "frames", *map(str, files), "--latex"])
    assert r"\begin{tabular}{llr}" in latex.stdout
    assert latex.stdout.isascii()


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        ("sent_id,frame\nx1,motion\n", (), "has no sentence in common with the gold"),
        ("sent_id,frame\ns1,motion\n", ("--sentence", "key"), "has no column 'key'"),
        ("sent_id,frame\ns1,motion\n", ("--scores", "initial", "--gold-score", "x"), "Use only one of them"),
        ("sent_id,frame\ns1,motion,3\n", (), "pred.csv:2"),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    text: str, more: tuple[str, ...], told: str, files: tuple[Path, Path]
) -> None:
    pred, gold = files
    write(pred, text)
    result = runner.invoke(app, ["evaluate", "frames", str(pred), str(gold), *more])
    assert result.exit_code == 2
    assert told in result.stderr


# The paper


def corpus(folder: Path, batches: range) -> Path:
    """A corpus in the layout of the published one."""
    (folder / "frames").mkdir()
    for number in batches:
        scores = {f"VID-{number}{sentence}": {"a": 0.9, "b": 0.7, "c": 0.1, "none": 0.0} for sentence in range(3)}
        scores[f"VID-{number}9"] = {"d": 0.4, "e": 0.3, "none": 0.3}
        if number == 2:
            scores["VID-303645"] = {"part_piece": 0.49999, "cause_harm": 0.4, "cutting": 0.1, "none": 0.0}
        write(folder / "frames" / f"FSS_{number:02}.csv", as_csv(scores))
        workers = "worker,judgment\nann,30\nbob,30\n" if number == 1 else "worker,judgment\nann,75\n"
        write(folder / "frames" / f"WQS_{number:02}.csv", workers)
    return folder


def cells(folder: Path) -> dict[tuple[str, str], Cell]:
    done: list[tuple[int, int]] = []
    found = {(cell.table, cell.name): cell for cell in PAPER.cells(PAPER.data(folder), lambda *at: done.append(at))}
    assert done[-1] == (7, 7)
    return found


def test_the_paper_is_computed_from_all_batches(tmp_path: Path) -> None:
    found = cells(corpus(tmp_path, range(1, 8)))
    assert found["Section 2.1", "word-sentence pairs"].ours == 29
    assert found["Section 2.1", "unique frames"].ours == 8
    assert found["Section 2.3", "sentences with two majority frames"].ours == 21
    assert found["Section 2.3", "sentences without a majority frame"].ours == 8
    assert found["Section 3.2", "sentences of the R-SET"].ours == 25
    top = found["Table 2", "F-SET, Cos Sim AUC, TC"]
    many, few, one = 0.9 / math.sqrt(1.31), 0.4 / math.sqrt(0.34), 0.49999 / math.sqrt(0.49999**2 + 0.17)
    assert top.ours == pytest.approx((21 * many + 7 * few + one - (many + few) / 2) / 29)
    assert top.agrees is False
    assert top.reason
    assert "Needs frames/SQS_01.csv" in found["Table 2", "R-SET, Kendall's tau w-avg, TC"].reason
    assert found["Table 2", "R-SET, Kendall's tau AUC, OS"].ours is None


def test_a_score_that_the_paper_cuts_off_is_not_called_equal(tmp_path: Path) -> None:
    found = cells(corpus(tmp_path, range(1, 8)))
    cut = found["Table 1", "example 4, part_piece"]
    assert cut.ours == 0.49999
    assert cut.agrees is False
    assert "Truncated to three digits, our value is 0.499" in cut.reason
    assert found["Table 1", "example 4, cause_harm"].agrees
    assert found["Table 1", "example 4, cutting"].agrees is False
    assert found["Table 1", "example 4, cutting"].reason == "The release may differ from the corpus of the paper."
    assert found["Table 1", "example 4, attack"].reason == "The file does not contain the example."


def test_all_examples_of_the_paper_are_listed(tmp_path: Path) -> None:
    found = [name for table, name in cells(corpus(tmp_path, range(1, 3))) if name.startswith("example ")]
    assert len(found) == 24 + 69
    assert len([name for name in found if name.endswith("SQS")]) == 24


@pytest.mark.parametrize("columns", ["sent_id,sqs", "input.vid,uqs"])
def test_sentence_quality_is_read_where_a_clone_has_it(tmp_path: Path, columns: str) -> None:
    folder = corpus(tmp_path, range(1, 8))
    for number in range(1, 8):
        names = [f"VID-{number}{each}" for each in (0, 1, 2, 9)] + ["VID-303645"] * (number == 2)
        rows = "".join(f"{name},{0.319 if name == 'VID-303645' else 0.5}\n" for name in names)
        write(folder / "frames" / f"SQS_{number:02}.csv", f"{columns}\n{rows}")
    found = cells(folder)
    assert found["Table 1", "example 4, SQS"].agrees
    many, few, one = 0.9 / math.sqrt(1.31), 0.4 / math.sqrt(0.34), 0.49999 / math.sqrt(0.49999**2 + 0.17)
    weighted = (0.5 * (21 * many + 7 * few) + 0.319 * one) / (0.5 * 28 + 0.319)
    assert found["Table 2", "F-SET, Cos Sim w-avg, TC"].ours == pytest.approx(weighted)


def test_sentence_quality_follows_from_the_raw_judgments(tmp_path: Path) -> None:
    folder = corpus(tmp_path, range(1, 2))
    answers = {"VID-10": ("A", "A|B", "A"), "VID-11": ("A", "B", "None of the above."), "VID-12": ("A",) * 3}
    answers["VID-19"] = ("D", "D|E", "E")
    rows = [
        f"{worker},{sentence},{answer},$0.05"
        for sentence, given in answers.items()
        for worker, answer in zip(("ann", "bob", "cy"), given, strict=True)
    ]
    place = folder / "data" / "naacl2019" / "input" / "01"
    place.mkdir(parents=True)
    write(place / "Batch_1_batch_results.csv", "WorkerId,Input.vid,Answer.FrameType,Reward\n" + "\n".join(rows) + "\n")
    found = cells(folder)
    assert found["Section 2.2", "pay for a judgment, $"].agrees
    said = [
        ["none"] if one.startswith("None") else one.lower().split("|") for given in answers.values() for one in given
    ]
    names = [name for name in answers for _ in range(3)]
    expected = crowdtruth(Judgments.from_columns(names, ["ann", "bob", "cy"] * 4, said))
    batch = found["Table 2", "batches 1, Cos Sim w-avg, TC"]
    many, few = 0.9 / math.sqrt(1.31), 0.4 / math.sqrt(0.34)
    quality = dict(zip(expected.units, expected.uqs.tolist(), strict=True))
    weights = [quality[name] for name in ("VID-10", "VID-11", "VID-12", "VID-19")]
    assert batch.ours == pytest.approx((many * sum(weights[:3]) + few * weights[3]) / sum(weights))
    # Of VID-12 everybody chose a alone, and the file has 0.7 for b.
    assert found["Section 2.2", "largest difference between the published FSS and those from raw judgments"].ours == 0.7


def test_a_published_table_without_its_columns_is_refused(tmp_path: Path) -> None:
    folder = corpus(tmp_path, range(1, 2))
    write(folder / "frames" / "SQS_01.csv", "sentence,clear\nVID-10,0.5\n")
    with pytest.raises(UserError, match=r"no column of the sentence \(sent_id\)"):
        cells(folder)


def test_missing_batches_are_named_and_the_others_counted(tmp_path: Path) -> None:
    found = cells(corpus(tmp_path, range(1, 3)))
    whole = found["Section 2.1", "word-sentence pairs"]
    assert whole.ours is None
    assert "FSS_03.csv" in whole.reason
    assert found["Section 2", "word-sentence pairs of batches 1, 2"].ours == 9
    assert found["Section 2.2", "workers per sentence"].ours == pytest.approx(135 / 9)
    assert found["Table 2", "R-SET, Cos Sim AUC, TC"].reason.startswith("Missing files: FSS_03.csv")
    assert found["Table 2", "batches 1, 2, Cos Sim AUC, TC"].ours is not None
    assert found["Table 5", "example 1, adjusting"].reason == "Needs frames/FSS_07.csv."


def test_every_cell_without_our_number_or_with_another_has_a_reason(tmp_path: Path) -> None:
    for cell in cells(corpus(tmp_path, range(1, 8))).values():
        assert cell.reason or (cell.ours is not None and cell.agrees is not False), cell


def test_a_folder_without_scores_or_with_broken_ones_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"frames/FSS_01\.csv"):
        list(PAPER.cells(PAPER.data(tmp_path), lambda *_: None))
    corpus(tmp_path, range(1, 2))
    write(tmp_path / "frames" / "WQS_01.csv", "worker,judgment\nann,\n")
    with pytest.raises(UserError, match="'judgment'"):
        list(PAPER.cells(PAPER.data(tmp_path), lambda *_: None))


def test_files_needed_are_listed_with_what_is_known_of_them() -> None:
    repository = PAPER.repositories[0]
    assert repository.commit is not None
    known = {file.path: file for file in repository.files}
    assert not known["frames/FSS_01.csv"].optional
    assert known["frames/FSS_07.csv"].optional
    assert known["frames/FSS_07.csv"].digest
    assert known["frames/SQS_01.csv"].origin == "data/naacl2019/output/SQS_01.csv"
    assert known["frames/input/*/Batch_*.csv"].optional
