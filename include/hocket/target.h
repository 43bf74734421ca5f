// What each runtime that loads our output can take. Sources: the loaders and headers of
// microsoft/msccl (b23e9cd), ROCm/rccl (0cbce2a) and Azure/msccl-executor-nccl (c6f6b36).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/diagnostic.h"

namespace hocket {

enum class Target : std::uint8_t { msccl, msccl_executor, rccl, hocket };
std::string_view target_name(Target target);  // "msccl", "msccl-executor", "rccl", "hocket"
std::optional<Target> target_from_name(std::string_view name);
std::vector<Target> all_targets();

// Ranks that a file of any of our formats may name.
inline constexpr int kMaxFormatRanks = 1 << 20;

struct TargetLimits {
  int max_steps;         // a threadblock's steps, nops included
  int max_threadblocks;  // of a rank
  int max_depend_tb;     // largest threadblock id that a dependence can name
  int max_on_channel;    // threadblocks with sends (with receives) on one channel of a rank
  int max_channels;
  int max_count;           // chunks of a step
  int max_offset;          // chunk index
  int max_fused_reduces;   // `re` steps that the loader may merge into one
  int max_nodes;           // XML nodes that the loader keeps for one rank
  int max_ranks;           // children of <algo>
  bool receive_reduce;     // runs rrc, rrs, rrcs
  bool fused_send;         // runs rcs, rrs, rrcs
  bool send_fenced_in_ll;  // ends `s` in LL with the barrier that ends every other step
};
// The limits of Target::hocket are those of the format itself: 32-bit numbers, kMaxFormatRanks
// ranks.
const TargetLimits& target_limits(Target target);

// Data bytes that one transfer of a connection carries on the target, with its default buffers:
// what protocol_transfer_bytes says, but half of it (LL) or less (LL128: 50,176) on rccl, and 512
// KiB for broadcast and reduce with Simple on all (the hosts count one buffer step a transfer
// there).
std::int64_t transfer_bytes(Target target, Protocol protocol, CollectiveKind kind);

// The target's name for a collective ("reduce_scatter" or "reducescatter", "custom", ...); none
// where it has no name for it.
std::optional<std::string_view> target_collective_name(Target target, CollectiveKind kind);

// Every limit that `algorithm` breaks on `target`, at most `max_listed` of each kind, each with the
// rank, the threadblock, the number found and the number allowed (HK04xx). Linear in steps, but for
// the sends of rccl in LL, which are followed to the writes that they must come before.
std::vector<Diagnostic> check_limits(const Algorithm& algorithm, Target target, int max_listed = 3);

}  // namespace hocket
