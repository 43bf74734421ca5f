#include "tiny_algorithm.h"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace hocket::verifying {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, const TinyOptions& options)
      : seed_(seed), engine_(seed), options_(options) {}

  Algorithm make() {
    // One third are of any kind; one third mostly send; in one third every rank has one
    // threadblock, so that nothing races, and there are few different chunks to add up.
    style_ = static_cast<int>(seed_ % 3);
    ranks_ = style_ == 1 ? 2 : between(1, 3);
    const bool in_place = below(2) == 0;
    const CollectiveKind kinds[] = {CollectiveKind::allreduce, CollectiveKind::allgather,
                                    CollectiveKind::alltoall, CollectiveKind::reduce_scatter};
    Algorithm a;
    a.name = "tiny";
    a.collective = style_ == 2 ? few_chunks(in_place)
                               : Collective::make(kinds[below(4)], ranks_,
                                                  style_ == 1 ? 1 : between(1, 2), in_place);
    a.protocol = below(2) == 0 ? Protocol::simple : Protocol::ll;
    a.in_place = in_place;
    a.out_of_place = !in_place;
    a.chunks_per_loop = a.collective.chunks_per_loop();
    a.num_channels = 2;
    for (int r = 0; r < ranks_; ++r) {
      RankProgram rank;
      rank.input_chunks = a.collective.input_chunks(r);
      rank.output_chunks = a.collective.output_chunks(r);
      rank.scratch_chunks = between(1, 2);
      a.ranks.push_back(rank);
    }
    for (int r = 0; r < ranks_; ++r) {
      const int n = style_ == 2 ? 1 : style_ == 1 ? 2 : between(1, 3);
      for (int t = 0; t < n; ++t) tbs_.push_back({r, t, {}, {}, false});
    }
    connect();
    a_ = &a;
    const int ops = between(2, options_.max_ops);
    for (int k = 0; k < ops; ++k) {
      if (!channels_.empty() && below(4) < (style_ == 1 ? 3 : 2)) {
        message();
      } else {
        local();
      }
    }
    wait_somewhere();
    for (const Tb& tb : tbs_) {
      ThreadBlock out = tb.tb;
      out.first_step = static_cast<std::uint32_t>(a.steps.size());
      out.num_steps = static_cast<std::uint32_t>(tb.steps.size());
      a.steps.insert(a.steps.end(), tb.steps.begin(), tb.steps.end());
      a.ranks[static_cast<std::size_t>(tb.rank)].threadblocks.push_back(out);
    }
    return a;
  }

 private:
  struct Tb {
    int rank = 0;
    int id = 0;
    ThreadBlock tb;
    std::vector<Step> steps;
    bool has_channel = false;
  };
  struct Channel {
    std::size_t from = 0;  // into tbs_
    std::size_t to = 0;
  };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  int between(int low, int high) {
    return low + static_cast<int>(
                     below(static_cast<std::size_t>(high) - static_cast<std::size_t>(low) + 1));
  }

  // Every slot holds one of two chunks, so that equal sums are frequent, and must hold their sum.
  Collective few_chunks(bool in_place) {
    CustomCollective c("few_chunks", ranks_, 1, in_place);
    for (int r = 0; r < ranks_; ++r) {
      c.buffers(r, 2, in_place ? 2 : 1);
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (int i = 0; i < (kind == BufferKind::input ? 2 : in_place ? 0 : 1); ++i) {
          c.holds(r, {kind, i}, {0, below(4) == 0 ? 1 : 0});
          c.requires_(r, {kind, i}, {{0, 0}, {0, 1}});
        }
      }
    }
    return c.build();
  }

  void connect() {
    std::set<std::tuple<int, int, int>> taken;
    for (int attempt = 0; attempt < (style_ == 0 ? 6 : 20); ++attempt) {
      const std::size_t from = below(tbs_.size());
      const std::size_t to = below(tbs_.size());
      const int channel = between(0, 1);
      Tb& a = tbs_[from];
      Tb& b = tbs_[to];
      if (a.rank == b.rank || a.tb.send >= 0 || b.tb.recv >= 0) continue;
      if ((a.has_channel && a.tb.channel != channel) ||
          (b.has_channel && b.tb.channel != channel)) {
        continue;
      }
      if (!taken.insert({a.rank, b.rank, channel}).second) continue;
      a.tb.send = b.rank;
      b.tb.recv = a.rank;
      a.tb.channel = b.tb.channel = channel;
      a.has_channel = b.has_channel = true;
      channels_.push_back({from, to});
    }
  }

  // A place with room for `count` chunks; false: that buffer is too small.
  bool place(int rank, int count, BufferKind& buffer, std::int32_t& offset) {
    buffer = static_cast<BufferKind>(below(style_ == 2 ? 2 : 3));
    const int size = a_->ranks[static_cast<std::size_t>(rank)].chunks(buffer);
    if (size < count) return false;
    offset = between(0, size - count);
    return true;
  }

  bool clash(int rank, const Step& s) const {
    std::set<std::pair<BufferKind, int>> seen;
    for (int k = 0; k < s.count; ++k) {
      const auto name = [&](BufferKind b, int i) {
        if (b == BufferKind::scratch || !a_->in_place) return std::pair(b, i);
        const Slot slot = a_->collective.alias(rank, {b, i});
        return std::pair(slot.buffer, slot.index);
      };
      seen.insert(name(s.src_buffer, s.src_offset + k));
      seen.insert(name(s.dst_buffer, s.dst_offset + k));
    }
    return seen.size() != 2 * static_cast<std::size_t>(s.count);
  }

  Step step(OpCode op, int rank, int count) {
    const OpInfo& info = op_info(op);
    for (;;) {
      Step s;
      s.op = op;
      s.count = count;
      if (!place(rank, count, s.src_buffer, s.src_offset)) continue;
      if (!place(rank, count, s.dst_buffer, s.dst_offset)) continue;
      if (info.reads_src && info.writes_dst) {
        const bool same = s.src_buffer == s.dst_buffer && s.src_offset == s.dst_offset;
        if (info.receives && below(3) == 0) {
          s.dst_buffer = s.src_buffer;
          s.dst_offset = s.src_offset;
        } else if (same || clash(rank, s)) {
          if (count > 1 && below(4) == 0) count = 1;
          if (info.receives && same) return s;
          if (info.receives || !room(rank)) {
            s.dst_buffer = s.src_buffer;
            s.dst_offset = s.src_offset;
            s.count = count;
            return s;
          }
          continue;
        }
      }
      return s;
    }
  }
  bool room(int) const { return true; }

  void local() {
    Tb& tb = tbs_[below(tbs_.size())];
    const bool reduce = below(2) == 0;
    Step s = step(reduce ? OpCode::reduce : OpCode::copy, tb.rank, 1);
    tb.steps.push_back(s);
    while (reduce && options_.chains && below(2) == 0) {
      for (int attempt = 0; attempt < 10; ++attempt) {
        const int size = a_->ranks[static_cast<std::size_t>(tb.rank)].chunks(s.src_buffer);
        s.src_offset = between(0, size - 1);
        if (clash(tb.rank, s)) continue;
        tb.steps.push_back(s);
        break;
      }
    }
  }

  void message() {
    std::size_t c = below(channels_.size());
    Tb& first = tbs_[channels_[c].from];
    int count = between(1, 2);
    for (const RankProgram& r : a_->ranks) {
      if (std::max({r.input_chunks, r.output_chunks, r.scratch_chunks}) < count) count = 1;
    }
    first.steps.push_back(step(OpCode::send, first.rank, count));
    for (int hop = 0;; ++hop) {
      const std::size_t at = channels_[c].to;
      Tb& tb = tbs_[at];
      std::size_t onward = channels_.size();
      for (std::size_t k = 0; k < channels_.size(); ++k) {
        if (channels_[k].from == at) onward = k;
      }
      if (onward < channels_.size() && hop < 4 && below(3) > 0) {
        const OpCode ops[] = {OpCode::recv_copy_send, OpCode::recv_reduce_send,
                              OpCode::recv_reduce_copy_send};
        tb.steps.push_back(step(ops[below(3)], tb.rank, count));
        tb.steps.back().count = count;
        c = onward;
        continue;
      }
      tb.steps.push_back(
          step(below(2) == 0 ? OpCode::recv : OpCode::recv_reduce_copy, tb.rank, count));
      tb.steps.back().count = count;
      return;
    }
  }

  // Waits for steps that say so, most of them forward in time.
  void wait_somewhere() {
    for (Tb& tb : tbs_) {
      for (std::size_t i = 0; i < tb.steps.size(); ++i) {
        if (below(style_ == 1 ? 4 : 2) > 0 && style_ != 0) continue;
        if (below(2) == 0) continue;
        std::vector<Tb*> others;
        for (Tb& other : tbs_) {
          if (other.rank == tb.rank && other.id != tb.id && !other.steps.empty()) {
            others.push_back(&other);
          }
        }
        if (others.empty()) continue;
        Tb& other = *others[below(others.size())];
        const std::size_t most =
            below(6) == 0 ? other.steps.size() : std::min(i + 1, other.steps.size());
        const std::size_t named = below(most);
        if (other.steps[named].op == OpCode::nop) continue;
        other.steps[named].has_dependent = true;
        tb.steps[i].depend_tb = other.id;
        tb.steps[i].depend_step = static_cast<std::int32_t>(named);
      }
    }
  }

  const std::uint64_t seed_;
  int style_ = 0;
  std::mt19937_64 engine_;
  const TinyOptions options_;
  int ranks_ = 1;
  std::vector<Tb> tbs_;
  std::vector<Channel> channels_;
  Algorithm* a_ = nullptr;
};

}  // namespace

Algorithm tiny_algorithm(std::uint64_t seed, const TinyOptions& options) {
  return Generator(seed, options).make();
}

}  // namespace hocket::verifying
