"""Attacks on a server with several studies: guessing through an account of the same name, cookies of other times."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from chorale.web.sessions import WORKER_COOKIE
from test_several import OTHER, Together, delays, quick_hashing, server

__all__ = ["delays", "quick_hashing", "server"]
DEVICE = "chorale_front_device"


def test_an_account_of_the_same_name_in_another_study_buys_no_guesses(server: Together, delays: list[float]) -> None:
    server.member("rules")
    server.member("second", password=OTHER)
    assert server.sign_in(password=OTHER).status_code == 303
    for _ in range(3):
        assert {server.sign_in(password=f"guess number {number}").status_code for number in range(3)} == {401}
        assert server.sign_in(password=OTHER).status_code == 303
    assert delays == [1, 2, 4, 8, 10, 10, 10, 10], "every try counts in the study where none was right"


def test_an_annotator_who_is_called_like_the_owner_buys_no_guesses(server: Together, delays: list[float]) -> None:
    server.owner("rules", "anna")
    server.member("rules", "anna", OTHER)
    assert server.sign_in("anna", OTHER).status_code == 303
    for _ in range(3):
        assert {server.sign_in("anna", f"guess number {number}").status_code for number in range(3)} == {401}
        assert server.sign_in("anna", OTHER).status_code == 303
    assert delays == [1, 2, 4, 8, 10, 10, 10, 10]


WAYS: dict[str, Callable[[str, int], str]] = {
    "another part": lambda cookie, number: f"{cookie}|{number}",
    "a part of no study": lambda cookie, number: f"nothing~{number}|{cookie}",
    "signs that base64 skips": lambda cookie, number: cookie + "!" * number,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_known_browser_is_the_same_one_however_its_cookie_is_written(
    server: Together, delays: list[float], way: str
) -> None:
    server.member("rules")
    assert server.sign_in().status_code == 303
    cookie = server.client.cookies[DEVICE]
    tried = []
    for number in range(1, 10):
        headers = {"cookie": f"{DEVICE}={WAYS[way](cookie, number)}"}
        given = {"name": "Anna", "password": OTHER}
        tried.append(server.browser().post("/sign-in", data=given, headers=headers).status_code)
    assert 429 in tried or 1.0 in delays, "refused as one browser, or delayed as one that nobody knows"


def test_people_who_sign_in_from_one_address_do_not_wait_for_studies_they_are_not_in(
    server: Together, delays: list[float]
) -> None:
    server.member("rules")
    for _ in range(32):
        assert server.sign_in(client=server.browser()).status_code == 303
    assert delays == []


def test_a_cookie_from_when_a_study_was_served_alone_keeps_nobody_out(server: Together) -> None:
    server.member("rules")
    server.member("second")
    server.sign_in()
    for name in server.studies:
        server.enter(name)
    of = {one.path: str(one.value) for one in server.client.cookies.jar if one.name == WORKER_COOKIE}
    # Browsers send what is for a longer path first.
    both = {"cookie": f"{WORKER_COOKIE}={of['/second']}; {WORKER_COOKIE}={of['/rules']}"}
    assert "consent" in TestClient(server.app, follow_redirects=False).get("/second/", headers=both).text
