// The builder, and one obvious algorithm for every collective.
#include "unit/runtime/build_algorithm.h"

#include <algorithm>
#include <memory>

namespace hocket::test {

TbBuilder& TbBuilder::add(OpCode op, Chunk src, Chunk dst, Extra extra) {
  steps_.push_back({op, src.buffer, dst.buffer, extra.flag, src.index, dst.index, extra.count,
                    extra.wait_tb, extra.wait_step});
  return *this;
}

TbBuilder& TbBuilder::nop(int wait_tb, int wait_step) {
  return add(OpCode::nop, I(-1), O(-1),
             {.count = 0, .wait_tb = wait_tb, .wait_step = wait_step, .flag = false});
}

AlgorithmBuilder::AlgorithmBuilder(Collective collective, Protocol protocol)
    : collective_(std::move(collective)),
      protocol_(protocol),
      scratch_(static_cast<std::size_t>(collective_.num_ranks())),
      ranks_(static_cast<std::size_t>(collective_.num_ranks())) {}

TbBuilder& AlgorithmBuilder::tb(int rank, Peers peers) {
  auto& tbs = ranks_[static_cast<std::size_t>(rank)];
  tbs.push_back(std::make_unique<TbBuilder>());
  tbs.back()->peers_ = peers;
  return *tbs.back();
}

AlgorithmBuilder& AlgorithmBuilder::scratch(int rank, int chunks) {
  scratch_[static_cast<std::size_t>(rank)] = chunks;
  return *this;
}

Algorithm AlgorithmBuilder::build() const {
  Algorithm a;
  a.name = "handmade";
  a.collective = collective_;
  a.protocol = protocol_;
  a.in_place = collective_.in_place();
  a.out_of_place = !collective_.in_place();
  a.chunks_per_loop = collective_.chunks_per_loop();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const int rank = static_cast<int>(r);
    RankProgram program;
    program.input_chunks = collective_.input_chunks(rank);
    program.output_chunks = collective_.output_chunks(rank);
    program.scratch_chunks = scratch_[r];
    for (const auto& tb : ranks_[r]) {
      program.threadblocks.push_back({tb->peers_.send, tb->peers_.recv, tb->peers_.channel,
                                      static_cast<std::uint32_t>(a.steps.size()),
                                      static_cast<std::uint32_t>(tb->steps_.size())});
      a.num_channels = std::max(a.num_channels, tb->peers_.channel + 1);
      a.steps.insert(a.steps.end(), tb->steps_.begin(), tb->steps_.end());
    }
    a.ranks.push_back(std::move(program));
  }
  return a;
}

Algorithm pair_allreduce_in_place() {
  AlgorithmBuilder b(allreduce(2, 2, true), Protocol::ll);
  b.tb(0, {.send = 1, .recv = 1}).s(I(1)).rrcs(I(0), I(0)).r(I(1));
  b.tb(1, {.send = 0, .recv = 0}).s(I(0)).rrcs(I(1), I(1)).r(I(0));
  return b.build();
}

Algorithm pair_allreduce_out_of_place() {
  AlgorithmBuilder b(allreduce(2, 2), Protocol::ll);
  for (int rank : {0, 1}) {
    const int own = rank;
    const int other = 1 - rank;
    b.scratch(rank, 1);
    b.tb(rank, {.send = other, .recv = other})
        .s(I(other))
        .r(S(0), {.flag = true})
        .s(O(own), {.wait_tb = 1, .wait_step = 1})
        .r(O(other));
    b.tb(rank).nop(2, 0).re(S(0), O(own), {.wait_tb = 0, .wait_step = 1, .flag = true});
    b.tb(rank).cpy(I(own), O(own), {.flag = true});
  }
  return b.build();
}

Algorithm ring_allreduce(int ranks, bool in_place, Protocol protocol) {
  return ring_allreduce(ranks, 1, in_place, protocol);
}

Algorithm ring_allreduce(int ranks, int parts, bool in_place, Protocol protocol) {
  AlgorithmBuilder b(allreduce(ranks, ranks * parts, in_place), protocol);
  for (int rank = 0; rank < ranks; ++rank) {
    if (ranks == 1) {
      for (int p = 0; p < parts; ++p) {
        if (!in_place) b.tb(rank).cpy(I(p), O(p));
      }
      continue;
    }
    for (int p = 0; p < parts; ++p) {
      // Chunk k of ring p is chunk k * parts + p. A rank first sends its own number.
      const auto chunk = [&](int k) { return ((k % ranks + ranks) % ranks) * parts + p; };
      const auto out = [&](int k) { return in_place ? I(chunk(k)) : O(chunk(k)); };
      TbBuilder& tb = b.tb(
          rank, {.send = (rank + 1) % ranks, .recv = (rank + ranks - 1) % ranks, .channel = p});
      tb.s(I(chunk(rank)));
      for (int i = 1; i < ranks - 1; ++i) tb.rrs(I(chunk(rank - i)));
      tb.rrcs(I(chunk(rank + 1)), out(rank + 1));
      for (int i = 0; i < ranks - 2; ++i) tb.rcs(out(rank - i));
      tb.r(out(rank + 2));
    }
  }
  return b.build();
}

Algorithm unfused_ring_allreduce(int ranks) {
  AlgorithmBuilder b(allreduce(ranks, ranks, true));
  for (int rank = 0; rank < ranks && ranks > 1; ++rank) {
    b.scratch(rank, 1);
    const auto chunk = [&](int k) { return I((k % ranks + ranks) % ranks); };
    TbBuilder& tb = b.tb(rank, {.send = (rank + 1) % ranks, .recv = (rank + ranks - 1) % ranks});
    for (int i = 0; i < ranks - 1; ++i) {
      tb.s(chunk(rank - i)).r(S(0)).re(S(0), chunk(rank - i - 1));
    }
    for (int i = 0; i < ranks - 1; ++i) tb.s(chunk(rank + 1 - i)).r(chunk(rank - i));
  }
  return b.build();
}

Algorithm ring_allgather(int ranks, bool in_place) {
  AlgorithmBuilder b(allgather(ranks, 1, in_place));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto from = [&](int i) { return (rank - i + ranks) % ranks; };
    if (!in_place) b.tb(rank).cpy(I(0), O(rank));
    if (ranks == 1) continue;
    TbBuilder& tb = b.tb(rank, {.send = (rank + 1) % ranks, .recv = from(1)});
    tb.s(I(0));
    for (int i = 1; i < ranks - 1; ++i) tb.rcs(O(from(i)));
    tb.r(O(from(ranks - 1)));
  }
  return b.build();
}

Algorithm ring_reduce_scatter(int ranks, bool in_place) {
  AlgorithmBuilder b(reduce_scatter(ranks, 1, in_place));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto chunk = [&](int i) { return I((rank - i + 2 * ranks) % ranks); };
    if (ranks == 1) {
      if (!in_place) b.tb(rank).cpy(I(0), O(0));
      continue;
    }
    TbBuilder& tb = b.tb(rank, {.send = (rank + 1) % ranks, .recv = (rank + ranks - 1) % ranks});
    tb.s(chunk(1));
    for (int i = 2; i < ranks; ++i) tb.rrs(chunk(i));
    tb.rrc(I(rank), O(0));
  }
  return b.build();
}

Algorithm direct_alltoall(int ranks, int c, bool in_place) {
  AlgorithmBuilder b(alltoall(ranks, c, in_place));
  for (int rank = 0; rank < ranks; ++rank) {
    if (!in_place) b.tb(rank).cpy(I(rank * c), O(rank * c), {.count = c});
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      // One threadblock does both, so that in place a chunk leaves before another one comes.
      b.tb(rank, {.send = peer, .recv = peer})
          .s(I(peer * c), {.count = c})
          .r(O(peer * c), {.count = c});
    }
  }
  return b.build();
}

Algorithm chain_broadcast(int ranks, int c, int root, bool in_place) {
  AlgorithmBuilder b(broadcast(ranks, c, root, in_place));
  for (int i = 0; i < ranks; ++i) {
    const int rank = (root + i) % ranks;
    const int next = i + 1 < ranks ? (rank + 1) % ranks : -1;
    const int before = i > 0 ? (rank + ranks - 1) % ranks : -1;
    if (i == 0 && !in_place) b.tb(rank).cpy(I(0), O(0), {.count = c});
    if (ranks == 1) continue;
    TbBuilder& tb = b.tb(rank, {.send = next, .recv = before});
    if (i == 0) {
      tb.s(I(0), {.count = c});
    } else if (next >= 0) {
      tb.rcs(O(0), {.count = c});
    } else {
      tb.r(O(0), {.count = c});
    }
  }
  return b.build();
}

Algorithm chain_reduce(int ranks, int c, int root) {
  AlgorithmBuilder b(reduce(ranks, c, root));
  for (int i = 0; i < ranks; ++i) {
    const int rank = (root + 1 + i) % ranks;  // ends at the root
    const int next = rank == root ? -1 : (rank + 1) % ranks;
    const int before = i > 0 ? (rank + ranks - 1) % ranks : -1;
    if (ranks == 1) {
      b.tb(rank).cpy(I(0), O(0), {.count = c});
      continue;
    }
    TbBuilder& tb = b.tb(rank, {.send = next, .recv = before});
    if (i == 0) {
      tb.s(I(0), {.count = c});
    } else if (next >= 0) {
      tb.rrs(I(0), {.count = c});
    } else {
      tb.rrc(I(0), O(0), {.count = c});
    }
  }
  return b.build();
}

Algorithm direct_gather(int ranks, int root, bool in_place) {
  AlgorithmBuilder b(gather(ranks, 2, root, in_place));
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != root) {
      b.tb(rank, {.send = root}).s(I(0), {.count = 2});
      b.tb(root, {.recv = rank}).r(O(2 * rank), {.count = 2});
    } else if (!in_place) {
      b.tb(root).cpy(I(0), O(2 * root), {.count = 2});
    }
  }
  return b.build();
}

Algorithm direct_scatter(int ranks, int root, bool in_place) {
  AlgorithmBuilder b(scatter(ranks, 2, root, in_place));
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != root) {
      b.tb(root, {.send = rank}).s(I(2 * rank), {.count = 2});
      b.tb(rank, {.recv = root}).r(O(0), {.count = 2});
    } else if (!in_place) {
      b.tb(root).cpy(I(2 * root), O(0), {.count = 2});
    }
  }
  return b.build();
}

Algorithm all_to_next(int ranks, int c, bool forward) {
  AlgorithmBuilder b(forward ? all_to_next_forward(ranks, c) : all_to_next_backward(ranks, c));
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = forward ? rank + 1 : rank - 1;
    if (next < 0 || next >= ranks) continue;
    b.tb(rank, {.send = next}).s(I(0), {.count = c});
    b.tb(next, {.recv = rank}).r(O(0), {.count = c});
  }
  return b.build();
}

}  // namespace hocket::test
