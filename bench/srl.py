"""Times semantic role scoring with PriMeSRL, CoNLL-2005 and CoNLL-2009 together, and the reading of the files.

Run it with `PYTHONPATH=tests python -m bench.srl`. The sentences are synthetic. They have about the same length and the
same number of predicates and arguments as those of Universal PropBank's English Web Treebank. The system's file has
random errors.
"""

import random
import tempfile
from pathlib import Path

from click.testing import CliRunner

from bench.timing import best_of
from chorale.cli import app
from chorale.kits.srl.files import Corpus, Sentence, SrlArgument, SrlPredicate, as_spans, read_srl, subtrees
from chorale.kits.srl.metrics import conll05, conll09, primesrl
from srl_files import written

SENTENCES = 2000
LENGTH = 19
PREDICATES = 3
ARGUMENTS = 2
ROUNDS = 5
LABELS = ("A0", "A0", "A1", "A1", "A1", "A2", "AM-TMP", "AM-LOC", "AM-ADV", "R-A0", "C-A1")


def made(rng: random.Random) -> Sentence:
    size = max(3, round(rng.expovariate(1 / LENGTH)) + 3)
    heads = tuple(0 if index == 0 else rng.randint(max(1, index - 4), index) for index in range(size))
    words = tuple(f"w{rng.randrange(5000)}" for _ in range(size))
    predicates = []
    for position in sorted(rng.sample(range(size), min(size, rng.randint(0, 2 * PREDICATES)))):
        verb = f"v{rng.randrange(500)}"
        predicates.append(SrlPredicate(position, verb, f"{verb}.0{rng.randint(1, 3)}", _arguments(rng, size)))
    blank = ("_",) * size
    return Sentence(1, size, tuple(predicates), words, words, blank, blank, blank, heads, blank)


def disturbed(sentence: Sentence, rng: random.Random) -> Sentence:
    """One predicate in twenty is lost, one in ten has another sense, one in six other arguments."""
    predicates = []
    for predicate in sentence.predicates:
        if rng.random() < 0.05:
            continue
        sense = f"{predicate.lemma}.09" if rng.random() < 0.1 else predicate.sense
        changed = rng.random() < 1 / 6
        arguments = _arguments(rng, sentence.length) if changed else predicate.arguments
        predicates.append(predicate._replace(sense=sense, arguments=arguments))
    return sentence._replace(predicates=tuple(predicates))


def _arguments(rng: random.Random, size: int) -> tuple[SrlArgument, ...]:
    places = sorted(rng.sample(range(size), min(size, rng.randint(0, 2 * ARGUMENTS))))
    return tuple(SrlArgument(rng.choice(LABELS), place, place) for place in places)


def write_files(folder: Path, sentences: int = SENTENCES, seed: int = 1) -> tuple[Path, Path]:
    """A system's file and a gold file."""
    rng = random.Random(seed)
    gold = [made(rng) for _ in range(sentences)]
    system = [disturbed(sentence, rng) for sentence in gold]
    paths = folder / "system.conllu", folder / "gold.conllu"
    for path, each in zip(paths, (system, gold), strict=True):
        path.write_text(written(Corpus(path.name, "conllu", "", each), "conllu"), "utf-8")
    return paths


def score(system: Corpus, gold: Corpus) -> None:
    # What one round remembers of trees would make the next one look fast.
    subtrees.cache_clear()
    primesrl(system.sentences, gold.sentences)
    of_gold = as_spans(gold)
    conll05(as_spans(system, like=zip(gold.sentences, of_gold, strict=True)), of_gold)
    conll09(system.sentences, gold.sentences)


def command(system: Path, gold: Path) -> None:
    names = "primesrl,conll05,conll09"
    result = CliRunner().invoke(app, ["evaluate", "srl", str(system), str(gold), "--metric", names, "--json"])
    if result.exit_code:
        raise SystemExit(result.output)


def main() -> None:
    """Rows of a markdown table: work, seconds, seconds of the processor, times reading."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder))
        reading, spent = best_of(ROUNDS, lambda: [read_srl(path) for path in paths])
        system, gold = (read_srl(path) for path in paths)
        print("| work | seconds | CPU seconds | × reading |")
        print("| --- | --- | --- | --- |")
        print(f"| reading both files, {SENTENCES:,} sentences | {reading:.3f} | {spent:.3f} | 1.0 |")
        wall, spent = best_of(ROUNDS, lambda: score(system, gold))
        print(f"| PriMeSRL + CoNLL-05 + CoNLL-09 | {wall:.3f} | {spent:.3f} | {wall / reading:.1f} |")
        wall, spent = best_of(ROUNDS, lambda: command(*paths))
        print(f"| the whole command, reading included | {wall:.3f} | {spent:.3f} | {wall / reading:.1f} |")


if __name__ == "__main__":
    main()
