// The generator; it never asks the code under test anything but op_info().
#include "support/random_algorithm.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace hocket::test {
namespace {

// SplitMix64: the standard distributions differ from library to library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // In [low, high].
  std::int32_t in(std::int32_t low, std::int32_t high) {
    const auto span = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
    return static_cast<std::int32_t>(low + static_cast<std::int64_t>(next() % span));
  }
  bool one_in(int n) { return next() % static_cast<std::uint64_t>(n) == 0; }
  std::int32_t any() {
    switch (in(0, 3)) {
      case 0:
        return std::numeric_limits<std::int32_t>::min();
      case 1:
        return std::numeric_limits<std::int32_t>::max();
      default:
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(next()));
    }
  }

 private:
  std::uint64_t state_;
};

constexpr std::array<const char*, 6> kNames = {
    "ring", "a name", "x\"y<z>&'w", "tab\tnewline\nreturn\rend", "\xC3\xA9t\xC3\xA9", ""};

std::string random_name(Dice& dice) { return kNames[dice.next() % kNames.size()]; }

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomAlgorithmOptions& options)
      : dice_(seed), options_(options) {}

  Algorithm make() {
    make_header();
    a_.ranks.resize(static_cast<std::size_t>(ranks_));
    for (int r = 0; r < ranks_; ++r) make_rank(r);
    if (options_.locations && dice_.one_in(2)) make_locations();
    if (options_.wild) make_wild();
    return a_;
  }

 private:
  void make_header() {
    ranks_ = dice_.in(1, 5);
    const bool collective_in_place = dice_.one_in(2);
    const auto kind = static_cast<CollectiveKind>(dice_.in(0, 10));
    a_.name = random_name(dice_);
    a_.collective = kind == CollectiveKind::custom
                        ? random_custom_collective(dice_.next(), ranks_, collective_in_place)
                        : Collective::make(kind, ranks_, dice_.in(1, 4), collective_in_place,
                                           kind == CollectiveKind::broadcast ||
                                                   kind == CollectiveKind::reduce ||
                                                   kind == CollectiveKind::gather ||
                                                   kind == CollectiveKind::scatter
                                               ? dice_.in(0, ranks_ - 1)
                                               : 0);
    a_.protocol = static_cast<Protocol>(dice_.in(0, 2));
    a_.in_place = dice_.one_in(2);
    a_.out_of_place = dice_.one_in(2);
    a_.num_channels = dice_.in(1, 4);
    a_.chunks_per_loop = a_.collective.chunks_per_loop();
    a_.min_bytes = dice_.one_in(2) ? 0 : dice_.in(1, 1000);
    if (dice_.one_in(2)) a_.max_bytes = dice_.in(1000, std::numeric_limits<std::int32_t>::max());
    if (dice_.one_in(4)) a_.num_threads = 32 * dice_.in(0, 20);
  }

  void make_rank(int r) {
    RankProgram& rank = a_.ranks[static_cast<std::size_t>(r)];
    rank.input_chunks = dice_.in(0, 9);
    rank.output_chunks = dice_.in(0, 9);
    rank.scratch_chunks = dice_.in(0, 9);
    rank.threadblocks.resize(static_cast<std::size_t>(dice_.in(0, 4)));
    for (ThreadBlock& tb : rank.threadblocks) {
      tb.send = dice_.one_in(3) ? -1 : peer_of(r);
      tb.recv = dice_.one_in(3) ? -1 : peer_of(r);
      tb.channel = dice_.in(0, a_.num_channels - 1);
      tb.first_step = static_cast<std::uint32_t>(a_.steps.size());
      tb.num_steps = static_cast<std::uint32_t>(dice_.in(0, 6));
      a_.steps.resize(a_.steps.size() + tb.num_steps);
    }
    for (const ThreadBlock& tb : rank.threadblocks) {
      bool after_nop = false;
      for (Step& step : a_.steps_of(tb)) {
        step = make_step(rank, tb, after_nop);
        after_nop = step.op == OpCode::nop;
      }
    }
  }

  std::int32_t peer_of(int r) {
    if (ranks_ == 1) return -1;
    const int p = dice_.in(0, ranks_ - 2);
    return p < r ? p : p + 1;
  }

  Step make_step(const RankProgram& rank, const ThreadBlock& tb, bool after_nop) {
    for (;;) {
      Step step;
      step.op = static_cast<OpCode>(dice_.in(0, kNumOps - 1));
      const OpInfo& info = op_info(step.op);
      if (info.sends && tb.send < 0) continue;
      if (info.receives && tb.recv < 0) continue;
      const bool is_nop = step.op == OpCode::nop;
      if (!is_nop || dice_.one_in(2)) {
        step.src_buffer = static_cast<BufferKind>(dice_.in(0, 2));
        step.dst_buffer = static_cast<BufferKind>(dice_.in(0, 2));
        step.src_offset = dice_.in(-1, 20);
        step.dst_offset = dice_.one_in(2) ? step.src_offset : dice_.in(-1, 20);
        step.count = is_nop ? dice_.in(-2, 2) : dice_.in(1, 3);
      }
      if (info.reads_src && !fit(rank.chunks(step.src_buffer), step.count, step.src_offset))
        continue;
      if (info.writes_dst && !fit(rank.chunks(step.dst_buffer), step.count, step.dst_offset)) {
        continue;
      }
      step.has_dependent = dice_.one_in(3);
      if (is_nop || after_nop || dice_.one_in(3)) {
        const ThreadBlock& other = rank.threadblocks[dice_.next() % rank.threadblocks.size()];
        if (other.num_steps == 0) continue;
        step.depend_tb = static_cast<std::int32_t>(&other - rank.threadblocks.data());
        step.depend_step = dice_.in(0, static_cast<std::int32_t>(other.num_steps) - 1);
      }
      return step;
    }
  }

  // An offset at which `count` chunks fit, if there is one.
  bool fit(std::int32_t size, std::int32_t count, std::int32_t& offset) {
    if (count > size) return false;
    offset = dice_.in(0, size - count);
    return true;
  }

  void make_locations() {
    a_.locations = {Location(), Location("ring.cpp", 12), Location("my file.py", 3),
                    Location("C:\\x#1.cpp", 4000000000U), Location("dir/a\"b.cpp", 1)};
    for (std::size_t i = 0; i < a_.steps.size(); ++i) {
      a_.step_locations.push_back(static_cast<std::uint32_t>(dice_.in(0, 4)));
    }
  }

  void make_wild() {
    a_.num_channels = dice_.any();
    a_.chunks_per_loop = dice_.any();
    a_.min_bytes = static_cast<std::int64_t>(dice_.next());
    if (a_.max_bytes) a_.max_bytes = static_cast<std::int64_t>(dice_.next());
    if (a_.num_threads) a_.num_threads = dice_.any();
    for (RankProgram& rank : a_.ranks) {
      for (ThreadBlock& tb : rank.threadblocks) {
        if (dice_.one_in(4)) tb.send = dice_.any();
        if (dice_.one_in(4)) tb.recv = dice_.any();
        if (dice_.one_in(4)) tb.channel = dice_.any();
      }
      if (dice_.one_in(4)) rank.input_chunks = dice_.any();
      if (dice_.one_in(4)) rank.output_chunks = dice_.any();
      if (dice_.one_in(4)) rank.scratch_chunks = dice_.any();
    }
    for (Step& step : a_.steps) {
      if (dice_.one_in(2)) step.op = static_cast<OpCode>(dice_.in(0, kNumOps - 1));
      if (dice_.one_in(4)) step.src_offset = dice_.any();
      if (dice_.one_in(4)) step.dst_offset = dice_.any();
      if (dice_.one_in(4)) step.count = dice_.any();
      if (dice_.one_in(4)) step.depend_tb = dice_.any();
      if (dice_.one_in(4)) step.depend_step = dice_.any();
    }
  }

  Dice dice_;
  RandomAlgorithmOptions options_;
  int ranks_ = 1;
  Algorithm a_;
};

}  // namespace

Collective random_custom_collective(std::uint64_t seed, int ranks, bool in_place) {
  Dice dice(seed);
  CustomCollective custom(random_name(dice), ranks, dice.in(1, 3), in_place);
  int largest = 0;
  for (int r = 0; r < ranks; ++r) {
    // Some chunk somewhere, so that a loop has chunks.
    const int in = dice.in(r == 0 ? 1 : 0, 6);
    const int out = dice.in(0, 6);
    largest = std::max({largest, in, out});
    custom.buffers(r, in, out);
    for (int side = 0; side < 2; ++side) {
      const auto buffer = static_cast<BufferKind>(side);
      const int size = side == 0 ? in : out;
      const Origin base{dice.in(0, ranks - 1), dice.in(0, 5)};
      for (int k = 0; k < size; ++k) {
        if (in_place && side == 1 && k < in) continue;  // the same memory as the input
        // Long runs often, loose slots sometimes.
        if (!dice.one_in(3)) custom.holds(r, {buffer, k}, {base.rank, base.index + k});
        if (dice.one_in(4)) continue;
        std::vector<Origin> origins;
        if (dice.one_in(2)) {
          for (int q = 0; q < ranks; ++q) origins.push_back({q, k});
        } else {
          const int n = dice.in(1, 4);
          for (int i = 0; i < n; ++i) origins.push_back({dice.in(0, ranks - 1), dice.in(0, 3)});
        }
        custom.requires_(r, {buffer, k}, origins);
      }
    }
  }
  if (dice.one_in(4)) custom.without_postcondition();
  const Collective whole = custom.build();
  return dice.one_in(3) ? whole.refined(dice.in(2, 3)) : whole;
}

Algorithm random_algorithm(std::uint64_t seed, const RandomAlgorithmOptions& options) {
  return Generator(seed, options).make();
}

}  // namespace hocket::test
