"""Notes on simulations of a study: truth files that match no item, and elements that stay empty."""

from chorale.folder.reading import StudyFolder
from chorale.folder.view_key import view_key


def truth_that_fits_nothing(folder: StudyFolder) -> tuple[str, ...]:
    """A sentence for every stage whose truth file matches none of its items."""
    misfits = []
    for content in folder.stages:
        stage = content.settings
        known = {view_key(row.view) for row in content.truth}
        shown = (view_key(content.task.form.shown(item.payload)) for item in content.items)
        # Derived items do not exist yet.
        if known and content.items and known.isdisjoint(shown):
            file = stage.rehearsal.truth if stage.rehearsal else ""
            misfits.append(
                f"no row of {file} is about an item of stage {stage.name}, so simulated workers do not know the "
                "correct answers to its items. Write rows for your items, or delete the file and its "
                "[stage.rehearsal] table"
            )
    return tuple(misfits)


def unanswered_in_simulations(folder: StudyFolder) -> tuple[str, ...]:
    """A warning for every stage with elements that simulated workers leave empty."""
    warnings = (content.task.simulating.warning(content.settings.name) for content in folder.stages)
    return tuple(warning for warning in warnings if warning is not None)
