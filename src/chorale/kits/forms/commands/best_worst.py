"""`chorale prepare best-worst`"""

from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.files.rows import read_rows
from chorale.files.tables import write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.forms.tuples import Tuples, balanced_tuples
from chorale.metrics.options import Force
from chorale.model import Problem, UserError
from chorale.model.plural import plural

Texts = Annotated[Path, Argument(metavar="TEXTS", help="The texts to compare: a .csv, .tsv or .jsonl file.")]


def best_worst(
    texts: Texts,
    out: Annotated[Path, Option(help="Output file for the items (.jsonl).")] = Path("items.jsonl"),
    id_column: Annotated[str, Option("--id", metavar="COLUMN", help="Column with the ID of each text.")] = "id",
    text_column: Annotated[str, Option("--text", metavar="COLUMN", help="Column with the text.")] = "text",
    column: Annotated[str, Option(metavar="NAME", help="Name of the item column with the tuple.")] = "tuple",
    size: Annotated[int, Option(min=3, max=12, help="Number of texts per tuple.")] = 4,
    times: Annotated[int, Option(min=1, help="Number of tuples that each text occurs in.")] = 8,
    seed: Annotated[int, Option(min=0, help="Random seed.")] = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make balanced tuples of texts, as items for best–worst scaling."""
    check_target(out, "--out", force=force, endings=(".jsonl",))
    known = _read(texts, id_column, text_column)
    if len(known) < size:
        raise UserError(
            f"{texts} has {plural(len(known), 'text', 'texts')}, too few for tuples of {size}. Lower --size."
        )
    made = balanced_tuples(len(known), size, times, seed)
    with writing(out, "--out"):
        write_jsonl(_items(known, made, column), out)
    least, most = min(made.times), max(made.times)
    if as_json:
        facts = {"texts": len(known), "tuples": len(made.tuples), "fewest": least, "most": most}
        print_json({**facts, "repeated_pairs": made.repeated, "out": str(out)})
        return
    often = f"{least}" if least == most else f"{least} or {most}"
    print_line(f"{out} has {len(made.tuples):,} tuples of {size} texts.")
    print_line(f"Each of the {len(known):,} texts is in {often} {'tuple' if often == '1' else 'tuples'}.")
    print_line(f"{plural(made.repeated, 'pair of texts occurs', 'pairs of texts occur')} together more than once.")


def _read(path: Path, id_column: str, text_column: str) -> dict[str, str]:
    problems: list[Problem] = []
    known: dict[str, str] = {}
    shown_as = str(path)
    for row in read_rows(path, shown_as=shown_as, problems=problems):
        missing = [name for name in (id_column, text_column) if not _filled(row.values.get(name))]
        if missing:
            columns = ", ".join(map(str, row.values)) or "none"
            option = "--id" if missing[0] == id_column else "--text"
            fix = f"Fill it in, or set {option} to another column (found: {columns})."
            problems.append(Problem(shown_as, row.line, f"`{missing[0]}` is missing or blank", fix))
            continue
        key = str(row.values[id_column])
        if key in known:
            problems.append(Problem(shown_as, row.line, "the ID is used by an earlier text", "Use a unique ID.", key))
        known[key] = str(row.values[text_column])
    if problems:
        raise UserError(f"{path} has {plural(len(problems), 'mistake', 'mistakes')}", problems)
    return known


def _filled(value: Any) -> bool:
    return isinstance(value, str | int | float) and bool(str(value).strip())


def _items(known: dict[str, str], made: Tuples, column: str) -> list[dict[str, Any]]:
    keys = list(known)
    digits = len(str(len(made.tuples)))
    return [
        {"id": f"t{number:0{digits}}", column: [{"id": keys[text], "text": known[keys[text]]} for text in one]}
        for number, one in enumerate(made.tuples, 1)
    ]
