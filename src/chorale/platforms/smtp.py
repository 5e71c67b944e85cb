"""Sending e-mail by SMTP, with a definite result for each message."""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from enum import StrEnum

from chorale.model import UserError
from chorale.model.mail_settings import MailSettings

TIMEOUT = 30.0
_CLOSING = 421
"""The status with which a server closes the connection, in reply to any command."""
PASSWORD_VARIABLE = "CHORALE_SMTP_PASSWORD"  # noqa: S105 - the name of a variable, not what is in it


class MailOutcome(StrEnum):
    SENT = "sent"
    """The server accepted it."""
    FAILED = "failed"
    """The server rejected it permanently."""
    LATER = "later"
    """The server rejected it for now."""
    STOPPED = "stopped"
    """The server accepts nothing now, for any address. It has certainly not accepted this message."""
    IN_DOUBT = "in doubt"
    """The connection was lost when the server may have accepted it."""


class SmtpConnection:
    def __init__(self, server: smtplib.SMTP, sender: str) -> None:
        self._server, self._sender = server, with_ascii_domain(sender)

    def send(self, to: str, letter: EmailMessage) -> MailOutcome:
        """Send one e-mail step by step: a lost connection leaves doubt only after the text was sent."""
        try:
            to = with_ascii_domain(to)
            letter["To"] = to
            options = [] if to.isascii() and self._sender.isascii() else ["SMTPUTF8", "BODY=8BITMIME"]
            content = letter.as_bytes(policy=SMTPUTF8 if options else SMTP)
        except ValueError:  # no domain, or no address
            return MailOutcome.FAILED
        try:
            self._server.rset()
            code, _ = self._server.mail(self._sender, options)
            if code >= 400:
                # A problem with the sender would affect every message, so none of them should fail for it.
                return _refused(code) if options else MailOutcome.STOPPED
            code, _ = self._server.rcpt(to)
            if code >= 400:
                return _refused(code)
        except (smtplib.SMTPNotSupportedError, UnicodeError):
            return MailOutcome.FAILED
        except (smtplib.SMTPException, OSError):
            return MailOutcome.STOPPED
        try:
            code, _ = self._server.data(content)
        except smtplib.SMTPDataError as error:
            return _refused(error.smtp_code)
        except (smtplib.SMTPException, OSError):
            return MailOutcome.IN_DOUBT
        return MailOutcome.SENT if code < 400 else _refused(code)


def _refused(code: int) -> MailOutcome:
    return MailOutcome.FAILED if code >= 500 else MailOutcome.STOPPED if code == _CLOSING else MailOutcome.LATER


def with_ascii_domain(address: str) -> str:
    """An address for servers that accept only ASCII; UnicodeError if its domain can't be encoded."""
    local, at, domain = address.rpartition("@")
    return f"{local}{at}{domain if domain.isascii() else domain.encode('idna').decode()}"


@contextmanager
def smtp_connection(settings: MailSettings, password: str | None) -> Iterator[SmtpConnection]:
    """A connection to the study's server; UserError if it can't be made."""
    place = f"{settings.host}:{settings.port}"
    try:
        if settings.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                settings.host, settings.port, timeout=TIMEOUT, context=ssl.create_default_context()
            )
        else:
            server = smtplib.SMTP(settings.host, settings.port, timeout=TIMEOUT)
        if settings.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.username is not None:
            server.login(settings.username, password or "")
        server.ehlo_or_helo_if_needed()
        if not with_ascii_domain(settings.sender).isascii() and not server.has_extn("smtputf8"):
            raise UserError(
                f"{place} accepts only ASCII addresses. Set mail.sender to an ASCII address (found: {settings.sender})."
            )
    except smtplib.SMTPAuthenticationError:
        raise UserError(
            f"{place} refused the user name {settings.username} or its password. Check mail.username and "
            f"{PASSWORD_VARIABLE}."
        ) from None
    except (smtplib.SMTPException, OSError) as error:
        raise UserError(
            f"{place} does not accept e-mail: {error}. Check [mail] in study.toml. Nothing was sent."
        ) from None
    try:
        yield SmtpConnection(server, settings.sender)
    finally:
        try:
            server.quit()
        except (smtplib.SMTPException, OSError):
            server.close()
