// Every mistake that the language refuses: its code, the user's line, the words.
#include "unit/lang/rejection.h"

#include <gtest/gtest.h>

#include "hocket/program.h"
#include "ir/trace.h"
#include "lang/program_state.h"

namespace hocket {
namespace {

// Four ranks in a ring; alltoall, so input and output have 8 chunks.
class Rejection : public ::testing::Test {
 protected:
  Program p{"p", ring(4), alltoall(4, 2)};
  Ref c = p.chunk(0, Buffer::input, 2);

  void TearDown() override {
    EXPECT_TRUE(p.trace().ops.empty()) << "what is refused leaves nothing behind";
  }
};

TEST_F(Rejection, a_rank_that_is_not_there) {
  expect_rejected(Code::RankOutOfRange, "a chunk of rank 4, but the program has 4 ranks (0 to 3)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(4, Buffer::input, 0);
                  });
  expect_rejected(Code::RankOutOfRange, "a chunk of rank -1, but the program has 4 ranks (0 to 3)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.find_chunk(-1, Buffer::input, 0);
                  });
  expect_rejected(Code::RankOutOfRange, "copy to rank 9, but the program has 4 ranks (0 to 3)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(9);
                  });
  expect_rejected(Code::RankOutOfRange, "copy to rank -1, but the program has 4 ranks (0 to 3)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(-1, "s", 0);
                  });
  expect_rejected(Code::RankOutOfRange, "copy to rank 4, but the program has 4 ranks (0 to 3)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(4, "s");
                  });
}

TEST_F(Rejection, an_index_outside_its_buffer) {
  expect_rejected(Code::IndexOutOfRange,
                  "a chunk at rank 1 input[8], but that buffer has 8 chunks (0 to 7)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(1, Buffer::input, 8);
                  });
  expect_rejected(Code::IndexOutOfRange,
                  "a chunk at rank 1 input[-1], but that buffer has 8 chunks (0 to 7)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(1, Buffer::input, -1);
                  });
  expect_rejected(Code::IndexOutOfRange,
                  "a chunk at rank 1 output[6..8], but that buffer has 8 chunks (0 to 7)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.find_chunk(1, Buffer::output, 6, 3);
                  });
  expect_rejected(
      Code::IndexOutOfRange,
      "a chunk at rank 1 input[2147483647..4294967293], but that buffer has 8 chunks (0 "
      "to 7)",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.chunk(1, Buffer::input, 2147483647, 2147483647);
      });
  expect_rejected(Code::IndexOutOfRange,
                  "copy to rank 1 output[8], but that buffer has 8 chunks (0 to 7)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(1, Buffer::output, 8);
                  });
  expect_rejected(Code::IndexOutOfRange,
                  "copy to rank 1 output[-1], but that buffer has 8 chunks (0 to 7)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(1, Buffer::output, -1);
                  });
  const Diagnostic d = expect_rejected(
      Code::IndexOutOfRange, "copy to rank 1 scratch \"s\"[-2], but chunks are numbered from 0",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.copy(1, "s", -2);
      });
  EXPECT_EQ(d.hint, "leave the index out to append");
  expect_rejected(Code::IndexOutOfRange,
                  "a chunk at rank 1 scratch \"s\"[-2], but chunks are numbered from 0",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(1, "s", -2);
                  });
  expect_rejected(Code::IndexOutOfRange,
                  "copy to rank 1 scratch \"s\"[2000000000], but a scratch buffer has at most "
                  "16777216 chunks",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(1, "s", 2'000'000'000);
                  });
  expect_rejected(Code::IndexOutOfRange, "chunk 1 of rank 0 input[2], but it has 1 chunk (0 to 0)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.origin(1);
                  });
}

TEST_F(Rejection, an_index_says_why_there_is_no_more) {
  const auto hint = [&](int index) {
    try {
      c.copy(1, Buffer::output, index);
    } catch (const Error& error) {
      return error.diagnostic().hint;
    }
    return std::string("nothing was refused");
  };
  EXPECT_EQ(hint(8),
            "alltoall over 4 ranks with chunk factor 2 has no more; only scratch buffers grow");
  EXPECT_EQ(hint(-1), "a negative index does not count from the end");
}

TEST_F(Rejection, a_buffer_that_the_rank_does_not_have) {
  Program g("g", fully_connected(2), gather(2, 1));
  expect_rejected(Code::IndexOutOfRange,
                  "copy to rank 1 output[0], but rank 1 has no output in collective gather",
                  [&](Guilty& guilty) {
                    const Ref mine = g.chunk(0, Buffer::input, 0);
                    guilty.next_line();
                    mine.copy(1, Buffer::output, 0);
                  });
  Program s("s", fully_connected(2), scatter(2, 1));
  expect_rejected(Code::IndexOutOfRange,
                  "a chunk at rank 1 input[0], but rank 1 has no input in collective scatter",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    s.chunk(1, Buffer::input, 0);
                  });
  expect_rejected(Code::IndexOutOfRange,
                  "copy to rank 1 input[0], but rank 1 has no input in collective scatter",
                  [&](Guilty& guilty) {
                    const Ref mine = s.chunk(0, Buffer::input, 0);
                    guilty.next_line();
                    mine.copy(1);
                  });
}

TEST_F(Rejection, a_chunk_that_nobody_has_written) {
  Diagnostic d = expect_rejected(Code::UninitialisedChunk,
                                 "a chunk at rank 0 output[3], but nobody has written it",
                                 [&](Guilty& guilty) {
                                   guilty.next_line();
                                   p.chunk(0, Buffer::output, 3);
                                 });
  EXPECT_EQ(d.hint, "copy something there first");
  d = expect_rejected(
      Code::UninitialisedChunk,
      "a chunk at rank 1 scratch \"s\"[0], but nobody has written scratch \"s\" of rank 1",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.chunk(1, "s", 0);
      });
  EXPECT_EQ(d.hint, "a scratch buffer comes into being, rank by rank, with the first copy into it");
  // A name in quotes is never the collective's buffer.
  d = expect_rejected(
      Code::UninitialisedChunk,
      "a chunk at rank 1 scratch \"input\"[0], but nobody has written scratch \"input\" of rank 1",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.chunk(1, "input", 0);
      });
  EXPECT_EQ(d.hint,
            "\"input\" in quotes is a scratch buffer; the collective's is Buffer::input, in Python "
            "Buffer.input");
  expect_rejected(
      Code::UninitialisedChunk,
      "a chunk at rank 1 scratch \"s\"[0], but nobody has written scratch \"s\" of rank 1",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.find_chunk(1, "s", 0);
      });
  Program b("b", ring(2), broadcast(2, 1));
  d = expect_rejected(Code::UninitialisedChunk,
                      "a chunk at rank 1 input[0], but nobody has written it", [&](Guilty& guilty) {
                        guilty.next_line();
                        b.chunk(1, Buffer::input, 0);
                      });
  EXPECT_EQ(d.hint, "collective broadcast starts with nothing there");
}

// Needs something written first, so it has a program of its own.
TEST(Rejections, every_slot_of_a_chunk_must_be_written) {
  Program p("p", ring(2), allgather(2, 2));
  p.chunk(0, Buffer::input, 0).copy(1, "s", 0);
  p.chunk(0, Buffer::input, 0).copy(1, "s", 2);
  for (const bool find : {false, true}) {
    const Diagnostic d = expect_rejected(
        Code::UninitialisedChunk,
        "a chunk at rank 1 scratch \"s\"[0..2], but nobody has written rank 1 scratch \"s\"[1]",
        [&](Guilty& guilty) {
          if (find) {
            guilty.next_line();
            p.find_chunk(1, "s", 0, 3);
          }
          guilty.next_line();
          p.chunk(1, "s", 0, 3);
        });
    EXPECT_EQ(d.hint, "copy something there first, or take fewer chunks");
  }
  expect_rejected(Code::UninitialisedChunk,
                  "a chunk at rank 1 scratch \"s\"[3], but only 3 chunks of it have been written",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(1, "s", 3);
                  });
  // Written on another rank only.
  expect_rejected(
      Code::UninitialisedChunk,
      "a chunk at rank 0 scratch \"s\"[0], but nobody has written scratch \"s\" of rank 0",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.chunk(0, "s", 0);
      });
}

TEST_F(Rejection, no_chunks_at_all) {
  expect_rejected(Code::BadSize, "0 chunks of rank 1 input, but there must be at least 1",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(1, Buffer::input, 0, 0);
                  });
  expect_rejected(Code::BadSize, "-1 chunks of rank 1 s, but there must be at least 1",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.chunk(1, "s", 0, -1);
                  });
}

TEST_F(Rejection, a_group_of_what_does_not_belong_together) {
  expect_rejected(Code::GroupMismatch,
                  "group of rank 0 input[2] and rank 1 input[3], but both must be of one buffer of "
                  "one rank",
                  [&](Guilty& guilty) {
                    const Ref other = p.chunk(1, Buffer::input, 3);
                    guilty.next_line();
                    c.group(other);
                  });
  Program q("q", ring(2), alltoall(2, 4));
  const Ref s = q.chunk(0, Buffer::input, 0).copy(0, "s", 1);
  expect_rejected(Code::GroupMismatch,
                  "group of rank 0 scratch \"s\"[1] and rank 0 input[0], but both must be of one "
                  "buffer of one rank",
                  [&](Guilty& guilty) {
                    const Ref other = q.chunk(0, Buffer::input, 0);
                    guilty.next_line();
                    s.group(other);
                  });
}

TEST_F(Rejection, a_group_over_a_gap) {
  const Ref far = p.chunk(0, Buffer::input, 5, 2);
  const std::string message =
      "group of rank 0 input[2] and rank 0 input[5..6], but between them lies rank 0 input[3..4]";
  expect_rejected(Code::GroupGap, message, [&](Guilty& guilty) {
    guilty.next_line();
    c.group(far);
  });
  const Diagnostic d = expect_rejected(
      Code::GroupGap,
      "group of rank 0 input[5..6] and rank 0 input[2], but between them lies rank 0 input[3..4]",
      [&](Guilty& guilty) {
        guilty.next_line();
        far.group(c);
      });
  EXPECT_EQ(d.hint, "group places that touch or overlap");
}

TEST_F(Rejection, a_split_that_does_not_divide) {
  const Ref three = p.chunk(0, Buffer::input, 0, 3);
  expect_rejected(Code::SplitUneven,
                  "split of rank 0 input[0..2] (3 chunks) into 2 parts, but every part must have "
                  "equally many chunks",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    three.split(2);
                  });
  expect_rejected(
      Code::SplitUneven,
      "split of rank 0 input[0..2] (3 chunks) into 0 parts, but there must be at least 1",
      [&](Guilty& guilty) {
        guilty.next_line();
        three.split(0);
      });
  expect_rejected(Code::SplitUneven,
                  "split of rank 0 input[2] (1 chunk) into -1 parts, but there must be at least 1",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.split(-1);
                  });
}

TEST_F(Rejection, a_link_that_the_topology_lacks) {
  Diagnostic d = expect_rejected(
      Code::NoLink, "copy from rank 0 to rank 2, but topology Ring(n=4) has no link from 0 to 2",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.copy(2, Buffer::output, 0);
      });
  EXPECT_EQ(d.hint, "rank 0 has links to 1, 3");
  expect_rejected(Code::NoLink,
                  "reduce from rank 2 to rank 0, but topology Ring(n=4) has no link from 2 to 0",
                  [&](Guilty& guilty) {
                    const Ref far = p.chunk(2, Buffer::input, 0);
                    guilty.next_line();
                    c.reduce(far);
                  });
  // Links have a direction.
  Topology one_way("one way", 12);
  for (int r = 1; r < 12; ++r) one_way.set_link(0, r, {1, 0});
  Program q("q", one_way, allgather(12, 1));
  d = expect_rejected(Code::NoLink,
                      "copy from rank 1 to rank 0, but topology one way has no link from 1 to 0",
                      [&](Guilty& guilty) {
                        const Ref mine = q.chunk(1, Buffer::input, 0);
                        guilty.next_line();
                        mine.copy(0, Buffer::output, 1);
                      });
  EXPECT_EQ(d.hint, "rank 1 has no link to any rank");
  one_way.set_link(0, 1, {0, 0});
  Program r("r", one_way, allgather(12, 1));
  d = expect_rejected(Code::NoLink,
                      "copy from rank 0 to rank 1, but topology one way has no link from 0 to 1",
                      [&](Guilty& guilty) {
                        const Ref mine = r.chunk(0, Buffer::input, 0);
                        guilty.next_line();
                        mine.copy(1, Buffer::output, 0);
                      });
  EXPECT_EQ(d.hint, "rank 0 has links to 2, 3, 4, 5, 6, 7, 8, 9 and 2 more");
}

TEST(Rejections, a_local_copy_needs_no_link) {
  Program p("p", Topology("no links", 2), allgather(2, 1));
  EXPECT_NO_THROW(p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0));
}

TEST_F(Rejection, a_reduce_of_unequal_sizes) {
  const Diagnostic d = expect_rejected(
      Code::ReduceSizeMismatch,
      "reduce of rank 1 input[0..1] (2 chunks) into rank 0 input[2] (1 chunk), but both must have "
      "equally many",
      [&](Guilty& guilty) {
        const Ref two = p.chunk(1, Buffer::input, 0, 2);
        guilty.next_line();
        c.reduce(two);
      });
  EXPECT_EQ(d.hint, "split() the larger one");
}

// Refs are always of written places; a binding that makes its own places can be wrong.
TEST(Rejections, a_reduce_of_what_nobody_has_written) {
  Program p("p", ring(2), allgather(2, 2));
  const Place in{0, kInputBuffer, 0, 2};
  const Place out{0, kOutputBuffer, 1, 2};
  expect_rejected(Code::ReduceUninitialised,
                  "reduce into rank 0 output[1..2], but nobody has written rank 0 output[1]",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().reduce({out}, {in}, {}, CallSite::current());
                  });
  expect_rejected(Code::ReduceUninitialised,
                  "reduce from rank 0 output[1..2], but nobody has written rank 0 output[1]",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().reduce({in}, {out}, {}, CallSite::current());
                  });
  expect_rejected(Code::UninitialisedChunk,
                  "copy of rank 0 output[1..2], but nobody has written rank 0 output[1]",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().copy({out}, {1, kOutputBuffer, 0, 2}, {}, CallSite::current());
                  });
  expect_rejected(Code::ReduceUninitialised,
                  "reduce into rank 0 output[0], but nobody has written it", [&](Guilty& guilty) {
                    const Operand one_out{{0, kOutputBuffer, 0, 1}};
                    const Operand one_in{{0, kInputBuffer, 0, 1}};
                    guilty.next_line();
                    p.state().reduce(one_out, one_in, {}, CallSite::current());
                  });
  expect_rejected(Code::IndexOutOfRange, "rank 1 output[3..4] is not inside its buffer",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().copy({in}, {1, kOutputBuffer, 3, 2}, {}, CallSite::current());
                  });
  expect_rejected(Code::IndexOutOfRange, "rank 0 input[-1] is not inside its buffer",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().copy({{0, 0, -1, 1}}, {1, 0, 0, 1}, {}, CallSite::current());
                  });
  expect_rejected(Code::RankOutOfRange, "a place on rank 2, but the program has 2 ranks (0 to 1)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().copy({in}, {2, 0, 0, 2}, {}, CallSite::current());
                  });
  expect_rejected(Code::BadSize, "a place of 0 chunks, but there must be at least 1",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.state().copy({{0, 0, 0, 0}}, {1, 0, 0, 0}, {}, CallSite::current());
                  });
  EXPECT_TRUE(p.trace().ops.empty());
}

TEST_F(Rejection, a_local_copy_that_overlaps_its_source) {
  const Diagnostic d = expect_rejected(
      Code::OverlappingCopy,
      "local copy of rank 0 input[2..4] to rank 0 input[3..5], which overlap", [&](Guilty& guilty) {
        const Ref three = p.chunk(0, Buffer::input, 2, 3);
        guilty.next_line();
        three.copy(0, Buffer::input, 3);
      });
  EXPECT_EQ(d.hint, "copy through a scratch buffer, or in pieces that do not overlap");
}

TEST_F(Rejection, a_chunk_reduced_with_itself) {
  expect_rejected(Code::SelfReduce, "rank 0 input[2] is reduced with itself", [&](Guilty& guilty) {
    guilty.next_line();
    c.reduce(c);
  });
  expect_rejected(Code::SelfReduce,
                  "reduce of rank 0 input[3..4] into rank 0 input[2..3], which overlap",
                  [&](Guilty& guilty) {
                    Ref low = p.chunk(0, Buffer::input, 2, 2);
                    const Ref high = p.chunk(0, Buffer::input, 3, 2);
                    guilty.next_line();
                    low.reduce(high);
                  });
  // In place, two names may be one memory.
  Program q("q", ring(2), allreduce(2, 1, true));
  expect_rejected(Code::SelfReduce, "rank 0 input[0] is reduced with itself", [&](Guilty& guilty) {
    Ref in = q.chunk(0, Buffer::input, 0);
    const Ref out = q.chunk(0, Buffer::output, 0);
    guilty.next_line();
    in.reduce(out);
  });
}

TEST_F(Rejection, a_channel_out_of_range) {
  for (const int channel : {-2, 1024}) {
    expect_rejected(Code::BadChannel,
                    "channel " + std::to_string(channel) +
                        ", but channels are 0 to 1023, or -1 for the compiler's choice",
                    [&](Guilty& guilty) {
                      guilty.next_line();
                      c.copy(1, {.channel = channel});
                    });
  }
}

TEST_F(Rejection, a_threadblock_out_of_range) {
  const std::string rest = ", but threadblocks are 0 to 65535, or -1 for not said";
  expect_rejected(Code::BadThreadblock, "threadblock -2" + rest, [&](Guilty& guilty) {
    guilty.next_line();
    c.copy(1, {.send_tb = -2});
  });
  expect_rejected(Code::BadThreadblock, "threadblock 65536" + rest, [&](Guilty& guilty) {
    guilty.next_line();
    c.copy(1, {.recv_tb = 65536});
  });
}

TEST_F(Rejection, threadblocks_under_automatic_placement) {
  Diagnostic d =
      expect_rejected(Code::MixedPlacement, "send_tb 0, but program p has automatic placement",
                      [&](Guilty& guilty) {
                        guilty.next_line();
                        c.copy(1, {.send_tb = 0});
                      });
  EXPECT_EQ(d.hint, "leave it out, or make the program with manual placement");
  expect_rejected(Code::MixedPlacement, "recv_tb 3, but program p has automatic placement",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(1, Buffer::output, 0, {.recv_tb = 3});
                  });
}

TEST(Rejections, no_threadblocks_under_manual_placement) {
  ProgramOptions manual;
  manual.placement = Placement::manual;
  Program p("p", ring(4), alltoall(4, 2), manual);
  Ref c = p.chunk(0, Buffer::input, 0);
  expect_rejected(Code::MixedPlacement, "no send_tb, but program p has manual placement",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(1);
                  });
  const Diagnostic d = expect_rejected(
      Code::MixedPlacement, "no recv_tb, but program p has manual placement", [&](Guilty& guilty) {
        guilty.next_line();
        c.copy(1, {.send_tb = 0});
      });
  EXPECT_EQ(d.hint, "say send_tb and recv_tb of every copy and reduce between ranks");
  expect_rejected(Code::MixedPlacement, "no send_tb, but program p has manual placement",
                  [&](Guilty& guilty) {
                    const Ref other = p.chunk(1, Buffer::input, 0);
                    guilty.next_line();
                    c.reduce(other, {.recv_tb = 0});
                  });
  EXPECT_TRUE(p.trace().ops.empty());
  c.copy(0, "s", {.send_tb = 0});
  EXPECT_EQ(p.trace().ops.size(), 1u) << "a local operation has one threadblock";
}

TEST(Rejections, the_lenient_rules_take_any_mixture) {
  for (const Placement placement : {Placement::automatic, Placement::manual}) {
    ProgramOptions lenient;
    lenient.placement = placement;
    lenient.lenient_placement = true;
    Program p("p", ring(4), alltoall(4, 2), lenient);
    const Ref c = p.chunk(0, Buffer::input, 0);
    c.copy(1, Buffer::output, 0);
    c.copy(1, Buffer::output, 1, {.send_tb = 1, .recv_tb = 2});
    c.copy(1, Buffer::output, 2, {.recv_tb = 2});
    EXPECT_EQ(p.trace().ops.size(), 3u);
    EXPECT_EQ(p.trace().ops[2].recv_tb, 2);
  }
}

TEST_F(Rejection, a_reference_of_another_program) {
  Program q("q", ring(4), alltoall(4, 2));
  const Ref theirs = q.chunk(1, Buffer::input, 0);
  const Diagnostic d = expect_rejected(
      Code::ForeignRef, "reduce with a reference of another program", [&](Guilty& guilty) {
        guilty.next_line();
        c.reduce(theirs);
      });
  EXPECT_EQ(d.hint, "both must come from the same Program object");
  expect_rejected(Code::ForeignRef, "group with a reference of another program",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.group(theirs);
                  });
  EXPECT_FALSE(c == q.chunk(0, Buffer::input, 2));
}

TEST_F(Rejection, input_and_output_without_an_index) {
  const Diagnostic d = expect_rejected(
      Code::MissingIndex, "copy to output of rank 1 without an index", [&](Guilty& guilty) {
        guilty.next_line();
        c.copy(1, Buffer::output);
      });
  EXPECT_EQ(d.hint, "only a scratch buffer can be appended to; say which chunk is meant");
  expect_rejected(Code::MissingIndex, "copy to input of rank 1 without an index",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.copy(1, Buffer::input, Via{});
                  });
}

TEST_F(Rejection, a_scratch_buffer_without_a_name) {
  expect_rejected(Code::BadBufferName, "a scratch buffer without a name", [&](Guilty& guilty) {
    guilty.next_line();
    c.copy(1, "");
  });
  expect_rejected(Code::BadBufferName, "a scratch buffer without a name", [&](Guilty& guilty) {
    guilty.next_line();
    c.copy(1, "", 3);
  });
  expect_rejected(Code::BadBufferName, "a scratch buffer without a name", [&](Guilty& guilty) {
    guilty.next_line();
    p.chunk(1, "", 0);
  });
}

TEST_F(Rejection, the_origin_of_a_sum) {
  Program q("q", ring(2), allreduce(2, 1));
  Ref sum = q.chunk(0, Buffer::input, 0);
  sum.reduce(q.chunk(1, Buffer::input, 0));
  expect_rejected(Code::UninitialisedChunk,
                  "the origin of rank 0 input[0], but it holds a sum of 2 chunks",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    sum.origin();
                  });
  expect_rejected(Code::UninitialisedChunk,
                  "the origin of rank 0 input[0], but it holds a sum of 2 chunks",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    sum.dst_index();
                  });
}

TEST(Rejections, instances_that_are_none) {
  for (const int n : {0, -1}) {
    ProgramOptions options;
    options.instances = n;
    expect_rejected(Code::BadInstances,
                    "program p: " + std::to_string(n) + " instances, but there must be at least 1",
                    [&](Guilty& guilty) {
                      guilty.next_line();
                      Program("p", ring(2), allreduce(2, 1), options);
                    });
  }
}

TEST(Rejections, a_collective_and_a_topology_of_different_sizes) {
  expect_rejected(Code::TopologyMismatch,
                  "program p: topology Ring(n=4) has 4 ranks, but collective allreduce has 2",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    Program("p", ring(4), allreduce(2, 1));
                  });
  expect_rejected(Code::TopologyMismatch,
                  "program p: topology Ring(n=1) has 1 ranks, but collective custom has 0",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    Program("p", ring(1), Collective());
                  });
}

TEST(Rejections, more_chunks_than_can_be_numbered) {
  ProgramOptions options;
  options.instances = 1 << 20;
  expect_rejected(Code::TooLarge,
                  "program p: 2 ranks with 4096 chunks each in 1048576 instances are more chunks "
                  "than can be numbered",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    Program("p", ring(2), allreduce(2, 4096), options);
                  });
}

}  // namespace
}  // namespace hocket
