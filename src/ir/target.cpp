// The table of targets: what each runtime's loader and kernel can take, and how it names
// collectives.
//
// Sources: microsoft/msccl src/include/msccl.h and src/graph/{topo,xml}.cc; ROCm/rccl
// src/include/msccl/msccl_struct.h and src/misc/msccl/; Azure/msccl-executor-nccl, the same names
// and makefiles/common.mk.
#include "hocket/target.h"

#include <array>
#include <limits>

namespace hocket {
namespace {

constexpr int kNone = std::numeric_limits<std::int32_t>::max();

struct TargetRow {
  Target target;
  std::string_view name;
  TargetLimits limits;
};

// Where the runtimes state one number and store another, the smaller that works stands here:
// * a dependence's threadblock is kept in 8 signed bits by all three;
// * an offset is kept in 16 signed bits;
// * 16 `re` steps are merged by the loaders, but the device adds at most 15 sources to a
// destination;
// * the loaders' node check runs before each tag, so 4095 of 4096 nodes can be used;
// * RCCL has 128 channels, but more than 32 exist on few machines, so 32 is what can be relied on.
constexpr std::array<TargetRow, 4> kTargets = {{
    {Target::msccl,
     "msccl",
     {.max_steps = 256,
      .max_threadblocks = 216,
      .max_depend_tb = 127,
      .max_on_channel = 32,
      .max_channels = 32,
      .max_count = 71,
      .max_offset = 32767,
      .max_fused_reduces = 15,
      .max_nodes = 4095,
      .max_ranks = 1024,
      .receive_reduce = true,
      .fused_send = true,
      .send_fenced_in_ll = true}},
    {Target::msccl_executor,
     "msccl-executor",
     {.max_steps = 64,
      .max_threadblocks = 1024,
      .max_depend_tb = 127,
      .max_on_channel = 32,
      .max_channels = 32,
      .max_count = 71,
      .max_offset = 32767,
      .max_fused_reduces = 15,
      .max_nodes = 4095,
      .max_ranks = 1024,
      .receive_reduce = true,
      .fused_send = true,
      .send_fenced_in_ll = true}},
    {Target::rccl,
     "rccl",
     {.max_steps = 64,
      .max_threadblocks = 64,
      .max_depend_tb = 63,
      .max_on_channel = 32,
      .max_channels = 32,
      .max_count = 71,
      .max_offset = 32767,
      .max_fused_reduces = 15,
      .max_nodes = 4095,
      .max_ranks = 1024,
      .receive_reduce = false,
      .fused_send = false,
      .send_fenced_in_ll = false}},
    {Target::hocket,
     "hocket",
     {.max_steps = kNone,
      .max_threadblocks = kNone,
      .max_depend_tb = kNone,
      .max_on_channel = kNone,
      .max_channels = kNone,
      .max_count = kNone,
      .max_offset = kNone,
      .max_fused_reduces = kNone,
      .max_nodes = kNone,
      .max_ranks = kMaxFormatRanks,
      .receive_reduce = true,
      .fused_send = true,
      .send_fenced_in_ll = true}},
}};

const TargetRow& row(Target target) { return kTargets[static_cast<std::size_t>(target)]; }

}  // namespace

std::string_view target_name(Target target) { return row(target).name; }

std::optional<Target> target_from_name(std::string_view name) {
  for (const TargetRow& r : kTargets) {
    if (r.name == name) return r.target;
  }
  return std::nullopt;
}

std::vector<Target> all_targets() {
  std::vector<Target> targets;
  for (const TargetRow& r : kTargets) targets.push_back(r.target);
  return targets;
}

const TargetLimits& target_limits(Target target) { return row(target).limits; }

std::optional<std::string_view> target_collective_name(Target target, CollectiveKind kind) {
  if (target == Target::hocket) return collective_kind_name(kind);
  switch (kind) {
    case CollectiveKind::allreduce:
    case CollectiveKind::allgather:
    case CollectiveKind::alltoall:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return collective_kind_name(kind);
    case CollectiveKind::reduce_scatter:
      return target == Target::msccl ? "reduce_scatter" : "reducescatter";
    case CollectiveKind::all_to_next_forward:
    case CollectiveKind::all_to_next_backward:
    case CollectiveKind::custom:
      // MSCCL's ncclCustomCollective; the other two refuse a file with this name.
      if (target == Target::msccl) return "custom";
      return std::nullopt;
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      // RCCL and the executor parse these names, but cut the buffers as if both held `count`
      // elements, so only a part of the data would move; MSCCL refuses the names.
      return std::nullopt;
  }
  return std::nullopt;
}

std::int64_t transfer_bytes(Target target, Protocol protocol, CollectiveKind kind) {
  const bool one_step = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  if (protocol == Protocol::simple && one_step) return 512 << 10;
  if (target == Target::rccl && protocol == Protocol::ll) return 16 << 10;
  if (target == Target::rccl && protocol == Protocol::ll128) return 50176;
  return protocol_transfer_bytes(protocol);
}

}  // namespace hocket
