"""`chorale prepare rules`"""

from collections import Counter
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.files.tables import write_csv, write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.rules.commands.learn import ArgumentNames, Columns, PredicateNames, Strict
from chorale.kits.rules.files.extractions import ReadExtractions, extraction_tables, names_of
from chorale.kits.rules.learning.applying import Applied, apply_rules
from chorale.metrics.options import Force, Seed
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable
from chorale.model.plural import plural
from chorale.present.scoring import score_table

Extractions = Annotated[
    Path,
    Argument(
        metavar="EXTRACTIONS", help="Extractions to apply rules to, in a format that `chorale learn rules` reads."
    ),
]
Rules = Annotated[
    list[Path],
    Argument(metavar="RULES...", help="One or more files of rules, in a format that `chorale evaluate rules` reads."),
]
AtLeast = Annotated[
    int | None,
    Option(min=1, help="Sample only extractions that match at least this many rules. Default: --per-extraction."),
]


def rules(
    extractions: Extractions,
    rule_files: Rules,
    out: Annotated[Path, Option(help="Output file for the items: .jsonl or .csv.")] = Path("items.jsonl"),
    sample: Annotated[int, Option(min=1, help="Number of extractions to sample.")] = 5000,
    per_extraction: Annotated[int, Option(min=1, help="Number of rules to sample per extraction.")] = 4,
    at_least: AtLeast = None,
    columns: Columns = None,
    argument_names: ArgumentNames = None,
    predicate_names: PredicateNames = None,
    strict: Strict = False,
    seed: Seed = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Apply inference rules to extractions, and write the applications as items for people to judge."""
    check_target(out, "--out", force=force, endings=(".jsonl", ".csv"))
    with patiently("extractions"):
        names = names_of(argument_names, predicate_names)
        tables, outcome = extraction_tables(extractions, columns=columns, names=names, strict=strict)
        fewest = per_extraction if at_least is None else at_least
        applied = apply_rules(
            tables, rule_files, sample=sample, per_extraction=per_extraction, at_least=fewest, seed=seed
        )
    items = list(applied.items())
    with writing(out, "--out"):
        if out.suffix.lower() == ".csv":
            write_csv(list(items[0]) if items else ["id"], items, out)
        else:
            write_jsonl(items, out)
    described = _items_result(applied, outcome(), sample)
    if as_json:
        print_json({**described.json, "out": str(out), "notes": list(described.notes)})
        return
    show(*(score_table(table) for table in described.tables))
    print_line(f"{out} has {plural(len(items), 'application', 'applications')}.")
    print_notes(described.notes)


def _items_result(applied: Applied, read: ReadExtractions, asked: int) -> Result:
    """Counts of extractions, and of applications by the resources that proposed them."""
    by_resource = Counter(name for application in applied.applications for name in application.resources)
    rules = [application.rule for application in applied.applications]
    counts = {
        "extractions": ("extractions read", read.rows),
        "malformed": ("malformed lines", read.malformed),
        "matching": ("extractions that enough rules match", applied.matching),
        "drawn": ("extractions sampled", applied.extractions),
        "applications": ("applications", len(rules)),
        "rules": ("different rules", len(set(rules))),
        "turned": ("applications with swapped arguments", sum(rule.turned for rule in rules)),
    }
    tables = [
        ScoreTable("Applications", ("quantity", "number#"), list(counts.values())),
        ScoreTable("Proposed by", ("resource", "applications#"), sorted(by_resource.items())),
    ]
    notes = [str(problem) for problem in read.problems]
    if read.malformed:
        notes.append(f"{plural(read.malformed, 'line is', 'lines are')} malformed and left out.")
    if applied.extractions < asked:
        notes.append(
            f"Only {plural(applied.extractions, 'extraction', 'different extractions')} could be sampled instead of "
            f"the requested {asked:,}."
        )
    json = {name: number for name, (_, number) in counts.items()}
    return Result({**json, "resources": dict(sorted(by_resource.items()))}, tables, "", tuple(notes))
