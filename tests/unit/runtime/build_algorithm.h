// Algorithms written down by hand, as short as the XML: a rank, its threadblocks, their steps.
//
//     AlgorithmBuilder b(allreduce(2, 2, /*in_place=*/true), Protocol::ll);
//     b.tb(0, {.send = 1, .recv = 1}).s(I(1)).rrcs(I(0), I(0)).r(I(1));
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket::test {

struct Chunk {
  BufferKind buffer;
  int index;
};
// As the formats write them.
// NOLINTBEGIN(readability-identifier-naming)
inline Chunk I(int index) { return {BufferKind::input, index}; }
inline Chunk O(int index) { return {BufferKind::output, index}; }
inline Chunk S(int index) { return {BufferKind::scratch, index}; }
// NOLINTEND(readability-identifier-naming)

struct Peers {
  int send = -1;
  int recv = -1;
  int channel = 0;
};

// What may be said of a step beyond its operands.
struct Extra {
  int count = 1;
  int wait_tb = -1;  // depid, deps
  int wait_step = -1;
  bool flag = false;  // hasdep
};

class TbBuilder {
 public:
  TbBuilder& add(OpCode op, Chunk src, Chunk dst, Extra extra);

  TbBuilder& s(Chunk src, Extra extra = {}) { return add(OpCode::send, src, src, extra); }
  TbBuilder& r(Chunk dst, Extra extra = {}) { return add(OpCode::recv, dst, dst, extra); }
  TbBuilder& rcs(Chunk dst, Extra extra = {}) {
    return add(OpCode::recv_copy_send, dst, dst, extra);
  }
  TbBuilder& rrs(Chunk src, Extra extra = {}) {
    return add(OpCode::recv_reduce_send, src, src, extra);
  }
  TbBuilder& rrc(Chunk src, Chunk dst, Extra extra = {}) {
    return add(OpCode::recv_reduce_copy, src, dst, extra);
  }
  TbBuilder& rrcs(Chunk src, Chunk dst, Extra extra = {}) {
    return add(OpCode::recv_reduce_copy_send, src, dst, extra);
  }
  TbBuilder& cpy(Chunk src, Chunk dst, Extra extra = {}) {
    return add(OpCode::copy, src, dst, extra);
  }
  TbBuilder& re(Chunk src, Chunk dst, Extra extra = {}) {
    return add(OpCode::reduce, src, dst, extra);
  }
  TbBuilder& nop(int wait_tb, int wait_step);

 private:
  friend class AlgorithmBuilder;
  Peers peers_;
  std::vector<Step> steps_;
};

class AlgorithmBuilder {
 public:
  explicit AlgorithmBuilder(Collective collective, Protocol protocol = Protocol::simple);

  // The next threadblock of the rank. The reference stays valid.
  TbBuilder& tb(int rank, Peers peers = {});
  AlgorithmBuilder& scratch(int rank, int chunks);
  Algorithm build() const;

 private:
  Collective collective_;
  Protocol protocol_;
  std::vector<int> scratch_;
  std::vector<std::vector<std::unique_ptr<TbBuilder>>> ranks_;
};

// The worked examples of the format's documentation.
Algorithm pair_allreduce_in_place();      // two fused steps a rank, LL
Algorithm pair_allreduce_out_of_place();  // three threadblocks a rank, dependences and a nop

// A ring: reduce-scatter, then allgather, n chunks. One threadblock a rank, fused.
Algorithm ring_allreduce(int ranks, bool in_place, Protocol protocol = Protocol::simple);
// `parts` rings side by side, each on its own threadblock and channel and on its own chunks.
Algorithm ring_allreduce(int ranks, int parts, bool in_place, Protocol protocol);
// The ring without fused steps, as runtimes without them need it: r, then re, then s.
Algorithm unfused_ring_allreduce(int ranks);
Algorithm ring_allgather(int ranks, bool in_place);
Algorithm ring_reduce_scatter(int ranks, bool in_place);
// A threadblock a peer.
Algorithm direct_alltoall(int ranks, int chunk_factor, bool in_place = false);
Algorithm chain_broadcast(int ranks, int chunk_factor, int root, bool in_place = false);
Algorithm chain_reduce(int ranks, int chunk_factor, int root);
Algorithm direct_gather(int ranks, int root, bool in_place);
Algorithm direct_scatter(int ranks, int root, bool in_place);
Algorithm all_to_next(int ranks, int chunk_factor, bool forward);

}  // namespace hocket::test
