import pytest

from harness.errors import ResultError
from harness.files.fields import objects_in


def test_the_objects_of_a_list_know_their_places():
    _, second = objects_in([{"size": 1}, {"size": "x"}], "file.json", ResultError, "write it anew")
    with pytest.raises(ResultError) as caught:
        second.integer("size")
    assert str(caught.value).splitlines()[0] == "file.json[1]: size: wrong value"
    assert caught.value.hint == "write it anew"


@pytest.mark.parametrize("items", [None, {}, [1], "[]"])
def test_what_is_no_list_of_objects_is_refused(items):
    with pytest.raises(ResultError, match="this is no"):
        objects_in(items, "file.json", ResultError, "")
