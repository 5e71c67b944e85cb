"""`chorale prepare pdf-pages`"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Annotated, Any, NamedTuple

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.files.tables import write_jsonl
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force
from chorale.model import UserError
from chorale.model.extras import need
from chorale.model.plural import plural

Documents = Annotated[list[Path], Argument(metavar="PDF...", help="The documents: .pdf files.")]
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
"""PDFium marks the hyphen of a word that is split between two lines with a control character."""
_POINTS_PER_INCH = 72
_LONGEST_SIDE = 6_000
"""Maximum length of the longer side of a page in pixels. Larger pages are scaled down."""
_QUALITY = 80


class RenderedPage(NamedTuple):
    """A page of a document as an image, with its text."""

    picture: Any
    text: str


def pdf_pages(
    documents: Documents,
    out: Annotated[Path, Option(help="Output file for the items (.jsonl). Images go to a folder next to it.")] = Path(
        "items.jsonl"
    ),
    pages: Annotated[str, Option(metavar="NAME", help="Name of the folder for the images.")] = "pages",
    dpi: Annotated[int, Option(min=50, max=400, help="Resolution of the images, in dots per inch.")] = 120,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Convert the pages of PDF documents to images, as items for a form."""
    check_target(out, "--out", force=force, endings=(".jsonl",))
    if Path(pages).name != pages or pages.startswith("."):
        raise UserError(f"--pages {pages!r} is not a valid folder name. Use a name such as pages.")
    need("pypdfium2", "PIL")
    named = _named(documents)
    folder = out.parent / pages
    if folder.exists() and not force:
        raise UserError(
            f"{folder} already exists. Use --force to overwrite its images, or choose another folder with --pages."
        )
    rows = []
    with writing(out, "--out"), _made(folder):
        for name, document in named.items():
            for number, page in enumerate(rendered(document, dpi), 1):
                key = f"{name}-p{number}"
                page.picture.save(folder / f"{key}.webp", quality=_QUALITY)
                place = {"document": document.name, "page": number, "picture": f"{pages}/{key}.webp"}
                rows.append({"id": key, **place, "text": page.text or f"Page {number} of {document.name}"})
        write_jsonl(rows, out)
    if as_json:
        print_json({"documents": len(named), "pages": len(rows), "out": str(out), "folder": str(folder)})
        return
    print_line(f"{out} has {plural(len(rows), 'page', 'pages')} of {plural(len(named), 'document', 'documents')}.")
    print_line('Show them with: shows = [{ item = "picture", look = "picture", alt = "text" }]')


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """A folder for images. If a document cannot be read, a new folder is removed again."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except UserError:
        if is_new:
            rmtree(folder)
        raise


def _named(documents: Sequence[Path]) -> dict[str, Path]:
    """The documents by the prefix of their page names. Raises UserError for duplicates."""
    named: dict[str, Path] = {}
    for document in documents:
        name = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in document.stem)
        if name in named:
            raise UserError(f"{named[name]} and {document} would have the same page names. Rename one of them.")
        named[name] = document
    return named


def rendered(document: Path, dpi: int) -> Iterator[RenderedPage]:
    """The pages of a document. Raises UserError if the document or a page cannot be read."""
    from pypdfium2 import PdfDocument, PdfiumError  # noqa: PLC0415 - an extra

    if not document.is_file():
        raise UserError(f"{document} does not exist. Check the file name.")
    try:
        opened = PdfDocument(document)
    except (PdfiumError, OSError) as error:
        why = str(error).rstrip(".")
        raise UserError(f"{document} cannot be opened: {why}. Use a PDF file without a password.") from None
    try:
        for number in range(len(opened)):
            try:
                page = opened[number]
                scale = min(dpi / _POINTS_PER_INCH, _LONGEST_SIDE / max(page.get_size()))
                words = _CONTROLS.sub("", page.get_textpage().get_text_bounded()).split()
                picture = page.render(scale=scale).to_pil()
            except PdfiumError:
                place = f"page {number + 1} of {len(opened)}"
                raise UserError(
                    f"{document} is damaged: {place} cannot be read. Repair the file, or remove it from the command."
                ) from None
            yield RenderedPage(picture, " ".join(words))
    finally:
        opened.close()
