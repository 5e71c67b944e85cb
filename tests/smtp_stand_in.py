"""A stand-in for a mail server: takes e-mail by SMTP, refuses whom it is told to, and can lose connections."""

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage


class MailServer:
    def __init__(self) -> None:
        self.port = 0
        self.taken: list[tuple[str, EmailMessage]] = []
        self.refused: dict[str, int] = {}
        """The code that an address is answered with, of a sender or a recipient."""
        self.takes_utf8 = False
        """Whether addresses need not be ASCII."""
        self.lose_after_data = 0
        """So many e-mails are taken without an answer."""
        self.lose_at_mail = 0
        """So many connections end before anything is taken."""

    def recipients(self) -> list[str]:
        return [to for to, _ in self.taken]


@contextmanager
def mail_server() -> Iterator[MailServer]:
    world = MailServer()

    class Session(socketserver.StreamRequestHandler):
        def reply(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def handle(self) -> None:
            self.reply("220 ready")
            to = ""
            while line := self.rfile.readline().decode().strip():
                verb = line.upper()
                if verb.startswith("MAIL") and world.lose_at_mail:
                    world.lose_at_mail -= 1
                    return
                if verb.startswith("EHLO"):
                    self.reply("250-here\r\n250 SMTPUTF8" if world.takes_utf8 else "250 here")
                elif verb.startswith("MAIL"):
                    sender = line.partition("<")[2].partition(">")[0]
                    self.reply(f"{world.refused.get(sender, 250)} {sender}")
                elif verb.startswith("RCPT"):
                    to = line.partition("<")[2].partition(">")[0]
                    self.reply(f"{world.refused.get(to, 250)} {to}")
                elif verb == "DATA":
                    self.reply("354 go on")
                    world.taken.append((to, self.read_letter()))
                    if world.lose_after_data:
                        world.lose_after_data -= 1
                        return
                    self.reply("250 taken")
                elif verb == "QUIT":
                    self.reply("221 bye")
                    return
                else:
                    self.reply("250 ok")

        def read_letter(self) -> EmailMessage:
            lines = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
            return email.message_from_bytes(b"".join(lines), policy=email.policy.default)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session) as server:
        server.daemon_threads = True
        world.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield world
        server.shutdown()
