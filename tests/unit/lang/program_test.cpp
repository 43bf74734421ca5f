// Programs as a user writes them: where copies land, what places hold, what is traced.
#include "hocket/program.h"

#include <gtest/gtest.h>

#include <thread>

#include "ir/trace.h"

namespace hocket {
namespace {

using Origins = std::vector<Origin>;

Program two_ranks(const Collective& collective = allgather(2, 4)) {
  return Program("p", fully_connected(collective.num_ranks()), collective);
}

TEST(Program, the_lesson_is_an_allgather) {
  const int n = 8;
  Program p("ring_allgather", ring(n), allgather(n, 1));
  for (int r = 0; r < n; ++r) {
    Ref c = p.chunk(r, Buffer::input, 0).copy(r, Buffer::output, r);
    for (int hop = 1; hop < n; ++hop) c = c.copy((r + hop) % n);
  }
  EXPECT_TRUE(p.check());
  EXPECT_EQ(p.check().checked, n * n);
  EXPECT_EQ(p.check().str(), "program ring_allgather implements allgather: 64 chunks right");
  EXPECT_EQ(p.content(3, Buffer::output, 5), (Origins{{5, 0}}));
  EXPECT_TRUE(p.warnings().empty());
}

TEST(Program, a_copy_returns_the_place_it_wrote) {
  Program p = two_ranks();
  const Ref c = p.chunk(0, Buffer::input, 1, 2);
  EXPECT_EQ(c.str(), "rank 0 input[1..2]");
  const Ref d = c.copy(1, Buffer::output, 5);
  EXPECT_EQ(d.rank(), 1);
  EXPECT_EQ(d.buffer(), Buffer::output);
  EXPECT_EQ(d.index(), 5);
  EXPECT_EQ(d.size(), 2);
  EXPECT_EQ(d.str(), "rank 1 output[5..6]");
  EXPECT_EQ(d, p.chunk(1, Buffer::output, 5, 2));
  EXPECT_FALSE(d == p.chunk(1, Buffer::output, 5));
  EXPECT_EQ(p.content(1, Buffer::output, 6), (Origins{{0, 2}}));
  EXPECT_EQ(p.content(1, Buffer::output, 4), std::nullopt);
}

TEST(Program, a_copy_without_a_buffer_keeps_buffer_and_index) {
  Program p = two_ranks();
  EXPECT_EQ(p.chunk(0, Buffer::input, 3).copy(1).str(), "rank 1 input[3]");
  EXPECT_EQ(p.chunk(0, Buffer::input, 0).copy(0, "tmp", 7).copy(1).str(),
            "rank 1 scratch \"tmp\"[7]");
}

TEST(Program, a_copy_into_scratch_without_an_index_appends) {
  Program p = two_ranks();
  EXPECT_EQ(p.buffer_size(1, "s"), 0);
  EXPECT_EQ(p.chunk(0, Buffer::input, 0, 3).copy(1, "s").str(), "rank 1 scratch \"s\"[0..2]");
  EXPECT_EQ(p.chunk(0, Buffer::input, 3).copy(1, "s").index(), 3);
  EXPECT_EQ(p.buffer_size(1, "s"), 4);
  // Every rank has its own.
  EXPECT_EQ(p.buffer_size(0, "s"), 0);
  EXPECT_EQ(p.chunk(1, "s", 1).copy(0, "s").index(), 0);
}

TEST(Program, a_scratch_buffer_grows_and_what_lies_between_holds_nothing) {
  Program p = two_ranks();
  p.chunk(0, Buffer::input, 2).copy(1, "s", 3);
  EXPECT_EQ(p.buffer_size(1, "s"), 4);
  EXPECT_FALSE(p.find_chunk(1, "s", 0));
  EXPECT_TRUE(p.find_chunk(1, "s", 3));
  EXPECT_EQ(p.content(1, "s", 3), (Origins{{0, 2}}));
  EXPECT_EQ(p.content(1, "s", 0), std::nullopt);
  EXPECT_EQ(p.content(1, "s", 4), std::nullopt);
  EXPECT_EQ(p.content(1, "other", 0), std::nullopt);
}

TEST(Program, a_scratch_buffer_may_have_any_name) {
  Program p = two_ranks();
  const Ref c = p.chunk(0, Buffer::input, 0);
  for (const char* name : {"scratch", "input", "output", " ", "(3, 4)"}) {
    EXPECT_EQ(c.copy(1, name).buffer(), Buffer(name));
    EXPECT_EQ(p.buffer_size(1, name), 1);
  }
  // "input" by name is a scratch buffer; Buffer::input is not. Buffer::scratch is the one so named.
  EXPECT_NE(Buffer("input"), Buffer::input);
  EXPECT_EQ(Buffer("scratch"), Buffer::scratch);
  EXPECT_EQ(c.copy(1, Buffer::scratch).index(), 1);
}

TEST(Program, a_local_copy_within_one_scratch_buffer_survives_its_growth) {
  Program p = two_ranks();
  Ref c = p.chunk(0, Buffer::input, 0).copy(0, "s", 0);
  for (int i = 1; i < 1000; ++i) c = c.copy(0, "s", 3 * i);
  EXPECT_EQ(p.content(0, "s", 2997), (Origins{{0, 0}}));
}

TEST(Program, many_scratch_buffers_growing_by_turns_keep_their_content) {
  Program p = two_ranks(alltoall(2, 50));
  for (int k = 0; k < 100; ++k) {
    const Ref c = p.chunk(0, Buffer::input, k);
    for (int b = 0; b < 40; ++b) c.copy(b % 2, "s" + std::to_string(b));
  }
  for (int b = 0; b < 40; ++b) {
    const std::string name = "s" + std::to_string(b);
    EXPECT_EQ(p.buffer_size(b % 2, name), 100);
    EXPECT_EQ(p.buffer_size(1 - b % 2, name), 0);
    for (int k = 0; k < 100; ++k) EXPECT_EQ(p.content(b % 2, name, k), (Origins{{0, k}}));
  }
}

TEST(Program, reduce_adds_and_returns_the_place_as_it_is_now) {
  Program p = two_ranks(allreduce(3, 2));
  Ref sum = p.chunk(0, Buffer::input, 0, 2);
  const Ref again =
      sum.reduce(p.chunk(1, Buffer::input, 0, 2)).reduce(p.chunk(2, Buffer::input, 0, 2));
  EXPECT_EQ(again, sum);
  EXPECT_EQ(p.content(0, Buffer::input, 1), (Origins{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(p.content(1, Buffer::input, 1), (Origins{{1, 1}}));
}

TEST(Program, a_later_read_sees_the_last_write) {
  Program p = two_ranks();
  p.chunk(0, Buffer::input, 0).copy(1, "s", 0);
  p.chunk(0, Buffer::input, 1).copy(1, "s", 0);
  EXPECT_EQ(p.chunk(1, "s", 0).origin(), (Origin{0, 1}));
}

TEST(Program, split_cuts_low_to_high_and_group_puts_together) {
  Program p = two_ranks();
  const Ref all = p.chunk(0, Buffer::input, 0, 4);
  const std::vector<Ref> halves = all.split(2);
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(halves[0].str(), "rank 0 input[0..1]");
  EXPECT_EQ(halves[1].str(), "rank 0 input[2..3]");
  EXPECT_EQ(all.split(1)[0], all);
  EXPECT_EQ(all.split(4)[3].str(), "rank 0 input[3]");
  EXPECT_EQ(halves[0].group(halves[1]), all);
  EXPECT_EQ(halves[1].group(halves[0]), all);
  EXPECT_EQ(all.group(all), all);
  EXPECT_EQ(all.group(halves[1]), all);
  EXPECT_EQ(p.chunk(0, Buffer::input, 0, 2).group(p.chunk(0, Buffer::input, 1, 3)), all);
}

TEST(Program, chunks_that_were_received_apart_can_be_taken_together) {
  Program p = two_ranks();
  Ref g = p.chunk(0, Buffer::input, 0).copy(1, "s");
  for (int i = 1; i < 4; ++i) g = g.group(p.chunk(0, Buffer::input, i).copy(1, "s"));
  EXPECT_EQ(g.str(), "rank 1 scratch \"s\"[0..3]");
  EXPECT_EQ(g, p.chunk(1, "s", 0, 4));
  EXPECT_TRUE(p.warnings().empty());
}

TEST(Program, a_chunk_knows_where_it_came_from_and_where_it_goes) {
  Program p = two_ranks(alltoall(3, 2));
  const Ref moved = p.chunk(1, Buffer::input, 4, 2).copy(0, "s");
  EXPECT_EQ(moved.origin(), (Origin{1, 4}));
  EXPECT_EQ(moved.origin(1), (Origin{1, 5}));
  EXPECT_EQ(moved.dst_rank(), 2);
  EXPECT_EQ(moved.dst_index(), 2);
  EXPECT_EQ(moved.dst_index(1), 3);
}

TEST(Program, find_chunk_is_none_only_where_a_slot_is_empty) {
  Program p = two_ranks();
  EXPECT_TRUE(p.find_chunk(0, Buffer::input, 0));
  EXPECT_FALSE(p.find_chunk(0, Buffer::output, 7));
}

TEST(Program, the_options_are_traced) {
  ProgramOptions options;
  options.protocol = Protocol::ll128;
  options.instances = 4;
  options.replication = Replication::batched;
  options.placement = Placement::manual;
  options.fuse = false;
  options.dependence_nop = true;
  options.lenient_placement = true;
  const Program p("named", ring(4), allreduce(4, 2, true), options);
  const Trace& t = p.trace();
  EXPECT_EQ(t.name, "named");
  EXPECT_EQ(t.collective, allreduce(4, 2, true));
  EXPECT_EQ(t.protocol, Protocol::ll128);
  EXPECT_EQ(t.instances, 4);
  EXPECT_EQ(t.replication, Replication::batched);
  EXPECT_EQ(t.placement, Placement::manual);
  EXPECT_FALSE(t.fuse);
  EXPECT_TRUE(t.hoist_dependences);
  EXPECT_TRUE(t.lenient_placement);
  EXPECT_EQ(t.num_ranks(), 4);
  EXPECT_EQ(p.topology().name(), "Ring(n=4)");
  EXPECT_TRUE(t.ops.empty());
}

TEST(Program, operations_are_traced_with_their_lines) {
  ProgramOptions options;
  options.placement = Placement::manual;
  Program p("p", fully_connected(2), allreduce(2, 2), options);
  const std::uint32_t line = CallSite::current().line();
  Ref s = p.chunk(0, Buffer::input, 0, 2).copy(1, "s", 1, {3, 4, 5});
  s.reduce(p.chunk(1, Buffer::input, 0, 2), {.channel = 1, .send_tb = 2, .recv_tb = 9});
  const Trace& t = p.trace();
  ASSERT_EQ(t.ops.size(), 2u);
  const TraceOp& copy = t.ops[0];
  EXPECT_EQ(copy.kind, TraceOp::Kind::copy);
  EXPECT_EQ(copy.src_rank, 0);
  EXPECT_EQ(copy.src_buffer, kInputBuffer);
  EXPECT_EQ(copy.src_index, 0);
  EXPECT_EQ(copy.dst_rank, 1);
  EXPECT_EQ(copy.dst_buffer, kFirstScratch);
  EXPECT_EQ(copy.dst_index, 1);
  EXPECT_EQ(copy.count, 2);
  EXPECT_EQ(copy.channel, 3);
  EXPECT_EQ(copy.send_tb, 4);
  EXPECT_EQ(copy.recv_tb, 5);
  EXPECT_EQ(t.sites[copy.site].line(), line + 1);
  EXPECT_STREQ(t.sites[copy.site].file(), CallSite::current().file());
  const TraceOp& reduce = t.ops[1];
  EXPECT_EQ(reduce.kind, TraceOp::Kind::reduce);
  EXPECT_EQ(reduce.src_rank, 1);
  EXPECT_EQ(reduce.src_buffer, kInputBuffer);
  EXPECT_EQ(reduce.dst_rank, 1);
  EXPECT_EQ(reduce.dst_buffer, kFirstScratch);
  EXPECT_EQ(reduce.dst_index, 1);
  EXPECT_EQ(reduce.send_tb, 2);
  EXPECT_EQ(reduce.recv_tb, -1) << "a local operation has one threadblock";
  EXPECT_EQ(t.sites[reduce.site].line(), line + 2);
  EXPECT_EQ(t.scratch_names, std::vector<std::string>{"s"});
}

TEST(Program, a_line_is_kept_once) {
  Program p = two_ranks(alltoall(16, 1));
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) p.chunk(i, Buffer::input, j).copy(j, Buffer::output, i);
  }
  EXPECT_EQ(p.trace().ops.size(), 256u);
  EXPECT_EQ(p.trace().sites.size(), 2u);  // "unknown", and the one line
}

TEST(Program, references_stay_valid_when_the_program_moves) {
  Program p = two_ranks();
  const Ref c = p.chunk(0, Buffer::input, 0);
  Program moved = std::move(p);
  c.copy(1, Buffer::output, 0);
  EXPECT_EQ(moved.content(1, Buffer::output, 0), (Origins{{0, 0}}));
  Program third("q", ring(1), allreduce(1, 1));
  third = std::move(moved);
  EXPECT_EQ(third.trace().ops.size(), 1u);
}

TEST(Program, one_rank_is_enough) {
  for (const CollectiveKind kind :
       {CollectiveKind::allreduce, CollectiveKind::allgather, CollectiveKind::reduce_scatter,
        CollectiveKind::alltoall, CollectiveKind::broadcast, CollectiveKind::reduce,
        CollectiveKind::gather, CollectiveKind::scatter}) {
    for (const bool in_place : {false, true}) {
      Program p("one", ring(1), Collective::make(kind, 1, 3, in_place));
      EXPECT_EQ(p.check().ok(), in_place) << collective_kind_name(kind);
      if (!in_place) p.chunk(0, Buffer::input, 0, 3).copy(0, Buffer::output, 0);
      EXPECT_TRUE(p.check()) << collective_kind_name(kind) << p.check().str();
    }
  }
}

// No state is shared between programs: each of several threads traces its own.
TEST(Program, two_threads_trace_at_once) {
  const auto trace = [](int ranks, std::string* result) {
    Program p("ring", ring(ranks), allreduce(ranks, ranks, true));
    for (int i = 0; i < ranks; ++i) {
      Ref c = p.chunk(i, Buffer::input, i);
      for (int h = 1; h < ranks; ++h) c = p.chunk((i + h) % ranks, Buffer::input, i).reduce(c);
      for (int h = 0; h < ranks - 1; ++h) c = c.copy((i + h) % ranks);
    }
    *result = p.check().str() + " in " + std::to_string(p.trace().ops.size());
  };
  std::string results[4];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(trace, 24 + t, &results[t]);
  for (std::thread& t : threads) t.join();
  for (int t = 0; t < 4; ++t) {
    const int n = 24 + t;
    EXPECT_EQ(results[t], "program ring implements allreduce: " + std::to_string(n * n) +
                              " chunks right in " + std::to_string(2 * n * (n - 1)));
  }
}

TEST(Program, thousands_of_ranks_are_ordinary) {
  Program p("big", fully_connected(8192), all_to_next_forward(8192, 2));
  for (int r = 0; r + 1 < 8192; ++r) {
    p.chunk(r, Buffer::input, 0, 2).copy(r + 1, Buffer::output, 0);
  }
  EXPECT_TRUE(p.check());
  EXPECT_EQ(p.check().checked, 2 * 8191);
}

}  // namespace
}  // namespace hocket
