import errno
import multiprocessing
import time

import pytest

from harness.errors import StorageError
from harness.files.cache import Cache, fingerprint

KEY = fingerprint("a key")


def write_answer(folder):
    (folder / "answer").write_text("42")


def leftovers(root):
    return [path.name for path in root.rglob("*") if not path.name.endswith(".lock") and path.is_dir()]


def test_fingerprint_is_a_sha256_that_minds_the_borders():
    assert len(KEY) == 64
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("ab") == fingerprint(b"ab")


def test_an_entry_is_made_once(tmp_path):
    made = []

    def make(folder):
        made.append(folder)
        write_answer(folder)

    cache = Cache(tmp_path)
    first = cache.entry("words", KEY, make)
    second = Cache(tmp_path).entry("words", KEY, make)
    assert (first / "answer").read_text() == "42"
    assert first == second
    assert len(made) == 1


def test_other_keys_and_kinds_are_other_entries(tmp_path):
    cache = Cache(tmp_path)
    folders = {cache.entry(kind, key, write_answer) for kind in ("a", "b") for key in (KEY, fingerprint("other"))}
    assert len(folders) == 4


def test_the_default_place_is_the_users_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Cache().entry("words", KEY, write_answer) == tmp_path / "harness/words" / KEY


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_entry_leaves_nothing(tmp_path, interruption):
    def break_off(folder):
        write_answer(folder)
        raise interruption

    cache = Cache(tmp_path)
    with pytest.raises(interruption):
        cache.entry("words", KEY, break_off)
    assert leftovers(tmp_path) == ["words"]
    assert (cache.entry("words", KEY, write_answer) / "answer").exists()


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    (tmp_path / "words" / f".{KEY}-killed").mkdir(parents=True)
    Cache(tmp_path).entry("words", KEY, write_answer)
    assert leftovers(tmp_path) == ["words", KEY]


def test_a_full_disk_is_named(tmp_path):
    def fill_the_disk(folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match="disk is full"):
        Cache(tmp_path).entry("words", KEY, fill_the_disk)
    assert leftovers(tmp_path) == ["words"]


def test_a_cache_folder_that_is_a_file_is_named(tmp_path):
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(StorageError, match="cannot be used") as caught:
        Cache(place).entry("words", KEY, write_answer)
    assert "XDG_CACHE_HOME" in caught.value.hint


def make_slowly(root, results):
    def make(folder):
        results.put("made")
        time.sleep(0.3)
        write_answer(folder)

    results.put((Cache(root).entry("words", KEY, make) / "answer").read_text())


def test_two_processes_make_an_entry_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    both = [context.Process(target=make_slowly, args=(tmp_path, results)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
    assert sorted(results.get(timeout=5) for _ in range(3)) == ["42", "42", "made"]
