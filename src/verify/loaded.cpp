// From steps to instructions, from names to cells, from peers to partners.
#include "verify/loaded.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "verify/findings.h"
#include "verify/structure.h"

namespace hocket::verifying {
namespace {

// What names a connection.
struct Route {
  std::int32_t src;
  std::int32_t dst;
  std::int32_t channel;
  friend bool operator==(const Route&, const Route&) = default;
};
// Neighbours stay neighbours, which the cache likes. Of huge channels it wraps, so it is no name.
struct HashRoute {
  std::uint64_t ranks;
  std::size_t operator()(const Route& r) const {
    const auto wide = [](std::int32_t n) { return static_cast<std::uint64_t>(n); };
    return static_cast<std::size_t>((wide(r.channel) * ranks + wide(r.src)) * ranks + wide(r.dst));
  }
};

class Loader {
 public:
  Loader(const Algorithm& algorithm, const Collective& collective, bool in_place, int max_findings,
         Loaded& out, PropertyRuling& structure)
      : a_(algorithm),
        collective_(collective),
        max_findings_(max_findings),
        out_(out),
        structure_(structure),
        ids_(0, HashRoute{static_cast<std::uint64_t>(algorithm.num_ranks())}) {
    out_ = Loaded();
    out_.algorithm = &algorithm;
    out_.collective = &collective;
    out_.in_place = in_place;
  }

  // Says what is too much, if something is.
  std::string too_large(std::int64_t max_chunks) const {
    constexpr std::int64_t kMostCells = kNone - 1;  // that their numbers can tell apart
    const std::int64_t allowed =
        std::min(std::max(max_chunks, 64 * static_cast<std::int64_t>(a_.steps.size())), kMostCells);
    std::int64_t chunks = 0;
    const int ranks = std::min(a_.num_ranks(), collective_.num_ranks());
    for (std::int32_t r = 0; r < ranks; ++r) {
      const RankProgram& rank = a_.ranks[static_cast<std::size_t>(r)];
      chunks += std::max(rank.input_chunks, collective_.input_chunks(r));
      chunks += std::max(rank.output_chunks, collective_.output_chunks(r));
      chunks += std::max(rank.scratch_chunks, 0);
      if (chunks > allowed) {
        return fmt::format("its buffers have more than {} chunks", allowed);
      }
    }
    std::int64_t counts = 0;
    for (const Step& step : a_.steps) {
      if (step.op != OpCode::nop) counts += std::max(step.count, 0);
      if (counts > allowed) return fmt::format("its steps move more than {} chunks", allowed);
    }
    return {};
  }

  void run() {
    check_structure(a_, collective_, out_.in_place, max_findings_, structure_);
    if (structure_.ruling == Ruling::refuted) return;
    number_cells();
    out_.instrs.reserve(a_.steps.size());
    out_.first_source.reserve(a_.steps.size() + 1);
    for (std::int32_t r = 0; r < a_.num_ranks(); ++r) load_rank(r);
    out_.first_block.push_back(static_cast<BlockId>(out_.blocks.size()));
    out_.first_source.push_back(static_cast<std::uint32_t>(out_.sources.size()));
    match_sends();
    resolve_waits();
  }

 private:
  template <typename... Args>
  void report(Code code, BlockId block, std::int32_t step, fmt::format_string<Args...> format,
              Args&&... args) {
    const Block& b = out_.blocks[block];
    Finding finding;
    finding.at = {b.rank, b.tb, step};
    finding.diagnostic.code = code;
    finding.diagnostic.message =
        str(finding.at) + " " + fmt::format(format, std::forward<Args>(args)...);
    if (step >= 0) {
      finding.diagnostic.where =
          a_.location_of(tb_of(b).first_step + static_cast<std::uint32_t>(step));
    }
    refute(structure_, max_findings_, std::move(finding));
  }

  const ThreadBlock& tb_of(const Block& b) const {
    return a_.ranks[static_cast<std::size_t>(b.rank)].threadblocks[static_cast<std::size_t>(b.tb)];
  }

  void number_cells() {
    CellId cells = 0;
    for (std::int32_t r = 0; r < a_.num_ranks(); ++r) {
      const RankProgram& rank = a_.ranks[static_cast<std::size_t>(r)];
      out_.sizes.push_back(
          {collective_.input_chunks(r), collective_.output_chunks(r), rank.scratch_chunks});
      out_.first_cell.push_back(cells);
      for (const std::int32_t size : out_.sizes.back()) cells += static_cast<CellId>(size);
    }
    out_.first_cell.push_back(cells);
    out_.alias.resize(cells);
    for (CellId c = 0; c < cells; ++c) out_.alias[c] = c;
    if (!out_.in_place) return;
    for (std::int32_t r = 0; r < a_.num_ranks(); ++r) {
      const auto& size = out_.sizes[static_cast<std::size_t>(r)];
      const auto cell = [&](Slot slot) {
        return out_.first_cell[static_cast<std::size_t>(r)] +
               static_cast<CellId>((slot.buffer == BufferKind::output ? size[0] : 0) + slot.index);
      };
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (std::int32_t i = 0; i < size[static_cast<std::size_t>(kind)]; ++i) {
          out_.alias[cell({kind, i})] = cell(collective_.alias(r, {kind, i}));
        }
      }
    }
  }

  void load_rank(std::int32_t r) {
    out_.first_block.push_back(static_cast<BlockId>(out_.blocks.size()));
    const RankProgram& rank = a_.ranks[static_cast<std::size_t>(r)];
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      Block block;
      block.rank = r;
      block.tb = static_cast<std::int32_t>(t);
      block.first = static_cast<InstrId>(out_.instrs.size());
      out_.blocks.push_back(block);
      const ThreadBlock& tb = rank.threadblocks[t];
      own(tb, static_cast<BlockId>(out_.blocks.size() - 1));
      load_steps(tb, static_cast<BlockId>(out_.blocks.size() - 1));
    }
  }

  // One threadblock at each end of a connection, used or not: both ends connect before they start.
  void own(const ThreadBlock& tb, BlockId block) {
    const std::int32_t rank = out_.blocks[block].rank;
    if (tb.send >= 0) {
      Connection& c = connection(rank, tb.send, tb.channel);
      if (c.sender != kNone) {
        report(Code::VerifyConnection, block, -1,
               "sends to rank {} on channel {}, and so does tb {}", tb.send, tb.channel,
               out_.blocks[c.sender].tb);
      } else {
        c.sender = block;
      }
    }
    if (tb.recv >= 0) {
      Connection& c = connection(tb.recv, rank, tb.channel);
      if (c.receiver != kNone) {
        report(Code::VerifyConnection, block, -1,
               "receives from rank {} on channel {}, and so does tb {}", tb.recv, tb.channel,
               out_.blocks[c.receiver].tb);
      } else {
        c.receiver = block;
      }
    }
  }

  Connection& connection(std::int32_t src, std::int32_t dst, std::int32_t channel) {
    const auto [at, fresh] = ids_.try_emplace(Route{src, dst, channel},
                                              static_cast<ConnectionId>(out_.connections.size()));
    if (fresh) out_.connections.push_back({src, dst, channel, kNone, kNone});
    return out_.connections[at->second];
  }
  ConnectionId id_of(const Connection& c) const {
    return static_cast<ConnectionId>(&c - out_.connections.data());
  }

  // The loaders' rule (spec 5.4) for merging `now` into `before`, the step just before it, nops
  // aside; but for what load_steps says of the 16th.
  static bool merges(const Step* before, const Step& now) {
    return before != nullptr && before->op == OpCode::reduce && now.op == OpCode::reduce &&
           before->dst_buffer == now.dst_buffer && before->dst_offset == now.dst_offset &&
           before->src_buffer == now.src_buffer && now.depend_tb < 0 && !before->has_dependent;
  }

  void load_steps(const ThreadBlock& tb, BlockId block) {
    const std::span<const Step> steps = a_.steps_of(tb);
    // They merge no `re` with the 16th of the threadblock, whichever chains those were in.
    constexpr int kNeverAfter = 16;
    const Step* before = nullptr;
    int reduces = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.op == OpCode::nop) continue;
      const auto position = static_cast<std::int32_t>(i);
      const bool allowed = reduces != kNeverAfter;
      if (step.op == OpCode::reduce) ++reduces;
      if (allowed && merges(before, step)) {
        merge(block, position, step);
      } else {
        start(tb, block, position, step);
      }
      before = &step;
    }
    Block& b = out_.blocks[block];
    b.num = static_cast<std::uint32_t>(out_.instrs.size()) - b.first;
  }

  void start(const ThreadBlock& tb, BlockId block, std::int32_t position, const Step& step) {
    Instr instr;
    instr.op = step.op;
    instr.publishes = step.has_dependent;
    instr.src_buffer = step.src_buffer;
    instr.dst_buffer = step.dst_buffer;
    instr.src_offset = step.src_offset;
    instr.dst_offset = step.dst_offset;
    instr.count = step.count;
    instr.step = instr.last_step = position;
    instr.block = block;
    const OpInfo& info = op_info(step.op);
    Block& b = out_.blocks[block];
    if (info.sends && b.out == kNone) b.out = id_of(connection(b.rank, tb.send, tb.channel));
    if (info.receives && b.in == kNone) b.in = id_of(connection(tb.recv, b.rank, tb.channel));
    out_.first_source.push_back(static_cast<std::uint32_t>(out_.sources.size()));
    out_.instrs.push_back(instr);
  }

  void merge(BlockId block, std::int32_t position, const Step& step) {
    constexpr std::uint32_t kMostSources = 15;  // spec 5.4: with 16 the old destination is lost
    Instr& instr = out_.instrs.back();
    if (++instr.more_sources == kMostSources) {
      report(Code::VerifyMerge, block, position,
             "(re) is the {}th that loaders merge into one instruction, which holds {}",
             kMostSources + 1, kMostSources);
    }
    if (step.count != instr.count) {
      report(Code::VerifyMerge, block, position,
             "(re, count {}) is merged with step {} (re, count {}), and loaders use one count for "
             "both",
             step.count, instr.step, instr.count);
    }
    const std::int32_t rank = out_.blocks[block].rank;
    const CellId dst = out_.cell(rank, instr.dst_buffer, instr.dst_offset);
    for (const std::int32_t offset : {instr.src_offset, step.src_offset}) {
      const CellId src = out_.cell(rank, instr.src_buffer, offset);
      const auto count = static_cast<CellId>(std::max(step.count, instr.count));
      if (src < dst + count && dst < src + count) {
        report(Code::VerifyMerge, block, position,
               "(re) is merged with step {}, and a source overlaps the destination", instr.step);
        break;
      }
    }
    instr.publishes = step.has_dependent;
    instr.last_step = position;
    out_.sources.push_back(step.src_offset);
  }

  // Instructions that send (or receive) of a block, one by one.
  class Ends {
   public:
    Ends(const Loaded& loaded, BlockId block, bool sends) : loaded_(loaded), sends_(sends) {
      if (block == kNone) return;
      at_ = loaded.blocks[block].first;
      end_ = at_ + loaded.blocks[block].num;
    }
    InstrId next() {
      for (; at_ < end_; ++at_) {
        const OpInfo& info = op_info(loaded_.instrs[at_].op);
        if (sends_ ? info.sends : info.receives) return at_++;
      }
      return kNone;
    }

   private:
    const Loaded& loaded_;
    bool sends_;
    InstrId at_ = 0;
    InstrId end_ = 0;
  };

  void match_sends() {
    out_.receiver_of.assign(out_.instrs.size(), kNone);
    for (const Connection& c : out_.connections) {
      if (c.sender == kNone) {
        report(Code::VerifyConnection, c.receiver, -1,
               "receives from rank {} on channel {}, but no tb of rank {} sends to rank {} there",
               c.src, c.channel, c.src, c.dst);
        continue;
      }
      if (c.receiver == kNone) {
        report(Code::VerifyConnection, c.sender, -1,
               "sends to rank {} on channel {}, but no tb of rank {} receives from rank {} there",
               c.dst, c.channel, c.dst, c.src);
        continue;
      }
      match(c);
    }
  }

  void match(const Connection& c) {
    Ends sends(out_, c.sender, true);
    Ends receives(out_, c.receiver, false);
    std::int64_t matched = 0;
    while (true) {
      const InstrId s = sends.next();
      const InstrId r = receives.next();
      if (s == kNone && r == kNone) return;
      if (s == kNone || r == kNone) {
        std::int64_t more = 1;
        while ((s == kNone ? receives : sends).next() != kNone) ++more;
        const std::int64_t sent = matched + (s == kNone ? 0 : more);
        const std::int64_t received = matched + (r == kNone ? 0 : more);
        const InstrId first = s == kNone ? r : s;
        report(Code::VerifyConnection, out_.instrs[first].block, out_.instrs[first].step,
               "({}) has no partner: rank {} sends {} messages to rank {} on channel {}, which "
               "receives {}",
               op_info(out_.instrs[first].op).name, c.src, sent, c.dst, c.channel, received);
        return;
      }
      ++matched;
      out_.instrs[r].partner = s;
      out_.receiver_of[s] = r;
      if (out_.instrs[s].count == out_.instrs[r].count) continue;
      report(Code::VerifyConnection, out_.instrs[s].block, out_.instrs[s].step,
             "({}) sends {} chunks, but {} ({}), its partner, receives {}",
             op_info(out_.instrs[s].op).name, out_.instrs[s].count, str(out_.place(r)),
             op_info(out_.instrs[r].op).name, out_.instrs[r].count);
    }
  }

  void resolve_waits() {
    out_.first_wait.reserve(out_.instrs.size() + 1);
    // Of the steps of a rank, those awaited: their instruction, by block and step.
    std::vector<InstrId> instr_of;
    std::vector<std::size_t> first;
    for (std::int32_t r = 0; r < a_.num_ranks(); ++r) {
      const BlockId begin = out_.first_block[static_cast<std::size_t>(r)];
      const BlockId end = out_.first_block[static_cast<std::size_t>(r) + 1];
      first.assign(1, 0);
      instr_of.clear();
      for (BlockId b = begin; b < end; ++b) {
        instr_of.resize(instr_of.size() + tb_of(out_.blocks[b]).num_steps, kNone);
        const Block& block = out_.blocks[b];
        for (InstrId i = block.first; i < block.first + block.num; ++i) {
          instr_of[first.back() + static_cast<std::size_t>(out_.instrs[i].last_step)] = i;
        }
        first.push_back(instr_of.size());
      }
      for (BlockId b = begin; b < end; ++b) {
        collect_waits(b, [&](const Step& step) {
          return instr_of[first[static_cast<std::size_t>(step.depend_tb)] +
                          static_cast<std::size_t>(step.depend_step)];
        });
      }
    }
    out_.first_wait.push_back(static_cast<std::uint32_t>(out_.waits.size()));
  }

  template <typename F>
  void collect_waits(BlockId b, F&& awaited) {
    const Block& block = out_.blocks[b];
    const std::span<const Step> steps = a_.steps_of(tb_of(block));
    std::size_t at = 0;
    for (InstrId i = block.first; i < block.first + block.num; ++i) {
      const auto start = static_cast<std::uint32_t>(out_.waits.size());
      out_.first_wait.push_back(start);
      for (; at <= static_cast<std::size_t>(out_.instrs[i].step); ++at) {
        const Step& step = steps[at];
        // What comes earlier in the same threadblock is over anyway.
        if (step.depend_tb < 0 || step.depend_tb == block.tb) continue;
        out_.waits.push_back(awaited(step));
      }
      at = static_cast<std::size_t>(out_.instrs[i].last_step) + 1;
    }
  }

  const Algorithm& a_;
  const Collective& collective_;
  int max_findings_;
  Loaded& out_;
  PropertyRuling& structure_;
  std::unordered_map<Route, ConnectionId, HashRoute> ids_;
};

}  // namespace

bool load(const Algorithm& algorithm, const Collective& collective, bool in_place,
          std::int64_t max_chunks, Loaded& out, PropertyRuling& structure, int max_findings) {
  Loader loader(algorithm, collective, in_place, max_findings, out, structure);
  if (const std::string what = loader.too_large(max_chunks); !what.empty()) {
    structure.ruling = Ruling::undecided;
    structure.summary = fmt::format("too large to be decided: {}", what);
    return false;
  }
  loader.run();
  if (structure.ruling == Ruling::refuted) return true;
  structure.ruling = Ruling::proved;
  structure.summary = fmt::format("{} steps in {} threadblocks; every send meets its receive",
                                  algorithm.steps.size(), out.blocks.size());
  return true;
}

}  // namespace hocket::verifying
