"""`chorale import`: one command per kind of published data."""

from typing import Any, ClassVar

import typer

from chorale.cli.loading import LoadingGroup

_USUAL = "judgments"


class _Kinds(LoadingGroup):
    """`chorale import FILE…` is `chorale import judgments FILE…`."""

    places: ClassVar = {
        _USUAL: "chorale.cli.importing.judgments:judgments",
        "qasrl": "chorale.kits.qasrl.commands.importing:qasrl",
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = next((arg for arg in args if not arg.startswith("-")), None)
        if first is not None and args[0] not in self.commands and not {"-h", "--help"} & set(args):
            args = [_USUAL, *args]
        return super().parse_args(ctx, args)


importing = typer.Typer(
    name="import",
    cls=_Kinds,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Make a study of finished work, or items and gold of one from published data. "
    "Files alone are files of judgments.",
)


@importing.callback()
def _group() -> None:
    """So that the kind of data is named where it is not judgments."""
