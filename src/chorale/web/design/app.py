"""The site of `chorale design`: only the design page, for the person at this computer."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from chorale import __version__
from chorale.model import Refusal, UserError
from chorale.web.design.drafts import Designer
from chorale.web.design.routes import DesignRoute, Desk, add_design_routes, design_error
from chorale.web.pages import STATIC, Pages, StaticFilesForever
from chorale.web.security import Guard
from chorale.web.worker import add_sentences_route, files_of, sent_file

COOKIE = "chorale_design"


def create_design_app(designer: Designer, key: str) -> FastAPI:
    """The application. Only a browser that has opened the link with this key can use it."""
    pages = Pages(designer)
    app = FastAPI(title="Chorale: design", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)

    def is_key(given: str) -> bool:
        return secrets.compare_digest(given.encode(errors="replace"), key.encode())

    def owner_only(request: Request) -> None:
        if not is_key(request.cookies.get(COOKIE, "")):
            words = "This page is for the person who started `chorale design`. Open the link that it printed."
            raise Refusal("signed_out", words, 401)

    @app.get("/", include_in_schema=False)
    async def enter(given: Annotated[str, Query(alias="key")] = "") -> Response:
        """Move the key from the URL to a cookie. A link with a wrong key does not end the session."""
        response = RedirectResponse("/design", 303)
        if is_key(given):
            response.set_cookie(COOKIE, key, httponly=True, samesite="strict")
        return response

    desk = Desk(designer, pages, "/design")

    async def the_desk(_request: Request) -> Desk:
        return desk

    router = APIRouter(dependencies=[Depends(owner_only)])
    add_sentences_route(router, lambda _request: pages)
    asked = APIRouter(dependencies=[Depends(owner_only)], route_class=DesignRoute)
    add_design_routes(asked, the_desk)

    @router.get("/design", include_in_schema=False)
    async def design_page() -> Response:
        return desk.page()

    @router.get("/tasks/{name}/{file}", include_in_schema=False)
    async def task_file(request: Request, name: str, file: str) -> Response:
        for content in designer.stages:
            if content.task.name == name and file in files_of(content.task):
                return sent_file(request, content.task, file)
        raise Refusal("not_found", "There is no such file.", 404)

    app.router.routes += [*router.routes, *asked.routes]
    app.mount("/static", StaticFilesForever(directory=STATIC), name="static")
    app.add_middleware(Guard)
    _add_errors(app, pages)
    return app


def _add_errors(app: FastAPI, pages: Pages) -> None:
    def answer(request: Request, status: int, code: str, message: str) -> Response:
        if request.method == "POST" or request.url.path.startswith("/design/"):
            return design_error(status, code, message)
        return pages.error(status, "Not open" if status == 401 else "Page not found", message, "")

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return answer(request, refusal.status, refusal.code, refusal.message)

    @app.exception_handler(UserError)
    async def mistaken(request: Request, error: UserError) -> Response:
        return answer(request, 422, "invalid", str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or "the request"
        return answer(request, 422, "invalid_request", f"{where}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def failed(request: Request, error: HTTPException) -> Response:
        message = "There is no page at this address." if error.status_code == 404 else str(error.detail)
        return answer(request, error.status_code, "bad_request", message)
