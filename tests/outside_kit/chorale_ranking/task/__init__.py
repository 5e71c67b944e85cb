"""The task `ranking`: order three to five texts from best to worst."""

from pathlib import Path

from chorale.contract import (
    Combining,
    Example,
    Explaining,
    Form,
    Grading,
    Options,
    Shape,
    Simulating,
    Task,
)
from chorale_ranking.task.answers import (
    RankingAnswer,
    caption,
    combine,
    distance,
    feedback,
    grade,
    guess,
    imitate,
    misfit,
    present,
    quote,
)
from chorale_ranking.task.items import RankingItem, RankingOptions, arrange, shown
from chorale_ranking.task.tables import POINTS_TABLE

_HERE = Path(__file__).parent


def _configured(options: RankingOptions) -> Task:
    return Task(
        name="ranking",
        version=1,
        summary="Order the texts from best to worst.",
        shape=Shape(item_type=RankingItem, answer_type=RankingAnswer, misfit=misfit),
        form=Form(
            page=_HERE / "page.html",
            module=_HERE / "ranking.js",
            style=_HERE / "ranking.css",
            view=lambda payload: shown(payload, options.question),
            arrange=arrange,
        ),
        examples=(
            Example(
                row={"texts": {"a": "It rained.", "b": "At last, rain!", "c": "Rain it did."}}, answer=["b", "a", "c"]
            ),
            Example(row={"texts": {"a": "Hi.", "b": "Dear all,", "c": "You there!"}}, answer=["b", "a", "c"]),
            Example(row={"texts": {"a": "Yes.", "b": "Sure!", "c": "Fine."}}, answer=["c", "b", "a"]),
        ),
        options=Options(model=RankingOptions, configure=_configured),
        grading=Grading(grade=grade, pass_score=0.8),
        combining=Combining(combine=combine, distance=distance),
        simulating=Simulating(guess=guess, imitate=imitate),
        explaining=Explaining(present=present, caption=caption, quote=quote, feedback=feedback),
        exports=(POINTS_TABLE,),
    )


RANKING = _configured(RankingOptions())
