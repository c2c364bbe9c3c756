"""Tiers below the user's folder: read-only folders, archives, remote stores; servers are started here, on this machine."""

import gzip
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import KEY, SMALL, TIMEOUT_S, entry_files

VALKEY = shutil.which("valkey-server")
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin")
NGINX_CONFIGURATION = """
daemon off; master_process off; error_log stderr; pid {folder}/pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/www;
    client_max_body_size 100m;
    location / {{ dav_methods PUT; create_full_put_path on; }}
    location /fixed/ {{ alias {folder}/www/; }}
  }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the server does not listen")


@pytest.fixture
def serve():
    """Starts a server of this test and waits until it listens."""
    processes = []

    def start(command, port):
        processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_for(port)

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture(params=["redis", "http"])
def remote(request, serve, tmp_path):
    port = free_port()
    if request.param == "redis":
        if not VALKEY:
            pytest.skip("no valkey-server here")
        serve([VALKEY, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)], port)
        return f"redis://127.0.0.1:{port}/1"
    if not NGINX:
        pytest.skip("no nginx here")
    folder = tmp_path / "nginx"
    (folder / "www").mkdir(parents=True)
    folder.chmod(0o777)
    (folder / "nginx.conf").write_text(NGINX_CONFIGURATION.format(folder=folder, port=port))
    serve([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")], port)
    return f"http://127.0.0.1:{port}/kernels"


def run(monojit, *arguments, **environment):
    return monojit.run("--arch", "gfx950", "--no-verify", *arguments, **environment)


def stats(monojit):
    return monojit("cache", "stats", "--json").json()["families"][0]


def test_what_one_machine_built_another_gets_from_the_remote_and_keeps(monojit, remote, tmp_path):
    first = run(monojit, MONOJIT_CACHE_REMOTE=remote)
    assert first.json()["cache"] == "built" and first.warnings == []
    other = {"MONOJIT_CACHE_DIR": str(tmp_path / "other")}
    second = run(monojit, "--strict", MONOJIT_CACHE_REMOTE=remote, **other)
    assert second.json()["cache"] == "remote" and second.warnings == []
    assert run(monojit, **other).json()["cache"] == "disk"
    assert len(entry_files(tmp_path / "other")) == 1
    monojit.environment |= other
    assert stats(monojit)["remote_hits"] == 1


def test_a_remote_that_is_read_only_gets_nothing(monojit, remote, tmp_path):
    assert run(monojit, MONOJIT_CACHE_REMOTE=remote + "?readonly").json()["cache"] == "built"
    other = {"MONOJIT_CACHE_DIR": str(tmp_path / "other")}
    assert run(monojit, MONOJIT_CACHE_REMOTE=remote, **other).json()["cache"] == "built"


def test_a_folder_behind_a_web_server_is_a_remote_and_its_damage_is_seen(monojit, serve, tmp_path):
    if not NGINX:
        pytest.skip("no nginx here")
    port = free_port()
    folder = tmp_path / "nginx"
    folder.mkdir()
    folder.chmod(0o777)
    assert monojit("warm", KEY, "--arch", "gfx950", "--cache-dir", folder / "www", MONOJIT_CACHE_UMASK="022").code == 0
    (folder / "nginx.conf").write_text(NGINX_CONFIGURATION.format(folder=folder, port=port))
    serve([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")], port)
    remote = f"http://127.0.0.1:{port}/fixed"
    assert run(monojit, MONOJIT_CACHE_REMOTE=remote).json()["cache"] == "remote"
    (entry,) = entry_files(folder / "www")
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)
    shutil.rmtree(monojit.cache)
    outcome = run(monojit, MONOJIT_CACHE_REMOTE=remote)
    assert outcome.json()["cache"] == "built"
    assert "checksum does not match" in outcome.err
    assert "refuses: HTTP status 405" in outcome.err  # the place takes no PUT
    assert len(outcome.warnings) == 2


@pytest.mark.parametrize("scheme", ["redis", "http"])
def test_a_remote_that_never_answers_costs_its_time_limit_once(monojit, scheme):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/1?timeout_ms=1500"
        assert monojit("warm", KEY, "minimax_m3.k1{tokens=2}", "--arch", "gfx950").code == 0
        start = time.monotonic()
        both = monojit("warm", "minimax_m3.k1{tokens=3}", "minimax_m3.k1{tokens=4}", "--arch", "gfx942", MONOJIT_CACHE_REMOTE=url)
        took = time.monotonic() - start
        without = time.monotonic()
        assert monojit("warm", "minimax_m3.k1{tokens=5}", "minimax_m3.k1{tokens=6}", "--arch", "gfx942").code == 0
        without = time.monotonic() - without
    assert both.code == 0
    assert both.err.count("remote cache") == 1 and "left alone for 60 s" in both.err
    assert 1.4 < took < 2 * without + 6, (took, without)


@pytest.mark.parametrize("scheme", ["redis", "http"])
def test_a_remote_that_trickles_is_not_waited_for_longer_than_a_dead_one(monojit, scheme):
    stop = threading.Event()
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def trickle():
            try:
                connection, _ = server.accept()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" if scheme == "http" else b"$100000\r\n")
                while not stop.wait(0.1):
                    connection.sendall(b"x")
            except OSError:
                pass

        thread = threading.Thread(target=trickle)
        thread.start()
        url = f"{scheme}://127.0.0.1:{server.getsockname()[1]}?timeout_ms=1000"
        outcome = run(monojit, MONOJIT_CACHE_REMOTE=url)
        stop.set()
        thread.join()
    assert outcome.json()["cache"] == "built"
    assert outcome.json()["times_ms"]["load"] < 5000
    assert outcome.err.count("left alone") == 1


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "http://127.0.0.1:1/", "redis://no.such.host.invalid"])
def test_a_dead_remote_costs_one_line_and_no_answer(monojit, url):
    outcome = run(monojit, MONOJIT_CACHE_REMOTE=url)
    assert outcome.json()["cache"] == "built"
    assert len(outcome.warnings) == 1 and "left alone for 60 s" in outcome.err


def test_an_url_that_means_nothing_costs_one_line_and_no_answer(monojit):
    outcome = run(monojit, MONOJIT_CACHE_REMOTE="https://user:secret@cache")
    assert outcome.json()["cache"] == "built"
    assert "MONOJIT_CACHE_REMOTE is not used" in outcome.err and "secret" not in outcome.err


def test_a_folder_of_an_image_serves_read_only(monojit, warm_cache):
    outcome = run(monojit, "--strict", MONOJIT_CACHE_READONLY=str(warm_cache))
    assert outcome.json()["cache"] == "read_only" and outcome.warnings == []


def test_read_only_places_are_looked_into_in_their_order_and_behind_the_users_folder(monojit, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        assert monojit("warm", SMALL, "--arch", "gfx950", "--cache-dir", folder).code == 0
    (damaged,) = entry_files(first)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    before = sorted((file, file.stat().st_mtime_ns) for folder in (first, second) for file in folder.rglob("*"))
    outcome = monojit.get(MONOJIT_CACHE_READONLY=f"{first}:{second}")
    assert outcome.json()["cache"] == "read_only"
    assert str(damaged) in outcome.err and len(outcome.warnings) == 1
    assert monojit.get(MONOJIT_CACHE_READONLY=f"{second}:{first}").warnings == []
    assert before == sorted((file, file.stat().st_mtime_ns) for folder in (first, second) for file in folder.rglob("*"))
    assert monojit.get().json()["cache"] == "built"
    assert monojit.get(MONOJIT_CACHE_READONLY=f"{first}:{second}").json()["cache"] == "disk"


class Valkey:
    """A valkey-server, and what the tests ask it themselves."""

    def __init__(self, serve, folder, *options):
        self.port = free_port()
        serve([VALKEY, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options], self.port)

    def ask(self, *words):
        """The first line of the answer."""
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        request = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(request)
            return connection.makefile("rb").readline()


@pytest.fixture
def valkey(serve, tmp_path):
    if not VALKEY:
        pytest.skip("no valkey-server here")
    return lambda *options: Valkey(serve, tmp_path, *options)


@pytest.mark.parametrize("damage", ["cut", "flipped", "another key", "empty", "no string"])
def test_a_redis_servers_answer_is_checked_like_any_entry_and_mended(monojit, valkey, tmp_path, damage):
    server = valkey()
    url = f"redis://127.0.0.1:{server.port}"
    assert monojit.get(MONOJIT_CACHE_REMOTE=url).json()["cache"] == "built"
    (entry,) = entry_files(monojit.cache)
    sound = entry.read_bytes()
    name = f"monojit:{entry.stem[:2]}/{entry.name}"
    assert server.ask("STRLEN", name) == b":%d\r\n" % len(sound)
    assert monojit.get("example.row_norm{rows=5,hidden=512}").code == 0
    (other,) = [file for file in entry_files(monojit.cache) if file != entry]
    wrong = {"cut": sound[:-1], "flipped": sound[:200] + bytes([sound[200] ^ 1]) + sound[201:], "another key": other.read_bytes(), "empty": b""}
    if damage == "no string":
        server.ask("DEL", name)
        server.ask("LPUSH", name, "x")
    else:
        server.ask("SET", name, wrong[damage])
    outcome = monojit.get(MONOJIT_CACHE_REMOTE=url, MONOJIT_CACHE_DIR=str(tmp_path / "fresh"))
    assert outcome.json()["cache"] == "built"
    assert len(outcome.warnings) == 1
    if damage != "no string":
        (rebuilt,) = entry_files(tmp_path / "fresh")
        assert server.ask("STRLEN", name) == b":%d\r\n" % rebuilt.stat().st_size, "it replaces the other"
        assert monojit.get(MONOJIT_CACHE_REMOTE=url, MONOJIT_CACHE_DIR=str(tmp_path / "third")).json()["cache"] == "remote"


def test_a_redis_server_with_a_password_wants_it(monojit, valkey, tmp_path):
    server = valkey("--requirepass", "sesame")
    assert monojit.get(MONOJIT_CACHE_REMOTE=f"redis://:sesame@127.0.0.1:{server.port}/2").warnings == []
    fresh = {"MONOJIT_CACHE_DIR": str(tmp_path / "fresh")}
    wrong = monojit.get(MONOJIT_CACHE_REMOTE=f"redis://:mellon@127.0.0.1:{server.port}/2", **fresh)
    assert wrong.json()["cache"] == "built" and len(wrong.warnings) == 1
    assert "mellon" not in wrong.err
    right = monojit.get(MONOJIT_CACHE_REMOTE=f"redis://:sesame@127.0.0.1:{server.port}/2", MONOJIT_CACHE_DIR=str(tmp_path / "third"))
    assert right.json()["cache"] == "remote"


def test_a_redis_server_that_is_full_costs_one_line_and_still_serves(monojit, valkey, tmp_path):
    server = valkey("--maxmemory", "1")
    outcome = monojit.get(MONOJIT_CACHE_REMOTE=f"redis://127.0.0.1:{server.port}")
    assert outcome.json()["cache"] == "built" and len(outcome.warnings) == 1
    assert "remote cache" in outcome.err


def test_a_remote_that_is_dead_is_left_alone(monojit):
    """Many kernels, one attempt."""
    attempts = []
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.1)
        stop = threading.Event()

        def hang_up():
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                    attempts.append(connection)
                    connection.close()
                except OSError:
                    continue

        thread = threading.Thread(target=hang_up)
        thread.start()
        outcome = monojit("warm", "example.row_norm{rows=1..6,hidden=512}", "--arch", "gfx950", "--jobs", "1",
                          MONOJIT_CACHE_REMOTE=f"redis://127.0.0.1:{server.getsockname()[1]}")
        stop.set()
        thread.join()
    assert outcome.code == 0, outcome
    assert outcome.err.count("left alone for 60 s") == 1
    assert len(attempts) <= 2, "the job and the closing check ask once each"


def test_without_the_server_what_was_kept_of_it_is_served(monojit, valkey):
    server = valkey()
    url = f"redis://127.0.0.1:{server.port}"
    assert monojit.get(MONOJIT_CACHE_REMOTE=url).json()["cache"] == "built"
    server.ask("SHUTDOWN", "NOSAVE")
    outcome = monojit.get(MONOJIT_CACHE_REMOTE=url)
    assert outcome.json()["cache"] == "disk" and outcome.warnings == []


class PlainServer(BaseHTTPRequestHandler):
    """A folder in memory that takes PUT, on connections that it keeps; it knows no Expect."""

    protocol_version = "HTTP/1.1"
    most_answers = 1000  # on one connection: the next request gets none
    answers = 0

    def handle_expect_100(self):
        return True

    def parse_request(self):
        if self.answers < self.most_answers:
            return super().parse_request()
        self.close_connection = True
        return False

    def answer(self, status, content=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.answers += 1

    def do_GET(self):
        found = self.server.kept.get(self.path)
        self.answer(200 if found else 404, found or b"")

    do_HEAD = do_GET

    def do_PUT(self):
        self.server.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201)

    def log_message(self, *_):
        pass


@contextmanager
def serving(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.kept = {}
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("answers", [1000, 1, 2, 3])
def test_a_web_server_that_knows_no_expect_and_hangs_up_gets_every_entry(monojit, answers):
    with serving(type("Server", (PlainServer,), {"most_answers": answers})) as (server, url):
        outcome = monojit("warm", "example.row_norm{rows=1..4,hidden=512}", "--arch", "gfx950", "--jobs", "1", MONOJIT_CACHE_REMOTE=url)
    assert outcome.code == 0 and "remote cache" not in outcome.err
    assert len(server.kept) == 4


@contextmanager
def answering(answer):
    """A Redis server that does as `answer` says with its one connection."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(60)

        def serve():
            try:
                with server.accept()[0] as connection:
                    answer(connection)
            except OSError:  # the other side has heard enough
                pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"redis://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def peak_bytes(monojit, url):
    """Of a dump that asks this remote, with what it said."""
    command = [monojit.binary, "dump", SMALL, "--arch", "gfx950", "--emit=resources", "--json"]
    process = subprocess.Popen(command, env=monojit.environment | {"MONOJIT_CACHE_REMOTE": url}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.stdout.read(), process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0 and b"vgpr" in out
    return usage.ru_maxrss * 1024, err


def test_an_answer_is_not_unpacked(monojit):
    bomb = gzip.compress(bytes(512 << 20), 1)

    class Bomb(PlainServer):
        def do_GET(self):
            self.answer(200, bomb, Content_Encoding="gzip")

    with serving(Bomb) as (_, url):
        peak, err = peak_bytes(monojit, url + "?timeout_ms=5000&readonly")
    assert "it is not used" in err
    assert peak < 400 << 20


def test_an_answer_without_end_is_cut_off(monojit):
    class Endless(PlainServer):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            try:
                while True:
                    self.wfile.write(bytes(1 << 20))
            except OSError:
                pass

    with serving(Endless) as (_, url):
        peak, err = peak_bytes(monojit, url + "?timeout_ms=20000&readonly")
    assert "more than 64 MiB" in err
    assert peak < 500 << 20


def test_a_redis_servers_answer_of_gigabytes_is_cut_off(monojit):
    sent = []

    def stream(connection):
        connection.recv(1 << 16)
        connection.sendall(b"$2000000000\r\n")
        for _ in range(2000):
            connection.sendall(bytes(1 << 20))
            sent.append(1 << 20)

    with answering(stream) as url:
        peak, err = peak_bytes(monojit, url + "?timeout_ms=20000&readonly")
    assert err.count("remote cache") == 1 and "an answer of more than 64 MiB" in err and "left alone for 60 s" in err
    assert sum(sent) < 100 << 20
    assert peak < 400 << 20


def test_a_redis_servers_list_of_a_billion_elements_is_refused_at_once(monojit):
    with answering(lambda connection: (connection.recv(1 << 16), connection.sendall(b"*1000000000\r\n"), connection.recv(1))) as url:
        start = time.monotonic()
        outcome = monojit.get(MONOJIT_CACHE_REMOTE=url + "?timeout_ms=20000&readonly")
    assert outcome.json()["cache"] == "built" and time.monotonic() - start < 15
    (line,) = outcome.warnings
    assert "out of range" in line and "left alone for 60 s" in line


def test_an_address_of_ipv6_is_shown_as_it_is_written(monojit):
    assert "http://[::1]:1 fails" in monojit.get(MONOJIT_CACHE_REMOTE="http://[::1]:1").err


class Page(PlainServer):
    """Answers everything with one page."""

    status = 200
    pause_s = 0

    def answer_all(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.kept[len(self.server.kept)] = self.command
        time.sleep(self.pause_s)
        self.answer(self.status, b"<!DOCTYPE html><title>Log in</title>")

    do_GET = do_HEAD = do_PUT = answer_all


@pytest.mark.parametrize("status", [200, 206])
def test_a_remote_that_answers_with_pages_costs_one_line_and_is_left_alone(monojit, status):
    with serving(type("Server", (Page,), {"status": status})) as (server, url):
        outcome = monojit("warm", "example.row_norm{rows=1..5,hidden=512}", "--arch", "gfx950", "--jobs", "1", MONOJIT_CACHE_REMOTE=url)
    assert outcome.code == 0
    (line,) = outcome.warnings
    assert url in line and "wrong first bytes" in line and "left alone for 60 s" in line
    assert [command for command in server.kept.values() if command != "HEAD"] == ["GET", "PUT", "GET"]


def test_a_remote_whose_slow_answers_take_too_much_together_is_left_alone(monojit):
    """Each of them is in time, also when two jobs wait for the same connection."""
    with serving(type("Server", (Page,), {"status": 404, "pause_s": 0.9})) as (server, url):
        outcome = monojit("warm", "example.row_norm{rows=1..6,hidden=512}", "--arch", "gfx950", "--jobs", "2",
                          MONOJIT_CACHE_REMOTE=url + "?timeout_ms=1500")
    assert outcome.code == 0
    (line,) = [line for line in outcome.warnings if "remote" in line]
    assert f"{url} fails (too much time goes into slow answers): it is left alone for 60 s" in line
    assert len(server.kept) in (5, 6), "4.5 s are three times the limit"


def test_a_redis_server_that_never_answers_is_said_to_be_late(monojit):
    with answering(lambda connection: (connection.recv(1 << 16), connection.recv(1 << 16))) as url:
        outcome = monojit.get(MONOJIT_CACHE_REMOTE=url + "?timeout_ms=500")
    assert outcome.json()["cache"] == "built"
    (line,) = outcome.warnings
    assert "fails (no answer in time)" in line


@pytest.mark.parametrize("url", ["redis://:pa?ss@h", "http://user:12/ss@127.0.0.1"])
def test_no_part_of_a_password_is_shown(monojit, url):
    outcome = monojit.get(MONOJIT_CACHE_REMOTE=url)
    assert outcome.json()["cache"] == "built"
    (line,) = outcome.warnings
    assert "MONOJIT_CACHE_REMOTE is not used" in line and "ss" not in line.replace("password", "")


def test_a_read_only_folder_with_a_file_for_its_entries_costs_one_line(monojit, tmp_path):
    folder = tmp_path / "image"
    folder.mkdir()
    (folder / "entries").write_text("")
    outcome = monojit("warm", "example.row_norm{rows=1..3,hidden=512}", "--arch", "gfx950", MONOJIT_CACHE_READONLY=str(folder))
    assert outcome.code == 0
    (line,) = [line for line in outcome.warnings if "read-only" in line or "cache entry" in line]
    assert line.endswith(f"read-only cache {folder} can't be used: {folder}/entries is no folder")


def test_a_read_only_folder_of_another_user_costs_one_line(monojit, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can be several users")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        folder = Path(name) / "image"
        (folder / "entries").mkdir(parents=True)
        folder.chmod(0o700)
        environment = monojit.environment | {"MONOJIT_CACHE_READONLY": str(folder), "MONOJIT_CACHE_DIR": f"{name}/none"}
        command = [monojit.binary, "warm", "example.row_norm{rows=1..3,hidden=512}", "--arch", "gfx950"]
        try:
            done = subprocess.run(command, env=environment, user=65534, group=65534, extra_groups=[], cwd="/", capture_output=True,
                                  text=True, timeout=TIMEOUT_S)
        except PermissionError:
            pytest.skip("other users may not read this build")
    (line,) = [line for line in done.stderr.splitlines() if "read-only" in line or "cache entry" in line]
    assert f"read-only cache {folder} can't be used: {folder} can't be read (Permission denied" in line
