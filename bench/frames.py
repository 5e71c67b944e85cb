"""Times frame studies: quality scores while a study runs, and the choice of sentences from a large set.

    python -m bench.frames

A study of 1,000 sentences with 15 people each is answered in a realistic order, directly in the database. Quality is
requested after every 25 answers, as by the site's sweep, and computed when there are enough new answers.
"""

import tempfile
import time
from pathlib import Path
from random import Random

from bench.timing import best_of
from chorale.engine import quality as looked
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.kits.frames.preparing import CandidateWord, WordSelection, chosen_words
from chorale.store import responses

SENTENCES, PER_SENTENCE, PEOPLE, CANDIDATES, FRAMES = 1_000, 15, 300, 12, 700
LOOK_EVERY = 25


def main() -> None:
    print("| step | wall time | processor time |")
    print("| --- | --: | --: |")
    with tempfile.TemporaryDirectory() as scratch:
        create_study(Path(scratch) / "study", "frames")
        study = open_study(Path(scratch) / "study")
        try:
            _quality(study)
        finally:
            study.close()
    _choosing()


def _quality(study: Study) -> None:
    stage = study.stage("meanings")
    answers = _answers(Random(7))
    timing = best_of(3, lambda: looked.qualities(stage, answers))
    _line(f"qualities of {len(answers):,} judgments, computed once", *timing)

    wall, processor = time.perf_counter(), time.process_time()
    looks = computed = before = 0
    longest = 0.0
    for end in range(LOOK_EVERY, len(answers) + 1, LOOK_EVERY):
        looks += 1
        if looked.is_due(end, before):
            begun = time.process_time()
            looked.qualities(stage, answers[:end])
            longest = max(longest, time.process_time() - begun)
            computed, before = computed + 1, end
    total = time.perf_counter() - wall, time.process_time() - processor
    _line(f"a whole study: {looks:,} looks, computed {computed} times", *total)
    print(f"| the longest of them | | {longest:.2f} s |")


def _answers(rng: Random) -> list[responses.GivenAnswer]:
    """In the order people give them: everybody goes through sentences of their own choice."""
    frames = [f"Frame_{number}" for number in range(FRAMES)]
    lists = [rng.sample(frames, CANDIDATES) for _ in range(SENTENCES)]
    places = [(sentence, seat) for seat in range(PER_SENTENCE) for sentence in range(SENTENCES)]
    found = []
    for number, (sentence, seat) in enumerate(places):
        worker = (sentence * 7 + seat * 19) % PEOPLE
        right = rng.random() < 0.2 + 0.7 * ((worker * 37) % 100) / 100
        chosen = lists[sentence][: 1 + (sentence % 3 == 0)] if right else [rng.choice(lists[sentence])]
        found.append(responses.GivenAnswer(number + 1, f"s{sentence:04}", f"w{worker:03}", worker, sorted(chosen)))
    return found


def _choosing() -> None:
    rng = Random(5)
    lemmas = [f"verb{number}" for number in range(4_000)]
    lists = {(lemma, "v"): [f"F{rng.randrange(FRAMES)}" for _ in range(rng.randint(2, 25))] for lemma in lemmas}
    weights = [1 / (rank + 1) for rank in range(len(lemmas))]
    words = [
        CandidateWord(number // 3, f"{number}", lemma, "v", lemma, 0)
        for number, lemma in enumerate(rng.choices(lemmas, weights, k=300_000))
    ]
    for many in (500, 5_000, 50_000):
        timing = best_of(2, lambda many=many: chosen_words(words, lists, WordSelection(sentences=many)))  # type: ignore[misc]
        _line(f"{many:,} of 100,000 sentences with 300,000 verbs chosen", *timing)


def _line(what: str, wall: float, processor: float) -> None:
    print(f"| {what} | {wall:.2f} s | {processor:.2f} s |")


if __name__ == "__main__":
    main()
