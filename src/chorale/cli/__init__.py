"""The command line: parse, call, print."""

from chorale.cli.app import app


def main() -> None:
    """The `chorale` command."""
    app(prog_name="chorale")


__all__ = ["app", "main"]
