"""`chorale browse qasrl`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.scoring import AsLatex, print_scored
from chorale.files.tables import replacing
from chorale.files.targets import check_target, writing
from chorale.kits.qasrl.files import joined, read_qasrl, read_sentences
from chorale.kits.qasrl.page import browsed, browsing_scored, qasrl_page
from chorale.metrics.options import Force

Files = Annotated[
    list[Path],
    Argument(
        metavar="FILE...", help="Questions and answers: CSV like the QA-SRL gold standard, or JSONL of the QA-SRL Bank."
    ),
]
Sentences = Annotated[
    list[Path] | None, Option(help="File with the sentences of the CSV files: qasrl_id and tokens. Repeatable.")
]


def qasrl(
    files: Files,
    sentences: Sentences = None,
    having: Annotated[
        str, Option(metavar="TEXT", help="Only verbs whose sentence or questions contain this text.")
    ] = "",
    out: Annotated[Path | None, Option(help="Also write a page with every verb (.html).")] = None,
    force: Force = False,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Browse QA-SRL annotations, published or of a study: counts, question types, and every verb with its sentence."""
    check_target(out, "--out", force=force, endings=(".html", ".htm"))
    known = joined((str(path), read_sentences(path)) for path in sentences or ())
    browsing = browsed([read_qasrl(path, known) for path in files], known, having)
    scored = browsing_scored(browsing, having)
    if out is not None:
        with writing(out, "--out"), replacing(out) as draft, draft.open("x", encoding="utf-8") as file:
            file.writelines(qasrl_page(browsing, scored.signature))
    print_scored(scored, as_json=as_json, as_latex=as_latex)
