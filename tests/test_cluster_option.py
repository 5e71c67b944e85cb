"""`--cluster` of whole commands: items that come ten at a time say as much as one each.

Each file has 20 documents of ten items that all come out alike, some right and some wrong. Resampled by document, an
interval is about √10 times as wide as item by item, and a difference in a few documents is no longer significant.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli import app
from qasrl_files import row, write_rows

DOCUMENTS, EACH = 20, 10
WRONG = 8
"""Documents that the system, or the second annotator, has wrong."""

Files = tuple[list[Path], str]


def run_json(*arguments: object) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def items() -> list[tuple[str, str, bool]]:
    """Item, document, and whether it comes out right."""
    return [(f"i{d}-{n}", f"d{d}", d >= WRONG) for d in range(DOCUMENTS) for n in range(EACH)]


def of_srl(folder: Path) -> list[Path]:
    def sentences(right: bool | None) -> str:
        lines = []
        for name, document, is_right in items():
            label = "A0" if right is None or is_right else "A1"
            lines += [f"# newdoc id = {document}"] if name.endswith("-0") else []
            lines += [
                f"# sent_id = {name}",
                f"1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\t{label}",
                "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\tY\tbark.01\t_",
                "",
            ]
        return "\n".join(lines) + "\n"

    paths = [folder / "system.conllu", folder / "gold.conllu"]
    for path, right in zip(paths, (False, None), strict=True):
        path.write_text(sentences(right), "utf-8")
    return paths


def of_frames(folder: Path) -> list[Path]:
    gold = ["sent_id,document,frame,fss_sent_centric,fss_sent_centric_initial,sentence,word"]
    system = ["sent_id,frame"]
    for name, document, is_right in items():
        gold += [f"{name},{document},{frame},{x},{x},Text {name}.,go" for frame, x in (("motion", 0.9), ("rest", 0.1))]
        system.append(f"{name},{'motion' if is_right else 'rest'}")
    (folder / "gold.csv").write_text("\n".join(gold) + "\n")
    (folder / "system.csv").write_text("\n".join(system) + "\n")
    return [folder / "system.csv", folder / "gold.csv"]


def of_rules(folder: Path) -> list[Path]:
    judged = ["rule_lhs\trule_rhs\tlhs\trhs\tjudgment\tconfidence"]
    for name, document, is_right in items():
        lhs, rhs = f"{document} in", f"{document} at"
        judged.append(f"{lhs}\t{rhs}\t{name} {lhs} b\t{name} {rhs} b\t{'Yes' if is_right else 'No'}\t1")
    (folder / "judged.txt").write_text("\n".join(judged) + "\n")
    rules = [f"d{number} in\td{number} at\t1" for number in range(DOCUMENTS)]
    (folder / "rules.txt").write_text("\n".join(rules) + "\n")
    return [folder / "rules.txt", folder / "judged.txt"]


def of_agreement(folder: Path) -> list[Path]:
    rows = ["task,worker,label,document"]
    for number, (name, document, is_right) in enumerate(items()):
        first = "no" if number % 2 else "yes"
        rows += [f"{name},a,{first},{document}", f"{name},b,{first if is_right else 'maybe'},{document}"]
    (folder / "judgments.csv").write_text("\n".join(rows) + "\n")
    return [folder / "judgments.csv"]


CASES: dict[str, tuple[Any, list[str], str, tuple[str, ...]]] = {
    "srl": (
        of_srl,
        ["evaluate", "srl", "--metric", "conll09"],
        "document",
        ("systems", "system", "conll09", "ci", "argument.f1"),
    ),
    "frames": (of_frames, ["evaluate", "frames"], "document", ("ci", "cosine_mean")),
    "rules": (of_rules, ["evaluate", "rules"], "rule", ("resources", "rules", "ci", "precision")),
    "agreement": (of_agreement, ["agreement"], "document", ("ci",)),
}


def width(found: Any, place: tuple[str, ...]) -> float:
    for key in place:
        found = found[key]
    return float(found[1] - found[0])


@pytest.mark.parametrize("name", CASES)
def test_documents_are_resampled_as_wholes(name: str, tmp_path: Path) -> None:
    make, command, column, place = CASES[name]
    arguments = [*command, *make(tmp_path), "--ci", "--resamples", "300"]
    plain = run_json(*arguments)
    clustered = run_json(*arguments, "--cluster", column)
    assert 2.2 < width(clustered, place) / width(plain, place) < 4.5
    assert f"Resampled by {column} ({DOCUMENTS} clusters), not item by item." in " ".join(clustered["notes"])
    assert f"cluster:{column}" in clustered["signature"]


def p_values(found: Any) -> list[float]:
    """Every p-value by randomisation, wherever it is in the object."""
    if not isinstance(found, dict):
        return []
    own = [found["p_randomisation"]] if found.get("p_randomisation") is not None else []
    return own + [value for each in found.values() for value in p_values(each)]


@pytest.mark.parametrize("name", CASES)
def test_documents_are_swapped_as_wholes(name: str, tmp_path: Path) -> None:
    """The other system has three of the documents right as well: thirty items, but only three documents."""
    make, command, column, _ = CASES[name]
    files = make(tmp_path)
    (tmp_path / "other").mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules[__name__], "WRONG", WRONG - 3)
        other = make(tmp_path / "other")[0]
    arguments = [*command, *files, "--against", other, "--resamples", "300"]
    plain, clustered = run_json(*arguments), run_json(*arguments, "--cluster", column)
    if name == "rules":
        assert p_values(clustered["against"])  # the two resources are equal: judgments decide what is right
    else:
        assert min(p_values(plain["against"])) < 0.01
        assert min(p_values(clustered["against"])) > 0.1
    assert CliRunner().invoke(app, [*map(str, arguments), "--cluster", column]).exit_code == 0


def test_pairs_of_qasrl_annotators_are_resampled_by_sentence(tmp_path: Path) -> None:
    rows = []
    for d in range(DOCUMENTS):
        for verb in range(EACH):
            of = {"qasrl_id": f"s{d:02}", "verb_idx": verb, "verb": f"v{verb}"}
            rows += [row(**of), row(**of, worker_id="ben", answer_range="0:2" if d >= WRONG else "5:6")]
    path = write_rows(tmp_path / "both.csv", rows)
    command = ["evaluate", "qasrl", path, "--by", "worker_id", "--ci", "--resamples", "300"]
    by_verb, by_sentence = (run_json(*command, "--cluster", name) for name in ("verb", "sentence"))
    place = ("pairs", 0, "ua", "ci", "f1")
    assert 2.2 < width(by_sentence, place) / width(by_verb, place) < 4.5  # type: ignore[arg-type]


def test_fractions_of_few_sentences_have_wilsons_interval(tmp_path: Path) -> None:
    """Three sentences that are all right do not show that all sentences would be."""
    sentence = "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\tA0\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\tY\tbark.01\t_\n\n"
    path = tmp_path / "three.conllu"
    path.write_text(sentence * 3)
    for metric in ("conll09", "conll08", "primesrl"):
        found = run_json("evaluate", "srl", path, path, "--metric", metric, "--ci")
        around = found["systems"]["three"][metric]["ci"]["argument.precision"]
        assert around == pytest.approx([0.4385, 1.0], abs=1e-3), metric
