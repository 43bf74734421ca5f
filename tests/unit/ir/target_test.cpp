// The table of targets, against the numbers of the runtimes' headers written out once more.
#include "hocket/target.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

TEST(Target, NamesAreInverse) {
  const std::vector<Target> all = all_targets();
  ASSERT_EQ(all.size(), 4U);
  for (const Target target : all) EXPECT_EQ(target_from_name(target_name(target)), target);
  EXPECT_EQ(target_name(Target::msccl_executor), "msccl-executor");
  EXPECT_EQ(target_from_name("nccl"), std::nullopt);
  EXPECT_EQ(target_from_name(""), std::nullopt);
}

TEST(Target, LimitsAreTheRuntimesOwn) {
  const auto& msccl = target_limits(Target::msccl);
  EXPECT_EQ(msccl.max_steps, 256);
  EXPECT_EQ(msccl.max_threadblocks, 2 * 108);
  const auto& executor = target_limits(Target::msccl_executor);
  EXPECT_EQ(executor.max_steps, 64);
  EXPECT_EQ(executor.max_threadblocks, 32 * 32);
  const auto& rccl = target_limits(Target::rccl);
  EXPECT_EQ(rccl.max_steps, 64);
  EXPECT_EQ(rccl.max_threadblocks, 64);
  EXPECT_EQ(rccl.max_depend_tb, 63);
  EXPECT_FALSE(rccl.receive_reduce);
  EXPECT_FALSE(rccl.fused_send);
  for (const Target target : {Target::msccl, Target::msccl_executor, Target::rccl}) {
    const auto& limits = target_limits(target);
    EXPECT_EQ(limits.max_count, 71);
    EXPECT_EQ(limits.max_channels, 32);
    EXPECT_EQ(limits.max_on_channel, 32);
    EXPECT_EQ(limits.max_offset, 32767);
    EXPECT_EQ(limits.max_fused_reduces, 15);
    EXPECT_EQ(limits.max_nodes, 4095);
    EXPECT_EQ(limits.max_ranks, 1024);
    EXPECT_LE(limits.max_depend_tb, 127);  // kept in 8 signed bits
  }
  EXPECT_EQ(target_limits(Target::hocket).max_steps, 2147483647);
  EXPECT_TRUE(target_limits(Target::hocket).fused_send);
}

TEST(Target, BytesOfATransfer) {
  const auto bytes = [](Target target, CollectiveKind kind) {
    std::vector<std::int64_t> all;
    for (const Protocol p : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
      all.push_back(transfer_bytes(target, p, kind));
    }
    return all;
  };
  using Bytes = std::vector<std::int64_t>;
  constexpr CollectiveKind kUsual = CollectiveKind::allreduce;
  for (const Target target : {Target::msccl, Target::msccl_executor}) {
    EXPECT_EQ(bytes(target, kUsual), (Bytes{2 << 20, 32 << 10, 576000}));
    // Host and kernel disagree on the slices of these two; the smaller number is the safe one.
    EXPECT_EQ(bytes(target, CollectiveKind::broadcast), (Bytes{512 << 10, 32 << 10, 576000}));
    EXPECT_EQ(bytes(target, CollectiveKind::reduce), (Bytes{512 << 10, 32 << 10, 576000}));
  }
  EXPECT_EQ(bytes(Target::rccl, kUsual), (Bytes{2 << 20, 16 << 10, 50176}));
}

TEST(Target, NamesOfCollectives) {
  using K = CollectiveKind;
  const auto names = [](K kind) {
    std::string all;
    for (const Target target : all_targets()) {
      all += std::string(target_collective_name(target, kind).value_or("-")) + " ";
    }
    return all;
  };
  EXPECT_EQ(names(K::allreduce), "allreduce allreduce allreduce allreduce ");
  EXPECT_EQ(names(K::allgather), "allgather allgather allgather allgather ");
  EXPECT_EQ(names(K::alltoall), "alltoall alltoall alltoall alltoall ");
  EXPECT_EQ(names(K::broadcast), "broadcast broadcast broadcast broadcast ");
  EXPECT_EQ(names(K::reduce), "reduce reduce reduce reduce ");
  // In the order msccl, msccl-executor, rccl, hocket.
  EXPECT_EQ(names(K::reduce_scatter), "reduce_scatter reducescatter reducescatter reduce_scatter ");
  EXPECT_EQ(names(K::gather), "- - - gather ");
  EXPECT_EQ(names(K::scatter), "- - - scatter ");
  EXPECT_EQ(names(K::all_to_next_forward), "custom - - all_to_next_forward ");
  EXPECT_EQ(names(K::all_to_next_backward), "custom - - all_to_next_backward ");
  EXPECT_EQ(names(K::custom), "custom - - custom ");
}

}  // namespace
}  // namespace hocket
