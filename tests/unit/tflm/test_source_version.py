import subprocess

from harness.tflm.source_version import source_version


def git(folder, *arguments):
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def checkout(folder):
    git(folder, "init", "--quiet")
    (folder / "a.cc").write_text("int a;\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return git(folder, "rev-parse", "HEAD")[:12]


def test_a_checkout_is_called_by_its_commit(tmp_path):
    assert source_version(tmp_path) == ""
    commit = checkout(tmp_path)
    assert source_version(tmp_path) == commit


def test_a_changed_checkout_is_dirty(tmp_path):
    commit = checkout(tmp_path)
    (tmp_path / "a.cc").write_text("int b;\n")
    assert source_version(tmp_path) == f"{commit} (dirty)"


def test_the_commit_of_the_project_around_a_copy_is_not_its_own(tmp_path):
    checkout(tmp_path)
    copy = tmp_path / "managed_components" / "espressif__esp-tflite-micro"
    copy.mkdir(parents=True)
    (copy / "idf_component.yml").write_text("dependencies:\n  idf: '>=4.4'\nversion: 1.3.3~1\n")
    assert source_version(copy) == "1.3.3~1"


def test_an_arduino_library_tells_its_version(tmp_path):
    (tmp_path / "library.properties").write_text("name=Chirale_TensorFlowLite\nversion=2.0.0\n")
    (tmp_path / "src").mkdir()
    assert source_version(tmp_path / "src") == "2.0.0"


def test_no_program_that_a_checkout_names_is_run(tmp_path):
    commit = checkout(tmp_path)
    git(tmp_path, "config", "core.fsmonitor", f"touch {tmp_path}/touched; false")
    assert source_version(tmp_path) == commit
    assert not (tmp_path / "touched").exists()


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    checkout(tmp_path)
    monkeypatch.setenv("PATH", "")
    assert source_version(tmp_path) == ""
