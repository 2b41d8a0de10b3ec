"""view: a page in the browser of this machine."""

from __future__ import annotations

import sys
import threading
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.viewer.page import Viewable, page

_HOST = "127.0.0.1"
# The page needs its own style and nothing else; what a program is called cannot change that.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of browsers that go away in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class View:
    """A page that is being served, to this machine alone. Closed by `close`, or by leaving ``with``.

    Attributes:
        html: the page.
        url: where it is.
    """

    def __init__(self, html: str, port: int) -> None:
        self.html = html
        try:
            self._server = _Server((_HOST, port), _handler(html.encode()))
        except OSError as error:
            raise WrongValueError(
                f"view: port {port} cannot be listened on: {error}", remedy="leave port out: any that is free is taken"
            ) from error
        self.url = f"http://{_HOST}:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, name="tilefoundry view", daemon=True)
        self._thread.start()
        self._open = True

    def close(self) -> None:
        """Stops serving and frees the port. Closing twice does nothing."""
        if self._open:
            self._open = False
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"View({self.url if self._open else 'closed'})"


def view(root: Viewable, port: int = 0, *, open_browser: bool | None = None) -> View:
    """Shows a program or a layout in the browser: ``view(Model)``.

    The page is made at once, served on 127.0.0.1 from a thread of its own until it is closed or the process ends, and
    asks for nothing from anywhere else. `tilefoundry.viewer.page` gives its text.

    Args:
        root: a Module, a function, a kernel, a layout, a mesh or a TensorType.
        port: where to serve; 0 takes any that is free.
        open_browser: open it; when left out, in interactive sessions only.

    Returns:
        The served page: its `url`, and `close`.

    Raises:
        WrongTypeError: `root` or `port` is of no such kind.
        WrongValueError: the port is no port, or is taken.
        NotProjectable: a layout has no picture: an extent is symbolic.
    """
    if isinstance(port, bool) or not isinstance(port, int):
        raise WrongTypeError(f"view: port must be an int, got {port!r}")
    if not 0 <= port <= 65535:
        raise WrongValueError(f"view: port is {port}, expected 0 to 65535")
    served = View(page(root), port)
    if open_browser if open_browser is not None else hasattr(sys, "ps1") or bool(sys.flags.interactive):
        webbrowser.open(served.url)
    return served


def _handler(content: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers with the one page."""

        def do_GET(self) -> None:
            self._answer(with_content=True)

        def do_HEAD(self) -> None:
            self._answer(with_content=False)

        def _answer(self, *, with_content: bool) -> None:
            # a page of another site could reach this one under a name of its own that leads here
            if self.headers.get("Host", "").partition(":")[0] not in (_HOST, "localhost"):
                self.send_error(403)
            elif self.path != "/":
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Content-Security-Policy", _POLICY)
                self.send_header("X-Content-Type-Options", "nosniff")
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                if with_content:
                    self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: the session's terminal is the author's."""

    return Handler
