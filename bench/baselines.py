"""Times the baselines: the light model for questions, and training the frame classifier.

    python -m bench.baselines                  1,500 synthetic questions with passages
    python -m bench.baselines --framenet DIR   also one epoch on FrameNet's annotated texts (needs torch)

A synthetic passage has 120 words and two questions with four options each.
"""

import argparse
import random
from pathlib import Path

from bench.timing import best_of
from chorale.kits.frames.framenet import read_framenet
from chorale.kits.questions.baselines import GIVEN, ChoiceExample, LightChoice, cross_validate

QUESTIONS = 1_500
ROUNDS = 3


def made_up(count: int, rng: random.Random) -> list[ChoiceExample]:
    words = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(3, 9))) for _ in range(4_000)]
    weights = [1 / (place + 1) for place in range(len(words))]

    def text(length: int) -> str:
        return " ".join(rng.choices(words, weights, k=length))

    found = []
    for number in range(count):
        if number % 2 == 0:
            passage = ". ".join(text(20) for _ in range(6))
        options = tuple(text(rng.randint(2, 9)) for _ in range(4))
        found.append(ChoiceExample(f"q{number}", passage, f"what {text(8)}?", options, rng.randrange(4)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--framenet", type=Path)
    options = parser.parse_args()
    examples = made_up(QUESTIONS, random.Random(1))
    print("| baseline | seconds | CPU seconds |")
    print("| --- | ---: | ---: |")
    for given in GIVEN:
        taken = best_of(ROUNDS, lambda given=given: cross_validate(LightChoice(), examples, given))  # type: ignore[misc]
        print(f"| light model, {given}, five folds of {QUESTIONS:,} questions | {taken.wall:.1f} | {taken.cpu:.1f} |")
    if options.framenet is not None:
        from chorale.kits.frames.baselines.training import FrameTraining, train_frames  # noqa: PLC0415 - needs torch

        framenet = read_framenet(options.framenet)
        list(framenet.fulltext())
        taken = best_of(1, lambda: train_frames(framenet, FrameTraining(epochs=1)))
        print(f"| frame classifier, one epoch with its evaluation | {taken.wall:.1f} | {taken.cpu:.1f} |")


if __name__ == "__main__":
    main()
