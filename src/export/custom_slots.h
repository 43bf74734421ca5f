// The slots of a custom collective as runs, so that a file names them in a few lines: a run is
// consecutive slots of one buffer whose origins keep their ranks and count their indices up by one
// from slot to slot; its origins in turn are runs of consecutive ranks at one index.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hocket/collective.h"

namespace hocket {

// Origins (first_rank, index) to (last_rank, index).
struct OriginRun {
  std::int32_t first_rank = 0;
  std::int32_t last_rank = 0;
  std::int32_t index = 0;
  friend bool operator==(const OriginRun&, const OriginRun&) = default;
};

// Slot first+k of `buffer` holds or wants the origins of `origins`, each with its index plus k.
struct SlotRun {
  BufferKind buffer = BufferKind::input;
  std::int32_t first = 0;
  std::int32_t count = 1;
  std::vector<OriginRun> origins;
};

// What a rank's slots hold before the run (one origin each), and what they must hold after it.
std::vector<SlotRun> held_runs(const CustomCollective::RankSlots& slots);
std::vector<SlotRun> wanted_runs(const CustomCollective::RankSlots& slots);

// Builds a custom collective from a file's runs. Every number is checked before anything is made of
// it, so that a few bytes of file cannot ask for gigabytes. A refusal goes to `fail`, which throws.
class CustomBuilder {
 public:
  // Throws, naming the file's line; true: the file is larger than is reasonable, false: a bad
  // value.
  using Fail = std::function<void(bool too_large, const std::string& message)>;

  // `text_bytes`: the size of the file, which bounds what it may ask for.
  CustomBuilder(std::string name, int ranks, int chunk_factor, bool in_place,
                std::size_t text_bytes, const Fail& fail);

  void buffers(int rank, std::int32_t input_chunks, std::int32_t output_chunks, const Fail& fail);
  void holds(int rank, const SlotRun& run, const Fail& fail);
  void wants(int rank, const SlotRun& run, const Fail& fail);
  Collective build(int split, bool has_postcondition, const Fail& fail);

 private:
  void check_run(int rank, const SlotRun& run, const Fail& fail) const;

  int ranks_;
  int chunk_factor_;
  std::uint64_t slots_left_;
  std::uint64_t origins_left_;
  std::uint64_t slots_used_ = 0;
  std::uint64_t origins_used_ = 0;
  std::int32_t largest_ = 0;
  CustomCollective custom_;
};

}  // namespace hocket
