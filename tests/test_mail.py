"""E-mail: invitations and results, each sent once, to nobody who has unsubscribed."""

import json
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError
from starlette.testclient import TestClient

from chorale.cli import app
from chorale.engine import arrivals
from chorale.engine.forgetting import ErasureRequest, forget
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.model import MessageState, UserError
from chorale.model.mail_settings import MailSettings
from chorale.platforms.smtp import smtp_connection
from chorale.store import Tx, invitations, mail, settings, workers
from chorale.store.messages import add_message
from chorale.web.app import create_app
from chorale.web.mailing import LONGEST_WAIT, send_mail
from conftest import ManualClock
from crowd import Person, do, look
from small_study import write_small_study
from smtp_stand_in import MailServer, mail_server

SITE = "https://study.example.org"
CONNECTION = "chorale.web.mailing.smtp_connection"
PEOPLE = ("ada@example.org", "bo@example.org")


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, server: MailServer) -> Path:
    write_small_study(tmp_path)
    file = tmp_path / "study.toml"
    where = f'[mail]\nhost = "127.0.0.1"\nport = {server.port}\nsecurity = "none"\nsender = "team@uni.example"\n'
    file.write_text(file.read_text().replace("[pay]", f"{where}[pay]"))
    (tmp_path / "people.csv").write_text("email\n" + "\n".join(PEOPLE))
    return tmp_path


@pytest.fixture
def study(folder: Path, clock: ManualClock) -> Iterator[Study]:
    yield from opened_study(folder, None, clock)


@pytest.fixture
def study_on_either(folder: Path, database: str | None, clock: ManualClock) -> Iterator[Study]:
    yield from opened_study(folder, database, clock)


def opened_study(folder: Path, database: str | None, clock: ManualClock) -> Iterator[Study]:
    opened = open_study(folder, database, clock)
    do(opened, lambda tx, _: settings.set_setting(tx, "site", SITE))
    yield opened
    opened.close()


def invite(study: Study) -> list[str]:
    """Queue an invitation for everybody; what their links carry."""

    def queue(tx: Tx, study: Study) -> list[str]:
        nonces = arrivals.invite_addresses(tx, study, PEOPLE, None, "the test")
        mail.queue_invitations(tx, nonces, study.clock())
        return nonces

    return do(study, queue)


def chorale(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def unsubscribe_path(letter: EmailMessage) -> str:
    return str(letter["List-Unsubscribe"]).strip("<>").removeprefix(SITE)


def test_invitations_are_sent_once_with_a_link_of_ones_own(study: Study, server: MailServer) -> None:
    nonces = invite(study)
    assert send_mail(study) == {"sent": 2}
    assert invite(study) == nonces and send_mail(study) == {}
    assert server.recipients() == [*PEOPLE]
    letters = [letter for _, letter in server.taken]
    assert str(letters[0]["From"]) == "A small study <team@uni.example>" and letters[0]["List-Unsubscribe-Post"]
    with TestClient(create_app(study)) as site:
        for letter in letters:
            text = letter.get_content()
            link = next(line for line in text.splitlines() if line.startswith(f"{SITE}/join/"))
            assert "Taking part" in site.get(link.removeprefix(SITE)).text
    assert len({letter["Message-ID"] for letter in letters}) == 2
    joined = look(study, lambda tx: [workers.find_by_identity(tx, "invitation", nonce) for nonce in nonces])
    assert all(joined)


def test_invitations_are_sent_before_the_site_was_ever_opened(folder: Path, server: MailServer) -> None:
    chorale("invite", folder, "--emails", folder / "people.csv", "--send", "--public-url", SITE)
    assert server.recipients() == [*PEOPLE]
    assert all(f"{SITE}/join/" in letter.get_content() for _, letter in server.taken)


def test_results_are_sent_to_people_who_were_invited_by_e_mail_and_not_to_others(
    study: Study, server: MailServer
) -> None:
    first, _ = invite(study)
    send_mail(study)
    worker, _ = do(study, lambda tx, study: arrivals.arrive_invited(tx, study, first, None))
    other = Person(study, "other")
    long_ago = study.clock() - 2 * LONGEST_WAIT

    def write(tx: Tx, study: Study) -> None:
        for number, cause, at in ((worker.id, "old", long_ago), (worker.id, "gate", study.clock()), (other.id, "g", 1)):
            text = "You had **0.75**. Grüße!"
            add_message(tx, number, cause, at, "Your result", text, MessageState.SENT)

    do(study, write)
    server.taken.clear()
    assert send_mail(study) == {"sent": 1} and send_mail(study) == {}
    [(to, letter)] = server.taken
    assert to == PEOPLE[0] and str(letter["Subject"]) == "Your result · A small study"
    assert "You had **0.75**. Grüße!" in letter.get_content() and f"{SITE}/join/" in letter.get_content()


def test_who_has_unsubscribed_gets_nothing_more(study_on_either: Study, server: MailServer) -> None:
    study = study_on_either
    first, _ = invite(study)
    send_mail(study)
    path = unsubscribe_path(server.taken[0][1])
    with TestClient(create_app(study)) as site:
        assert "Stop e-mail about this study?" in site.get(path).text
        assert look(study, mail.opted_out) == set()  # programs open links to look at them
        assert "no more e-mail" in site.post(path, data={"List-Unsubscribe": "One-Click"}).text
        assert site.get(f"{path}x").status_code == 403
    worker, _ = do(study, lambda tx, study: arrivals.arrive_invited(tx, study, first, None))
    now = study.clock()
    do(study, lambda tx, _: add_message(tx, worker.id, "gate", now, "Your result", "Well done", MessageState.SENT))
    server.taken.clear()
    assert send_mail(study) == {"unsubscribed": 1} and send_mail(study) == {} and not server.taken


def test_a_lost_connection_sends_nothing_twice(study_on_either: Study, server: MailServer) -> None:
    study = study_on_either
    invite(study)
    server.lose_at_mail = 1
    assert send_mail(study) == {"stopped": 1} and not server.taken
    server.lose_after_data = 1
    assert send_mail(study) == {"in doubt": 1} and server.recipients() == [PEOPLE[0]]
    assert send_mail(study) == {"sent": 1} and server.recipients() == [*PEOPLE]
    assert look(study, mail.states) == {"sending": 1, "sent": 1}
    assert do(study, lambda tx, study: mail.queue_again(tx, study.clock())) == 1
    assert send_mail(study) == {"sent": 1} and server.recipients() == [*PEOPLE, PEOPLE[0]]
    assert server.taken[0][1]["Message-ID"] == server.taken[2][1]["Message-ID"]


def test_an_address_that_is_refused_fails_and_a_busy_one_waits(study: Study, server: MailServer) -> None:
    invite(study)
    server.refused = {PEOPLE[0]: 550, PEOPLE[1]: 450}
    assert send_mail(study) == {"failed": 1, "later": 1}
    server.refused = {}
    assert send_mail(study) == {"sent": 1} and server.recipients() == [PEOPLE[1]]


def test_an_address_that_is_busy_holds_up_nobody_and_fails_after_a_week(
    study: Study, server: MailServer, clock: ManualClock
) -> None:
    invite(study)
    server.refused = {PEOPLE[0]: 451}
    assert send_mail(study) == {"later": 1, "sent": 1} and server.recipients() == [PEOPLE[1]]
    clock.now += LONGEST_WAIT
    assert send_mail(study) == {"later": 1} and look(study, mail.states) == {"sent": 1, "waiting": 1}
    clock.now += 1
    server.lose_at_mail = 1
    assert send_mail(study) == {"stopped": 1} and look(study, mail.states) == {"sent": 1, "waiting": 1}
    assert send_mail(study) == {"later": 1} and look(study, mail.states) == {"sent": 1, "failed": 1}


def test_a_refused_sender_keeps_everything_queued(study: Study, server: MailServer) -> None:
    invite(study)
    server.refused = {"team@uni.example": 550}
    assert send_mail(study) == {"stopped": 1} and look(study, mail.states) == {"queued": 2}


def test_two_processes_with_the_same_list_send_each_letter_once(
    study_on_either: Study, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_on_either
    first, _ = invite(study)
    worker, _ = do(study, lambda tx, study: arrivals.arrive_invited(tx, study, first, None))
    now = study.clock()
    do(study, lambda tx, _: add_message(tx, worker.id, "gate", now, "Your result", "Well done", MessageState.SENT))

    def other_first(*arguments: Any) -> Any:
        monkeypatch.setattr(CONNECTION, smtp_connection)
        assert send_mail(study) == {"sent": 3}
        return smtp_connection(*arguments)

    monkeypatch.setattr(CONNECTION, other_first)
    assert send_mail(study) == {} and len(server.taken) == 3


def test_what_is_erased_after_it_was_listed_is_not_sent(
    study: Study, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = invite(study)
    worker, _ = do(study, lambda tx, study: arrivals.arrive_invited(tx, study, first, None))
    now = study.clock()
    do(study, lambda tx, _: add_message(tx, worker.id, "gate", now, "Your result", "Well done", MessageState.SENT))

    def erase_first(*arguments: Any) -> Any:
        forget(study, worker.id, ErasureRequest("the test", answers=False))
        return smtp_connection(*arguments)

    monkeypatch.setattr(CONNECTION, erase_first)
    assert send_mail(study) == {"sent": 1} and server.recipients() == [PEOPLE[1]]


@pytest.mark.parametrize("takes_utf8", [False, True])
def test_addresses_beyond_ascii(study: Study, server: MailServer, *, takes_utf8: bool) -> None:
    server.takes_utf8 = takes_utf8
    people = ("jürgen@example.org", "ada@müller.example", f"bo@{'ü' * 70}.example", "cy@example.org")

    def queue(tx: Tx, study: Study) -> None:
        nonces = arrivals.invite_addresses(tx, study, people, None, "the test")
        mail.queue_invitations(tx, nonces, study.clock())

    do(study, queue)
    taken = ["ada@xn--mller-kva.example", "cy@example.org"]
    if takes_utf8:
        taken.insert(0, people[0])
    assert send_mail(study) == {"failed": 4 - len(taken), "sent": len(taken)}
    assert server.recipients() == taken == [str(letter["To"]) for _, letter in server.taken]


def test_a_revoked_invitation_is_not_sent(study: Study, server: MailServer) -> None:
    invite(study)
    do(study, lambda tx, study: invitations.revoke(tx, 1, study.clock()))
    assert send_mail(study) == {"sent": 1} and server.recipients() == [PEOPLE[1]]


def test_the_commands_send_and_name_what_is_missing(folder: Path, study: Study, server: MailServer) -> None:
    people = folder / "people.csv"
    assert json.loads(chorale("invite", folder, "--emails", people, "--send", "--json"))["mail"] == {"sent": 2}
    assert chorale("mail", folder).strip() == "Nothing to send."
    people.write_text("carla@uni.example\n")
    server.refused = {"team@uni.example": 550}
    assert "`chorale mail` sends any that are left" in chorale("invite", folder, "--emails", people, "--send")
    assert chorale("mail", folder).startswith("1 not sent (the mail server accepts no e-mail now;")
    assert "--emails needs --out" in chorale("invite", folder, "--emails", people, code=2)


def test_a_server_that_is_not_there_is_named_and_nothing_is_lost(folder: Path, server: MailServer) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace(f"port = {server.port}", "port = 9"))
    study = open_study(folder)
    do(study, lambda tx, _: settings.set_setting(tx, "site", SITE))
    invite(study)
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9 does not accept e-mail"):
        send_mail(study)
    assert look(study, mail.states) == {"queued": 2}
    study.close()


def test_without_a_server_nothing_is_sent(tmp_path: Path) -> None:
    write_small_study(tmp_path)
    study = open_study(tmp_path)
    assert send_mail(study) == {}
    study.close()
    assert "has no mail server" in chorale("mail", tmp_path, code=2)


def test_invitations_without_a_link_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"Write \{link\}"):
        MailSettings(host="mail.example.org", sender="team@uni.example", invitation="Come!")


def test_links_need_an_address(folder: Path) -> None:
    study = open_study(folder)
    invite(study)
    with pytest.raises(UserError, match="address of the site"):
        send_mail(study)
    study.close()
