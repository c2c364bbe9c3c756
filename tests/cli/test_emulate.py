"""`monojit emulate`: code objects of other compilers, and everything that can be wrong with them and with their arguments."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import refused

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "emulate"

# The work-item's place in the grid to out[i], 3 times in[i] to out2[i], and a store that may go astray.
SOURCE = """
kernel void places(global uint* out, uint offset) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i + offset] = i;
}
kernel void twice(global const float* in, global float* out) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i] = 2 * in[i];
}
kernel void add_one(global uint* counter) { counter[__builtin_amdgcn_workitem_id_x()] += 1; }
kernel void wait(global volatile uint* flag) {
  while (flag[0] == 0) __builtin_amdgcn_s_sleep(1);
}
kernel void count_for_ever(global volatile uint* counter) {
  for (;;) counter[__builtin_amdgcn_workitem_id_x()] += 1;
}
"""


def clang(source, target, *options, language="cl"):
    flags = ["-x", language, "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", *options]
    flags += ["-cl-std=CL2.0", "-cl-kernel-arg-info"] if language == "cl" else []
    subprocess.run(["clang", *flags, str(source), "-o", str(target)], check=True)
    return target


@pytest.fixture(scope="session")
def objects(tmp_path_factory):
    """SOURCE for several chips: {"gfx950": path, ...}."""
    folder = tmp_path_factory.mktemp("objects")
    source = folder / "kernels.cl"
    source.write_text(SOURCE)
    return {chip: clang(source, folder / f"{chip}.co", f"-mcpu={chip}") for chip in ("gfx950", "gfx942", "gfx90a")}


@pytest.fixture
def emulate(monojit, objects, tmp_path):
    """Runs a kernel of SOURCE with arguments given as a Python value."""
    def run(kernel, arguments, *options, file=None, **environment):
        (tmp_path / "args.json").write_text(arguments if isinstance(arguments, str) else json.dumps(arguments))
        return monojit("emulate", file or objects["gfx950"], "--kernel", kernel, "--args", tmp_path / "args.json", *options, **environment)
    return run


def normalised(text):
    """Without what differs from run to run and from machine to machine."""
    text = re.sub(r"\d+\.\d+ s of this machine", "# s of this machine", text)
    text = re.sub(r"\d+\.\d+ %", "# %", text)
    text = re.sub(r"host AVX-?\w+", "host #", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def test_the_transcript_of_the_documentation_is_what_happens(monojit, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "example")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "monojit").symlink_to(monojit.binary)
    environment = monojit.environment | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1",
                                         "MONOJIT_LIBRARY_DIR": str(Path(monojit.binary).parents[1] / "lib")}
    steps = 0
    for block in re.findall(r"```console\n(.*?)```", (DOCS / "emulate.md").read_text(), re.DOTALL):
        for step in block.split("$ ")[1:]:
            command, _, expected = step.partition("\n")
            while command.endswith("\\"):
                line, _, expected = expected.partition("\n")
                command = command[:-1] + line
            outcome = subprocess.run(["bash", "-c", command], cwd=tmp_path / "example", env=environment, capture_output=True, text=True,
                                     stdin=subprocess.DEVNULL)
            assert normalised(outcome.stdout + outcome.stderr) == normalised(expected), command
            steps += 1
    assert steps >= 6


@pytest.mark.parametrize("chip", ["gfx950", "gfx942"])
def test_the_chip_is_that_of_the_file(emulate, objects, chip):
    outcome = emulate("places", [{"dtype": "u32", "shape": [256], "output": "out.npy"}, 0], "--grid", "4", "--json", file=objects[chip])
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert report["arch"] == chip
    assert chip in report["device"]


def test_the_json_has_its_documented_names(emulate, tmp_path):
    np.save(tmp_path / "expected.npy", np.arange(256, dtype=np.uint32))
    outcome = emulate("places", [{"dtype": "u32", "shape": [256], "output": "out.npy", "expect": "expected.npy"}, 0], "--grid", "4",
                      "--profile", "--json")
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert list(report) == ["file", "arch", "kernel", "device", "matrix_model", "grid", "block", "dynamic_lds_bytes", "launches",
                            "workgroups_per_cu", "resources", "counters", "buffers", "profile", "verified"]
    assert report["grid"] == [4, 1, 1]
    assert report["block"] == [64, 1, 1]
    assert list(report["resources"]) == ["vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes"]
    assert report["counters"]["wave_instructions"] > 0
    classes = ["vector", "scalar", "scalar_memory", "vector_memory", "lds", "mfma", "other"]
    assert report["counters"]["wave_instructions"] == sum(report["counters"][name] for name in classes)
    bytes_of = report["counters"]["bytes"]
    assert list(bytes_of) == ["device", "peer", "host", "lds", "scratch"]
    assert bytes_of["device"] == {"loaded": 0, "stored": 1024}  # 256 work-items store a dword each
    assert all(bytes_of[space] == {"loaded": 0, "stored": 0} for space in ["peer", "host", "lds", "scratch"])
    (buffer,) = report["buffers"]
    assert list(buffer) == ["name", "dtype", "shape", "least", "largest", "nans", "output", "expect"]
    assert buffer["largest"] == 255
    assert buffer["expect"]["mismatches"] == 0
    assert report["verified"] is True
    (kernel,) = report["profile"]
    assert list(kernel["instructions"][0]) == ["address", "text", "source", "class", "executions", "out_of_range", "time_share"]
    executed = sum(each["executions"] or 0 for each in kernel["instructions"])
    assert 0 < executed <= report["counters"]["wave_instructions"]
    assert sum(each["time_share"] for each in kernel["instructions"]) == pytest.approx(1)
    assert (np.load(tmp_path / "out.npy") == np.arange(256)).all()


def test_list_shows_kernels_arguments_and_resources_without_running_anything(monojit, objects):
    outcome = monojit("emulate", objects["gfx950"], "--list", "--json")
    assert outcome.code == 0
    report = outcome.json()
    assert report["arch"] == "gfx950"
    kernels = {kernel["name"]: kernel for kernel in report["kernels"]}
    assert set(kernels) == {"places", "twice", "add_one", "wait", "count_for_ever"}
    assert kernels["twice"]["arguments"] == [
        {"name": "in", "kind": "global_buffer", "type": "float*", "bytes": 8, "offset": 0},
        {"name": "out", "kind": "global_buffer", "type": "float*", "bytes": 8, "offset": 8}]
    assert kernels["places"]["occupancy"]["workgroups_per_cu"] > 0
    text = monojit("emulate", objects["gfx950"], "--list").out
    for name in kernels:
        assert f"\n{name}\n" in text


def test_arrays_go_in_and_out_whatever_their_order_and_dtype(emulate, tmp_path):
    values = np.asfortranarray(np.linspace(-4, 4, 128, dtype=np.float64).reshape(8, 16))
    np.save(tmp_path / "in.npy", values)
    outcome = emulate("twice", [{"file": "in.npy", "dtype": "f32"}, {"dtype": "f32", "shape": [8, 16], "output": "out.npy"}], "--grid", 2)
    assert outcome.code == 0, outcome
    assert (np.load(tmp_path / "out.npy") == 2 * values.astype(np.float32)).all()


def test_bf16_is_stored_as_bits_and_compared_as_numbers(emulate, tmp_path):
    np.save(tmp_path / "ones.npy", np.ones(64, dtype=np.float32))
    one, two = 0x3F80, 0x4000
    buffers = {"x": {"generate": "ones", "dtype": "bf16", "shape": [64], "output": "x.npy", "expect": "ones.npy"}}
    # 0x3F803F80 + 1 in a word: every other element becomes the number behind 1.
    outcome = emulate("add_one", {"buffers": buffers, "arguments": [{"buffer": "x"}]}, "--block", 32)
    assert outcome.code == 1
    assert "NumPy has no bf16" in outcome.out
    assert "x[0] is 1.0078125, expected 1" in outcome.out
    assert "32 elements differ" in outcome.out
    assert (np.load(tmp_path / "x.npy") == np.tile(np.array([one + 1, one], dtype=np.uint16), 32)).all()
    np.save(tmp_path / "bits.npy", np.full(64, two, dtype=np.uint16))
    buffers = {"x": {"generate": "constant", "value": 2, "dtype": "bf16", "shape": [64], "expect": "bits.npy", "rtol": 0.01}}
    assert emulate("add_one", {"buffers": buffers, "arguments": [{"buffer": "x"}]}, "--block", 32).code == 0


def test_raw_files_go_in_and_out(emulate, tmp_path):
    values = np.arange(64, dtype=np.float32)
    (tmp_path / "in.bin").write_bytes(values.tobytes())
    outcome = emulate("twice", [{"raw": "in.bin"}, {"bytes": 256, "output": "out.bin"}])
    assert outcome.code == 0, outcome
    assert (np.frombuffer((tmp_path / "out.bin").read_bytes(), dtype=np.float32) == 2 * values).all()


def test_launches_repeat_on_the_same_buffers(emulate, tmp_path):
    outcome = emulate("add_one", [{"generate": "zeros", "dtype": "u32", "shape": [64], "output": "out.npy"}], "--repeat", 3, "--json")
    assert outcome.json()["launches"] == 3
    assert (np.load(tmp_path / "out.npy") == 3).all()


def test_one_buffer_may_be_two_arguments_with_offsets(emulate, tmp_path):
    arguments = {"buffers": {"x": {"generate": "arange", "dtype": "f32", "shape": [128], "output": "out.npy"}},
                 "arguments": {"in": {"buffer": "x"}, "out": {"buffer": "x", "offset": 256}}}
    assert emulate("twice", arguments).code == 0
    out = np.load(tmp_path / "out.npy")
    assert (out[64:] == 2 * np.arange(64)).all()


def test_a_difference_is_shown_with_its_place_and_gives_code_1(emulate, tmp_path):
    expected = np.arange(64, dtype=np.uint32)
    expected[[7, 9]] = 1000
    np.save(tmp_path / "expected.npy", expected)
    outcome = emulate("places", [{"dtype": "u32", "shape": [64], "expect": "expected.npy"}, 0])
    assert outcome.code == 1
    assert "[7] is 7, expected 1000" in outcome.out
    assert "[9] is 9, expected 1000" in outcome.out
    assert "2 elements differ" in outcome.out
    assert emulate("places", [{"dtype": "u32", "shape": [64], "expect": "expected.npy", "atol": 993}, 0]).code == 0


def test_a_kernel_that_faults_gives_code_1_and_the_whole_story(emulate, tmp_path):
    outcome = emulate("places", [{"dtype": "u32", "shape": [64], "output": "out.npy"}, 10000], "--trace", tmp_path / "trace.json")
    assert outcome.code == 1
    assert outcome.out == ""
    for text in ("kernel places", "workgroup (0, 0, 0)", "lane", "store"):
        assert text in outcome.err
    assert not (tmp_path / "out.npy").exists()
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_damaged_debug_information_says_nothing(emulate, tmp_path):
    (tmp_path / "kernels.cl").write_text(SOURCE)
    whole = clang(tmp_path / "kernels.cl", tmp_path / "whole.co", "-mcpu=gfx950", "-g")
    (tmp_path / "offsets").write_bytes(b"\xff" * 64)
    subprocess.run(["llvm-objcopy", "--update-section", f".debug_str_offsets={tmp_path / 'offsets'}", whole, tmp_path / "damaged.co"], check=True)
    outcome = emulate("places", [{"bytes": 256}, 64], file=tmp_path / "damaged.co")
    assert outcome.code == 1
    assert all(line.startswith("monojit: ") for line in outcome.err.strip().splitlines()), outcome.err


def test_a_limit_ends_a_kernel_that_never_does(emulate):
    outcome = emulate("count_for_ever", [{"generate": "zeros", "dtype": "u32", "shape": [64]}], "--limit", "1")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "kernel count_for_ever: still running after 1 s" in outcome.err
    assert "1 waves of 1 workgroups (0)" in outcome.err


def test_a_deadlock_is_told_with_where_it_waits(emulate):
    outcome = emulate("wait", [{"generate": "zeros", "dtype": "u32", "shape": [1]}], "--profile")
    assert outcome.code == 1
    assert "deadlock" in outcome.err
    assert "s_sleep" in outcome.err


def test_a_trace_has_a_track_for_every_workgroup_and_wave(emulate, tmp_path):
    outcome = emulate("places", [{"dtype": "u32", "shape": [512]}, 0], "--grid", 4, "--block", 128, "--trace", tmp_path / "trace.json")
    assert outcome.code == 0, outcome
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert {f"workgroup {i}, 0, 0" for i in range(4)} <= names
    assert {f"workgroup {i}, 0, 0 wave {w}" for i in range(4) for w in range(2)} <= names
    assert "device 0 XCD 1 CU 0" in names
    spans = [event for event in events if event["ph"] == "X"]
    assert sum(span["name"] == "run" for span in spans) == 8
    assert sum(span["name"] == "places" for span in spans) == 5  # the launch and four workgroups
    assert all(span["dur"] > 0 for span in spans)


def test_a_profile_goes_to_a_file_as_a_listing_or_as_json(emulate, tmp_path):
    arguments = [{"dtype": "u32", "shape": [64]}, 0]
    assert emulate("places", arguments, "--profile", tmp_path / "listing.txt").code == 0
    listing = (tmp_path / "listing.txt").read_text()
    assert "s_endpgm" in listing and "global_store_dword" in listing
    assert emulate("places", arguments, f"--profile={tmp_path / 'profile.json'}").code == 0
    assert json.loads((tmp_path / "profile.json").read_text())[0]["kernel"] == "places"


def test_run_profiles_kernels_of_our_own_with_lines_of_the_emitter(warm):
    outcome = warm.run("--arch", "gfx950", "--profile")
    assert outcome.code == 0
    instructions = outcome.json()["profile"][0]["instructions"]
    assert any(each["source"].startswith("kernels/minimax_m3/") for each in instructions if each["executions"])
    text = warm("run", "minimax_m3.k1{tokens=1,index_heads=1}", "--arch", "gfx950", "--device", "emulator", "--profile").out
    assert "SOURCE LINE" in text and "kernels/minimax_m3/k1/emit/norm.cpp:" in text


def test_arguments_may_come_from_standard_input(monojit, objects, tmp_path):
    text = json.dumps([{"dtype": "u32", "shape": [64], "output": str(tmp_path / "out.npy")}, 0])
    outcome = subprocess.run([monojit.binary, "emulate", str(objects["gfx950"]), "--kernel", "places", "--args", "-"], input=text, text=True,
                             capture_output=True, env=monojit.environment)
    assert outcome.returncode == 0, outcome
    assert (np.load(tmp_path / "out.npy") == np.arange(64)).all()


def test_an_offload_bundle_gives_the_entry_of_the_chip(monojit, objects, tmp_path):
    bundle = tmp_path / "bundle.hipfb"
    (tmp_path / "host").write_bytes(b"")
    chips = ["gfx90a", "gfx942", "gfx950"]
    subprocess.run(["clang-offload-bundler", "-type=o", "-targets=host-x86_64-unknown-linux-gnu," +
                    ",".join(f"hipv4-amdgcn-amd-amdhsa--{chip}" for chip in chips), f"-input={tmp_path / 'host'}",
                    *(f"-input={objects[chip]}" for chip in chips), f"-output={bundle}"], check=True)
    assert monojit("emulate", bundle, "--list", "--json").json()["arch"] == "gfx942"
    for chip in ("gfx942", "gfx950"):
        assert monojit("emulate", bundle, "--list", "--json", MONOJIT_EMULATOR_CHIP=chip).json()["arch"] == chip
    content = bundle.read_bytes()
    (tmp_path / "short").write_bytes(content[:60])
    assert refused(monojit("emulate", tmp_path / "short", "--list"), "cut short")
    subprocess.run(["clang-offload-bundler", "-type=o", "-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a",
                    f"-input={tmp_path / 'host'}", f"-input={objects['gfx90a']}", f"-output={tmp_path / 'other'}"], check=True)
    assert refused(monojit("emulate", tmp_path / "other", "--list"), "nothing for gfx950 or gfx942", "gfx90a")


def test_files_that_are_no_code_object_are_refused(monojit, objects, tmp_path):
    (tmp_path / "text").write_text("not an ELF file")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "compressed").write_bytes(b"CCOB" + bytes(60))
    whole = objects["gfx950"].read_bytes()
    (tmp_path / "object.o").write_bytes(whole[:16] + b"\1\0" + whole[18:])  # ET_REL
    for name, text in [("text", "not an ELF file"), ("empty", "ELF header"), ("compressed", "compressed offload bundle"), ("object.o", "not linked"),
                       ("nothing", "no such file")]:
        assert refused(monojit("emulate", tmp_path / name, "--list"), name, text)
    assert refused(monojit("emulate", tmp_path, "--list"), "no regular file")
    assert refused(monojit("emulate", monojit.binary, "--list"), "of the host")
    assert refused(monojit("emulate", objects["gfx90a"], "--list"), "gfx90a.co", "gfx950", "gfx942")


def test_a_code_object_that_is_cut_short_anywhere_is_refused(monojit, objects, tmp_path):
    whole = objects["gfx950"].read_bytes()
    for length in [10, 63, 64, 200, len(whole) // 4, len(whole) // 2, len(whole) - 1]:
        (tmp_path / "short.co").write_bytes(whole[:length])
        assert refused(monojit("emulate", tmp_path / "short.co", "--list"), "short.co", "truncated")


def test_a_chip_of_the_environment_that_disagrees_is_refused(emulate, objects):
    outcome = emulate("places", [{"bytes": 256}, 0], file=objects["gfx942"], MONOJIT_EMULATOR_CHIP="gfx950")
    assert refused(outcome, "is for gfx942", "MONOJIT_EMULATOR_CHIP is gfx950")


def test_a_kernel_that_is_not_there_is_answered_with_those_that_are(emulate, monojit, objects):
    assert refused(emulate("place", []), "no kernel place", "did you mean 'places'?", "twice")
    outcome = monojit("emulate", objects["gfx950"])
    assert refused(outcome, "5 kernels: choose one with --kernel", "arguments of twice", "global_buffer")


@pytest.mark.parametrize("arguments, texts", [
    ("[1, 2", ["args.json is no JSON", "line 1"]),
    pytest.param("[" * 100_000 + "]" * 100_000, ["args.json: lists and objects are more than 64 deep"], id="deep lists"),
    pytest.param('[{"bytes":' * 50_000 + "1" + "}]" * 50_000, ["args.json: lists and objects are more than 64 deep"], id="deep objects"),
    ("[]", ["0 arguments, where the kernel takes 2", "arguments of places"]),
    ([{"bytes": 256}, {"i64": 1}], ["argument 1 has 8 bytes, where the kernel takes 4"]),
    ([7, 7], ["out is a pointer"]),
    ([{"bytes": 256, "outptu": "x.npy"}, 0], ["unknown key 'outptu', did you mean 'output'?"]),
    ([{"file": "nothing.npy"}, 0], ["nothing.npy", "no such file"]),
    ([{"bytes": 256, "output": "no/folder/x.npy"}, 0], ["no/folder/x.npy"]),
    ([{"bytes": 256, "output": "args.json"}, 0], ["args.json is read as well"]),
    ([{"dtype": "f32", "shape": [10**15]}, 0], ["where the device has"]),
    ([{"dtype": "f32", "shape": [2**40, 2**40]}, 0], ["larger than memory"]),
    ({"buffers": {"x": {"bytes": 4}}, "arguments": [{"buffer": "x", "offset": 5}, 0]}, ["offset 5 lies behind its 4 bytes"]),
])
def test_arguments_that_are_wrong_are_refused(emulate, arguments, texts):
    assert refused(emulate("places", arguments), *texts)


def test_an_expected_array_of_another_shape_is_refused_before_anything_runs(emulate, tmp_path):
    np.save(tmp_path / "expected.npy", np.zeros(63, dtype=np.uint32))
    outcome = emulate("places", [{"dtype": "u32", "shape": [64], "expect": "expected.npy", "output": "out.npy"}, 0])
    assert refused(outcome, "expected.npy", "[63], not [64]")
    assert not (tmp_path / "out.npy").exists()


@pytest.mark.parametrize("options, text", [
    (["--grid", "0"], "--grid: '0'"), (["--grid", "-1"], "--grid"), (["--grid", "1,2,3,4"], "'1,2,3,4'"), (["--grid", "x"], "'x'"),
    (["--grid", "1,"], "'1,'"), (["--grid", "4294967296"], "4294967296"), (["--grid", "4294967295"], "2^32"),
    (["--block", "2048"], "2048 work-items"), (["--block", "64,64,64"], "work-items"), (["--lds", "1000000"], "LDS"),
    (["--lds", "-1"], "--lds: '-1' is no decimal number of 0 to 4294967295"), (["--seed", "-1"], "--seed=-1: not understood, use an unsigned 64-bit number"),
    (["--repeat", "0"], "[1 - 4294967295]"), (["--cooperative", "--grid", "100000"], "cooperative"),
    (["--seed", "many"], "many"), (["--matrix", "magic"], "magic"), (["--memory", "holographic"], "use coherent or weak"), (["--threads", "0"], "0"), (["--limit", "soon"], "use seconds"),
    (["--trace", "/nonexistent/trace.json"], "/nonexistent/trace.json"), (["--profile", "/nonexistent/p.txt"], "/nonexistent/p.txt"),
])
def test_launches_that_can_not_be_are_refused(emulate, options, text):
    assert refused(emulate("places", [{"bytes": 256}, 0], *options), text)


def test_profiles_and_traces_take_nobodys_place(emulate, tmp_path):
    arguments = tmp_path / "args.json"
    for options in (["--profile", arguments], ["--trace", arguments], ["--trace", tmp_path / "t", "--profile", tmp_path / "t"]):
        assert refused(emulate("places", [{"bytes": 256}, 0], *options), "choose another name")
    assert json.loads(arguments.read_text()) == [{"bytes": 256}, 0]


def test_a_number_beyond_all_types_is_refused_with_the_files_name(emulate):
    assert refused(emulate("places", '[{"bytes": 256}, 1e400]'), "args.json", "1e400")


def test_arguments_that_are_missing_are_listed(monojit, objects):
    outcome = monojit("emulate", objects["gfx950"], "--kernel", "places")
    assert refused(outcome, "places takes arguments: give them with --args", "global_buffer")


def test_a_required_workgroup_size_is_the_default_and_can_not_be_another(monojit, tmp_path):
    (tmp_path / "required.cl").write_text("__attribute__((reqd_work_group_size(128, 2, 1))) kernel void empty(void) {}")
    file = clang(tmp_path / "required.cl", tmp_path / "required.co", "-mcpu=gfx950")
    outcome = monojit("emulate", file, "--json")
    assert outcome.code == 0, outcome
    assert outcome.json()["block"] == [128, 2, 1]
    assert refused(monojit("emulate", file, "--block", "64"), "128x2x1")


def test_a_kernel_in_assembly_without_metadata_of_arguments_takes_typed_ones(monojit, tmp_path):
    (tmp_path / "store.s").write_text("""
  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
  .text
  .globl store
  .p2align 8
  .type store,@function
store:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s6
  v_lshlrev_b32 v2, 2, v0
  global_store_dword v2, v1, s[4:5]
  s_endpgm
  .size store, .-store
  .rodata
  .p2align 6
  .amdhsa_kernel store
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 12
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 16
    .amdhsa_accum_offset 8
  .end_amdhsa_kernel
""")
    file = clang(tmp_path / "store.s", tmp_path / "store.co", "-mcpu=gfx950", language="assembler")
    (tmp_path / "args.json").write_text('[{"dtype": "i32", "shape": [64], "output": "out.npy"}, {"i32": -7}]')
    outcome = monojit("emulate", file, "--args", tmp_path / "args.json")
    assert outcome.code == 0, outcome
    assert (np.load(tmp_path / "out.npy") == -7).all()
    assert "does not say" in monojit("emulate", file, "--list").out
    (tmp_path / "args.json").write_text('[{"dtype": "i32", "shape": [64]}, -7]')
    assert refused(monojit("emulate", file, "--args", tmp_path / "args.json"), "needs a type")
