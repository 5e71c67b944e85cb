"""Which meanings fit the word? All candidate frames that do, or none.

After Dumitrache, Aroyo and Welty (2019): several people choose from a list, and how far they agree says how clear the
sentence is and how well each frame fits.
"""

from pathlib import Path

from chorale.contract.task import Combining, Example, Explaining, Form, Grading, Shape, Simulating, Task
from chorale.kits.frames.task.answers import (
    FrameGold,
    FramesChosen,
    chosen,
    combine,
    distance,
    grade,
    guess,
    imitate,
    misfit,
    present,
)
from chorale.kits.frames.task.items import FrameItem, arrange, caption, shown
from chorale.kits.frames.task.tables import FRAME_QUALITY_TABLE, FRAME_TABLE, SENTENCE_TABLE, WORKER_TABLE

_HERE = Path(__file__).parent

FRAMES = Task(
    name="frames",
    version=1,
    summary="Which meanings fit the marked word?",
    shape=Shape(item_type=FrameItem, answer_type=FramesChosen, gold_type=FrameGold, misfit=misfit),
    form=Form(
        page=_HERE / "page.html", module=_HERE / "frames.js", style=_HERE / "frames.css", view=shown, arrange=arrange
    ),
    examples=(
        Example(
            row={
                "sentence": "The gardener watered the roses before breakfast.",
                "word": "watered",
                "lemma": "water",
                "in_framenet": True,
                "candidates": [
                    {
                        "frame": "Giving_drink",
                        "definition": "Somebody gives a plant or an animal water.",
                        "example": "She watered the horses at the river.",
                        "example_word": [4, 11],
                    },
                    {"frame": "Thinning", "definition": "Somebody makes a liquid weaker by adding water."},
                ],
            },
            answer=["Giving_drink"],
        ),
        Example(
            row={
                "sentence": "My eyes watered in the smoke.",
                "word": "watered",
                "candidates": [
                    {"frame": "Giving_drink", "definition": "Somebody gives a plant or an animal water."},
                    {"frame": "Thinning", "definition": "Somebody makes a liquid weaker by adding water."},
                ],
            },
            answer=["none"],
        ),
    ),
    grading=Grading(grade=grade),
    combining=Combining(distance=distance, combine=combine, chosen=chosen),
    simulating=Simulating(guess=guess, imitate=imitate),
    explaining=Explaining(present=present, caption=caption),
    exports=(FRAME_TABLE, SENTENCE_TABLE, WORKER_TABLE, FRAME_QUALITY_TABLE),
)

__all__ = ["FRAMES"]
