"""Frame disambiguation that preserves disagreement (Dumitrache, Aroyo and Welty 2019)."""

from pathlib import Path

from chorale.registry import Command, Kit, ReportSection

_HERE = __name__

KIT = Kit(
    name="frames",
    summary="Frame disambiguation that preserves disagreement (Dumitrache, Aroyo and Welty 2019).",
    tasks={"frames": f"{_HERE}.task:FRAMES"},
    families={"frames": f"{_HERE}.family:FAMILY"},
    commands=(
        Command(
            ("prepare", "frames"),
            "Choose words with diverse candidate frames from a text, as items for `chorale new --template frames`.",
            f"{_HERE}.commands.prepare:frames",
        ),
        Command(
            ("evaluate", "frames"),
            "Score frame disambiguation against crowd annotations with several frames per word: Kendall's τ and "
            "cosine.",
            "chorale.cli.evaluate:frames",
        ),
        Command(
            ("browse", "frames"),
            "Browse frame annotations: sentences by quality, confused frames and their relations, majority frames.",
            f"{_HERE}.commands.browse:frames",
        ),
        Command(
            ("baseline", "frames"),
            "Predict the frames of words in sentences with a baseline system, for `chorale evaluate frames`.",
            f"{_HERE}.commands.baseline:frames",
        ),
        Command(
            ("train", "frames"),
            "Train the classifier for the baselines os and os+ on FrameNet's annotated texts, and test it on held-out "
            "texts.",
            f"{_HERE}.commands.train:frames",
        ),
    ),
    sections=(ReportSection("frames", "Frames", frozenset({"frames"}), f"{_HERE}.section:frames_section"),),
    batch_kinds=(f"{_HERE}.imported:FRAME_BATCH",),
    catalogues=Path(__file__).with_name("catalogues"),
    templates=Path(__file__).with_name("templates"),
    papers={"dumitrache2019": f"{_HERE}.reproduction:PAPER"},
)
