"""Folders that hold a model."""

from pathlib import Path

from chorale.files.source import refused


def check_folder(folder: Path) -> None:
    """Refuse what can't be one before anything heavy is loaded."""
    if not folder.is_dir():
        raise refused(folder, None, "is no folder", "Write light, or name the folder that the model was saved in")
    if not (folder / "config.json").is_file():
        fix = "Save the model there with save_pretrained, and its tokenizer too"
        raise refused(folder / "config.json", None, "does not exist", fix)
