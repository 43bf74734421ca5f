// What needs a look at the steps alone, and the order of the checks.
#include "verify/waste.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "verify/waste_fusion.h"
#include "verify/waste_list.h"
#include "verify/waste_values.h"
#include "verify/waste_waits.h"

namespace hocket::verifying {
namespace {

constexpr std::size_t kMostChunksNamed = 6;

// Of each step: does a dependence of its rank name it?
std::vector<bool> named_steps(const Algorithm& a) {
  std::vector<bool> named(a.steps.size(), false);
  for (const RankProgram& rank : a.ranks) {
    for (const ThreadBlock& tb : rank.threadblocks) {
      for (const Step& step : a.steps_of(tb)) {
        if (step.depend_tb < 0) continue;
        named[rank.threadblocks[static_cast<std::size_t>(step.depend_tb)].first_step +
              static_cast<std::size_t>(step.depend_step)] = true;
      }
    }
  }
  return named;
}

void find_idle_flags(const Loaded& loaded, const std::vector<bool>& named, WasteList& list) {
  for (InstrId i = 0; i < loaded.instrs.size(); ++i) {
    const Instr& instr = loaded.instrs[i];
    if (!instr.publishes) continue;
    StepPlace at = loaded.place(i);
    at.step = instr.last_step;
    if (named[list.global(at)]) continue;
    // Without it loaders could merge two reduces.
    if (i + 1 < loaded.instrs.size() && loaded.instrs[i + 1].block == instr.block &&
        could_merge(instr, loaded.instrs[i + 1])) {
      continue;
    }
    list.add(Code::IdleFlag, at, 1, [&] {
      return WasteList::Text{fmt::format("{} ({}) publishes a flag that nobody waits for", str(at),
                                         op_info(instr.op).name),
                             "drop its hasdep; saves a flag",
                             {}};
    });
  }
}

void find_idle_threadblocks(const Loaded& loaded, WasteList& list) {
  const Algorithm& a = *loaded.algorithm;
  for (const Block& block : loaded.blocks) {
    const ThreadBlock& tb = a.ranks[static_cast<std::size_t>(block.rank)]
                                .threadblocks[static_cast<std::size_t>(block.tb)];
    if (tb.num_steps > 0) continue;
    const StepPlace at{block.rank, block.tb, -1};
    list.add(Code::IdleThreadblock, at, 1, [&] {
      return WasteList::Text{
          fmt::format("{} has no steps", str(at)),
          tb.send >= 0 || tb.recv >= 0
              ? "drop it, and its peers' other ends of the connections; saves a threadblock"
              : "drop it; saves a threadblock",
          {}};
    });
  }
}

void find_unused_scratch(const Loaded& loaded, WasteList& list) {
  const auto num_ranks = static_cast<std::size_t>(loaded.num_ranks());
  const auto has_scratch = [](const auto& size) { return size[2] > 0; };
  if (std::none_of(loaded.sizes.begin(), loaded.sizes.end(), has_scratch)) return;
  std::vector<bool> used;
  for (std::size_t r = 0; r < num_ranks; ++r) {
    if (!has_scratch(loaded.sizes[r])) continue;
    used.assign(static_cast<std::size_t>(loaded.sizes[r][2]), false);
    const auto use = [&](BufferKind buffer, std::int32_t offset, std::int32_t count) {
      if (buffer == BufferKind::scratch) std::fill_n(used.begin() + offset, count, true);
    };
    for (BlockId b = loaded.first_block[r]; b < loaded.first_block[r + 1]; ++b) {
      const Block& block = loaded.blocks[b];
      for (InstrId i = block.first; i < block.first + block.num; ++i) {
        const Instr& instr = loaded.instrs[i];
        const OpInfo& info = op_info(instr.op);
        if (info.writes_dst) use(instr.dst_buffer, instr.dst_offset, instr.count);
        if (!info.reads_src) continue;
        use(instr.src_buffer, instr.src_offset, instr.count);
        for (const std::int32_t offset : loaded.sources_of(i)) {
          use(instr.src_buffer, offset, instr.count);
        }
      }
    }
    const auto unused = std::count(used.begin(), used.end(), false);
    if (unused == 0) continue;
    const StepPlace at{static_cast<std::int32_t>(r), -1, -1};
    list.add(Code::UnusedScratch, at, unused, [&] {
      std::string which;
      std::size_t listed = 0;
      for (std::size_t k = 0; k < used.size() && listed <= kMostChunksNamed; ++k) {
        if (used[k]) continue;
        which += listed == kMostChunksNamed ? ", ..."
                                            : fmt::format("{}{}", which.empty() ? "" : ", ", k);
        ++listed;
      }
      return WasteList::Text{
          fmt::format("{} has {} chunk{} of scratch, but no step uses {} of them: {}", str(at),
                      used.size(), used.size() == 1 ? "" : "s", unused, which),
          fmt::format("number the others without gaps; saves {} chunk{}", unused,
                      unused == 1 ? "" : "s"),
          {}};
    });
  }
}

}  // namespace

Waste find_waste(const Loaded& loaded, const ExecutionOrder& order, const VerifyOptions& options,
                 bool result_known) {
  WasteList list(loaded, options.max_findings);
  const std::vector<bool> named = named_steps(*loaded.algorithm);
  find_implied_waits(loaded, order, list);
  find_idle_flags(loaded, named, list);
  find_idle_threadblocks(loaded, list);
  find_unused_scratch(loaded, list);
  // Where a plain send may end before it has read, the next step keeps others waiting for it
  // (races.h), needed or not.
  const bool lagging = options.target == Target::rccl && loaded.algorithm->protocol == Protocol::ll;
  std::vector<bool> read;
  if (result_known && !lagging) {
    read = find_reads(loaded, order);
    find_dead_steps(loaded, order, read, options, list);
    find_computed_twice(loaded, order, list);
  }
  find_missed_fusion(loaded, named, read, options, list);
  return list.take();
}

}  // namespace hocket::verifying
