"""Erasing a person: nothing of them is left, everything else is as it was, and verify understands."""

import json
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from sqlalchemy import text
from starlette.testclient import TestClient

from asking import FIRST_SET, SECOND_SET, write_qasrl_study
from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine import adjudicating, entering, managing, recruiting, sessions, work
from chorale.engine.forgetting import BY_REQUESTER, BY_WORKER, ErasureRequest, Forgotten, forget
from chorale.engine.managing import Act
from chorale.engine.opening import open_study
from chorale.engine.retention import act, act_daily, due
from chorale.engine.running import Study
from chorale.exchange import payout_files
from chorale.exchange.export import GENERAL_FORMATS, write_export
from chorale.metrics.resampling import Resampling
from chorale.model import Refusal, UserError
from chorale.report import ReportOptions, study_report
from chorale.store import Tx, erasing, events, labels, payments, submissions
from chorale.store.items import all_items
from chorale.store.workers import find_worker
from chorale.web import staff
from chorale.web.app import create_app
from chorale.web.links import new_staff_link, study_sessions
from conftest import ManualClock, StudyMaker
from crowd import Person, do, look, people
from small_study import write_small_study
from test_form import field_toml, write_form_study

SECRET_ID = "5f00bavirtuallyunique"
SAID = "words-nobody-else-wrote"


def busy_study(make_study: StudyMaker) -> tuple[Study, list[Person]]:
    """Three people have judged everything, so that the second stage has items and labels rest on all of them."""
    study = make_study(applications=3, judgments="3", share=0.3)
    crowd = [Person(study, SECRET_ID), *people(study, 2)]
    for person in crowd:
        while (offer := person.next()).lease is not None:
            person.submit(offer)
    act = Act("owner", f"because of {SAID}", "key-1")
    do(study, managing.send, crowd[0].pseudonym, f"About {SAID}", f"Dear {SAID}", act)
    do(study, managing.give_bonus, crowd[0].pseudonym, study.stage("meaningful"), 50, act)
    return study, crowd


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def everything_in(study: Study) -> str:
    """Every value of every table."""

    def dump(tx: object) -> str:
        names = "SELECT name FROM sqlite_master WHERE type = 'table'"
        if study.store.dialect == "postgresql":
            names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        run = tx.execute  # type: ignore[attr-defined]
        tables = [row[0] for row in run(text(names))]
        return "\n".join(str(row) for table in tables for row in run(text(f"SELECT * FROM {table}")))

    return look(study, dump)


def test_nothing_of_somebody_is_left(make_study: StudyMaker, tmp_path: Path) -> None:
    study, crowd = busy_study(make_study)
    gone = crowd[0]
    do(study, sessions.begin, look(study, lambda tx: find_worker(tx, gone.id)))
    before = everything_in(study)
    assert SECRET_ID in before and SAID in before
    assert differences(study) == []
    done = forget(study, gone.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    assert done.identity and done.answers and done.erased["ids"] == 1 and done.erased["answers"] > 3
    left = everything_in(study)
    assert SECRET_ID not in left and SAID not in left
    count = f"SELECT count(*) FROM worker_session WHERE worker_id = {gone.id}"
    assert look(study, lambda tx: tx.execute(text(count)).scalar()) == 0
    checked = look(study, lambda tx: verify(tx, study))
    assert checked.differences == []
    assert any("the erased answers of 1 worker: gold scores" in one for one in checked.unchecked)
    assert "sessions that were erased with the identity of 1 worker" in checked.unchecked
    assert not any("sessions were not recorded" in one for one in checked.unchecked)
    answers = look(
        study, lambda tx: tx.execute(text(f"SELECT DISTINCT answer FROM response WHERE worker_id = {gone.id}"))
    )
    assert answers.scalars().all() == ["null"]
    for name in GENERAL_FORMATS:
        if name in ("ledger", "mturk", "arms"):  # the ledger keeps the pay; the others need tasks or arms of their own
            continue
        written = tmp_path / f"export-{name}"
        write_export(study, name, written)
        assert gone.pseudonym.encode() not in written.read_bytes(), name
    # Their labels are settled again, and others are asked instead of them.
    with pytest.raises(Refusal):
        gone.next()
    newcomer = Person(study, "somebody-else")
    assert newcomer.next().status == "item"


def test_what_others_made_of_somebodys_words_goes_with_them(tmp_path: Path) -> None:
    """Before, a consolidated question stayed in the answer of the person who kept it, and verify found a difference."""
    study = open_study(write_qasrl_study(tmp_path / "study", 1))
    with closing(study):
        ada, bob, cy = (Person(study, name) for name in ("ada", "bob", "cy"))
        ada.judge(FIRST_SET, "writing")
        bob.judge(SECOND_SET, "writing")
        cy.judge(FIRST_SET, "consolidation")
        paid = cy.next("consolidation").progress
        words = '"prep":"to"'  # of "Who did someone sell something to?", as it is stored
        assert everything_in(study).count(words) > 5
        assert differences(study) == []
        forget(study, ada.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
        assert words not in everything_in(study)
        checked = look(study, lambda tx: verify(tx, study))
        assert checked.differences == []
        assert any("1 answer to items made from erased answers was erased" in one for one in checked.unchecked)
        assert cy.next("consolidation").progress == paid, "they keep what they earned"
        # Somebody else writes in Ada's place, and all of it is put together again.
        Person(study, "eve").judge(SECOND_SET, "writing")
        Person(study, "fay").judge(SECOND_SET, "consolidation")
        assert differences(study) == []
        tamper(study, "UPDATE response SET answer = 'null', erased_at = 1 WHERE worker_id = :who", who=bob.id)
        assert f"worker {bob.pseudonym}: the answers are missing without a recorded erasure" in differences(study)


def test_what_somebody_wrote_is_gone_from_labels_and_decisions(tmp_path: Path, clock: ManualClock) -> None:
    """Texts are collected in the label, and a reviewer may have chosen one: both are in the record."""
    fields = field_toml(name="tone", kind="choice", ask="Which?", options=["kind", "rude"])
    fields += field_toml(name="why", kind="text", ask="Why?")
    write_form_study(tmp_path, fields, extra="judgments = 2", rows=json.dumps({"id": "i1", "text": "Wait."}) + "\n")
    with closing(open_study(tmp_path, clock=clock)) as study:
        ada, ben = Person(study, "ada"), Person(study, "ben")
        ada.submit(ada.next("only"), {"tone": "kind", "why": SAID})
        ben.submit(ben.next("only"), {"tone": "rude", "why": "It orders."})
        decision = {"tone": "rude", "why": SAID}
        do(study, adjudicating.decide, study.stage("only"), "i1", decision, f"As they say: {SAID}.", "rae")
        # As where an item is made gold, or an expert is asked about it.
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        crowd = {"by": "rae", "crowd": {"tone": "rude", "why": [SAID, "It orders."]}}
        do(study, lambda tx, _: events.record(tx, clock(), "asked expert", crowd, item_id=item.id))
        assert differences(study) == [] and everything_in(study).count(SAID) > 4
        clock.pass_minutes(1)
        forget(study, ada.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
        assert SAID not in everything_in(study)
        assert differences(study) == []
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        assert item.decision == {"tone": "rude"}, "what nobody wrote stays decided"
        (event,) = look(study, lambda tx: events.recent(tx, 9, kinds=("adjudicated",)))
        assert event.evidence["before"].keys() == {"tone"} and event.evidence["decision"] == {"tone": "rude"}
        back = json.dumps({**event.evidence, "before": {"tone": "kind", "why": SAID}})
        tamper(study, "UPDATE event SET evidence = :back WHERE kind = 'adjudicated'", back=back, who=ada.id)
        assert any("(adjudicated): its label may still contain erased text" in one for one in differences(study))


def test_verify_finds_a_label_with_words_that_were_erased(make_study: StudyMaker) -> None:
    study, crowd = busy_study(make_study)
    forget(study, crowd[0].id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    labelled = look(study, lambda tx: events.recent(tx, 1000, kinds=("labelled",)))
    rests = next(one for one in labelled if any(each.get("erased") for each in one.evidence["judgments"]))
    assert rests.evidence["answer"] is None
    back = json.dumps({**rests.evidence, "answer": "yes"})
    tamper(study, "UPDATE event SET evidence = :back WHERE id = :id", back=back, id=rests.id, who=crowd[0].id)
    assert f"event {rests.id} (labelled): its label may still contain erased text" in differences(study)


def test_a_decision_that_was_somebodys_own_answer_goes_with_it(tmp_path: Path, clock: ManualClock) -> None:
    fields = field_toml(name="why", kind="text", ask="Why?")
    write_form_study(tmp_path, fields, extra="judgments = 2", rows=json.dumps({"id": "i1", "text": "Wait."}) + "\n")
    with closing(open_study(tmp_path, clock=clock)) as study:
        ada, ben = (Person(study, name) for name in ("ada", "ben"))
        ada.submit(ada.next("only"), {"why": SAID})
        ben.submit(ben.next("only"), {"why": "It orders."})
        do(study, adjudicating.decide, study.stage("only"), "i1", {"why": SAID}, "Clear.", "rae")
        forget(study, ada.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        assert item.decision is None and SAID not in everything_in(study) and differences(study) == []
        # The report says why they were removed; it had no words for it.
        section = study_report(study, tmp_path, tmp_path, ReportOptions(charts=False), Resampling(False))
        assert {one.name: one.json for one in section.sections}["fields"]["reviewed"] == []


def test_an_expert_who_is_erased_is_named_nowhere_and_their_link_is_revoked(tmp_path: Path, clock: ManualClock) -> None:
    """Before, only their worker was erased: their name stayed in the log, and their link went on working."""
    name = "Zebulon Quirk"
    fields = field_toml(name="tone", kind="choice", ask="Which?", options=["kind", "rude"])
    write_form_study(tmp_path, fields, extra="judgments = 2", rows=json.dumps({"id": "i1", "text": "Wait."}) + "\n")
    with closing(open_study(tmp_path, clock=clock)) as study:
        for person in people(study, 2):
            person.submit(person.next("only"), {"tone": "kind"})
        do(study, new_staff_link, study_sessions(study), "expert", name, "maya")
        do(study, staff.enter_by_link, name, "expert")
        expert = do(study, entering.arrive_as_expert, name)
        do(study, adjudicating.decide, study.stage("only"), "i1", {"tone": "rude"}, "It orders.", name)
        do(study, staff.revoke, name, "expert", "maya", f"{name} has left")
        assert everything_in(study).count(name) > 6
        forget(study, expert.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
        assert name not in everything_in(study) and differences(study) == []
        (event,) = look(study, lambda tx: events.recent(tx, 9, kinds=("adjudicated",)))
        assert (event.evidence["by"], event.evidence["decision"]) == (expert.pseudonym, {"tone": "rude"})
        with pytest.raises(Refusal, match="was revoked"):
            do(study, staff.enter_by_link, name, "expert")
        with pytest.raises(UserError, match="Give the expert another name"):
            do(study, new_staff_link, study_sessions(study), "expert", name, "maya")
        assert look(study, lambda tx: staff.colleagues(tx, study)) == []


def tamper(study: Study, statement: str, **values: object) -> None:
    """Change what is append-only, as somebody with the file could."""

    def change(tx: Tx) -> None:
        number = erasing.begin(tx, int(str(values["who"])), "nobody", 1, identity=False, answers=False)
        tx.execute(text(statement), values)
        erasing.end(tx, number, {}, 1)

    study.store.do(change)


def test_items_that_come_back_keep_what_others_answered(make_study: StudyMaker) -> None:
    """Derived from results, they are emptied while these are missing; verify took that for a difference."""
    study = make_study(applications=2, judgments="2", share=0.0)
    crowd = people(study, 4)  # nobody gets both sides of an application
    for person in crowd:
        while (offer := person.next()).lease is not None:
            person.submit(offer, "yes")
    answered = 0
    for judge in (Person(study, "one-judge"), Person(study, "another-judge")):
        while (offer := judge.next("entailment")).lease is not None:
            judge.submit(offer)
        answered += judge.next("entailment").progress.answered
    assert answered > 0 and differences(study) == []
    forget(study, crowd[0].id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    assert differences(study) == []
    of_stage = "JOIN stage ON stage.id = stage_id WHERE name = 'entailment'"
    kept = f"SELECT count(*) FROM response {of_stage} AND erased_at IS NULL"
    assert look(study, lambda tx: tx.execute(text(kept)).scalar()) == answered
    newcomer = Person(study, "newcomer")
    while (offer := newcomer.next()).lease is not None:
        newcomer.submit(offer, "yes")
    assert differences(study) == []
    counted = (
        "SELECT sum(counted) FROM item JOIN stage ON stage.id = stage_id WHERE name = 'entailment' AND payload <> '{}'"
    )
    assert look(study, lambda tx: tx.execute(text(counted)).scalar()) == answered


def test_answers_can_stay_without_whose_they_are(make_study: StudyMaker, tmp_path: Path) -> None:
    study, crowd = busy_study(make_study)
    rows = write_export(study, "jsonl", tmp_path / "before.jsonl")
    forget(study, crowd[0].id, ErasureRequest(BY_REQUESTER, answers=False, even_unpaid=True))
    left = everything_in(study)
    assert SECRET_ID not in left and SAID not in left
    assert differences(study) == []
    assert write_export(study, "jsonl", tmp_path / "after.jsonl") == rows
    assert (tmp_path / "after.jsonl").read_text() == (tmp_path / "before.jsonl").read_text()
    # With the same platform ID they are somebody new.
    assert Person(study, SECRET_ID).pseudonym != crowd[0].pseudonym


def test_who_is_owed_something_stays_known_until_paid(make_study: StudyMaker) -> None:
    study, crowd = busy_study(make_study)
    done = forget(study, crowd[0].id, ErasureRequest(BY_WORKER, answers=True))
    assert not done.identity and done.owed > 0
    assert SECRET_ID in everything_in(study)
    assert differences(study) == []
    # They come again by the same link, and are who they were: withdrawn.
    again = do(study, entering.arrive, "prolific", SECRET_ID, {})
    assert again.pseudonym == crowd[0].pseudonym
    do(study, entering.consent, again.id)
    with pytest.raises(Refusal):
        crowd[0].next()


def test_who_withdraws_before_the_file_that_pays_them_is_written_stays_known(make_study: StudyMaker) -> None:
    """Before, a payout that was interrupted had a line without an ID afterwards, so that nobody could pay it."""
    study, crowd = busy_study(make_study)
    number = do(study, payout_files.plan_file)
    assert number is not None
    assert not forget(study, crowd[0].id, ErasureRequest(BY_WORKER, answers=True)).identity
    assert not act_daily(study)
    lines = look(study, lambda tx: payout_files.lines_of(tx, number))
    assert SECRET_ID in [line.id for line in lines]
    do(study, payout_files.file_written, number)
    assert [one.worker for one in act(study)] == [crowd[0].pseudonym]
    assert SECRET_ID not in everything_in(study) and differences(study) == []


def test_one_account_is_as_it_is_among_all(make_study: StudyMaker) -> None:
    study, crowd = busy_study(make_study)
    everybody = look(study, payments.accounts)
    assert {one.worker_id for one in everybody} == {one.id for one in crowd}
    for account in everybody:
        assert look(study, partial(payments.accounts, worker_id=account.worker_id)) == [account]
    assert look(study, lambda tx: payments.accounts(tx, 10_000)) == []


def test_a_held_item_is_free_at_once(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="1")
    first, second, third = people(study, 3)
    held = first.next()
    assert second.next().status == "item"
    assert third.next().status == "wait"
    forget(study, first.id, ErasureRequest(BY_WORKER, answers=True))
    assert third.next().status == "item"
    with pytest.raises(Refusal):
        first.submit(held)
    assert differences(study) == []


def test_forgetting_twice_is_once(make_study: StudyMaker) -> None:
    study, crowd = busy_study(make_study)
    request = ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True)
    forget(study, crowd[0].id, request)
    again = forget(study, crowd[0].id, request)
    assert isinstance(again, Forgotten) and not again.erased
    assert differences(study) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE response SET answer = 'null'",
        "UPDATE event SET evidence = '{}'",
        "UPDATE entry SET reason = ''",
        "UPDATE grade SET reasons = '[]'",
        "DELETE FROM erasure",
        "UPDATE erasure SET answers = (1 = 0)",
        "UPDATE entry SET amount = 1",
    ],
)
def test_nothing_else_opens_what_is_append_only(make_study: StudyMaker, statement: str) -> None:
    study, crowd = busy_study(make_study)
    forget(study, crowd[0].id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    with pytest.raises(Exception, match="append-only"):
        do(study, lambda tx, _: tx.execute(text(statement)))


@pytest.mark.parametrize("table", ["response", "entry", "epoch", "erasure"])
def test_verify_finds_records_that_nothing_keeps_from_being_changed(make_study: StudyMaker, table: str) -> None:
    study, _ = busy_study(make_study)
    assert look(study, lambda tx: verify(tx, study)).differences == []
    on_postgresql = f"ALTER TABLE {table} DISABLE TRIGGER {table}_append_only"
    on_sqlite = f"DROP TRIGGER {table}_no_delete"
    statement = on_sqlite if study.store.dialect == "sqlite" else on_postgresql
    do(study, lambda tx, _: tx.execute(text(statement)) and None)
    missing = f"table {table}: the triggers that refuse changes are missing, so its rows could be changed"
    assert look(study, lambda tx: verify(tx, study)).differences == [missing]


def test_not_even_an_erasure_changes_money(make_study: StudyMaker) -> None:
    study, crowd = busy_study(make_study)

    def steal(tx: object, _: Study) -> None:
        erasing.begin(tx, crowd[0].id, "somebody", 1, identity=True, answers=True)  # type: ignore[arg-type]
        tx.execute(text("UPDATE entry SET amount = 1"))  # type: ignore[attr-defined]

    with pytest.raises(Exception, match="append-only"):
        do(study, steal)


def run(*arguments: object, typed: str = "") -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed)
    assert done.exit_code == 0, done.output
    return done.output


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("study.db*"))


def test_the_command_leaves_no_byte_in_the_file(tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=20)
    with closing(open_study(folder, None, clock)) as study:
        for person in (Person(study, SECRET_ID), *people(study, 20)):
            person.judge()
    assert SECRET_ID.encode() in bytes_of(folder)
    output = run("forget", folder, "--yes", "--even-unpaid", typed=f"{SECRET_ID}\n")
    assert "Erased data of w-" in output and "1 platform ID" in output and SECRET_ID not in output
    assert SECRET_ID.encode() not in bytes_of(folder)
    assert json.loads(run("verify", folder, "--json"))["ok"]
    assert "Not checked: the erased answers of 1 worker" in run("verify", folder)


def test_the_command_says_why_it_keeps_an_identity(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder)
    with closing(open_study(folder)) as study:
        person = people(study, 1)[0]
        person.judge()
        name = person.pseudonym
        told = run("forget", folder, name, "--yes")
        assert "1 answer" in told and "They are owed $0.03, so their identity is kept" in told
        # Nothing is owed any more, and the file that names them is not written yet.
        do(study, payout_files.plan_file)
        told = run("forget", folder, name, "--yes")
        assert f"Erased data of {name}: no further data.\nA payment to them is not complete, so their identity" in told
        told = run("forget", folder, name, "--yes", "--even-unpaid")
        assert "platform ID" in told and "identity is kept" not in told
        assert f"Erased data of {name}: none, because everything" in run("forget", folder, name, "--yes")


def test_a_person_gets_all_there_is_about_them(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=3)
    with closing(open_study(folder)) as study:
        person = Person(study, SECRET_ID)
        person.judge("no")
    out = tmp_path / "person.json"
    run("person", folder, "--export", out, typed=f"{SECRET_ID}\n")
    data = json.loads(out.read_text())
    assert data["identities"] == [{"platform": "prolific", "id": SECRET_ID}]
    assert (len(data["consents"]), data["answers"][0]["answer"], data["payments"][0]["amount"]) == (1, "no", 3)


def test_a_copy_of_a_persons_data_has_their_address_and_is_for_nobody_else(tmp_path: Path) -> None:
    """Before, the address of an invitation and reasons were missing, and every user of the machine could read it."""
    folder, out = tmp_path / "study", tmp_path / "person.json"
    write_small_study(folder, applications=3)
    open_study(folder).close()
    (tmp_path / "people.csv").write_text("email\nada@example.org\n")
    run("invite", folder, "--emails", tmp_path / "people.csv", "--out", tmp_path / "links.csv")
    link = (tmp_path / "links.csv").read_text().split()[-1]
    with closing(open_study(folder)) as study, TestClient(create_app(study), follow_redirects=False) as site:
        assert site.get(link[link.index("/join/") :].split(",")[0]).status_code == 303
        site.post("/consent", data={"agree": "yes"})
        [worker] = look(study, lambda tx: tx.execute(text("SELECT pseudonym FROM worker")).scalars().all())
        do(study, managing.send, worker, "About you", "Dear you", Act("owner", "for patience", "key-1"))
    run("person", folder, worker, "--export", out)
    data = json.loads(out.read_text())
    assert data["email_addresses"] == ["ada@example.org"]
    assert "for patience" in [one["reason"] for one in data["log"]]
    assert out.stat().st_mode & 0o077 == 0
    again = CliRunner().invoke(app, ["person", str(folder), worker, "--export", str(out)])
    assert again.exit_code == 2 and "Add --force" in again.output
    nowhere = CliRunner().invoke(app, ["person", str(folder), worker, "--export", str(tmp_path / "no" / "where.json")])
    assert nowhere.exit_code == 2 and "there is no folder" in nowhere.output


def test_copies_that_a_restore_left_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=3)
    with closing(open_study(folder)) as study:
        name = Person(study, SECRET_ID).pseudonym
    run("backup", folder, tmp_path / "backup")
    run("restore", folder, tmp_path / "backup", "--replace")
    [kept] = folder.glob("study.db.replaced-*")
    assert kept.name in run("forget", folder, name, "--yes")


def test_days_count_from_the_last_sign_in(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=3, pay=0)
    rule = study.settings.retention.model_copy(update={"identities_days": 30})
    study = replace(study, settings=study.settings.model_copy(update={"retention": rule}))
    person = Person(study, SECRET_ID)
    clock.pass_minutes(20 * 24 * 60)
    do(study, sessions.begin, look(study, lambda tx: find_worker(tx, person.id)))
    clock.pass_minutes(29 * 24 * 60)
    assert look(study, lambda tx: due(tx, study)) == []
    clock.pass_minutes(24 * 60)
    assert [one.worker for one in look(study, lambda tx: due(tx, study))] == [person.pseudonym]


def test_retention_acts_by_its_dates(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=3, pay=0)
    rule = study.settings.retention.model_copy(update={"identities_days": 30, "answers_days": 60})
    study = replace(study, settings=study.settings.model_copy(update={"retention": rule}))
    early = Person(study, SECRET_ID)
    early.judge()
    clock.pass_minutes(29 * 24 * 60)
    late = Person(study, "late-comer")
    late.judge()
    assert act_daily(study) == []
    clock.pass_minutes(24 * 60)
    assert [(one.worker, one.identity, one.answers) for one in act_daily(study)] == [(early.pseudonym, True, False)]
    assert SECRET_ID not in everything_in(study) and "late-comer" in everything_in(study)
    clock.pass_minutes(60)
    assert not act_daily(study)
    clock.pass_minutes(30 * 24 * 60)
    assert {(one.worker, one.answers) for one in act_daily(study)} == {(early.pseudonym, True), (late.pseudonym, False)}
    assert differences(study) == []
    assert look(study, lambda tx: due(tx, study)) == []


def test_retention_updates_no_labels_where_nothing_was_erased(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=3, share=0.5, floor=0.0)
    person = Person(study, SECRET_ID)
    while not look(study, labels.unsettled):
        person.judge()
    assert act_daily(study) == []
    assert look(study, labels.unsettled)
    forget(study, person.id, ErasureRequest(BY_REQUESTER, answers=True))
    clock.pass_minutes(24 * 60)
    act_daily(study)
    assert look(study, labels.unsettled) == []


def test_identities_wait_for_the_last_payment(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=3)
    rule = study.settings.retention.model_copy(update={"identities_days": 1})
    study = replace(study, settings=study.settings.model_copy(update={"retention": rule}))
    Person(study, SECRET_ID).judge()
    clock.pass_minutes(3 * 24 * 60)
    assert act_daily(study) == []
    assert SECRET_ID in everything_in(study)


def test_withdrawing_takes_two_steps_and_is_final(make_study: StudyMaker) -> None:
    study = make_study(applications=3)
    with TestClient(create_app(study), follow_redirects=False) as site:
        site.get("/join", params={"PROLIFIC_PID": "one"})
        site.post("/consent", data={"agree": "yes"})
        assert "/withdraw" in site.get("/").text
        token = site.post("/api/stages/meaningful/next", json={}).json()["assignment"]["id"]
        answer = {"key": "key-00000001", "answer": "yes"}
        assert site.post(f"/api/assignments/{token}/submit", json=answer).status_code == 200
        held = site.post("/api/stages/meaningful/next", json={}).json()["assignment"]["id"]
        page = site.get("/withdraw").text
        assert "You will still be paid $0.03" in page and "Your answers are erased" in page
        assert site.post("/withdraw", data={}).status_code == 422
        assert site.post("/api/stages/meaningful/next", json={}).json()["assignment"]["id"] == held
        assert site.post("/withdraw", data={"sure": "yes"}).status_code == 303
        assert "You have left this study" in site.get("/").text
        # Before, they were asked to accept the consent form, and told that they had answered too badly.
        for request in ("stages/meaningful/next", f"assignments/{held}/submit"):
            refused = site.post(f"/api/{request}", json=answer)
            assert (refused.status_code, refused.json()["error"]["code"]) == (410, "participation_lost")
            assert "Your data have been erased as described" in refused.json()["error"]["message"]
        site.post("/consent", data={"agree": "yes"})
        assert "You have left this study" in site.get("/").text
        assert (
            site.post("/withdraw", data={"sure": "yes"}, headers={"Origin": "https://evil.example"}).status_code == 403
        )
    assert differences(study) == []


def test_the_page_says_that_an_id_is_kept_while_a_payment_is_under_way(make_study: StudyMaker) -> None:
    """Before, it said that the ID is erased at once, because nothing was owed any more."""
    study = make_study(applications=3)
    with TestClient(create_app(study), follow_redirects=False) as site:
        site.get("/join", params={"PROLIFIC_PID": "one"})
        site.post("/consent", data={"agree": "yes"})
        token = site.post("/api/stages/meaningful/next", json={}).json()["assignment"]["id"]
        site.post(f"/api/assignments/{token}/submit", json={"key": "key-00000001", "answer": "yes"})
        number = do(study, payout_files.plan_file)
        assert number is not None
        later = "Once you have been paid, we erase your ID on the platform you came from"
        page = site.get("/withdraw").text
        assert later in page and "You will still be paid" not in page
        assert "<li>We erase your ID" not in page
        site.post("/withdraw", data={"sure": "yes"})
        page = site.get("/").text
        assert "You have left this study" in page and later in page
        do(study, payout_files.file_written, number)
        assert act(study)
        assert later not in site.get("/").text


def test_late_answers_of_somebody_who_withdrew_are_not_taken(make_study: StudyMaker, clock: ManualClock) -> None:
    """Before, an item whose time was up could still be answered, if the answers of those who withdraw are kept."""
    study = make_study(applications=3)
    person = Person(study, SECRET_ID)
    person.judge()
    late = person.next()
    clock.pass_minutes(24 * 60)
    assert do(study, work.expire_leases) == 1
    forget(study, person.id, ErasureRequest(BY_WORKER, answers=False))
    with pytest.raises(Refusal, match="erased as described"):
        person.submit(late)
    assert differences(study) == []


def test_an_open_tab_of_somebody_who_was_erased_is_told_so(make_study: StudyMaker) -> None:
    """Before, it read that the study was reset, and asked them to join again."""
    study = make_study(applications=3, pay=0)
    with TestClient(create_app(study), follow_redirects=False) as site:
        site.get("/join", params={"PROLIFIC_PID": "one"})
        site.post("/consent", data={"agree": "yes"})
        assert site.post("/api/stages/meaningful/next", json={}).status_code == 200
        assert site.post("/withdraw", data={"sure": "yes"}).status_code == 303
        refused = site.post("/api/stages/meaningful/next", json={})
        page = site.get("/").text
    assert "You have left this study" in page and "Did you get an invitation?" not in page
    # The page then shows an unsent answer as not accepted, and does not keep it to send it later.
    assert (refused.status_code, refused.json()["error"]["code"]) == (410, "participation_lost")
    assert "Your data have been erased" in refused.json()["error"]["message"]
    assert "reset" not in refused.text and "again" not in refused.text


def test_a_platform_does_not_bring_somebody_back(make_study: StudyMaker) -> None:
    study = make_study(applications=3, pay=0)
    person = Person(study, SECRET_ID)

    def submissions_there(tx: Tx, _: Study) -> None:
        submissions.plan_study(tx, "main", "m", 100, 5, {}, ("A", "B"), 1)
        submissions.note_arrival(tx, "session-1", "main", SECRET_ID, person.id, 1)

    do(study, submissions_there)
    forget(study, person.id, ErasureRequest(BY_REQUESTER, answers=True))
    row = look(study, lambda tx: submissions.study_called(tx, "main"))
    assert row is not None
    do(
        study,
        recruiting._take_over,
        row,
        SimpleNamespace(id="session-1", participant=SECRET_ID, status="APPROVED", code=None),
    )
    left = everything_in(study)
    assert SECRET_ID not in left and "session-1" not in left
