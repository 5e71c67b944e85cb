"""`chorale publish`"""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from chorale.cli.addresses import study_url
from chorale.cli.arguments import AsJson, Database, PublicUrl, StudyFolder
from chorale.cli.asking import agreed, prolific
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine import publishing
from chorale.engine.running import Study
from chorale.engine.started import study_to_prepare
from chorale.model import UserError
from chorale.present.shell import argument
from chorale.store import settings


def publish(
    directory: StudyFolder,
    to: Annotated[Literal["prolific"], Option(metavar="PLATFORM", help="Platform to publish on: prolific.")],
    study_name: Annotated[
        str | None,
        Option(
            "--study", metavar="NAME", help="Name of a study under [prolific] in study.toml. Default: the first study."
        ),
    ] = None,
    draft: Annotated[
        bool, Option(help="Create the study as a draft. Nobody sees a draft, and it costs nothing.")
    ] = False,
    places: Annotated[
        int | None,
        Option(min=1, max=100_000, metavar="N", help="Total number of places. Default: the number in the study file."),
    ] = None,
    test: Annotated[
        bool,
        Option(
            help="Publish a test study for the test participants of your Prolific workspace. Not every workspace "
            "has test participants."
        ),
    ] = False,
    yes: Annotated[bool, Option(help="Accept the cost without a confirmation prompt.")] = False,
    public_url: PublicUrl = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Recruit on Prolific: create a study there, show its cost, and publish it. To add places, run it again."""
    with study_to_prepare(directory, db) as study:
        wanted = publishing.asked_for(study, study_name)
        if places is not None:
            wanted = wanted.model_copy(update={"places": places})
        base = _site(study, public_url)
        with prolific() as client:
            drafted = publishing.draft(study, client, wanted, base)
            cost = publishing.cost_line(drafted, wanted)
            published = drafted.is_published and not drafted.needs_asking
            if test:
                _print_test(publishing.make_test(study, client, wanted, drafted), wanted.name, as_json)
                return
            if drafted.needs_asking and not draft:
                if not as_json:
                    print_line(f"{wanted.name} on {to}: {cost}.")
                if yes or agreed("Publish it?"):
                    publishing.publish(study, client, wanted, drafted)
                    published = True
    if as_json:
        numbers = {"study": wanted.name, "id": drafted.remote.id, "cost": drafted.cost, "places": wanted.places}
        print_json({**numbers, "currency": drafted.currency, "published": published})
    elif not drafted.needs_asking:
        print_line(
            f"{wanted.name} is already published, with {drafted.remote.places} places. For more: --places NEW_TOTAL."
        )
    elif published:
        print_line(f"{wanted.name} is published. `chorale sync {argument(directory)}` counts its submissions.")
    else:
        print_line(
            f"Draft of {wanted.name} created ({cost} when published). Run the command again without --draft to publish."
        )


def _print_test(url: str, name: str, as_json: bool) -> None:
    if as_json:
        print_json({"study": name, "test": url})
        return
    print_line(f"A test of {name} is open to the workspace's test participants: {url}")
    print_line("Their work becomes part of this study. To avoid this, test with a copy of the folder.")


def _site(study: Study, public_url: str | None) -> str:
    """The public address to which the platform sends people."""
    recorded = study.store.read(lambda tx: settings.setting_value(tx, "site")).result()
    base = study_url(public_url, recorded) if public_url is not None else recorded or ""
    if not base or urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1"):
        raise UserError(
            "People can't reach this computer. Name the site's address with --public-url https://study.example.org."
        )
    return base
