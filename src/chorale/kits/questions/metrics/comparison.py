"""Two sets of questions compared: nothing pairs their items, so each is resampled on its own."""

from chorale.kits.questions.metrics.measures import McqMeasures
from chorale.metrics.comparison import UnpairedComparison, compare_apart


def compare_unpaired(
    first: McqMeasures, second: McqMeasures, *, resamples: int = 1000, level: float = 0.95, seed: int = 1
) -> dict[str, UnpairedComparison]:
    """Every score that both have, by an independent bootstrap over each one's questions."""
    ours, theirs = (first.statistics, first.metric), (second.statistics, second.metric)
    found = compare_apart(ours, theirs, resamples=resamples, level=level, seed=seed)
    return {name: one for name, one in found.items() if not name.startswith("kept")}
