"""What tests of sweeps share: an observer that remembers, and models to sweep over."""

import hashlib


class Watcher:
    """Remembers what an observer is told."""

    def __init__(self):
        self.began_jobs = []
        self.ended_jobs = []
        self.notes = []

    def began(self, dut, job):
        self.began_jobs.append((dut, job.model))

    def ended(self, dut, job, outcome, again):
        self.ended_jobs.append((dut, job.model, outcome.result.verdict, again))

    def note(self, text):
        self.notes.append(text)


def make_models(folder, count):
    found = []
    for number in range(count):
        path = folder / f"model{number:02}.tflite"
        path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(992 + number))
        found.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
    return found
