"""Notes on stages' hourly pay, compared with the study's minimum."""

from collections.abc import Iterator, Mapping, Sequence

from chorale.contract.reading_time import reading_seconds
from chorale.folder.expected_pay import works_for_nothing
from chorale.folder.reading import StudyFolder
from chorale.model import StagePay, money_text
from chorale.model.plural import plural


def wage_notes(folder: StudyFolder, wages: Mapping[str, int | None]) -> Iterator[str]:
    """Notes on stages whose hourly wage is unknown or below the minimum. The wage includes the time for guidelines."""
    pay = folder.settings.pay
    if not pay.minimum_hourly:
        return
    least = money_text(pay.minimum_hourly, pay.currency)
    low = {name: wage for name, wage in wages.items() if wage is not None and wage < pay.minimum_hourly}
    if low:
        listed = ", ".join(
            f"{content.settings.name} ({money_text(low[content.settings.name], pay.currency)}, "
            f"{reading_seconds(content.guidelines):.0f} s of reading)"
            for content in folder.stages
            if content.settings.name in low
        )
        yield (
            f"{plural(len(low), 'stage pays', 'stages pay')} less than {least} an hour (pay.minimum_hourly) if the "
            f"time to read the guidelines is included: {listed}. Raise per_judgment, or shorten the guidelines"
        )
    untimed = [
        content.settings
        for content in folder.stages
        # A framed stage without items is for tasks created by scripts, which set their own rewards.
        if not (content.task.form.framed and not content.items)
        and content.settings.pay.expected_seconds is None
        and not works_for_nothing(content.settings.entry, content.settings.pay)
    ]
    if unpaid := [stage.name for stage in untimed if not _pays(stage.pay)]:
        yield (
            f"{_stages(unpaid, 'pays', 'pay')} nothing for answers, although your minimum is {least} an hour "
            "(pay.minimum_hourly). Set stage.pay.per_judgment, or remove pay.minimum_hourly if nobody is paid in money"
        )
    if unknown := [stage.name for stage in untimed if _pays(stage.pay)]:
        yield (
            f"{_stages(unknown, 'has', 'have')} no stage.pay.expected_seconds, so the hourly pay can't be compared "
            f"with your minimum of {least} (pay.minimum_hourly). Set it to the number of seconds an answer takes"
        )


def _pays(pay: StagePay) -> bool:
    return bool(pay.per_judgment or pay.finished or pay.by_length or pay.parts or pay.kept)


def _stages(names: Sequence[str], one_does: str, several_do: str) -> str:
    return f"stage {names[0]} {one_does}" if len(names) == 1 else f"stages {', '.join(names)} {several_do}"
