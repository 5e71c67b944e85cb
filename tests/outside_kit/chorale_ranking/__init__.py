"""Order texts from best to worst."""

from pathlib import Path

from chorale.registry import Command, Kit, ReportSection

_HERE = __name__

KIT = Kit(
    name="ranking",
    summary="Order texts from best to worst.",
    tasks={"ranking": f"{_HERE}.task:RANKING"},
    families={"ranking": f"{_HERE}.family:FAMILY"},
    aggregators={"borda": f"{_HERE}.borda:borda"},
    readers={"ranks": f"{_HERE}.reader:read_ranks"},
    commands=(Command(("rank",), "Order the texts of every task by Borda count.", f"{_HERE}.command:rank"),),
    sections=(ReportSection("ranking", "Rankings", frozenset({"ranking"}), f"{_HERE}.section:ranking_section"),),
    exports={"ballots": f"{_HERE}.ballots:BALLOTS"},
    templates=Path(__file__).with_name("templates"),
)
