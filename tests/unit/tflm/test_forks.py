import pytest

from harness.domain.estimate import Profile
from harness.errors import SourceError
from harness.estimate import struct_sizes
from harness.tflm.forks import COUNTS_TEMPORARIES
from harness.tflm.headers import read_headers, recognise_generation
from tests.support.tflm_parts import MICRO, header_tree

ALLOCATOR = f"{MICRO}/arena_allocator/single_arena_buffer_allocator".replace("/", "__")
# As tflite-micro declares it.
MEMBERS = """
class SingleArenaBufferAllocator : public INonPersistentBufferAllocator,
                                   public IPersistentBufferAllocator {
 public:
  static SingleArenaBufferAllocator* Create(uint8_t* buffer_head, size_t buffer_size);
  uint8_t* head() const { return head_; }
  void Reset() { temp_ = head_; size_t unused_ = 0; (void)unused_; }
  TF_LITE_REMOVE_VIRTUAL_DELETE

 private:
  size_t GetBufferSize() const;

  uint8_t* buffer_head_;
  uint8_t* buffer_tail_;
  uint8_t* head_;
  uint8_t* tail_;
  uint8_t* temp_;
  intptr_t temp_buffer_ptr_check_sum_ = 0;
  int temp_buffer_count_ = 0;
%s
};
"""


@pytest.mark.parametrize("name", ["2026-01", "2024-12", "2022-12"])
def test_the_allocator_of_a_release_is_none_of_a_forks(tmp_path, name):
    folders = header_tree(tmp_path, name, **{ALLOCATOR: MEMBERS % "  // size_t max_temp_bytes_ = 0;"})
    assert recognise_generation(folders, None).name == name


@pytest.mark.parametrize("member", ["  size_t max_temp_bytes_ = 0;", "  uint32_t  max_temp_bytes_;"])
def test_a_fork_with_an_allocator_of_another_size_is_named(tmp_path, member):
    folders = header_tree(tmp_path, "2024-09", **{ALLOCATOR: MEMBERS % member})
    with pytest.raises(SourceError, match="headers of a fork of TFLM 2024-09") as caught:
        recognise_generation(folders, None)
    assert "has max_temp_bytes_ besides" in str(caught.value.measured)


def test_infineons_fork_has_one_member_more_and_a_trait_of_its_own(tmp_path):
    folders = header_tree(tmp_path / "one", "2024-12", **{ALLOCATOR: MEMBERS % "  size_t temp_bytes_ = 0;"})
    assert read_headers(folders, None).traits == {COUNTS_TEMPORARIES}
    sizes = struct_sizes(Profile("2024-12", "arm32", traits=frozenset({COUNTS_TEMPORARIES})))
    assert (sizes["SingleArenaBufferAllocator"], sizes["MicroAllocator"]) == (40, 40)
    more = header_tree(tmp_path / "two", "2024-12", **{ALLOCATOR: MEMBERS % "  int a_;\n  int b_;"})
    with pytest.raises(SourceError, match="headers of a fork of TFLM 2024-12"):
        recognise_generation(more, None)


def test_edge_impulses_sdk_is_named_by_its_includes(tmp_path):
    text = '#include "edge-impulse-sdk/tensorflow/lite/micro/micro_allocator.h"\n'
    folders = header_tree(tmp_path, "2022-12", tensorflow__lite__micro__micro_interpreter=text)
    with pytest.raises(SourceError, match="this is Edge Impulse's SDK") as caught:
        recognise_generation(folders, None)
    assert caught.value.measured == "includes that begin with edge-impulse-sdk/"


def test_edge_impulses_sdk_is_named_by_its_folder(tmp_path):
    (tmp_path / "edge-impulse-sdk/tensorflow/lite/micro").mkdir(parents=True)
    with pytest.raises(SourceError, match="this is Edge Impulse's SDK"):
        recognise_generation([tmp_path], None)
