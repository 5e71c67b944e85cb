"""`chorale simulate`: simulated people on the site of a copy of a study, in time that no machine slows down."""

import asyncio
import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chorale.cli.program import app
from chorale.engine import settling
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.monitor.next_steps import next_steps
from chorale.monitor.overview import overview
from chorale.platforms.simulated import SimulatedTime
from chorale.rehearsal.keeping import MARKER
from chorale.web import app as web_app
from protocol_study import write_protocol_study

TABLE = "comment_id,text\n" + "".join(f"c{number},Comment number {number} is here.\n" for number in range(4))


def chorale(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(TABLE)
    labels = ("--from", tmp_path / "texts.csv", "--ask", "Is it toxic?", "--labels", "yes,no")
    assert chorale("new", tmp_path / "study", *labels).exit_code == 0
    return tmp_path / "study"


def test_a_study_of_ones_own_is_done_on_its_site_and_left_as_it_was(folder: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = chorale("simulate", folder, "--workers", 5, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    told = json.loads(done.stdout)
    copy = tmp_path / "study-simulated"
    assert told["study"] == str(copy)
    assert told["simulated"] and "Do not invite anybody" in told["warnings"][0]
    [stage] = told["stages"]
    assert stage["complete"] == stage["items"] == 4
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before, "the study itself is not touched"
    assert chorale("verify", copy).exit_code == 0

    exported = chorale("export", copy, "--out", tmp_path / "answers.jsonl")
    assert "All people are simulated" in exported.output
    assert chorale("report", copy, "--out", tmp_path / "report.html").exit_code == 0
    page = (tmp_path / "report.html").read_text()
    assert "Simulated: " in page and "were simulated" in page
    digests = {*re.findall(r"\|(?:file|judgments|answers):([0-9a-f]{8})\|", page)}
    [table] = re.findall(r"<caption>Digests in signatures</caption>.*?</table>", page, re.DOTALL)
    assert digests and all(re.search(rf"{digest}.*?simulated-responses\.jsonl", table) for digest in digests)

    again = chorale("simulate", folder, "--workers", 5)
    assert again.exit_code == 0, again.output
    assert f"chorale serve {copy}" in again.output
    assert f"{copy}: All people are simulated. Do not invite anybody" in again.output
    assert "is a simulated copy" in chorale("simulate", copy).stderr
    state = re.search(r"^state +(\w+)$", chorale("status", copy).output, re.MULTILINE)
    assert state is not None and state[1] == "complete", "as the console says"
    with closing(open_study(copy)) as study:
        steps = study.store.read(lambda tx: next_steps(tx, study, overview(tx, study))).result()
        assert "results" in (kinds := [step.kind for step in steps])
        assert "pay" not in kinds, "nobody is to be paid"


def test_a_simulation_names_the_workers_who_spoil_its_labels(tmp_path: Path) -> None:
    rows = "".join(f"c{number},Comment number {number} is here.\n" for number in range(60))
    (tmp_path / "texts.csv").write_text(f"comment_id,text\n{rows}")
    labels = ("--from", tmp_path / "texts.csv", "--ask", "Is it toxic?", "--labels", "yes,no,unclear")
    assert chorale("new", tmp_path / "study", *labels).exit_code == 0
    done = chorale("simulate", tmp_path / "study")
    warnings = re.findall(r"^Warning: .* the same answer to many items in a row.*$", done.output, re.MULTILINE)
    assert warnings and warnings[0] in chorale("status", tmp_path / "study-simulated").output


def test_copied_marks_that_do_not_fit_a_shorter_text_are_made_anew(tmp_path: Path) -> None:
    rows = "".join(f"c{number},{' '.join(['word'] * (20 if number % 2 else 1))}.\n" for number in range(8))
    (tmp_path / "texts.csv").write_text(f"comment_id,text\n{rows}")
    labels = ("--from", tmp_path / "texts.csv", "--ask", "Is it toxic?", "--labels", "yes,no")
    folder = tmp_path / "study"
    assert chorale("new", folder, *labels).exit_code == 0
    marks = '\n[[stage.options.fields]]\nname = "words"\nkind = "spans"\nask = "Which words?"\nitem = "text"\n'
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("\n# More fields", f"{marks}\n# More fields"))
    (folder / "rehearsal.toml").write_text('[[kind]]\nname = "copier"\nshare = 1\nspam = "copy-previous"\n')
    done = chorale("simulate", folder, "--workers", 4)
    assert done.exit_code == 0, done.output


def test_simulated_people_pass_over_the_stages_of_other_arms(tmp_path: Path) -> None:
    """The site denies that such stages exist, which ended every simulation of a trial."""
    write_protocol_study(
        tmp_path / "study",
        message=None,
        arms='[arms]\nnames = ["plain", "rich"]\n',
        arms_of=('"plain"', '"rich"'),
        gate="threshold = 0",
    )
    done = chorale("simulate", tmp_path / "study", "--workers", 6, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    _, *work = json.loads(done.stdout)["stages"]
    assert [stage["complete"] for stage in work] == [8, 8], "each rule application has two phrases"


def test_the_study_of_boxes_in_the_gallery_is_completed(tmp_path: Path) -> None:
    """Before, two gold items in a row removed most of the simulated workers, and no item was complete."""
    assert chorale("new", tmp_path / "boxes", "--template", "gallery/image-boxes").exit_code == 0
    done = chorale("simulate", tmp_path / "boxes", "--json")
    [stage] = json.loads(done.stdout)["stages"]
    assert stage["complete"] == stage["items"] == 5


def test_the_site_does_nothing_by_the_clock_of_the_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, the demo found other results on every run: a busy machine updated labels at other times."""
    by_site: list[Study] = []
    monkeypatch.setattr(web_app, "SWEEP_SECONDS", 0.001)
    monkeypatch.setattr(settling, "settle_everything", by_site.append)
    done = chorale("simulate", folder, "--workers", 5)
    assert done.exit_code == 0, (done.output, done.exception)
    assert by_site == []


def test_the_default_name_of_an_export_says_that_people_are_simulated(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chorale("rehearse", folder, "--seeds", 1, "--keep", tmp_path / "kept").exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert chorale("export", "kept", "--format", "labels").exit_code == 0
    assert [path.name for path in tmp_path.glob("simulated-*")] == ["simulated-labels.csv"]


def test_reports_and_old_databases_of_real_people_are_not_copied(folder: Path, tmp_path: Path) -> None:
    (folder / "reports").mkdir()
    (folder / "reports/report-20261117-1.html").write_text("real people")
    (folder / "replaced-20261117.zip").write_text("real people")
    assert chorale("rehearse", folder, "--seeds", 1, "--keep", tmp_path / "kept").exit_code == 0
    assert not [
        path for path in (tmp_path / "kept").rglob("*") if path.is_file() and b"real people" in path.read_bytes()
    ]


def test_a_simulation_never_replaces_the_folder_that_the_study_is_in(folder: Path, tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("")
    refused = chorale("simulate", folder, "--workers", 2, "--out", tmp_path)
    assert refused.exit_code == 2 and "would be replaced" in refused.stderr
    assert (folder / "study.toml").is_file()


def test_nothing_but_an_earlier_simulation_is_replaced(folder: Path, tmp_path: Path) -> None:
    taken = tmp_path / "study-simulated"
    taken.mkdir()
    (taken / "thesis.tex").write_text("years of work")
    refused = chorale("simulate", folder, "--workers", 2)
    assert refused.exit_code == 2
    assert "already exists" in refused.stderr
    assert (taken / "thesis.tex").read_text() == "years of work"
    inside = chorale("simulate", folder, "--out", folder / "copy")
    assert "the study's own folder or inside it" in inside.stderr
    assert not (folder / MARKER).exists() and not (folder / "study.db").exists()


def test_an_invalid_study_is_not_simulated(folder: Path, tmp_path: Path) -> None:
    (folder / "study.toml").write_text("[study]\n")
    assert chorale("simulate", folder).exit_code == 2
    assert not (tmp_path / "study-simulated").exists()


def test_simulated_time_does_not_depend_on_how_long_things_take() -> None:
    """Steps take longer and longer in real time here, and the order and the times are the same."""

    def story(slow: float) -> list[tuple[str, int]]:
        time = SimulatedTime(1_000)
        happened: list[tuple[str, int]] = []

        async def person(name: str, pace: float) -> None:
            for _ in range(3):
                await time.pass_by(pace)
                await asyncio.sleep(slow * (1 if name == "quick" else 0))
                happened.append((name, time()))

        asyncio.run(time.run([person("slow", 2.0), person("quick", 0.5)]))
        return happened

    assert story(0.0) == story(0.02)
    assert story(0.0)[:3] == [("quick", 1_500), ("quick", 2_000), ("quick", 2_500)]
    assert story(0.0)[-1] == ("slow", 7_000)


def test_an_error_of_one_person_ends_the_crowd() -> None:
    time = SimulatedTime(0)

    async def failing() -> None:
        await time.pass_by(1.0)
        raise ValueError("broken")

    async def patient() -> None:
        await time.pass_by(1_000.0)

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(time.run([patient(), failing()]))
