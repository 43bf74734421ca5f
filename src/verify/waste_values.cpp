#include "verify/waste_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "verify/interpret.h"
#include "verify/origins.h"
#include "verify/races.h"

namespace hocket::verifying {
namespace {

std::vector<bool> wanted_cells(const Loaded& loaded) {
  std::vector<bool> wanted(loaded.num_cells(), false);
  for_each_slot(loaded, [&](int rank, Slot slot, CellId cell) {
    if (cell != kNone && loaded.collective->expected(rank, slot).kind != Expected::Kind::any) {
      wanted[cell] = true;
    }
  });
  return wanted;
}

template <typename F>
void for_each_source(const Loaded& loaded, InstrId i, F visit) {
  const Instr& instr = loaded.instrs[i];
  const std::int32_t rank = loaded.rank_of(i);
  const auto all = [&](BufferKind buffer, std::int32_t offset) {
    for (std::int32_t lane = 0; lane < instr.count; ++lane) {
      visit(loaded.cell(rank, buffer, offset + lane));
    }
  };
  const OpInfo& info = op_info(instr.op);
  if (info.reads_src) {
    all(instr.src_buffer, instr.src_offset);
    for (const std::int32_t offset : loaded.sources_of(i)) all(instr.src_buffer, offset);
  }
  if (info.accumulates) all(instr.dst_buffer, instr.dst_offset);
}

// Whether a chunk of what `i` writes is live; after it none of them is.
bool end_destination(const Loaded& loaded, InstrId i, std::vector<bool>& live) {
  const Instr& instr = loaded.instrs[i];
  if (!op_info(instr.op).writes_dst) return false;
  const std::int32_t rank = loaded.rank_of(i);
  bool any = false;
  for (std::int32_t lane = 0; lane < instr.count; ++lane) {
    const CellId cell = loaded.cell(rank, instr.dst_buffer, instr.dst_offset + lane);
    any = any || live[cell];
    live[cell] = false;
  }
  return any;
}

// What would become of each instruction if only what is needed were done.
class Needs {
 public:
  // `keep_messages`: as if every message were needed.
  Needs(const Loaded& loaded, const ExecutionOrder& order, bool keep_messages) : loaded_(loaded) {
    becomes_.resize(loaded.instrs.size());
    std::vector<bool> live = wanted_cells(loaded);
    for (std::size_t k = order.order.size(); k-- > 0;) {
      const InstrId i = order.order[k];
      const OpInfo& info = op_info(loaded.instrs[i].op);
      const bool here = end_destination(loaded, i, live);
      const bool there =
          info.sends && (keep_messages || becomes_[loaded.receiver_of[i]] != OpCode::nop);
      becomes_[i] = reduced(loaded.instrs[i].op, here, there, keep_messages);
      if (becomes_[i] == OpCode::nop) continue;
      for_each_source(loaded, i, [&](CellId cell) { live[cell] = true; });
    }
  }

  OpCode becomes(InstrId i) const { return becomes_[i]; }
  bool saves(InstrId i) const { return becomes_[i] != loaded_.instrs[i].op; }
  bool drops_messages() const {
    for (InstrId i = 0; i < becomes_.size(); ++i) {
      if (op_info(loaded_.instrs[i].op).sends && !op_info(becomes_[i]).sends) return true;
    }
    return false;
  }

  // The algorithm that would be left, what is gone being a nop that still hands on its order.
  Loaded rest() const {
    Loaded rest = loaded_;
    for (InstrId i = 0; i < becomes_.size(); ++i) {
      if (!saves(i)) continue;
      Instr& instr = rest.instrs[i];
      instr.op = becomes_[i];
      const OpInfo& info = op_info(instr.op);
      if (!info.receives) instr.partner = kNone;
      if (!info.sends) rest.receiver_of[i] = kNone;
      if (instr.op == OpCode::nop) instr.count = 0;
    }
    return rest;
  }

 private:
  static OpCode reduced(OpCode op, bool here, bool there, bool keep_messages) {
    const OpInfo& info = op_info(op);
    if (op == OpCode::recv_reduce_copy_send && there && !here) return OpCode::recv_reduce_send;
    if (keep_messages && (info.sends || info.receives)) return op;
    if (!here && !there) return OpCode::nop;
    if (!there && op == OpCode::recv_copy_send) return OpCode::recv;
    if (!there && op == OpCode::recv_reduce_copy_send) return OpCode::recv_reduce_copy;
    return op;
  }

  const Loaded& loaded_;
  std::vector<OpCode> becomes_;
};

void report_dead(const Loaded& loaded, const Needs& needs, WasteList& list) {
  for (InstrId i = 0; i < loaded.instrs.size(); ++i) {
    if (!needs.saves(i)) continue;
    const Instr& instr = loaded.instrs[i];
    const StepPlace at = loaded.place(i);
    const OpCode becomes = needs.becomes(i);
    const bool gone = becomes == OpCode::nop;
    const auto steps = gone ? std::int64_t{instr.more_sources} + 1 : 1;
    list.add(Code::DeadStep, at, steps, [&] {
      const OpInfo& info = op_info(instr.op);
      const std::string what = fmt::format("{} ({})", str(at), info.name);
      const std::string destination =
          !info.writes_dst ? std::string()
          : instr.count == 1
              ? fmt::format("{}[{}]", buffer_kind_name(instr.dst_buffer), instr.dst_offset)
              : fmt::format("{}[{}, +{}]", buffer_kind_name(instr.dst_buffer), instr.dst_offset,
                            instr.count);
      WasteList::Text text;
      if (!gone) {
        text.message = becomes == OpCode::recv_reduce_send
                           ? fmt::format("{} leaves in {} what nobody needs", what, destination)
                           : fmt::format("{} sends what nobody needs", what);
        text.hint = fmt::format("{} would do; saves a {}", op_info(becomes).name,
                                becomes == OpCode::recv_reduce_send ? "copy" : "message");
        return text;
      }
      text.message =
          !info.writes_dst ? fmt::format("{} sends what nobody needs", what)
          : info.sends
              ? fmt::format("{} sends and leaves in {} what nobody needs", what, destination)
              : fmt::format("{} leaves in {} what nobody needs", what, destination);
      text.hint = fmt::format("drop it{}; saves {}",
                              info.sends      ? " and the receive it meets"
                              : info.receives ? " and the send it meets"
                                              : "",
                              steps == 1 ? "a step" : fmt::format("{} steps", steps));
      return text;
    });
  }
}

// Sums as trees without an order of branches, each tree once. What a merged chain makes is like
// nothing else: loaders add it up in more than one way.
class Trees {
 public:
  struct Made {
    InstrId by = kNone;
    std::int32_t lane = 0;
  };

  explicit Trees(const Loaded& loaded)
      : loaded_(loaded), last_write_(loaded.num_cells(), {kNone, 0}) {}

  std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    if (merged_) return fresh();
    const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto [at, is_new] = sums_.try_emplace(key, 0);
    if (is_new) at->second = fresh();
    return at->second;
  }
  bool sources_first(const Instr&) {
    merged_ = true;
    return false;
  }
  void read(InstrId, std::int32_t, CellId, std::uint32_t) {}
  void wrote(InstrId i, std::int32_t lane, CellId cell) { last_write_[cell] = {i, lane}; }
  void made(InstrId i, std::int32_t lane, std::uint32_t value) {
    merged_ = false;
    const Instr& instr = loaded_.instrs[i];
    const OpInfo& info = op_info(instr.op);
    const bool sum = info.accumulates || (info.receives && info.reads_src);
    if (!sum || !info.writes_dst || instr.more_sources > 0) return;
    const std::uint64_t key =
        std::uint64_t{static_cast<std::uint32_t>(loaded_.rank_of(i))} << 32 | value;
    const auto [at, is_new] = first_.try_emplace(key, Made{i, lane});
    if (is_new || instr.op != OpCode::reduce) return;
    again_.push_back({{i, lane}, at->second});
  }

  // A reduce, lane by lane, and who made the same on its rank before.
  struct Again {
    Made now;
    Made before;
  };
  const std::vector<Again>& again() const { return again_; }
  bool still_there(Made made) const {
    const Instr& instr = loaded_.instrs[made.by];
    const Made last = last_write_[loaded_.cell(loaded_.rank_of(made.by), instr.dst_buffer,
                                               instr.dst_offset + made.lane)];
    return last.by == made.by && last.lane == made.lane;
  }

 private:
  std::uint32_t fresh() { return next_++; }

  const Loaded& loaded_;
  std::vector<Made> last_write_;
  std::unordered_map<std::uint64_t, std::uint32_t> sums_;
  std::unordered_map<std::uint64_t, Made> first_;  // by rank and tree
  std::vector<Again> again_;
  bool merged_ = false;
  std::uint32_t next_ = std::uint32_t{1} << 31;  // leaves are below
};

// By program order, or by a wait of `y` itself.
bool surely_before(const Loaded& loaded, InstrId x, InstrId y) {
  const BlockId block = loaded.instrs[x].block;
  if (block == loaded.instrs[y].block) return x < y;
  return std::ranges::any_of(loaded.waits_of(y),
                             [&](InstrId w) { return loaded.instrs[w].block == block && w >= x; });
}

}  // namespace

std::vector<bool> find_reads(const Loaded& loaded, const ExecutionOrder& order) {
  std::vector<bool> read(loaded.instrs.size());
  std::vector<bool> live = wanted_cells(loaded);
  for (std::size_t k = order.order.size(); k-- > 0;) {
    const InstrId i = order.order[k];
    bool later = end_destination(loaded, i, live);
    const bool sends = loaded.instrs[i].op == OpCode::send;
    for_each_source(loaded, i, [&](CellId cell) {
      later = later || (sends && live[cell]);
      live[cell] = true;
    });
    read[i] = later;
  }
  return read;
}

void find_dead_steps(const Loaded& loaded, const ExecutionOrder& order,
                     const std::vector<bool>& read, const VerifyOptions& options, WasteList& list) {
  // Whatever is dead ends in something that nobody reads. What is received and sent on is dead only
  // where what the last of its receivers leaves is.
  bool any = false;
  for (InstrId i = 0; i < loaded.instrs.size() && !any; ++i) {
    any = op_info(loaded.instrs[i].op).writes_dst && !read[i] &&
          loaded.instrs[i].op != OpCode::recv_copy_send;
  }
  if (!any) return;
  const Needs needs(loaded, order, false);
  if (needs.drops_messages()) {
    const Loaded rest = needs.rest();
    if (find_races(rest, find_order(rest), options).ruling != Ruling::proved) {
      report_dead(loaded, Needs(loaded, order, true), list);
      return;
    }
  }
  report_dead(loaded, needs, list);
}

void find_computed_twice(const Loaded& loaded, const ExecutionOrder& order, WasteList& list) {
  const auto local = [](const Instr& i) { return i.op == OpCode::reduce && i.more_sources == 0; };
  if (std::none_of(loaded.instrs.begin(), loaded.instrs.end(), local)) return;
  Trees trees(loaded);
  {
    std::vector<std::uint32_t> cells(loaded.num_cells(), 0);
    const Origins origins(loaded);
    for (const Origins::Start& s : origins.starts()) cells[s.cell] = s.number + 1;
    Interpreter<Trees> interpreter(loaded, trees, cells);
    interpreter.run(order);
  }
  const std::vector<Trees::Again>& again = trees.again();
  // The lanes of an instruction stand together.
  for (std::size_t k = 0; k < again.size();) {
    const InstrId y = again[k].now.by;
    const Trees::Made first = again[k].before;
    const std::size_t start = k;
    bool same = surely_before(loaded, first.by, y) && again[k].now.lane == 0;
    for (; k < again.size() && again[k].now.by == y; ++k) {
      const Trees::Made before = again[k].before;
      same = same && before.by == first.by && before.lane - first.lane == again[k].now.lane &&
             trees.still_there(before);
    }
    const Instr& instr = loaded.instrs[y];
    if (!same || std::cmp_not_equal(k - start, instr.count)) continue;
    const StepPlace at = loaded.place(y);
    list.add(Code::ComputedTwice, at, instr.count, [&] {
      const Instr& earlier = loaded.instrs[first.by];
      WasteList::Text text;
      text.chain.push_back(loaded.place(first.by));
      text.message = fmt::format(
          "{} ({}) adds up in {}[{}] what {} left in {}[{}]", str(at), op_info(instr.op).name,
          buffer_kind_name(instr.dst_buffer), instr.dst_offset, here(text.chain.front()),
          buffer_kind_name(earlier.dst_buffer), earlier.dst_offset + first.lane);
      text.hint = fmt::format("copy it from there; saves {}",
                              instr.count == 1 ? std::string("a reduction")
                                               : fmt::format("{} reductions", instr.count));
      return text;
    });
  }
}

}  // namespace hocket::verifying
