"""Every ranking of a study, a line each, as `--reader ranks` reads them."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from chorale.engine.running import Study
from chorale.exchange.export_format import ExportFormat
from chorale.files.tables import TableRow
from chorale.store import Tx
from chorale.store.responses import all_responses


def _rows(tx: Tx, study: Study) -> Iterator[dict[str, str]]:
    for stage in study.stages.values():
        if stage.task.name == "ranking":
            for row in all_responses(tx, stage_name=stage.name):
                yield {"task": row.item, "worker": row.worker, "ranking": ">".join(row.answer)}


def _write(_columns: Sequence[str], rows: Iterable[TableRow], path: Path) -> None:
    path.write_text("".join(f"{row['task']} {row['worker']} {row['ranking']}\n" for row in rows), "utf-8")


BALLOTS = ExportFormat("every ranking, a line each", "ballots.txt", ("task", "worker", "ranking"), _rows, _write)
