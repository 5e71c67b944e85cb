"""The batch file of results, as a format of `chorale export`."""

from collections.abc import Mapping

from chorale.engine.running import Study
from chorale.exchange.export_format import ExportFormat
from chorale.files.tables import write_csv
from chorale.kits.mturk.batch_columns import BATCH_COLUMNS
from chorale.kits.mturk.market.batch import batch_columns, batch_rows
from chorale.kits.mturk.market.stage import market_stage

_BATCH = ExportFormat(
    "results as the batch file that Mechanical Turk gave, column for column, as CSV",
    "batch_results.csv",
    BATCH_COLUMNS,
    batch_rows,
    write_csv,
    batch_columns,
)


def export_formats(study: Study) -> Mapping[str, ExportFormat]:
    """The formats of a study with HITs. There the table `mturk` has all columns it had on Mechanical Turk."""
    return {} if market_stage(study) is None else {"mturk": _BATCH}
