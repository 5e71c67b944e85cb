"""`chorale keys`"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine.running import Study
from chorale.engine.started import is_unstarted, study_to_prepare
from chorale.folder.reading import load_folder
from chorale.kits.mturk.market import market_stage
from chorale.kits.mturk.market.access import end_key, make_key
from chorale.kits.mturk.market.stage import TASK, layout_id, layout_id_of
from chorale.kits.mturk.store import keys as stored
from chorale.model import UserError


@contextmanager
def study_with_hits(directory: Path, db: str | None) -> Iterator[Study]:
    """Opens a study that accepts HITs, and starts it if needed."""
    with study_to_prepare(directory, db) as study:
        if market_stage(study) is None:
            raise _no_hits(directory)
        yield study


def keys(
    directory: StudyFolder,
    new: Annotated[
        str | None, Option(metavar="NAME", help="Create a key with this name and print its secret once.")
    ] = None,
    revoke: Annotated[str | None, Option(metavar="KEY", help="Revoke this access key.")] = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List, create or revoke access keys for scripts that use Mechanical Turk's API."""
    if new is not None and revoke is not None:
        raise UserError("--new and --revoke cannot be combined. Run them separately.")
    if new is revoke is None and is_unstarted(directory, db):
        # Listing changes nothing, so it does not start the study.
        _print_keys([], _layout_in(directory), as_json=as_json)
        return
    with study_with_hits(directory, db) as study:
        if new is not None:
            _make(study, new, as_json)
        elif revoke is not None:
            study.store.write(lambda tx: end_key(tx, study, revoke, BY)).result()
            if as_json:
                print_json({"revoked": revoke})
            else:
                print_line(f"{revoke} is revoked. Requests signed with it are now rejected.")
        else:
            _list(study, as_json)


def _layout_in(directory: Path) -> str:
    """The HITLayoutId of a study that has not been started, from its files."""
    stages = [stage for stage in load_folder(directory).stages if stage.task.name == TASK]
    if not stages:
        raise _no_hits(directory)
    return layout_id_of(stages[0].settings.name, stages[0].options)


def _no_hits(directory: Path) -> UserError:
    return UserError(
        f"{directory} has no stage with the task `mturk`, which scripts need for their HITs. Add one, or "
        "create a study with `chorale new DIR --template mturk`."
    )


def _make(study: Study, name: str, as_json: bool) -> None:
    made = study.store.write(lambda tx: make_key(tx, study, name, BY)).result()
    if as_json:
        print_json({"access_key": made.access_key, "secret": made.secret, "name": made.name})
        return
    print_line(f"aws_access_key_id = {made.access_key}")
    print_line(f"aws_secret_access_key = {made.secret}")
    print_line()
    print_line(
        "The secret is not shown again. Pass the key and the secret to boto3, with the site's address as "
        "`endpoint_url`."
    )


def _list(study: Study, as_json: bool) -> None:
    stage = market_stage(study)
    layout = "" if stage is None else layout_id(stage)
    _print_keys(study.store.read(stored.keys).result(), layout, as_json=as_json)


def _print_keys(keys_made: Sequence[stored.KeyRow], layout: str, *, as_json: bool) -> None:
    rows = [
        {"access_key": key.access_key, "name": key.name, "revoked": key.revoked_at is not None} for key in keys_made
    ]
    if as_json:
        print_json({"keys": rows, "layout": layout})
        return
    for key in keys_made:
        made = datetime.fromtimestamp(key.made_at / 1000, UTC)
        ended = "" if key.revoked_at is None else ", revoked"
        print_line(f"{key.access_key}  {key.name}  (created {made:%Y-%m-%d}{ended})")
    if not keys_made:
        print_line("No keys yet. Create one with --new NAME.")
    if layout:
        print_line(f"HITLayoutId of the study's own layout: {layout}")
