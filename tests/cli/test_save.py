"""`monojit run --save`: what may be written, and what is left when it can't be."""

import os
import resource
import signal
import subprocess
import time

import pytest
import tensors
from conftest import KEY, SMALL, refused

NO_USERS_MAY_WRITE_HERE = "/proc/self/fdinfo/x.safetensors"


def save(monojit, path):
    return monojit.run("--arch", "gfx950", "--save", path)


def test_a_fifo_is_refused_and_stays_one(monojit, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert refused(save(monojit, tmp_path / "fifo"), f"can't write {tmp_path / 'fifo'}", "no regular file")
    assert (tmp_path / "fifo").is_fifo()
    (tmp_path / "link").symlink_to("fifo")
    assert refused(save(monojit, tmp_path / "link"), "no regular file")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "fifo").is_fifo()
    assert monojit.entries() == [], "it was told before anything was built"


TIMED = "minimax_m3.k1{tokens=1,timeline=1}"


@pytest.mark.parametrize("earlier, later", [("--save", "--trace"), ("--save", "--profile"), ("--trace", "--profile"),
                                            ("--inputs", "--trace"), ("--inputs", "--profile")])
def test_a_file_for_two_things_is_refused_by_whatever_name_and_stays(monojit, tmp_path, earlier, later):
    tensors.write(tmp_path / "file", {"layer": ("I32", [1], bytes(4))})
    (tmp_path / "link").symlink_to("file")
    before = (tmp_path / "file").read_bytes()
    outcome = monojit.run(earlier, tmp_path / "file", later, tmp_path / "link", key=TIMED)
    assert refused(outcome, later, str(tmp_path / "link"), "choose another name")
    assert (tmp_path / "file").read_bytes() == before
    assert monojit.entries() == [], "it was told before anything was built"


def test_a_group_refuses_a_file_for_two_things_too(monojit, tmp_path):
    outcome = monojit.run("--save", tmp_path / "file", "--trace", tmp_path / "file", key="kimi_k3.k2{tokens=1,nblocks=1,timeline=1}")
    assert refused(outcome, "--trace", str(tmp_path / "file"), "choose another name")


def saved_with_seed_7(monojit, path):
    outcome = monojit.run("--seed", 7, "--save", path, key=SMALL)
    assert outcome.code == 0, outcome
    return outcome


def test_a_saved_file_tells_of_its_run_whose_seed_is_taken_again(monojit, tmp_path):
    key = saved_with_seed_7(monojit, tmp_path / "first").json()["key"]
    metadata = tensors.metadata(tmp_path / "first")
    release = metadata.pop("release")
    assert metadata == {"key": key, "seed": "7", "layers": "1", "repeat": "1", "ranks": "1"}
    assert release.split() == monojit("--version").out.split()
    outcome = monojit.run("--inputs", tmp_path / "first", "--save", tmp_path / "again", key=SMALL)
    assert outcome.code == 0
    assert outcome.json()["seed"] == 7
    assert outcome.warnings == [f"monojit: --seed 7, as {tmp_path / 'first'} has it"]
    assert (tmp_path / "again").read_bytes() == (tmp_path / "first").read_bytes()


def test_a_seed_or_key_that_a_saved_file_has_not_is_told(monojit, tmp_path):
    file = tmp_path / "x"
    key = saved_with_seed_7(monojit, file).json()["key"]
    outcome = monojit.run("--inputs", file, "--seed", 8, key=SMALL)
    assert outcome.code == 0
    assert outcome.json()["seed"] == 8
    assert outcome.warnings == [f"monojit: {file} is of a run with --seed 7: what it lacks is made with --seed 8"]
    outcome = monojit.run("--inputs", file, "--seed", 7, key="example.row_norm{rows=4,hidden=512,eps=0.5}")
    assert outcome.code == 0
    assert outcome.warnings == [f"monojit: {file} is of a run of {key}"]
    assert refused(monojit.run("--inputs", file), str(file), f"is of a run of {key}, not of minimax_m3.k1")


@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt", "seed": "x"}, {"key": "common.bump{}", "seed": "7"}])
def test_files_of_others_are_taken_as_they_are(monojit, tmp_path, metadata):
    saved_with_seed_7(monojit, tmp_path / "first")
    inputs = {name: tensor for name, tensor in tensors.read(tmp_path / "first").items() if name.startswith("in/")}
    tensors.write(tmp_path / "file", inputs, metadata)
    outcome = monojit.run("--inputs", tmp_path / "file", key=SMALL)
    assert outcome.code == 0
    assert outcome.warnings == []
    assert outcome.json()["seed"] == 1


@pytest.mark.parametrize("metadata", [{}, {"key": "common.bump{}"}, {"key": "common.bump{}", "seed": "-1"}, {"seed": "7"}])
def test_metadata_that_are_damaged_are_refused(monojit, tmp_path, metadata):
    tensors.write(tmp_path / "file", {}, {"release": "monojit 0.1.0"} | metadata)
    assert refused(monojit.run("--inputs", tmp_path / "file", key=SMALL), str(tmp_path / "file"), "no key and seed")


def test_inputs_may_be_replaced_by_what_is_saved(warm, tmp_path):
    tensors.write(tmp_path / "file", {"layer": ("I32", [1], (5).to_bytes(4, "little"))})
    assert warm.run("--inputs", tmp_path / "file", "--save", tmp_path / "file").code == 0
    assert tensors.read(tmp_path / "file")["in/layer"] == ("I32", [1], (5).to_bytes(4, "little"))


@pytest.mark.parametrize("name, reason", [
    ("", "Is a directory"),
    ("missing/x.safetensors", "No such file or directory"),
    ("file/x.safetensors", "Not a directory"),
    ("n" * 300, "File name too long"),
    ("loop", "Too many levels of symbolic links"),
])
def test_what_can_not_be_written_is_refused_with_the_reason_before_the_build(monojit, tmp_path, name, reason):
    (tmp_path / "file").write_text("text")
    (tmp_path / "loop").symlink_to("loop")
    assert refused(save(monojit, tmp_path / name), str(tmp_path / name), reason)
    assert monojit.entries() == []


def test_a_folder_that_takes_no_files_is_refused(monojit):
    assert refused(save(monojit, NO_USERS_MAY_WRITE_HERE), NO_USERS_MAY_WRITE_HERE)
    assert monojit.entries() == []


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed(warm, tmp_path, exists):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    if exists:
        target.write_text("old")
        target.chmod(0o640)
    (tmp_path / "link").symlink_to("folder/target")
    assert save(warm, tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert "q_out" in tensors.read(target)
    assert not exists or target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "folder") == ["target"]


def test_the_part_file_of_the_user_is_left_alone(warm, tmp_path):
    (tmp_path / "x.part").write_text("mine")
    assert save(warm, tmp_path / "x").code == 0
    assert (tmp_path / "x.part").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith((".", "x"))) == ["x", "x.part"]


def test_two_may_save_to_one_file(warm, tmp_path):
    runs = [warm.start("run", KEY, "--device", "emulator", "--save", tmp_path / "x") for _ in range(2)]
    outcomes = [warm.finish(process) for process in runs]
    assert [outcome.code for outcome in outcomes] == [0, 0], outcomes
    assert "q_out" in tensors.read(tmp_path / "x")


def limited(monojit, path, size):
    """A run that may write files of `size` bytes."""
    process = subprocess.Popen([monojit.binary, "run", KEY, "--device", "emulator", "--arch", "gfx950", "--json", "--save", path],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=monojit.environment,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    return monojit.finish(process)


def test_a_file_that_can_not_be_saved_after_the_run_costs_the_file_and_not_the_result(warm, tmp_path):
    (tmp_path / "x").write_text("old")
    outcome = limited(warm, tmp_path / "x", 100_000)
    assert outcome.code == 1
    assert outcome.json()["verified"] is True
    assert outcome.err.splitlines()[-1] == f"monojit: can't write {tmp_path / 'x'}: File too large"
    assert (tmp_path / "x").read_text() == "old"
    assert not list(tmp_path.glob(".monojit*"))


def test_an_interrupted_save_leaves_nothing(warm, tmp_path):
    folder = tmp_path / "saves"
    folder.mkdir()
    process = warm.start("run", KEY, "--device", "emulator", "--save", folder / "x")
    while process.poll() is None and not list(folder.iterdir()):
        time.sleep(0.0001)
    process.send_signal(signal.SIGTERM)
    assert warm.finish(process).code in (-signal.SIGTERM, 0)
    assert [path.name for path in folder.iterdir()] in ([], ["x"])
