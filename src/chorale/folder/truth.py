"""Right answers that a rehearsal measures results by: rows of what workers see, with the answer to it."""

import json
from collections.abc import Mapping
from typing import Any

from chorale.folder.reading import StudyFolder

_IN_ORDER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def view_key(view: Mapping[str, Any]) -> str:
    """The same text for the same content, whatever the order of its fields."""
    return _IN_ORDER.encode(view)


def truth_that_fits_nothing(folder: StudyFolder) -> tuple[str, ...]:
    """A sentence for every stage whose items are in a file, and whose truth is of none of them."""
    misfits = []
    for content in folder.stages:
        stage = content.settings
        known = {view_key(row.view) for row in content.truth}
        shown = (view_key(content.task.form.shown(item.payload)) for item in content.items)
        # Items that come from other stages are not there yet.
        if known and content.items and known.isdisjoint(shown):
            file = stage.rehearsal.truth if stage.rehearsal else ""
            misfits.append(
                f"no row of {file} fits an item of stage {stage.name}, so a rehearsal can't tell how good its results "
                "are. Rows must show just what workers see of the items"
            )
    return tuple(misfits)
