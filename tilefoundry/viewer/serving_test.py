"""A page is served to this machine alone, to many at once, until it is closed."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.samples import attention
from tilefoundry.ir.shard import Layout
from tilefoundry.viewer import View, page, view

LAYOUT = Layout((4, 8), (8, 1))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    urls: list[str] = []
    monkeypatch.setattr("webbrowser.open", urls.append)
    return urls


def port_of(served: View) -> int:
    return int(served.url.rstrip("/").rpartition(":")[2])


def test_it_serves_the_page_and_nothing_else(opened: list[str]) -> None:
    with view(attention()) as served:
        assert served.url.startswith("http://127.0.0.1:") and port_of(served) > 0
        with urlopen(served.url) as answer:
            assert answer.read().decode() == served.html == page(attention())
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        with urlopen(Request(served.url, method="HEAD")) as answer:
            assert answer.read() == b"" and int(answer.headers["Content-Length"]) == len(served.html.encode())
        for path, method in (("favicon.ico", "GET"), ("../etc/passwd", "GET"), ("", "POST")):
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(served.url + path, method=method))
            assert refused.value.code == (501 if method == "POST" else 404)
    assert opened == []


def test_many_at_once() -> None:
    # one that never asks does not keep the others waiting
    with view(LAYOUT) as served, socket.create_connection(("127.0.0.1", port_of(served))):
        answers: list[str] = []
        threads = [
            threading.Thread(target=lambda: answers.append(urlopen(served.url).read().decode())) for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert answers == [served.html] * 16


def test_only_this_machine_is_served() -> None:
    with view(LAYOUT) as served:
        assert served._server.server_address[0] == "127.0.0.1"
        for host, status in (("evil.example", 403), ("127.0.0.1", 200), (f"localhost:{port_of(served)}", 200)):
            connection = HTTPConnection("127.0.0.1", port_of(served))
            connection.request("GET", "/", headers={"Host": host})
            assert connection.getresponse().status == status
            connection.close()


def test_closing_frees_the_port_and_ends_the_thread() -> None:
    served = view(LAYOUT)
    port = port_of(served)
    assert urlopen(served.url).status == 200 and repr(served) == f"View({served.url})"
    served.close()
    served.close()
    assert repr(served) == "View(closed)" and not served._thread.is_alive()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    with view(LAYOUT, port) as again:
        assert port_of(again) == port


def test_a_taken_port_is_named() -> None:
    with view(LAYOUT) as served, pytest.raises(WrongValueError, match=f"port {port_of(served)} cannot be listened on"):
        view(LAYOUT, port_of(served))


@pytest.mark.parametrize(("port", "kind"), [(-1, WrongValueError), (65536, WrongValueError), ("80", WrongTypeError)])
def test_what_is_no_port_is_refused(port: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="view: port"):
        view(LAYOUT, port)  # type: ignore[arg-type]


def test_a_wrong_root_is_refused_before_anything_is_served() -> None:
    before = threading.active_count()
    with pytest.raises(WrongTypeError):
        view("Model")  # type: ignore[arg-type]
    assert threading.active_count() == before


def test_the_browser_is_opened_when_asked_for_or_interactive(
    opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with view(LAYOUT, open_browser=True) as served:
        assert opened == [served.url]
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with view(LAYOUT) as served:
        assert opened[1:] == [served.url]
    with view(LAYOUT, open_browser=False):
        assert len(opened) == 2


def test_a_script_that_forgets_to_close_ends() -> None:
    code = "from tilefoundry.ir.shard import Layout; from tilefoundry.viewer import view; view(Layout((2,), (1,)))"
    path = ":".join(p for p in sys.path if p)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={"PYTHONPATH": path})
