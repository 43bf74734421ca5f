// Parking and waking under pressure: few slots, tiny tiles, more threads than cores, so that nearly
// every step blocks. A lost wakeup shows as a deadlock report, a lost update as wrong data.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "hocket/runtime.h"
#include "runtime/connection.h"
#include "runtime/scheduler.h"
#include "unit/runtime/build_algorithm.h"

namespace hocket::test {
namespace {

void stress(const Algorithm& a, std::int64_t count, int slots, int threads) {
  LocalExecutor executor(a);
  SelfTestOptions options{.run = {.type = DataType::int32, .count = count}, .repeats = 5};
  options.run.in_place = a.in_place;
  options.run.slots = slots;
  options.run.threads = threads;
  options.run.tile_bytes = 4;
  const SelfTestResult result = self_test(executor, options);
  EXPECT_FALSE(result.mismatch) << describe(*result.mismatch);
}

TEST(Stress, RingsWithFewSlotsAndOneElementTiles) {
  for (const int threads : {1, 2, 3, 8}) {
    stress(ring_allreduce(5, 3, false, Protocol::simple), 15 * 40, 2, threads);
    stress(unfused_ring_allreduce(4), 4 * 60, 1, threads);
  }
}

// Two threadblocks that block at almost every element, a hundred thousand times.
TEST(Stress, PingPong) {
  AlgorithmBuilder b(alltoall(2, 1));
  for (int rank : {0, 1}) {
    b.tb(rank, {.send = 1 - rank, .recv = 1 - rank})
        .cpy(I(rank), O(rank))
        .s(I(1 - rank))
        .r(O(1 - rank));
  }
  stress(b.build(), 100000 / 5, 1, 2);
}

TEST(Stress, ManyThreadblocksOnFewThreads) {
  for (const int threads : {2, 4}) stress(direct_alltoall(16, 1), 20, 1, threads);
}

// A chain of threadblocks on one rank, each waiting for the one before in every iteration, and many
// waiters on one flag.
TEST(Stress, Flags) {
  AlgorithmBuilder b(allreduce(1, 32));
  b.tb(0).cpy(I(0), O(0), {.flag = true});
  for (int k = 1; k < 16; ++k) {
    b.tb(0).cpy(I(k), O(k), {.wait_tb = k - 1, .wait_step = 0, .flag = true});
  }
  for (int k = 16; k < 32; ++k) {
    b.tb(0).nop(3, 0).cpy(I(k), O(k), {.wait_tb = 7, .wait_step = 0});
  }
  for (const int threads : {1, 2, 3, 8}) stress(b.build(), 32 * 100, 1, threads);
}

// all_to_next by random carriers: some threadblock of rank r takes chunk k to rank r + 1, and waits
// for some earlier step of its rank first. Every transfer is sent and received at one moment of a
// global order, so one slot is enough.
TEST(Stress, RandomNetworks) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int ranks = 2 + draw(4);
    const int lines = 1 + draw(4);  // between neighbours, each on its own channel
    const int chunks = ranks * lines * 4;
    AlgorithmBuilder b(all_to_next_forward(ranks, chunks));
    struct Worker {
      TbBuilder* tb;
      int id;  // on its rank
      int steps = 0;
    };
    std::vector<std::vector<Worker>> senders(static_cast<std::size_t>(ranks));
    std::vector<std::vector<Worker>> receivers(static_cast<std::size_t>(ranks));
    for (int r = 0; r + 1 < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      for (int t = 0; t < lines; ++t) {
        const int first = r > 0 ? lines : 0;  // after the receivers
        senders[at].push_back({&b.tb(r, {.send = r + 1, .channel = t}), first + t});
        receivers[at + 1].push_back({&b.tb(r + 1, {.recv = r, .channel = t}), t});
      }
    }
    // Steps of each rank so far: (threadblock, step).
    std::vector<std::vector<std::pair<int, int>>> done(static_cast<std::size_t>(ranks));
    const auto step = [&](std::size_t rank, Worker& worker) {
      Extra extra{.flag = true};
      if (!done[rank].empty() && draw(2) == 0) {
        const auto [tb, number] =
            done[rank][static_cast<std::size_t>(draw(static_cast<int>(done[rank].size())))];
        extra.wait_tb = tb;
        extra.wait_step = number;
      }
      done[rank].emplace_back(worker.id, worker.steps++);
      return extra;
    };
    for (int k = 0; k < chunks; ++k) {
      for (int r = 0; r + 1 < ranks; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const auto line = static_cast<std::size_t>(draw(lines));
        senders[at][line].tb->s(I(k), step(at, senders[at][line]));
        receivers[at + 1][line].tb->r(O(k), step(at + 1, receivers[at + 1][line]));
      }
    }
    for (const int threads : {1, 2, 4}) stress(b.build(), chunks * 3 + 1, 1 + draw(3), threads);
  }
}

// The ring alone, two threads that spin: everything arrives, in order.
TEST(Stress, ConnectionIsAFifo) {
  std::vector<std::byte> memory(3 * 64);
  runtime::Connection connection;
  connection.reset(memory.data(), 3, 64);
  EXPECT_FALSE(connection.can_read());
  EXPECT_TRUE(connection.can_write());
  const int n = 20000;
  std::thread writer([&] {
    for (int i = 0; i < n; ++i) {
      while (!connection.can_write()) std::this_thread::yield();
      std::memcpy(connection.write_slot(), &i, sizeof(i));
      connection.commit_write();
    }
  });
  for (int i = 0; i < n; ++i) {
    while (!connection.can_read()) std::this_thread::yield();
    int got = -1;
    std::memcpy(&got, connection.read_slot(), sizeof(got));
    connection.commit_read();
    if (got != i) {
      ADD_FAILURE() << "transfer " << i << " is " << got;
    }
  }
  writer.join();
  EXPECT_FALSE(connection.can_read());
}

// The last worker that finds nothing to do ends the run, whoever parked the rest.
TEST(Scheduler, SaysWhenNothingCanRunAnyMore) {
  for (const int workers : {1, 2, 4}) {
    runtime::Scheduler scheduler(10);
    scheduler.reset();
    runtime::ProgressFlag flag;
    std::atomic<int> runs{0};
    std::vector<std::thread> threads;
    for (int w = 0; w < workers; ++w) {
      threads.emplace_back([&] {
        scheduler.join();
        std::uint32_t tb = 0;
        while (scheduler.next(tb)) {
          ++runs;
          // Everybody waits for a value beyond all that is ever published, but threadblock 9.
          if (tb == 9) {
            scheduler.publish(flag, 5);
            scheduler.finish();
          } else if (!scheduler.park(flag, tb, tb < 4 ? 5 : 6)) {
            scheduler.finish();
          } else {
            continue;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(scheduler.unfinished(), 5u);
    EXPECT_GE(runs.load(), 10);
    EXPECT_LE(runs.load(), 14);
  }
}

}  // namespace
}  // namespace hocket::test
