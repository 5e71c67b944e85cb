"""`chorale close`"""

from dataclasses import asdict
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument
from chorale.cli.terminal import show
from chorale.engine.gates import close_gate
from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.folder.reading import did_you_mean
from chorale.model import Refusal, UserError
from chorale.monitor.tables import verdicts_table

GateName = Annotated[str, Argument(metavar="GATE", help="The gate's name.")]


def close(directory: StudyFolder, gate: GateName, db: Database = None, as_json: AsJson = False) -> None:
    """Close a gate: decide who goes on, book bonuses, write messages, and end the round."""
    with started_study(directory, db) as study:
        named = study.gates.get(gate)
        if named is None:
            raise UserError(f"There is no gate {gate!r} in this study. {did_you_mean(gate, study.gates)}")
        settle_everything(study)
        try:
            verdicts = study.store.write(lambda tx: close_gate(tx, study, named, BY)).result()
        except Refusal as refusal:
            raise UserError(refusal.message) from None
    if as_json:
        print_json({"gate": gate, "verdicts": [asdict(verdict) for verdict in verdicts]})
        return
    if not verdicts:
        print_line(f"The gate {gate} decided about nobody: it was closed before, or nobody is scored.")
        return
    show(verdicts_table(verdicts))
    print_line(f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} passed {gate}.")
