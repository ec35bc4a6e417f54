"""What holds for all tests."""

from hypothesis import settings

# A busy machine is no failure, so Hypothesis times no example. All else stays as its own profile for here or CI has it.
settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")
