"""Work that was done elsewhere: the files it was imported from, and what the import left out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chorale.model import Item
from chorale.model.plural import plural
from chorale.report.protocol import listed
from chorale.store import Tx, events, participations

_MOST_FILES = 1_000
_REASONS = {
    "rejected": ("judgment that was rejected on Mechanical Turk", "judgments that were rejected on Mechanical Turk"),
    "tainted": ("judgment that Appen marked as tainted", "judgments that Appen marked as tainted"),
    "not counted": ("judgment that did not count in its study", "judgments that did not count in their study"),
    "repeated": (
        "judgment whose worker judged the same item again later",
        "judgments whose workers judged the same item again later",
    ),
    "cancelled": (
        "annotation that was cancelled in Label Studio",
        "annotations that were cancelled in Label Studio",
    ),
    "empty": ("row without an answer", "rows without an answer"),
}
"""Singular and plural by the reasons in the activity log (`BatchFile.left_out`, and repeated judgments)."""


@dataclass(frozen=True, slots=True)
class ImportedWork:
    """Imported work. Its files do not show who joined, who gave consent, or what fees were paid."""

    files: tuple[str, ...]
    left_out: Mapping[str, int]
    """Numbers of judgments by the reason for leaving them out."""
    has_pay: bool = True
    """Whether pay was imported; otherwise, costs and wages are not known."""
    without_pay: tuple[str, ...] = ()
    """Imported stages without pay, if others have it."""

    @property
    def about_costs(self) -> str:
        files = "the imported file does" if len(self.files) == 1 else "the imported files do"
        if not self.has_pay:
            return f"Costs and hourly pay are not known, because {files} not have the pay, or not in a usable form."
        about_fees = f"Fees are not included, because {files} not have them."
        if not self.without_pay:
            return about_fees
        stages = listed(self.without_pay)
        return f"{about_fees} The pay in {stages} is not known: costs include no pay for these annotations."

    def left_out_rows(self) -> list[tuple[str, int]]:
        return [(_REASONS[reason][1], count) for reason, count in self.left_out.items()]

    def left_out_sentences(self) -> list[str]:
        return [
            f"{plural(count, *_REASONS[reason])} {'was' if count == 1 else 'were'} left out at import."
            for reason, count in self.left_out.items()
        ]


def annotations_per_item(items: Sequence[Item]) -> str:
    """The numbers of annotations that items have, in words."""
    least, most = (pick(item.judgments for item in items) for pick in (min, max))
    return plural(most, "annotation", "annotations") if least == most else f"{least:,} to {most:,} annotations"


def logged_imports(tx: Tx) -> ImportedWork | None:
    """What the activity log says about imports; None if the work was done in the study."""
    logged = events.recent(tx, _MOST_FILES, kinds=("imported",))
    imports = [event.evidence for event in logged]
    if not imports:
        return None
    left_out = Counter[str]()
    for evidence in imports:
        # Imports by earlier versions have no such counts.
        left_out.update(evidence.get("left_out", {}))
    files = sorted(str(evidence["file"]) for evidence in imports)
    counts = {reason: left_out[reason] for reason in _REASONS if left_out[reason]}
    paid = {row.stage for row in participations.participation_summaries(tx) if row.earned}
    without = sorted({event.stage for event in logged if event.stage is not None} - paid)
    return ImportedWork(tuple(files), counts, bool(paid), tuple(without) if paid else ())
