// Algorithms written by hand in a few lines, for the tests of the oracles.
//
//     Build b(allreduce(2, 1), Protocol::ll);
//     b.tb(0, /*send=*/1, /*recv=*/-1).send(in, 0);
//     b.tb(1, -1, 0).rrc(in, 0, out, 0).on(0, 0);
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket::oracle {

inline constexpr BufferKind kIn = BufferKind::input;
inline constexpr BufferKind kOut = BufferKind::output;
inline constexpr BufferKind kScratch = BufferKind::scratch;

class TbBuild {
 public:
  ThreadBlock tb;
  std::vector<Step> steps;

  TbBuild& step(OpCode op, BufferKind src, int src_offset, BufferKind dst, int dst_offset,
                int count = 1) {
    Step s;
    s.op = op;
    s.src_buffer = src;
    s.src_offset = src_offset;
    s.dst_buffer = dst;
    s.dst_offset = dst_offset;
    s.count = count;
    steps.push_back(s);
    return *this;
  }
  TbBuild& send(BufferKind b, int i, int n = 1) { return step(OpCode::send, b, i, b, i, n); }
  TbBuild& recv(BufferKind b, int i, int n = 1) { return step(OpCode::recv, b, i, b, i, n); }
  TbBuild& copy(BufferKind a, int i, BufferKind b, int j, int n = 1) {
    return step(OpCode::copy, a, i, b, j, n);
  }
  TbBuild& reduce(BufferKind a, int i, BufferKind b, int j, int n = 1) {
    return step(OpCode::reduce, a, i, b, j, n);
  }
  TbBuild& rcs(BufferKind b, int i, int n = 1) {
    return step(OpCode::recv_copy_send, b, i, b, i, n);
  }
  TbBuild& rrc(BufferKind a, int i, BufferKind b, int j, int n = 1) {
    return step(OpCode::recv_reduce_copy, a, i, b, j, n);
  }
  TbBuild& rrcs(BufferKind a, int i, BufferKind b, int j, int n = 1) {
    return step(OpCode::recv_reduce_copy_send, a, i, b, j, n);
  }
  TbBuild& rrs(BufferKind a, int i, int n = 1) {
    return step(OpCode::recv_reduce_send, a, i, a, i, n);
  }
  TbBuild& nop(int depend_tb, int depend_step) {
    steps.push_back({});
    steps.back().count = 0;
    return on(depend_tb, depend_step);
  }
  // The last step waits for that one / publishes.
  TbBuild& on(int depend_tb, int depend_step) {
    steps.back().depend_tb = depend_tb;
    steps.back().depend_step = depend_step;
    return *this;
  }
  TbBuild& flag() {
    steps.back().has_dependent = true;
    return *this;
  }
};

class Build {
 public:
  explicit Build(Collective collective, Protocol protocol = Protocol::simple)
      : collective_(std::move(collective)),
        protocol_(protocol),
        ranks_(static_cast<std::size_t>(collective_.num_ranks())),
        scratch_(ranks_.size(), 0) {}

  TbBuild& tb(int rank, int send = -1, int recv = -1, int channel = 0) {
    auto& list = ranks_[static_cast<std::size_t>(rank)];
    list.emplace_back();
    list.back().tb.send = send;
    list.back().tb.recv = recv;
    list.back().tb.channel = channel;
    return list.back();
  }
  Build& scratch(int rank, int chunks) {
    scratch_[static_cast<std::size_t>(rank)] = chunks;
    return *this;
  }

  Algorithm done() const {
    Algorithm a;
    a.name = "by_hand";
    a.collective = collective_;
    a.protocol = protocol_;
    a.in_place = collective_.in_place();
    a.out_of_place = !a.in_place;
    a.chunks_per_loop = collective_.chunks_per_loop();
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RankProgram rank;
      rank.input_chunks = collective_.input_chunks(static_cast<int>(r));
      rank.output_chunks = collective_.output_chunks(static_cast<int>(r));
      rank.scratch_chunks = scratch_[r];
      for (const TbBuild& built : ranks_[r]) {
        ThreadBlock tb = built.tb;
        tb.first_step = static_cast<std::uint32_t>(a.steps.size());
        tb.num_steps = static_cast<std::uint32_t>(built.steps.size());
        a.steps.insert(a.steps.end(), built.steps.begin(), built.steps.end());
        a.num_channels = std::max(a.num_channels, tb.channel + 1);
        rank.threadblocks.push_back(tb);
      }
      a.ranks.push_back(rank);
    }
    return a;
  }

 private:
  Collective collective_;
  Protocol protocol_;
  std::vector<std::deque<TbBuild>> ranks_;  // a deque: references to threadblocks stay good
  std::vector<int> scratch_;
};

}  // namespace hocket::oracle
