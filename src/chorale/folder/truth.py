"""Right answers that a rehearsal measures results by: rows of what workers see, with the answer to it."""

from chorale.folder.reading import StudyFolder
from chorale.folder.view_key import view_key


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
                f"no row of {file} is about an item of stage {stage.name}, so the file is not used. Write rows that "
                "show what workers see of your items, or delete the file and its [stage.rehearsal] table"
            )
    return tuple(misfits)
