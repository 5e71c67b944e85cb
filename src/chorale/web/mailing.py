"""Invitations and messages by e-mail: queued in the database, each sent once, with a way to unsubscribe.

An e-mail is marked as being sent before the server gets it. If the connection is lost in between, it is not sent again
automatically, since it may have arrived. `chorale mail --resend` queues it again.
"""

import os
from collections import Counter
from email.headerregistry import Address
from email.message import EmailMessage

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.model.wording import worded
from chorale.platforms.smtp import PASSWORD_VARIABLE, MailOutcome, smtp_connection
from chorale.store import Tx, mail, settings
from chorale.store.mail import FAILED, QUEUED, SENDING, SENT, UNSUBSCRIBED, WAITING, Letter
from chorale.web.links import invitation_path, study_sessions
from chorale.web.serving import Site
from chorale.web.sessions import Sessions

LONGEST_WAIT = 7 * 24 * 60 * 60_000
"""Messages older than this, in milliseconds, are no longer sent; neither are those rejected for this long."""
STATES = {
    MailOutcome.SENT: SENT,
    MailOutcome.FAILED: FAILED,
    MailOutcome.LATER: WAITING,
    MailOutcome.STOPPED: QUEUED,
}


def send_mail(study: Study, address: str | None = None) -> Counter[str]:
    """Send queued e-mail; returns the numbers of e-mails by state.

    Does nothing without a mail server. Links start with the site's `address`. Default: the last address of the site.
    """
    wanted, done = study.settings.mail, Counter[str]()
    if wanted is None:
        return done
    # A study that adds a mail server later does not send old messages.
    since = study.clock() - LONGEST_WAIT
    letters, refused, opened_at = study.store.look(lambda tx: _to_send(tx, since if wanted.results else None))
    if not letters:
        return done
    base = address or opened_at
    if base is None:
        raise UserError("Links need the address of the site. Open it once with `chorale serve --public-url`.")
    sessions = study_sessions(study)
    with smtp_connection(wanted, os.environ.get(PASSWORD_VARIABLE)) as connection:
        for letter in letters:
            if letter in refused:
                done[UNSUBSCRIBED] += _claim(study, letter, UNSUBSCRIBED)
                continue
            if not _claim(study, letter, SENDING):
                continue  # another process has it, or it was erased
            outcome = connection.send(letter.address, letter_text(study, sessions, base, letter))
            done[outcome] += 1
            _note(study, letter, outcome, since)
            if outcome in (MailOutcome.STOPPED, MailOutcome.IN_DOUBT):
                break
    return done


def _to_send(tx: Tx, messages_since: int | None) -> tuple[list[Letter], set[Letter], str | None]:
    letters, out = mail.letters(tx, messages_since), mail.opted_out(tx)
    refused = {letter for letter in letters if mail.digest_of(tx, letter.address) in out} if out else set()
    return letters, refused, settings.setting_value(tx, "site")


def _claim(study: Study, letter: Letter, state: str) -> bool:
    return study.store.do(lambda tx: mail.claim(tx, letter, state, study.clock()))


def _note(study: Study, letter: Letter, outcome: MailOutcome, long_ago: int) -> None:
    """Record the result. An uncertain e-mail stays marked as being sent."""
    if outcome is MailOutcome.IN_DOUBT:
        return
    state, now = STATES[outcome], study.clock()
    waiting_since = now if letter.waiting_since is None else letter.waiting_since
    if outcome is MailOutcome.STOPPED and letter.waiting_since is not None:
        state = WAITING
    if outcome is MailOutcome.LATER and waiting_since < long_ago:
        state = FAILED
    study.store.do(lambda tx: mail.note(tx, letter, state, waiting_since if state == WAITING else now))


def letter_text(study: Study, sessions: Sessions, base: str, letter: Letter) -> EmailMessage:
    """An e-mail without its recipient. Its Message-ID is the same every time it is sent."""
    wanted, title = study.settings.mail, study.settings.study.title
    if wanted is None:
        raise RuntimeError("a letter without a server")
    link = base + invitation_path(sessions, letter.nonce)
    stop = f"{base}/unsubscribe/{sessions.link_token('unsubscribe', letter.nonce)}"
    if letter.kind == "invitation":
        subject, body = title, wanted.invitation.replace("{link}", link).replace("{title}", title)
    else:
        overview = study.language.say("Your overview: {link}", link=link)
        subject, body = f"{letter.title} · {title}", f"{letter.body}\n\n{overview}\n"
    text = EmailMessage()
    local, _, domain = wanted.sender.partition("@")
    text["From"] = Address(title.replace("\n", " ")[:60], local, domain)
    text["Subject"] = " ".join(subject.split())
    text["Message-ID"] = f"<{letter.kind}-{letter.id}-{letter.nonce}@{domain}>"
    text["List-Unsubscribe"] = f"<{stop}>"
    text["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    text["Auto-Submitted"] = "auto-generated"
    unsubscribe = study.language.say("To stop e-mail about this study: {link}", link=stop)
    text.set_content(f"{body}\n-- \n{unsubscribe}\n")
    return text


def add_unsubscribe_routes(router: APIRouter, site: Site) -> None:
    """Routes to unsubscribe from e-mail: a page with a button, and one-click unsubscription (RFC 8058)."""

    def named(token: str) -> str:
        nonce = site.sessions.read_link("unsubscribe", token)
        if nonce is None:
            raise Refusal("bad_link", worded("This link is not valid. Copy the whole link."), 403)
        return nonce

    @router.get("/unsubscribe/{token}", response_class=HTMLResponse, include_in_schema=False)
    async def ask(token: str) -> Response:
        named(token)
        return site.pages.page("worker/unsubscribe.html", token=token, done=False)

    @router.post("/unsubscribe/{token}", response_class=HTMLResponse, include_in_schema=False)
    async def stop(_request: Request, token: str) -> Response:
        nonce = named(token)
        await site.write(lambda tx, study: mail.opt_out(tx, nonce, study.clock()))
        return site.pages.page("worker/unsubscribe.html", token=token, done=True)
