"""Navigation, next steps, and the console's tables: filtered, sorted, paged and counted by the server."""

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from chorale.engine import settling
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.model import StageState
from chorale.store import Tx, ledger, listing, participations, stages
from chorale.store.items import ITEM_ORDERS, ItemsWanted, item_ids, items_by_id
from chorale.store.listing import Window, WorkersWanted, count_items, events_page, ledger_page, workers_page
from chorale.web.console.navigation import sections
from chorale.web.console.paging import Paging
from chorale.web.links import new_staff_link, staff_link_path, study_sessions
from crowd import do, look, people
from small_study import write_small_study
from suggesting_study import write_suggesting_study
from test_console import arrive, do_work, honest, wrong
from test_console_acts import as_owner

if TYPE_CHECKING:
    from conftest import ManualClock, StudyMaker

MOVED = {
    "/console/events?kind=dropped": "/console/activity?kind=dropped",
    "/console/colleagues": "/console/team",
    "/console/desk": "/console/queue",
    "/console/recruiting/paying": "/console/payments",
}


@pytest.fixture
def busy(tmp_path: Path, clock: "ManualClock", monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_small_study(tmp_path / "study", share=0.5, fee_percent=20, applications=30)
    opened = open_study(tmp_path / "study", clock=clock)
    for number, way in enumerate([wrong, *[honest] * 4]):
        do_work(opened, clock, arrive(opened, number), way)
    settling.settle_everything(opened)
    yield opened
    opened.close()


def test_the_console_has_five_sections_and_roles_see_their_part(busy: Study) -> None:
    assert [one.name for one in sections(busy, "owner")] == ["Overview", "Items", "People", "Money", "Settings"]
    assert [one.name for one in sections(busy, "viewer")] == ["Overview", "Items", "People", "Money"]
    [only] = sections(busy, "expert")
    assert [name for _, name in only.pages] == ["Review queue", "Adjudication", "Gold"]


def test_every_page_of_the_navigation_opens_and_marks_where_it_is(busy: Study) -> None:
    client = as_owner(busy)
    for section in sections(busy, "owner"):
        for path, name in section.pages:
            page = client.get(path, follow_redirects=True)
            assert page.status_code == 200, path
            assert re.search(rf'aria-current="(?:page|true)">{section.name}</a>', page.text), path
            assert f'aria-current="page">{name}</a>' in page.text, path


def test_addresses_of_earlier_versions_lead_to_their_pages(busy: Study) -> None:
    client = as_owner(busy)
    for before, now in MOVED.items():
        answer = client.get(before)
        assert (answer.status_code, answer.headers["location"]) == (308, now)
    assert client.get("/console/items?released=yes").status_code == 200
    assert 'aria-sort="ascending"' in client.get("/console/workers?order=trust").text


def test_next_steps_come_first_and_lead_to_their_pages(busy: Study) -> None:
    client = as_owner(busy)
    page = unescape(client.get("/console").text)
    steps = re.findall(r'<li id="step-(\w+)">', page)
    assert steps[0] == "alarms" and "pay" in steps and "recruit" not in steps
    assert page.index('id="next"') < page.index('class="tiles"') < page.index('id="alarms"')
    assert "Balance due for 5 people" in page
    stage = busy.stage("meaningful")
    busy.store.write(lambda tx: stages.set_stage_state(tx, stage.id, StageState.PAUSED)).result()
    assert "1 stage is paused" in client.get("/console").text
    client.post("/console/items/meaningful/expert", data={"key": "a00000:lhs", "reason": "is it right?"})
    assert "1 answer to review" in client.get("/console").text
    viewer = TestClient(client.app, follow_redirects=False)
    viewer.get(do(busy, new_staff_link, study_sessions(busy), "viewer", "Ed", "maya"))
    shown = viewer.get("/console").text
    assert "Balance due" in shown and 'href="/console/payments">Pay people' not in shown


def test_closing_the_study_pauses_every_stage_once_and_reopening_resumes_them(busy: Study) -> None:
    client = as_owner(busy)
    assert client.post("/console/study/close", data={"reason": " "}).status_code == 422
    places = [client.post("/console/study/close", data={"reason": "done"}).headers["location"] for _ in range(2)]
    assert [place.rpartition("=")[2] for place in places] == ["2", "0"], "the second click finds nothing to pause"
    assert len(look(busy, stages.paused_stages)) == 2
    assert "Resume the 2 paused stages" in client.get("/console/study").text
    assert client.post("/console/study/reopen", data={"reason": "more"}).headers["location"].endswith("n=2")
    assert look(busy, stages.paused_stages) == set()


def test_workers_are_sorted_filtered_and_paged_by_the_database(busy: Study) -> None:
    stage = busy.stage("meaningful")
    rows = look(busy, lambda tx: participations.participation_summaries(tx, stage_name="meaningful"))
    for order in ("worker", "status", "gold", "judgments", "earned", "time", "wage", "entered"):
        for downwards in (False, True):
            seen = []
            for number in (1, 2, 3):
                wanted = WorkersWanted(stage.id, order, downwards, size=2, page=number)
                found = look(busy, partial(workers_page, wanted=wanted))
                seen += [row.worker for row in found.rows]
            assert sorted(seen) == sorted(row.worker for row in rows), (order, downwards)
            assert (found.total, found.active) == (5, 4)
    gold = WorkersWanted(stage.id, "gold", downwards=True)
    shares = [row.gold_right / row.gold_answered for row in look(busy, lambda tx: workers_page(tx, gold)).rows]
    assert shares == sorted(shares, reverse=True) and shares[-1] < 0.5
    client = as_owner(busy)
    page = client.get("/console/workers?status=dropped").text
    assert (
        page.count('id="worker-') == 1 and "1 worker</p>" in page and "removed" in page and "dropped</span>" not in page
    )
    assert "No workers match these filters" in client.get("/console/workers?find=50%25_off").text


def test_the_ledger_and_the_log_are_paged_both_ways_without_gaps(busy: Study) -> None:
    whole = [entry.id for entry in look(busy, lambda tx: list(ledger.ledger_lines(tx)))]
    older: list[int] = []
    window = Window(7)
    while True:
        page = look(busy, partial(ledger_page, window=window))
        older += [entry.id for entry in page.rows]
        assert page.count.rows == len(whole)
        if not page.has_older:
            break
        window = Window(7, before=page.rows[-1].id)
    assert older == whole
    back = look(busy, lambda tx: ledger_page(tx, Window(7, after=page.rows[0].id)))
    assert [entry.id for entry in back.rows] == whole[len(whole) - len(page.rows) - 7 : -len(page.rows)]
    assert back.has_older and back.has_newer
    who = look(busy, participations.participation_summaries)[1].worker
    only = look(busy, lambda tx: ledger_page(tx, Window(1000), kind="fee", stage_name="meaningful", pseudonym=who))
    assert only.rows and {(one.kind, one.stage, one.worker) for one in only.rows} == {("fee", "meaningful", who)}
    assert look(busy, lambda tx: ledger_page(tx, Window(5), pseudonym="w-nobody")).count.rows == 0
    removed = look(busy, lambda tx: events_page(tx, Window(10), kind="dropped", stage_name="meaningful"))
    assert [event.kind for event in removed.rows] == ["dropped"]


def test_counts_stop_at_a_limit(busy: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_COUNTED", 10)
    client = as_owner(busy)
    assert "10+ items" in client.get("/console/items?stage=meaningful").text
    assert "10+ entries" in client.get("/console/ledger").text


@pytest.mark.parametrize("order", [order for order in ITEM_ORDERS if order != "most divided"])
def test_items_are_paged_backwards_to_where_they_began(busy: Study, order: str) -> None:
    def read(tx: Tx) -> tuple[list[int], list[int]]:
        stage_id = busy.stage("meaningful").id
        whole = item_ids(tx, ItemsWanted(stage_id, order=order), 1000)
        back: list[int] = []
        after = (whole[-1][1], items_by_id(tx, [whole[-1][0]])[0].key)
        while found := item_ids(tx, ItemsWanted(stage_id, order=order, after=after, backwards=True), 5):
            back += [number for number, _ in found]
            after = (found[-1][1], items_by_id(tx, [found[-1][0]])[0].key)
        return [number for number, _ in whole], back

    whole, back = look(busy, read)
    assert len(whole) > 5 and back == whole[-2::-1]


@pytest.mark.parametrize(("most", "expected"), [(100, ["i0", "i1", "i2"]), (5, ["i0", "i1", "i10"])])
def test_items_are_in_natural_order_unless_there_are_very_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, expected: list[str]
) -> None:
    monkeypatch.setattr("chorale.store.items._MOST_BY_LENGTH", most)
    write_suggesting_study(tmp_path / "study", items=12, arms=False)
    with closing(open_study(tmp_path / "study")) as opened:

        def keys(tx: Tx, after: tuple[float | None, str] | None = None, limit: int = 3) -> list[str]:
            wanted = ItemsWanted(opened.stage("main").id, after=after)
            return [item.key for item in items_by_id(tx, [number for number, _ in item_ids(tx, wanted, limit)])]

        assert look(opened, keys) == expected
        whole = look(opened, lambda tx: keys(tx, limit=20))
        # An address without the length of the last ID, as earlier versions made them.
        assert look(opened, lambda tx: keys(tx, (None, expected[-1]), 20)) == whole[3:]


def test_next_and_previous_of_items_are_inverse_and_keep_the_filters(busy: Study) -> None:
    client = as_owner(busy)

    def keys(text: str) -> list[str]:
        return re.findall(
            r'<td class="nowrap"><input [^>]+><span class="id[^"]*"><a class="mono" [^>]+>([^<]+)</a>', text
        )

    first = unescape(client.get("/console/items?stage=meaningful&order=most+judged").text)
    [following] = re.findall(r'href="(\?[^"]+)">Next</a>', first)
    assert "order=most+judged" in following
    second = unescape(client.get(f"/console/items{following}").text)
    [previous] = re.findall(r'href="(\?[^"]+)">Previous</a>', second)
    assert keys(unescape(client.get(f"/console/items{previous}").text)) == keys(first)
    assert len(keys(first)) == 25 and not set(keys(first)) & set(keys(second))


@pytest.mark.parametrize(("sought", "found"), [("A00003", 2), ("%", 0), ("a_b", 0), ("'; --", 0), ("lhs", 25)])
def test_items_are_searched_by_text_and_id(busy: Study, sought: str, found: int) -> None:
    page = as_owner(busy).get("/console/items", params={"stage": "meaningful", "find": sought}).text
    assert page.count('name="chosen"') == found


def test_both_databases_filter_sort_and_count(make_study: "StudyMaker") -> None:
    study = make_study(share=0.5, applications=4, floor=0.0)
    for person in people(study, 3):
        for _ in range(4):
            person.judge()
    stage_id = study.stage("meaningful").id
    for order in ("worker", "status", "gold", "judgments", "answers", "earned", "time", "wage", "entered"):
        for downwards in (False, True):
            wanted = WorkersWanted(stage_id, order, downwards, status="active", find="w-")
            found = look(study, partial(workers_page, wanted=wanted))
            assert (len(found.rows), found.total, found.active) == (3, 3, 3), order
    entries = look(study, lambda tx: ledger_page(tx, Window(5), kind="base", stage_name="meaningful"))
    assert len(entries.rows) == 5 and entries.has_older and entries.count.rows == 12
    newer = look(study, lambda tx: ledger_page(tx, Window(5, after=entries.rows[-1].id)))
    assert [one.id for one in newer.rows] == [one.id for one in entries.rows[:-1]] and not newer.has_newer
    assert look(study, lambda tx: events_page(tx, Window(2), kind="arrived")).count.rows == 3
    for sought, count in (("A00001", 2), ("100%", 0), ("a00001:l", 1)):
        wanted_items = ItemsWanted(stage_id, find=sought)
        assert look(study, partial(count_items, wanted=wanted_items)).rows == count
        assert len(look(study, partial(item_ids, wanted=wanted_items, limit=9))) == count


@pytest.mark.parametrize(
    ("number", "total", "places", "last"),
    [(1, 0, (0, 0), 1), (1, 3, (1, 3), 1), (2, 25, (11, 20), 3), (3, 25, (21, 25), 3), (9, 25, (0, 0), 3)],
)
def test_pages_know_their_places(number: int, total: int, places: tuple[int, int], last: int) -> None:
    paging = Paging(number, total, 10)
    assert ((paging.first, paging.end), paging.last) == (places, last)
    assert len(paging.rows(range(total))) == (places[1] - places[0] + 1 if places[1] else 0)


def test_experts_have_their_pages_for_tabs(busy: Study) -> None:
    client = TestClient(as_owner(busy).app, follow_redirects=False)
    client.get(staff_link_path(study_sessions(busy), "expert", "ada"))
    page = client.get("/console/queue").text
    assert 'aria-current="page">Review queue</a>' in page and "sub-nav" not in page and ">Overview</a>" not in page


def headings(page: str, table: str) -> list[str]:
    """The column headings of the table with this label."""
    head = page[page.index(f'aria-label="{table}') :].split("</thead>", maxsplit=1)[0]
    return [re.sub(r"<.*?>|[▲▼]", "", cell).strip() for cell in re.findall(r"<th .*?>(.*?)</th>", head, re.DOTALL)]


@pytest.mark.parametrize(("table", "label"), [("items", "Items of"), ("workers", "Workers of")])
def test_columns_are_chosen_without_scripts_and_the_choice_is_kept(busy: Study, table: str, label: str) -> None:
    client = as_owner(busy)
    page = unescape(client.get(f"/console/{table}").text)
    form = page[page.index(f'action="/console/columns/{table}"') :].split("</form>")[0]
    assert re.findall(r"checked> (.*?)</label>", form) == headings(page, label)[1:]
    look = re.escape('class="table table-cards') + "[a-z -]*"
    assert not re.search(f"{look} hide-", page)
    count, query = len(headings(page, label)), "stage=meaningful&order=key"
    answer = client.get(f"/console/columns/{table}", params={"count": count, "show": [2, 4], "query": query})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/console/{table}?{query}")
    for again in (f"/console/{table}", f"/console/{table}?part=live"):
        shown = client.get(again).text
        hidden = [number for number in range(3, count + 1) if number != 4]
        assert re.search(f'{look} {" ".join(f"hide-{number}" for number in hidden)}"', shown)
    client.get(f"/console/columns/{table}", params={"count": 6, "show": [2, 3, 4, 5, 6]})
    assert not re.search(f"{look} hide-", client.get(f"/console/{table}").text)


def test_a_choice_of_columns_leads_nowhere_else(busy: Study) -> None:
    client = as_owner(busy)
    assert client.get("/console/columns/team?count=3").status_code == 422
    answer = client.get("/console/columns/items", params={"count": 2, "show": [2], "query": "\r\nset-cookie: a=b"})
    assert answer.headers["location"].startswith("/console/items?") and "\n" not in answer.headers["location"]
    client.cookies.set("columns-items", '1.99.3"><b>')
    assert 'class="table hide-' not in client.get("/console/items").text
