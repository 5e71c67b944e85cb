"""`chorale prepare pdf-pages`: pages of documents as pictures that a form shows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.opening import open_study
from crowd import Person
from test_form import field_toml, write_form_study

pytest.importorskip("pypdfium2", reason="needs the extra pdf")
Image = pytest.importorskip("PIL.Image", reason="needs the extra pdf")


def write_pdf(path: Path, *pages: str) -> None:
    """A small document with a line of text on every page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        content = f"BT /F1 24 Tf 40 700 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body, offsets = "%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    path.write_text(f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}")


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["prepare", "pdf-pages", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_pages_become_items_that_a_form_shows(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a report.pdf", "Go away", "Shut up")
    study = tmp_path / "study"
    study.mkdir()
    said = run(str(tmp_path / "a report.pdf"), "--out", str(study / "items.jsonl"))
    assert "2 pages of 1 document" in said.replace("\n", " ")
    rows = [json.loads(line) for line in (study / "items.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == ["Go away", "Shut up"]
    assert rows[1]["id"] == "a-report-p2" and rows[1]["picture"] == "pages/a-report-p2.webp"
    picture = (study / rows[1]["picture"]).read_bytes()
    assert picture[:4] == b"RIFF" and picture[8:12] == b"WEBP" and len(picture) < 120_000
    options = '[[stage.options.shows]]\nitem = "picture"\nlook = "picture"\nalt = "text"\n'
    fields = field_toml(name="where", kind="boxes", ask="Where?", item="picture")
    write_form_study(study, options + fields, rows=(study / "items.jsonl").read_text(), extra="judgments = 1")
    opened = open_study(study)
    view = Person(opened, "ann").next("only").view
    assert view is not None and view["picture"] in {row["picture"] for row in rows}
    opened.close()


def test_words_split_between_lines_are_put_together(tmp_path: Path) -> None:
    """Before, the text had a control character instead of the hyphen, which screen readers and XML cannot handle."""
    write_pdf(tmp_path / "a.pdf", "All cus-) Tj 0 -30 Td (tomers come")
    run(str(tmp_path / "a.pdf"), "--out", str(tmp_path / "items.jsonl"))
    assert json.loads((tmp_path / "items.jsonl").read_text())["text"] == "All customers come"


def test_large_pages_are_shown_smaller_and_nothing_is_overwritten(tmp_path: Path) -> None:
    write_pdf(tmp_path / "poster.pdf", "Large")
    document = tmp_path / "poster.pdf"
    document.write_text(document.read_text().replace("[0 0 595 842]", "[0 0 9000 99]"))
    run(str(document), "--out", str(tmp_path / "items.jsonl"), "--dpi", "400")
    with Image.open(tmp_path / "pages" / "poster-p1.webp") as picture:
        assert max(picture.size) <= 6_000
    assert "already exists" in run(str(document), "--out", str(tmp_path / "items.jsonl"), code=2)
    assert "already exists" in run(str(document), "--out", str(tmp_path / "other.jsonl"), code=2)
    run(str(document), "--out", str(tmp_path / "items.jsonl"), "--force")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [("no.pdf", b"not a document", "cannot be opened"), ("none.pdf", None, "does not exist")],
)
def test_what_is_no_document_is_refused(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    said = run(str(tmp_path / name), "--out", str(tmp_path / "items.jsonl"), code=2)
    assert message in " ".join(said.split())
    assert not (tmp_path / "items.jsonl").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("/Count 2", "/Count 9", "page 3 of 9"), ("/Kids [5 0 R", "/Kids [77 0 R", "page 1 of 2")],
)
def test_a_damaged_document_is_named_and_leaves_nothing_behind(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    document = tmp_path / "report.pdf"
    write_pdf(document, "One", "Two")
    whole = document.read_text()
    assert old in whole
    document.write_text(whole.replace(old, new))
    said = " ".join(run(str(document), "--out", str(tmp_path / "items.jsonl"), code=2).split())
    assert message in said and "uninstall" not in said
    document.write_text(whole)
    run(str(document), "--out", str(tmp_path / "items.jsonl"))


def test_two_documents_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_pdf(tmp_path / folder / "same.pdf", "Text")
    said = run(str(tmp_path / "a/same.pdf"), str(tmp_path / "b/same.pdf"), "--out", str(tmp_path / "i.jsonl"), code=2)
    assert "same page names" in " ".join(said.split())
