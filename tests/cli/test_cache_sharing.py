"""Who may read and write what is made in a cache folder."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import SMALL, TIMEOUT_S, entry_files

GROUP = 54321
USERS = (54001, 54002)


def test_other_users_are_let_in_by_the_umask_variable_alone(monojit):
    assert monojit("warm", SMALL, MONOJIT_CACHE_UMASK="027").code == 0
    (entry,) = entry_files(monojit.cache)
    assert entry.stat().st_mode & 0o777 == 0o640 and entry.parent.stat().st_mode & 0o777 == 0o750
    assert monojit("cache", "clear").code == 0
    assert monojit("warm", SMALL).code == 0
    (entry,) = entry_files(monojit.cache)
    assert entry.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_a_cache_is_private_whatever_the_umask_of_the_process(monojit, mask):
    command = [monojit.binary, "warm", SMALL, "--arch", "gfx950"]
    assert subprocess.run(command, env=monojit.environment, umask=mask, capture_output=True, timeout=TIMEOUT_S).returncode == 0
    modes = {path.stat().st_mode & 0o777 for path in [monojit.cache, *monojit.cache.rglob("*")] if path.is_dir()}
    assert modes == {0o700}
    assert {path.stat().st_mode & 0o777 for path in monojit.cache.rglob("*") if path.is_file()} == {0o600}


@pytest.fixture
def as_user(monojit):
    """Runs the command as another user of the group, in a folder that the group shares."""
    if os.geteuid() != 0:
        pytest.skip("only root can be several users")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shared = folder / "shared"
        shared.mkdir()
        os.chown(shared, USERS[0], GROUP)
        shared.chmod(0o2770)
        environment = monojit.environment | {"MONOJIT_CACHE_DIR": str(shared), "HOME": "/nonexistent"}

        def run(user, *arguments, mask="007", group=GROUP, extra_groups=(), check=True):
            done = subprocess.run([monojit.binary, *arguments], env=environment | {"MONOJIT_CACHE_UMASK": mask}, user=user, group=group,
                                  extra_groups=list(extra_groups), umask=0o077, cwd="/", capture_output=True, text=True, timeout=TIMEOUT_S)
            assert done.returncode == 0 or not check, done
            return done

        try:
            run(USERS[0], "--version")
        except PermissionError:
            pytest.skip("other users may not read this build")
        run.folder = shared
        yield run


def test_users_of_a_group_hit_what_another_built_and_trim_it(as_user):
    assert "built 1, hit 0" in as_user(USERS[0], "warm", SMALL, "--arch", "gfx950").stdout
    second = as_user(USERS[1], "warm", SMALL, "--arch", "gfx950")
    assert "built 0, hit 1" in second.stdout and second.stderr == ""
    assert "removed 1 entry" in as_user(USERS[1], "cache", "trim", "--max-size", "1").stdout
    assert "built 1, hit 0" in as_user(USERS[1], "warm", SMALL, "--arch", "gfx950").stdout
    assert "built 0, hit 1" in as_user(USERS[0], "warm", SMALL, "--arch", "gfx950").stdout


def test_a_group_folder_whose_files_are_not_the_groups_says_what_it_wants_and_which_folder_is_shut(as_user):
    as_user.folder.chmod(0o770)
    other_group = {"group": GROUP + 1, "extra_groups": [GROUP]}
    first = as_user(USERS[1], "warm", SMALL, "--arch", "gfx950", mask="", **other_group)
    (line,) = [line for line in first.stderr.splitlines() if "to be built" not in line]
    assert f"cache folder {as_user.folder} is a group's" in line and f"(chmod g+s {as_user.folder})" in line
    second = as_user(USERS[0], "warm", SMALL, "--arch", "gfx950", mask="", check=False)
    assert second.returncode != 0
    assert any(f"{as_user.folder}/{part}: Permission denied" in second.stderr for part in ("entries", "tmp", "locks"))
    for made in as_user.folder.iterdir():
        subprocess.run(["rm", "-r", made], check=True)
    as_user.folder.chmod(0o2770)
    assert "a group's" not in as_user(USERS[1], "warm", SMALL, "--arch", "gfx950", mask="", **other_group).stderr
    assert "hit 1" in as_user(USERS[0], "warm", SMALL, "--arch", "gfx950", mask="").stdout


UNSET = ""


def test_a_member_who_does_not_set_the_variable_shuts_nobody_out(as_user):
    for user, other in (USERS, USERS[::-1]):
        as_user(user, "doctor", mask=UNSET)
        assert "built 1, hit 0" in as_user(user, "warm", SMALL, "--arch", "gfx950", mask=UNSET).stdout
        hit = as_user(other, "warm", SMALL, "--arch", "gfx950", mask=UNSET)
        assert "built 0, hit 1" in hit.stdout and hit.stderr == ""
        assert "removed 1 entry" in as_user(other, "cache", "clear", mask=UNSET).stdout
        as_user(other, "cache", "stats", "--reset", mask=UNSET)
    made = list(as_user.folder.rglob("*"))
    assert {path.stat().st_mode & 0o7777 for path in made if path.is_dir()} == {0o2770}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} <= {0o660}
    umask = {each["name"]: each for each in json.loads(as_user(USERS[1], "env", "--json", mask=UNSET).stdout)["variables"]}["MONOJIT_CACHE_UMASK"]
    assert (umask["value"], umask["origin"]) == ("007", "cache folder")


@pytest.mark.parametrize("mode, group, made", [
    (0o700, 0, 0o700),  # private
    (0o755, 0, 0o700),  # to be read, not to be written by others
    (0o770, 0, 0o770),
    (0o770, GROUP, 0o700),  # new files would be the process's group's, not the folder's
    (0o2775, GROUP, 0o775),
    (0o777, 0, 0o775),  # what everybody may write is nobody's to trust
])
def test_what_is_made_lets_in_nobody_whom_the_folder_keeps_out(monojit, mode, group, made):
    monojit.cache.mkdir()
    if group != 0 and os.geteuid() != 0:
        pytest.skip("only root can give a folder to any group")
    os.chown(monojit.cache, -1, group or os.getegid())
    monojit.cache.chmod(mode)
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (entry,) = entry_files(monojit.cache)
    assert entry.parent.stat().st_mode & 0o777 == made and entry.stat().st_mode & 0o777 == made & 0o666


def test_an_entry_is_data_that_no_loader_opens(monojit, tmp_path):
    """Neither may it be run, nor is it given to dlopen."""
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (entry,) = entry_files(monojit.cache)
    assert entry.stat().st_mode & 0o111 == 0
    assert not entry.read_bytes().startswith(b"\x7fELF")
    outcome = monojit("warm", SMALL, "--arch", "gfx950", LD_DEBUG="files", LD_DEBUG_OUTPUT=str(tmp_path / "loaded"))
    assert "hit 1" in outcome.out
    loaded = "".join(file.read_text(errors="replace") for file in tmp_path.glob("loaded.*"))
    assert "libfmt" in loaded and str(monojit.cache) not in loaded
