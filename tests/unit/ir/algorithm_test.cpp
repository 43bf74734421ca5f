// Names of the algorithm's parts, and what each step type does.
#include "hocket/algorithm.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

TEST(Ops, NamesAreInverse) {
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<OpCode>(i);
    EXPECT_EQ(op_from_name(op_info(op).name), op);
  }
  EXPECT_EQ(op_from_name("ra"), std::nullopt);
  EXPECT_EQ(op_from_name(""), std::nullopt);
}

TEST(Ops, WhatEachDoes) {
  // In the order: reads src, writes dst, accumulates, receives, sends.
  const auto does = [](std::string_view name) {
    const OpInfo& info = op_info(*op_from_name(name));
    std::string all;
    for (const bool b :
         {info.reads_src, info.writes_dst, info.accumulates, info.receives, info.sends}) {
      all += b ? 'x' : '-';
    }
    return all;
  };
  EXPECT_EQ(does("s"), "x---x");
  EXPECT_EQ(does("r"), "-x-x-");
  EXPECT_EQ(does("rcs"), "-x-xx");
  EXPECT_EQ(does("rrs"), "x--xx");
  EXPECT_EQ(does("rrc"), "xx-x-");
  EXPECT_EQ(does("rrcs"), "xx-xx");
  EXPECT_EQ(does("cpy"), "xx---");
  EXPECT_EQ(does("re"), "xxx--");
  EXPECT_EQ(does("nop"), "-----");
}

TEST(Protocols, NamesSlotsAndTransfers) {
  for (const Protocol p : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    EXPECT_EQ(protocol_from_name(protocol_name(p)), p);
  }
  EXPECT_EQ(protocol_from_name("simple"), std::nullopt);  // case counts, as it does to the runtimes
  EXPECT_EQ(protocol_slots(Protocol::simple), 2);
  EXPECT_EQ(protocol_slots(Protocol::ll), 8);
  EXPECT_EQ(protocol_slots(Protocol::ll128), 8);
  EXPECT_EQ(protocol_transfer_bytes(Protocol::simple), 2097152);
  EXPECT_EQ(protocol_transfer_bytes(Protocol::ll), 32768);
  EXPECT_EQ(protocol_transfer_bytes(Protocol::ll128), 576000);
}

TEST(AlgorithmValue, ADefaultOneIsEmpty) {
  const Algorithm a;
  EXPECT_EQ(a.num_ranks(), 0);
  EXPECT_FALSE(a.location_of(0).known());
  EXPECT_EQ(stats(a).critical_path, 0);
  EXPECT_TRUE(a == Algorithm());
}

}  // namespace
}  // namespace hocket
