// Random programs against a model that keeps a multiset of origins for every byte of memory.
//
// The model shares nothing with src/: it lays out each rank's memory from the table in
// collective.h, maps names to memory by its own arithmetic, and decides by itself whether the
// result is the collective's.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "hocket/program.h"
#include "ir/trace.h"

namespace hocket {
namespace {

using Origins = std::vector<Origin>;  // sorted
using Kind = CollectiveKind;

struct Shape {
  Kind kind;
  int n;
  int c;
  bool in_place;
  int root;
};

// Where a name lies: a rank's memory is one array a buffer, "in", "out", "both", or a scratch name.
struct Cell {
  int rank;
  std::string array;
  int index;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

struct Model {
  explicit Model(const Shape& shape) : s(shape) {
    for (int r = 0; r < s.n; ++r) {
      if (s.kind == Kind::broadcast && r != s.root) continue;
      for (int k = 0; k < inputs(r); ++k) memory[cell(r, Buffer::input, k)] = {{r, k}};
    }
  }

  int inputs(int r) const {
    if (s.kind == Kind::scatter) return r == s.root ? s.n * s.c : 0;
    return s.kind == Kind::reduce_scatter || s.kind == Kind::alltoall ? s.n * s.c : s.c;
  }
  int outputs(int r) const {
    if (s.kind == Kind::gather) return r == s.root ? s.n * s.c : 0;
    return s.kind == Kind::allgather || s.kind == Kind::alltoall ? s.n * s.c : s.c;
  }
  int size(int r, const Buffer& b) const {
    if (b == Buffer::input) return inputs(r);
    if (b == Buffer::output) return outputs(r);
    const auto found = lengths.find({r, b.name()});
    return found == lengths.end() ? 0 : found->second;
  }
  Cell cell(int r, const Buffer& b, int k) const {
    if (b.kind() == BufferKind::scratch) return {r, "scratch " + b.name(), k};
    const bool input = b == Buffer::input;
    if (!s.in_place) return {r, input ? "in" : "out", k};
    const bool at_root = r == s.root;
    if (s.kind == Kind::allgather || (s.kind == Kind::gather && at_root)) {
      return {r, "both", input ? r * s.c + k : k};
    }
    if (s.kind == Kind::reduce_scatter || (s.kind == Kind::scatter && at_root)) {
      return {r, "both", input ? k : r * s.c + k};
    }
    if (s.kind == Kind::gather || s.kind == Kind::scatter) return {r, input ? "in" : "out", k};
    return {r, "both", k};
  }
  const Origins* content(int r, const Buffer& b, int k) const {
    const auto found = memory.find(cell(r, b, k));
    return found == memory.end() ? nullptr : &found->second;
  }

  // Whether the collective is done, from its definition.
  bool done() const {
    const auto all = [&](int k) {
      Origins sum;
      for (int q = 0; q < s.n; ++q) sum.push_back({q, k});
      return sum;
    };
    for (int r = 0; r < s.n; ++r) {
      for (int k = 0; k < outputs(r); ++k) {
        Origins want;
        switch (s.kind) {
          case Kind::allreduce:
            want = all(k);
            break;
          case Kind::reduce:
            if (r == s.root) want = all(k);
            break;
          case Kind::reduce_scatter:
            want = all(r * s.c + k);
            break;
          case Kind::allgather:
          case Kind::gather:
            want = {{k / s.c, k % s.c}};
            break;
          case Kind::alltoall:
            want = {{k / s.c, r * s.c + k % s.c}};
            break;
          case Kind::broadcast:
            want = {{s.root, k}};
            break;
          case Kind::scatter:
            want = {{s.root, r * s.c + k}};
            break;
          case Kind::all_to_next_forward:
            if (r > 0) want = {{r - 1, k}};
            break;
          default:
            if (r + 1 < s.n) want = {{r + 1, k}};
        }
        if (want.empty()) continue;
        const Origins* have = content(r, Buffer::output, k);
        if (have == nullptr || *have != want) return false;
      }
    }
    return true;
  }

  Shape s;
  std::map<Cell, Origins> memory;
  std::map<std::pair<int, std::string>, int> lengths;  // of scratch
};

class RandomPrograms : public ::testing::TestWithParam<int> {
 protected:
  void seed(int n) { random_.seed(static_cast<unsigned>(n)); }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Buffer any_buffer() {
    static const std::vector<Buffer> buffers = {Buffer::input, Buffer::output, "s", "t"};
    return buffers[static_cast<std::size_t>(below(4))];
  }
  Shape any_shape() {
    const Kind kind = static_cast<Kind>(below(10));
    const int n = 1 + below(4);
    const bool rooted = kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::gather ||
                        kind == Kind::scatter;
    return {kind, n, 1 + below(3), below(2) == 0, rooted ? below(n) : 0};
  }

 private:
  std::mt19937 random_;
};

struct Range {
  int rank;
  Buffer buffer;
  int index;
  int size;
};

TEST_P(RandomPrograms, hold_what_the_model_holds) {
  seed(GetParam());
  int done = 0;
  int refused = 0;
  int performed = 0;
  for (int round = 0; round < 150; ++round) {
    const Shape s = any_shape();
    Program p("random", fully_connected(s.n),
              Collective::make(s.kind, s.n, s.c, s.in_place, s.root));
    Model m(s);
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + " round " + std::to_string(round));

    const auto any_run = [&]() -> Range {
      const int rank = below(s.n);
      const Buffer buffer = any_buffer();
      // One past the end now and then.
      return {rank, buffer, below(m.size(rank, buffer) + 1), 1 + below(3)};
    };
    const auto readable = [&](const Range& run) {
      if (run.index + run.size > m.size(run.rank, run.buffer)) return false;
      for (int i = 0; i < run.size; ++i) {
        if (m.content(run.rank, run.buffer, run.index + i) == nullptr) return false;
      }
      return true;
    };
    const auto overlap = [&](const Range& a, const Range& b) {
      const Cell x = m.cell(a.rank, a.buffer, a.index);
      const Cell y = m.cell(b.rank, b.buffer, b.index);
      return x.rank == y.rank && x.array == y.array && x.index < y.index + b.size &&
             y.index < x.index + a.size;
    };

    for (int step = 0; step < 30; ++step) {
      // Mostly what can be read, now and then whatever comes.
      Range src = any_run();
      for (int tries = 0; tries < 6 && !readable(src); ++tries) src = any_run();
      std::optional<Ref> ref;
      try {
        ref = p.chunk(src.rank, src.buffer, src.index, src.size);
      } catch (const Error&) {
      }
      ASSERT_EQ(ref.has_value(), readable(src));
      if (!ref) {
        ++refused;
        continue;
      }
      ASSERT_EQ(ref->size(), src.size);
      if (below(3) == 0) {  // reduce
        Range dst = any_run();
        for (int tries = 0; tries < 6 && !readable(dst); ++tries) dst = any_run();
        dst.size = src.size;
        if (!readable(dst)) continue;
        Ref into = p.chunk(dst.rank, dst.buffer, dst.index, dst.size);
        if (overlap(src, dst)) {
          EXPECT_THROW(into.reduce(*ref), Error);
          continue;
        }
        into.reduce(*ref);
        for (int i = 0; i < src.size; ++i) {
          Origins& sum = m.memory[m.cell(dst.rank, dst.buffer, dst.index + i)];
          const Origins& more = *m.content(src.rank, src.buffer, src.index + i);
          sum.insert(sum.end(), more.begin(), more.end());
          std::sort(sum.begin(), sum.end());
        }
        ++performed;
        continue;
      }
      Range dst{below(s.n), any_buffer(), below(4), src.size};
      const bool scratch = dst.buffer.kind() == BufferKind::scratch;
      const bool append = scratch && below(2) == 0;
      if (append) dst.index = m.size(dst.rank, dst.buffer);
      // The one exception to "a name is the receiver's": see InPlace in in_place_test.cpp.
      if (s.in_place && s.kind == Kind::allgather && dst.buffer == Buffer::input) continue;
      const bool fits = scratch || dst.index + dst.size <= m.size(dst.rank, dst.buffer);
      const bool same =
          m.cell(src.rank, src.buffer, src.index) == m.cell(dst.rank, dst.buffer, dst.index);
      const auto copy = [&] {
        return append ? ref->copy(dst.rank, dst.buffer)
                      : ref->copy(dst.rank, dst.buffer, dst.index);
      };
      if (!fits || (overlap(src, dst) && !same)) {
        EXPECT_THROW(copy(), Error);
        continue;
      }
      copy();
      if (same) continue;
      for (int i = 0; i < src.size; ++i) {
        m.memory[m.cell(dst.rank, dst.buffer, dst.index + i)] =
            *m.content(src.rank, src.buffer, src.index + i);
      }
      if (scratch) {
        int& length = m.lengths[{dst.rank, dst.buffer.name()}];
        length = std::max(length, dst.index + dst.size);
      }
      ++performed;
    }

    for (int r = 0; r < s.n; ++r) {
      for (const Buffer& b : {Buffer::input, Buffer::output, Buffer("s"), Buffer("t")}) {
        ASSERT_EQ(p.buffer_size(r, b), m.size(r, b));
        for (int k = 0; k < m.size(r, b); ++k) {
          const Origins* want = m.content(r, b, k);
          ASSERT_EQ(p.content(r, b, k), want ? std::optional(*want) : std::nullopt)
              << "rank " << r << " " << b.name() << "[" << k << "]";
        }
      }
    }
    ASSERT_EQ(p.check().ok(), m.done()) << p.check().str();
    done += m.done() ? 1 : 0;

    // The trace alone says the same: canonical places are memory.
    std::map<std::tuple<int, std::uint32_t, int>, Origins> replay;
    for (int r = 0; r < s.n; ++r) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (int k = 0; k < p.collective().chunks(r, kind); ++k) {
          const Slot slot = p.collective().alias(r, {kind, k});
          const auto origin = p.collective().initial(r, {kind, k});
          if (origin) replay[{r, static_cast<std::uint32_t>(slot.buffer), slot.index}] = {*origin};
        }
      }
    }
    for (const TraceOp& op : p.trace().ops) {
      for (int i = 0; i < op.count; ++i) {
        const Origins in = replay.at({op.src_rank, op.src_buffer, op.src_index + i});
        Origins& out = replay[{op.dst_rank, op.dst_buffer, op.dst_index + i}];
        if (op.kind == TraceOp::Kind::copy) out.clear();
        out.insert(out.end(), in.begin(), in.end());
        std::sort(out.begin(), out.end());
      }
    }
    std::size_t held = 0;
    for (const auto& [place, origins] : replay) held += origins.empty() ? 0u : 1u;
    EXPECT_EQ(held, m.memory.size());
    for (int r = 0; r < s.n; ++r) {
      for (int k = 0; k < m.size(r, Buffer::output); ++k) {
        const Slot slot = p.collective().alias(r, {BufferKind::output, k});
        const auto found = replay.find({r, static_cast<std::uint32_t>(slot.buffer), slot.index});
        const Origins* want = m.content(r, Buffer::output, k);
        ASSERT_EQ(found != replay.end(), want != nullptr);
        if (want) {
          ASSERT_EQ(found->second, *want);
        }
      }
    }
  }
  // The generator reaches all three: enough work, enough mistakes, some finished collectives.
  EXPECT_GT(performed, 1000);
  EXPECT_GT(refused, 100);
  EXPECT_GT(done, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(1, 21));

}  // namespace
}  // namespace hocket
