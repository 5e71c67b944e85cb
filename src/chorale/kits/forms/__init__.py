"""Whatever a study file can describe as a form."""

from pathlib import Path

from chorale.registry import Kit

_HERE = __name__

KIT = Kit(
    name="forms",
    summary="Whatever a study file can describe as a form.",
    tasks={"form": f"{_HERE}.task:FORM"},
    plain_stage=f"{_HERE}.imported:form_of",
    templates=Path(__file__).with_name("templates"),
)
