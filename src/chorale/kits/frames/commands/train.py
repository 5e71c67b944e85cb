"""`chorale train frames`"""

from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.files.model_folders import check_model_target
from chorale.files.targets import writing
from chorale.kits.frames.framenet import read_framenet
from chorale.metrics.score_table import ScoreTable
from chorale.model.extras import need
from chorale.present.scoring import score_table

FrameNetFolder = Annotated[
    Path, Option(metavar="DIR", help="FrameNet 1.7 with its annotated texts: a folder or an archive.")
]


def frames(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder for the classifier; created if missing.")],
    framenet: FrameNetFolder,
    epochs: Annotated[int, Option(min=1, max=1000, help="Number of passes over the data.")] = 10,
    seed: Annotated[int, Option(min=0, max=2**31 - 1, help="Random seed.")] = 1,
    threads: Annotated[int, Option(min=1, max=256, help="Number of threads. This number affects rounding.")] = 1,
    force: Annotated[bool, Option(help="Overwrite the classifier in the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train the classifier for the baselines os and os+ on FrameNet's annotated texts, and test it on held-out texts.

    Run it again to continue after an interruption.
    """
    need("torch", "safetensors")
    check_model_target(folder, force=force)
    release = read_framenet(framenet)
    with patiently("batches") as progress, writing(folder, "DIR"):
        from chorale.kits.frames.baselines import training  # noqa: PLC0415 - needs the extra `models`
        from chorale.kits.frames.baselines.saved import save_classifier  # noqa: PLC0415 - needs the extra `models`

        settings = training.FrameTraining(epochs=epochs, seed=seed, threads=threads)
        classifier = training.train_frames(release, settings, progress, checkpoint=folder)
        save_classifier(classifier, folder)
    if as_json:
        print_json({**classifier.training, "out": str(folder), "signature": classifier.signature})
        return
    show(score_table(_table(classifier.training)))
    print_line(f"Saved in {folder}")
    print_line(classifier.signature)


def _table(training: Any) -> ScoreTable:
    columns = ("texts", "targets", "number#", "accuracy#", "most frequent frame#")
    rows = []
    for part, held_out in training["held_out"].items():
        rows.append((part, "all", held_out["targets"], held_out["accuracy"], held_out["most_frequent"]))
        several = held_out["ambiguous_accuracy"], held_out["ambiguous_most_frequent"]
        rows.append((part, "with several candidates", held_out["ambiguous"], *several))
    return ScoreTable("Held-out texts", columns, rows)
