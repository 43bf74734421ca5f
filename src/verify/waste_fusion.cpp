#include "verify/waste_fusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "hocket/target.h"
#include "verify/deadlock.h"
#include "verify/greedy_run.h"

namespace hocket::verifying {
namespace {

// Runs with all pairs fused, each without those that stuck in the one before.
constexpr int kMostRuns = 8;

class Fuser {
 public:
  Fuser(const Loaded& loaded, const std::vector<bool>& named, const std::vector<bool>& read_after,
        const VerifyOptions& options, WasteList& list)
      : loaded_(loaded),
        a_(*loaded.algorithm),
        named_(named),
        read_after_(read_after),
        options_(options),
        list_(list),
        limits_(target_limits(options.target.value_or(Target::hocket))),
        cut_(worst_cut(loaded, options.target.value_or(Target::hocket),
                       options.max_bytes ? options.max_bytes : a_.max_bytes)) {}

  void run() {
    if (!limits_.fused_send) return;
    for (InstrId i = 0; i + 1 < loaded_.instrs.size(); ++i) {
      if (fits(i)) pairs_.push_back(i);
    }
    std::erase_if(pairs_, [&](InstrId i) { return loaded_.instrs[i].count > 1 && !ends_there(i); });
    if (pairs_.empty() || !drop_what_sticks()) return;
    for (const InstrId i : pairs_) report(i);
  }

 private:
  bool fits(InstrId i) const {
    const Instr& r = loaded_.instrs[i];
    const Instr& s = loaded_.instrs[i + 1];
    if (r.block != s.block || s.op != OpCode::send || s.step != r.step + 1) return false;
    if (r.op != OpCode::recv && (r.op != OpCode::recv_reduce_copy || !limits_.receive_reduce)) {
      return false;
    }
    if (r.count != s.count || r.dst_buffer != s.src_buffer || r.dst_offset != s.src_offset) {
      return false;
    }
    if (r.count > 1 && r.count > cut_) return false;
    return a_.steps[list_.global(loaded_.place(i + 1))].depend_tb < 0 &&
           !named_[list_.global(loaded_.place(i))];
  }

  // The receiver of the pair's send passes nothing on, not even once it is fused itself.
  bool ends_there(InstrId i) const {
    const InstrId receiver = loaded_.receiver_of[i + 1];
    return !op_info(loaded_.instrs[receiver].op).sends &&
           !std::binary_search(pairs_.begin(), pairs_.end(), receiver);
  }

  OpCode fused(InstrId i) const {
    if (loaded_.instrs[i].op == OpCode::recv) return OpCode::recv_copy_send;
    return read_after_.empty() || read_after_[i + 1] ? OpCode::recv_reduce_copy_send
                                                     : OpCode::recv_reduce_send;
  }

  bool drop_what_sticks() {
    const int slots = options_.slots.value_or(protocol_slots(a_.protocol));
    Loaded all = loaded_;
    for (const InstrId i : pairs_) fuse(all, i);
    for (int run = 0; run < kMostRuns && !pairs_.empty(); ++run) {
      GreedyRun greedy(all, slots, cut_);
      if (greedy.run()) return true;
      std::erase_if(pairs_, [&](InstrId i) {
        const BlockId b = loaded_.instrs[i].block;
        if (greedy.finished(b) || greedy.next_of(b) != i) return false;
        split(all, i);
        return true;
      });
    }
    return false;
  }

  void fuse(Loaded& all, InstrId i) const {
    all.instrs[i].op = fused(i);
    all.receiver_of[i] = loaded_.receiver_of[i + 1];
    all.instrs[all.receiver_of[i]].partner = i;
    all.receiver_of[i + 1] = kNone;
    all.instrs[i + 1].op = OpCode::nop;
    all.instrs[i + 1].count = 0;
  }

  void split(Loaded& all, InstrId i) const {
    all.instrs[i].op = loaded_.instrs[i].op;
    all.receiver_of[i] = kNone;
    all.receiver_of[i + 1] = loaded_.receiver_of[i + 1];
    all.instrs[all.receiver_of[i + 1]].partner = i + 1;
    all.instrs[i + 1].op = loaded_.instrs[i + 1].op;
    all.instrs[i + 1].count = loaded_.instrs[i + 1].count;
  }

  void report(InstrId i) {
    const StepPlace at = loaded_.place(i);
    list_.add(Code::MissedFusion, at, 1, [&] {
      const StepPlace send = loaded_.place(i + 1);
      WasteList::Text text;
      text.chain.push_back(send);
      text.message = fmt::format("{} ({}) receives what step {} (s) sends on", str(at),
                                 op_info(loaded_.instrs[i].op).name, send.step);
      text.hint = fmt::format("one {} would do{}; saves a step", op_info(fused(i)).name,
                              options_.target ? "" : " (rccl runs none)");
      return text;
    });
  }

  const Loaded& loaded_;
  const Algorithm& a_;
  const std::vector<bool>& named_;
  const std::vector<bool>& read_after_;
  const VerifyOptions& options_;
  WasteList& list_;
  const TargetLimits& limits_;
  int cut_;
  std::vector<InstrId> pairs_;  // by their receives, in order
};

}  // namespace

void find_missed_fusion(const Loaded& loaded, const std::vector<bool>& named,
                        const std::vector<bool>& read_after, const VerifyOptions& options,
                        WasteList& list) {
  Fuser(loaded, named, read_after, options, list).run();
}

}  // namespace hocket::verifying
