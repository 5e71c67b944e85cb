"""A small study that finds its people on Prolific, and what people there do."""

from pathlib import Path

from starlette.testclient import TestClient

from prolific_stand_in import StandIn
from small_study import write_small_study

PROLIFIC = """
[prolific]
[[prolific.study]]
name = "main"
description = "Say whether short phrases mean something."
places = {places}
minutes = 10
reward = {reward}
stages = ["meaningful"]
{extra}
"""


def write_prolific_study(
    folder: Path, *, places: int = 20, reward: int = 5, extra: str = "", applications: int = 12, gold: int = 0
) -> None:
    write_small_study(folder, applications=applications, gold=max(2, gold), judgments="20", fee_percent=33.33)
    toml = (folder / "study.toml").read_text()
    told = PROLIFIC.format(places=places, reward=reward, extra=extra)
    (folder / "study.toml").write_text(toml.replace("[pay]\n", told + "\n[pay]\n"))


def participant(number: int) -> str:
    return f"{0xFEED:08x}{number:016x}"


def come(site: TestClient, world: StandIn, study_id: str, number: int, answers: int) -> str:
    """Somebody comes from Prolific, agrees and answers; their submission there."""
    submission = world.arrive(study_id, participant(number))
    site.cookies.clear()
    visit = {"PROLIFIC_PID": participant(number), "STUDY_ID": study_id, "SESSION_ID": submission}
    assert site.get("/join", params=visit).status_code == 200
    site.post("/consent", data={"agree": "yes"})
    work(site, answers)
    return submission


def work(site: TestClient, answers: int) -> None:
    for _ in range(answers):
        offer = site.post("/api/stages/meaningful/next").json()
        body = {"key": f"key-{offer['assignment']['id']}"[:60], "answer": "yes"}
        told = site.post(f"/api/assignments/{offer['assignment']['id']}/submit", json=body)
        assert told.json()["status"] == "accepted", told.text
