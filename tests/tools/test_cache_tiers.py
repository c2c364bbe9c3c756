"""Tiers below the user's folder: read-only folders, archives, remote stores; servers are started here, on this machine."""

import shutil
import socket
import subprocess
import threading
import time

import pytest
from conftest import KEY, entry_files, refused

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
    assert first.json()["cache"] == "built" and first.err == ""
    other = {"MONOJIT_CACHE_DIR": str(tmp_path / "other")}
    second = run(monojit, "--strict", MONOJIT_CACHE_REMOTE=remote, **other)
    assert second.json()["cache"] == "remote" and second.err == ""
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
    assert len(outcome.err.splitlines()) == 2


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
    assert len(outcome.err.splitlines()) == 1 and "left alone for 60 s" in outcome.err


def test_an_url_that_means_nothing_costs_one_line_and_no_answer(monojit):
    outcome = run(monojit, MONOJIT_CACHE_REMOTE="https://user:secret@cache")
    assert outcome.json()["cache"] == "built"
    assert "MONOJIT_CACHE_REMOTE is not used" in outcome.err and "secret" not in outcome.err


def test_an_archive_serves_in_place_and_unpacks(monojit, warm_cache, tmp_path):
    archive = tmp_path / "kernels.monopack"
    report = monojit("cache", "pack", archive, KEY, "--cache-dir", warm_cache, "--json").json()
    assert [set(entry) for entry in report["entries"]] == [
        {"digest", "key", "target", "generator", "toolchain", "entry_bytes", "stored_bytes"}]
    assert report["bytes"] == archive.stat().st_size < report["entries"][0]["entry_bytes"]
    outcome = run(monojit, "--strict", MONOJIT_CACHE_READONLY=f"/nowhere:{archive}")
    assert outcome.json()["cache"] == "read_only"
    assert "/nowhere can't be opened" in outcome.err
    assert entry_files(monojit.cache) == []
    assert KEY[:20] in monojit("cache", "unpack", archive, "--list").out
    assert entry_files(monojit.cache) == []
    assert monojit("cache", "unpack", archive, "--json").json()["stored"] == 1
    assert run(monojit).json()["cache"] == "disk"


def test_a_folder_of_an_image_serves_read_only(monojit, warm_cache):
    outcome = run(monojit, "--strict", MONOJIT_CACHE_READONLY=str(warm_cache))
    assert outcome.json()["cache"] == "read_only" and outcome.err == ""


def test_packing_nothing_or_what_is_no_archive_is_refused(monojit, tmp_path):
    assert refused(monojit("cache", "pack", tmp_path / "a"), "either entries or --all")
    text = tmp_path / "text"
    text.write_text("this is a text of a few words, longer than a header")
    assert refused(monojit("cache", "unpack", text), "no archive of kernels")


def test_a_hit_maps_neither_llvm_nor_comgr(monojit, tmp_path):
    def loaded(name):
        assert monojit("warm", KEY, "--arch", "gfx950", LD_DEBUG="files", LD_DEBUG_OUTPUT=str(tmp_path / name)).code == 0
        return "".join(file.read_text(errors="replace") for file in tmp_path.glob(f"{name}.*"))

    assert "libLLVM" in loaded("build")
    hit = loaded("hit")
    assert "libfmt" in hit
    assert "libLLVM" not in hit and "comgr" not in hit
