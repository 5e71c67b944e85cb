"""The studies of the gallery: each passes check, and a simulated crowd finishes it with the right labels."""

import csv
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from chorale.audit.verify import verify
from chorale.exchange.export import export_formats, write_export
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study, template_names
from chorale.metrics.resampling import Resampling
from chorale.rehearsal import Crowd, Rehearsal
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report import ReportOptions, report_page, study_report

GOOD = KindSettings(name="good", share=1, ability=(1.0, 1.0), dropout=0)
DOCS = Path(__file__).parents[1] / "docs"
GALLERY = sorted(name.removeprefix("gallery/") for name in template_names() if name.startswith("gallery/"))
EXPECTED = [
    *("audio-segments", "best-worst", "dialogue", "image-boxes", "preference", "relations", "sentiment", "survey"),
    *("toxicity", "translation"),
]


def test_the_docs_show_every_study_of_the_gallery() -> None:
    assert GALLERY == EXPECTED
    page = (DOCS / "gallery.md").read_text("utf-8")
    for name in GALLERY:
        assert f"--template gallery/{name}" in page
        assert f"pictures/gallery-{name}.png" in page
        assert (DOCS / "pictures" / f"gallery-{name}.png").is_file()


@pytest.mark.parametrize("name", GALLERY)
def test_a_simulated_crowd_finishes_it_with_the_right_labels(tmp_path: Path, name: str) -> None:
    create_study(tmp_path / "study", f"gallery/{name}")
    assert check_folder(tmp_path / "study")[1] == []
    crowd = Crowd(CrowdSettings(workers=24, kind=(GOOD,), patience_hours=500))
    rehearsal = Rehearsal(load_folder(tmp_path / "study"), crowd)
    study, performance = rehearsal.perform(1)
    try:
        run = study.store.read(lambda tx: measure(tx, study, performance, rehearsal.known, 1)).result()
        (stage,) = run.stages
        assert (stage.complete, stage.released, stage.accuracy) == (stage.items, stage.items, 1.0)
        assert study.store.read(lambda tx: verify(tx, study)).result().differences == []
        for kind in export_formats(study):
            target = tmp_path / f"{kind}.out"
            assert write_export(study, kind, target) >= 0, kind
        check_exports(name, tmp_path)
        (tmp_path / "data").mkdir()
        report = study_report(study, tmp_path / "study", tmp_path / "data", ReportOptions(), Resampling(ci=False))
        assert "</html>" in report_page(report)
    finally:
        study.close()
        rehearsal.close()


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_exports(name: str, folder: Path) -> None:
    """What only some kinds of fields are exported as."""
    if name == "best-worst":
        rows = read(folder / "best-worst.out")
        assert {row["shown"] for row in rows} == {"16"}, "every word is shown as often as the others"
        scores = {row["text"]: (float(row["score"]), float(row["bradley_terry"])) for row in rows}
        assert max(scores, key=lambda word: scores[word][0]) == "ecstatic"
        assert min(scores, key=lambda word: scores[word][0]) == "furious"
        by_model = sorted(scores, key=lambda word: -scores[word][1])
        assert set(by_model[:3]) <= {"ecstatic", "cheerful", "grateful", "pleased"}
        assert set(by_model[-3:]) <= {"furious", "miserable", "sad", "bored"}
        assert sum(strength for _, strength in scores.values()) == pytest.approx(1)
    if name == "relations":
        # Without the names of relations in the configuration, an import would read spans alone.
        (config,) = folder.glob("labelstudio*.xml")
        relations = '<Relations><Relation value="works_for"/><Relation value="located_in"/></Relations>'
        assert relations in config.read_text("utf-8")
        rows = read(folder / "triples.out")
        found = {(row["from_text"], row["relation"], row["to_text"]) for row in rows}
        assert ("Mara Lindt", "works_for", "Brightwater Labs") in found
        with zipfile.ZipFile(folder / "brat.out") as archive:
            names = Counter(Path(file).suffix for file in archive.namelist())
            assert names == {".conf": 1, ".txt": 6, ".ann": 6}
            text, ann = (archive.read(f"i01{ending}").decode() for ending in (".txt", ".ann"))
        assert ann.splitlines()[0] == "T1\tperson 0 10\tMara Lindt"
        assert "R1\tworks_for Arg1:T1 Arg2:T2" in ann
        for line in ann.splitlines():
            if line.startswith("T"):
                place, quoted = line.split("\t")[1:]
                _, first, last = place.split()
                assert text[int(first) : int(last)] == quoted
    if name == "image-boxes":
        rows = read(folder / "form.out")
        assert json.loads(rows[0]["things"])[0]["label"] in ("house", "tree")
