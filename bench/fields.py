"""Times status, verify, report and exports for a form with five fields and many items, each in its own process.

python -m bench.fields [ITEMS…]
"""

import json
import multiprocessing
import random
import sys
import tempfile
from pathlib import Path

from bench.report import row
from chorale.kits.forms.from_label_studio import import_label_studio

SIZES = (25_000, 50_000, 100_000)
PEOPLE = 3
WORKERS = 500
LABELS = ("fine", "rude", "hateful")
TOPICS = ("garden", "sports", "noise", "money")
EXPORTS = ("csv", "parquet", "crowdkit", "labels", "tidy", "labelstudio", "huggingface")
CONFIG = """<View><Text name="item" value="$text"/>
<Choices name="tone" toName="item">{tones}</Choices>
<Choices name="topics" toName="item" choice="multiple">{topics}</Choices>
<Labels name="words" toName="item">{labels}</Labels>
<Rating name="severity" toName="item" maxRating="5"/>
<TextArea name="reason" toName="item"/></View>
"""


def make(folder: Path, items: int) -> None:
    """A finished study: a choice, several choices, spans, a scale and a text for every item, by three people each."""
    chance = random.Random(1)
    config = CONFIG.format(
        tones="".join(f'<Choice value="{name}"/>' for name in LABELS),
        topics="".join(f'<Choice value="{name}"/>' for name in TOPICS),
        labels="".join(f'<Label value="{name}"/>' for name in LABELS),
    )
    (folder / "config.xml").write_text(config)
    with (folder / "tasks.json").open("w") as file:
        file.write("[")
        for number in range(items):
            words = [chance.choice(("you", "never", "water", "the", "garden", "again", "idiot")) for _ in range(12)]
            task = {"id": number, "data": {"text": f"{' '.join(words)} {number}"}}
            people = chance.sample(range(WORKERS), PEOPLE)
            tone = chance.choice(LABELS)
            task["annotations"] = [_annotation(chance, who, words, tone) for who in people]
            file.write(("," if number else "") + json.dumps(task))
        file.write("]")
    import_label_studio(folder / "tasks.json", folder / "config.xml", folder / "study", "Five fields")


def _annotation(chance: random.Random, who: int, words: list[str], right: str) -> dict[str, object]:
    tone = right if chance.random() < 0.8 else chance.choice(LABELS)
    start = chance.randrange(6)
    first = len(" ".join(words[:start])) + (1 if start else 0)
    text = " ".join(words[start : start + 2])
    values: list[tuple[str, str, dict[str, object]]] = [
        ("tone", "choices", {"choices": [tone]}),
        ("topics", "choices", {"choices": chance.sample(TOPICS, 1 + (chance.random() < 0.3))}),
        ("words", "labels", {"start": first, "end": first + len(text), "text": text, "labels": [tone]}),
        ("severity", "rating", {"rating": chance.randint(1, 5)}),
        ("reason", "textarea", {"text": [f"It says {chance.choice(words)} to {chance.randrange(10**6)} people"]}),
    ]
    result = [{"from_name": name, "to_name": "item", "type": kind, "value": value} for name, kind, value in values]
    return {"completed_by": who, "result": result}


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    print("| command | wall time | processor time | peak memory |")
    print("| --- | ---: | ---: | ---: |", flush=True)
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            # In a process of its own: what this one holds would count as memory of every command that it starts.
            maker = multiprocessing.Process(target=make, args=(folder, size))
            maker.start()
            maker.join()
            study = str(folder / "study")
            row(f"status, {size:,} items", "status", study)
            row(f"verify, {size:,}", "verify", study)
            row(f"report, {size:,}", "report", study, "--no-charts", "--out", str(folder / "report.html"))
            for name in EXPORTS:
                row(f"export {name}, {size:,}", "export", study, "--format", name, "--out", str(folder / name))


if __name__ == "__main__":
    main()
