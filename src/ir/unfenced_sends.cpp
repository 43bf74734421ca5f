#include "ir/unfenced_sends.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace hocket {
namespace {

constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

// A step whose message or flag another threadblock's step takes.
struct Edge {
  std::int32_t from = 0;  // position of the step that publishes or sends
  std::uint32_t to_tb = 0;
  std::int32_t to = 0;  // position of the step that waits or receives
};

struct Tb {
  int rank = 0;
  int id = 0;
  std::span<const Step> steps;
  std::vector<Edge> flags;
  std::vector<Edge> messages;
};

// What is certain to come after some moment: of every threadblock, the steps that start after it
// and the steps whose flag or message leaves after it. Both are ends of the threadblock.
struct After {
  std::int32_t starts = kNever;
  std::int32_t leaves = kNever;
};

class Finder {
 public:
  Finder(const Algorithm& a, std::size_t most) : a_(a), most_(most), shared_(memory_of(a)) {
    for (int r = 0; r < a.num_ranks(); ++r) {
      first_tb_.push_back(static_cast<std::uint32_t>(tbs_.size()));
      int id = 0;
      for (const ThreadBlock& tb : a.ranks[static_cast<std::size_t>(r)].threadblocks) {
        tbs_.push_back({r, id++, a.steps_of(tb), {}, {}});
      }
    }
    first_tb_.push_back(static_cast<std::uint32_t>(tbs_.size()));
    after_.resize(tbs_.size());
  }

  std::vector<UnfencedSend> run() {
    add_flags();
    add_messages();
    for (int r = 0; r < a_.num_ranks() && found_.size() < most_; ++r) check_rank(r);
    return std::move(found_);
  }

 private:
  struct Access {
    std::uint32_t tb = 0;
    std::int32_t step = 0;
    bool inner = false;  // in the user's memory rather than in scratch
    Slot first;
    std::int32_t count = 0;
  };

  // The names of the memory of an in-place call, where there may be one.
  static Collective memory_of(const Algorithm& a) {
    const Collective& c = a.collective;
    if (!a.in_place || c.in_place() || c.kind() == CollectiveKind::custom) return c;
    return Collective::make(c.kind(), c.num_ranks(), c.chunk_factor(), true, c.root());
  }

  static bool ends_with_barrier(const Step& step) {
    return step.op != OpCode::nop && step.op != OpCode::send;
  }

  void add_flags() {
    for (std::uint32_t t = 0; t < tbs_.size(); ++t) {
      const auto rank = static_cast<std::size_t>(tbs_[t].rank);
      const std::uint32_t first = first_tb_[rank];
      const std::uint32_t last = first_tb_[rank + 1];
      for (std::int32_t i = 0; i < std::ssize(tbs_[t].steps); ++i) {
        const Step& step = at(t, i);
        const std::uint32_t waits_for = first + static_cast<std::uint32_t>(step.depend_tb);
        if (step.depend_tb < 0 || waits_for >= last) continue;
        Tb& other = tbs_[waits_for];
        std::int32_t from = std::max(step.depend_step, 0);
        const auto publishes = [](const Step& s) { return s.has_dependent && s.op != OpCode::nop; };
        while (from < std::ssize(other.steps) &&
               !publishes(other.steps[static_cast<std::size_t>(from)])) {
          ++from;
        }
        if (from < std::ssize(other.steps)) other.flags.push_back({from, t, i});
      }
    }
  }

  void add_messages() {
    std::map<std::tuple<int, int, int>, std::uint32_t> receivers;
    for (std::uint32_t t = 0; t < tbs_.size(); ++t) {
      const ThreadBlock& tb = source(t);
      if (tb.recv >= 0) receivers.emplace(std::tuple(tb.recv, tbs_[t].rank, tb.channel), t);
    }
    for (std::uint32_t t = 0; t < tbs_.size(); ++t) {
      const ThreadBlock& tb = source(t);
      const auto to = receivers.find({tbs_[t].rank, tb.send, tb.channel});
      if (tb.send < 0 || to == receivers.end()) continue;
      std::int32_t r = -1;
      for (std::int32_t s = 0; s < std::ssize(tbs_[t].steps); ++s) {
        if (!op_info(at(t, s).op).sends) continue;
        do {
          ++r;
        } while (r < std::ssize(tbs_[to->second].steps) && !op_info(at(to->second, r).op).receives);
        if (r >= std::ssize(tbs_[to->second].steps)) break;
        tbs_[t].messages.push_back({s, to->second, r});
      }
    }
  }

  const ThreadBlock& source(std::uint32_t t) const {
    return a_.ranks[static_cast<std::size_t>(tbs_[t].rank)]
        .threadblocks[static_cast<std::size_t>(tbs_[t].id)];
  }
  const Step& at(std::uint32_t t, std::int32_t i) const {
    return tbs_[t].steps[static_cast<std::size_t>(i)];
  }

  // --- what comes after

  void clear() {
    for (const std::uint32_t t : touched_) after_[t] = {};
    touched_.clear();
    pending_.clear();
  }

  void reach(std::uint32_t t, After after) {
    After& known = after_[t];
    if (after.starts >= known.starts && after.leaves >= known.leaves) return;
    known.starts = std::min(known.starts, after.starts);
    known.leaves = std::min(known.leaves, after.leaves);
    touched_.push_back(t);
    pending_.push_back(t);
  }

  // Follows flags; with `messages` those too.
  void spread(bool messages) {
    if (messages) pending_ = touched_;
    while (!pending_.empty()) {
      const std::uint32_t t = pending_.back();
      pending_.pop_back();
      const std::int32_t leaves = after_[t].leaves;
      for (const Edge& e : tbs_[t].flags) {
        if (e.from >= leaves) reach(e.to_tb, {e.to, e.to});
      }
      if (!messages) continue;
      // A receive stores nothing before the data is there.
      for (const Edge& e : tbs_[t].messages) {
        if (e.from >= leaves) reach(e.to_tb, {e.to, e.to});
      }
    }
  }

  // The moment when all threads have read the source of the send.
  void begin_after_read(std::uint32_t t, std::int32_t send) {
    clear();
    const auto last = static_cast<std::int32_t>(std::ssize(tbs_[t].steps));
    for (std::int32_t i = send + 1; i < last; ++i) {
      if (at(t, i).depend_tb >= 0) return reach(t, {i, i});
      if (ends_with_barrier(at(t, i))) return reach(t, {i + 1, i});
    }
  }

  // The receivers of the send, and of those after it that no barrier parts from it, have the data
  // only when its threads have read it.
  void begin_at_receivers(std::uint32_t t, std::int32_t send) {
    for (const Edge& e : tbs_[t].messages) {
      if (e.from >= send && e.from < after_[t].leaves) reach(e.to_tb, {e.to + 1, e.to});
    }
  }

  void begin_after_write(const Access& write) {
    clear();
    reach(write.tb, {write.step + 1, write.step});
  }

  bool starts_after(const Access& access) const { return after_[access.tb].starts <= access.step; }

  // --- the accesses of a rank

  bool overlap(int rank, const Access& a, const Access& b) const {
    if (a.inner != b.inner) return false;
    if (!a.inner || a.first.buffer == b.first.buffer) {
      return a.first.index < b.first.index + b.count && b.first.index < a.first.index + a.count;
    }
    // Two names of the user's memory: one where their chunks have one canonical name.
    for (std::int32_t i = 0; i < a.count; ++i) {
      const Slot x = shared_.alias(rank, {a.first.buffer, a.first.index + i});
      for (std::int32_t j = 0; j < b.count; ++j) {
        if (x == shared_.alias(rank, {b.first.buffer, b.first.index + j})) return true;
      }
    }
    return false;
  }

  static Access access(std::uint32_t t, std::int32_t i, BufferKind buffer, std::int32_t offset,
                       std::int32_t count) {
    return {t, i, buffer != BufferKind::scratch, {buffer, offset}, count};
  }

  void check_rank(int rank) {
    std::vector<Access> sends;
    std::vector<Access> writes;
    for (std::uint32_t t = first_tb_[static_cast<std::size_t>(rank)];
         t < first_tb_[static_cast<std::size_t>(rank) + 1]; ++t) {
      for (std::int32_t i = 0; i < std::ssize(tbs_[t].steps); ++i) {
        const Step& s = at(t, i);
        if (s.op == OpCode::send) {
          sends.push_back(access(t, i, s.src_buffer, s.src_offset, s.count));
        } else if (op_info(s.op).writes_dst) {
          writes.push_back(access(t, i, s.dst_buffer, s.dst_offset, s.count));
        }
      }
    }
    for (const Access& send : sends) {
      if (found_.size() >= most_) return;
      std::vector<Access> later;
      for (const Access& write : writes) {
        const bool before = write.tb == send.tb && write.step < send.step;
        if (!before && overlap(rank, send, write)) later.push_back(write);
      }
      const std::optional<Access> early = too_early(send, later);
      if (!early) continue;
      found_.push_back({rank, tbs_[send.tb].id, send.step, tbs_[early->tb].id, early->step});
    }
  }

  // One of `writes` that is ordered neither before the send nor after its read.
  std::optional<Access> too_early(const Access& send, std::vector<Access>& writes) {
    if (writes.empty()) return std::nullopt;
    const auto drop = [&] {
      std::erase_if(writes, [this](const Access& w) { return starts_after(w); });
      return writes.empty();
    };
    begin_after_read(send.tb, send.step);
    spread(false);
    if (drop()) return std::nullopt;
    for (const bool messages : {false, true}) {
      std::erase_if(writes, [&](const Access& write) {
        begin_after_write(write);
        spread(false);
        if (messages) spread(true);
        return starts_after(send);
      });
      if (writes.empty()) return std::nullopt;
    }
    begin_after_read(send.tb, send.step);
    begin_at_receivers(send.tb, send.step);
    spread(true);
    if (drop()) return std::nullopt;
    return writes.front();
  }

  const Algorithm& a_;
  std::size_t most_;
  Collective shared_;
  std::vector<Tb> tbs_;
  std::vector<std::uint32_t> first_tb_;  // of each rank, and the end
  std::vector<After> after_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> pending_;
  std::vector<UnfencedSend> found_;
};

}  // namespace

std::vector<UnfencedSend> unfenced_sends(const Algorithm& algorithm, std::size_t most) {
  return Finder(algorithm, most).run();
}

}  // namespace hocket
