// What must hold before and after: a collective as data.
//
// A chunk's content is a multiset of origins. Before the run, the precondition says which origin
// lies in which slot; after it, the postcondition says which multiset must lie in which slot.
// Everything downstream (trace check, compiler liveness, runtime check, verifier) reads only this.
//
// Shapes, with n ranks and chunk factor c (chunks of the smaller buffer, except alltoall and
// scatter, whose larger buffer has n*c):
//
//   collective        input      output     result on rank r
//   allreduce         c          c          out[k] = sum over q of in_q[k]
//   allgather         c          n*c        out[q*c+k] = in_q[k]
//   reduce_scatter    n*c        c          out[k] = sum over q of in_q[r*c+k]
//   alltoall          n*c        n*c        out[q*c+k] = in_q[r*c+k]
//   broadcast         c          c          out[k] = in_root[k]       (input exists on every rank;
//                                                                      only the root's is read)
//   reduce            c          c          out_root[k] = sum over q of in_q[k], others don't care
//   gather            c          n*c        out_root[q*c+k] = in_q[k]; output only on the root
//   scatter           n*c        c          out[k] = in_root[r*c+k]; input only on the root
//   all_to_next       c          c          forward: out[k] = in_{r-1}[k], rank 0 gets nothing;
//                                           backward: out[k] = in_{r+1}[k], the last gets nothing
//   custom            as declared
//
// Before the run every input slot holds its own rank's chunk of that index, except that a broadcast
// starts with the root's input only: what lies in the others is not to be read.
//
// In place, two names mean one memory. alias() gives the canonical name of a slot:
//   allreduce, reduce, broadcast, alltoall, all_to_next   output[k] is input[k]
//   allgather, gather (root)                              input[k] is output[r*c+k]
//   reduce_scatter, scatter (root)                        output[k] is input[r*c+k]
//   custom                                                output[k] is input[k]; on a rank with
//                                                         more output, input[k] is output[k]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/location.h"

namespace hocket {

enum class BufferKind : std::uint8_t { input, output, scratch };
std::string_view buffer_kind_name(BufferKind kind);  // "input", "output", "scratch"
char buffer_kind_letter(BufferKind kind);            // 'i', 'o', 's'

// The chunk that rank `rank` contributes at `index` of its input.
struct Origin {
  std::int32_t rank = 0;
  std::int32_t index = 0;
  friend constexpr auto operator<=>(const Origin&, const Origin&) = default;
};

// A slot: one chunk of one of a rank's two user buffers.
struct Slot {
  BufferKind buffer = BufferKind::input;
  std::int32_t index = 0;
  friend constexpr auto operator<=>(const Slot&, const Slot&) = default;
};

// What a slot must hold at the end.
struct Expected {
  enum class Kind : std::uint8_t {
    any,        // don't care
    one,        // exactly `origin`
    all_ranks,  // one contribution of every rank, at index origin.index
    list,       // the multiset `list`, sorted
  };
  Kind kind = Kind::any;
  Origin origin;
  std::span<const Origin> list;
};

// Where a collective wants an origin to end up: an index of the output of `rank`. rank -1: of every
// rank; both -1: nowhere.
struct Destination {
  std::int32_t rank = -1;
  std::int32_t index = -1;
  friend constexpr bool operator==(const Destination&, const Destination&) = default;
};

enum class CollectiveKind : std::uint8_t {
  allreduce,
  allgather,
  reduce_scatter,
  alltoall,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_next_forward,
  all_to_next_backward,
  custom,
};
// "allreduce", "reduce_scatter", "all_to_next_forward", "custom", ...
std::string_view collective_kind_name(CollectiveKind kind);
std::optional<CollectiveKind> collective_kind_from_name(std::string_view name);
// Whether one rank is special: broadcast, reduce, gather, scatter.
bool has_root(CollectiveKind kind);

class CustomCollective;

class Collective {
 public:
  // A collective of no ranks, as a default Algorithm has.
  Collective() = default;

  // Built in. `ranks` >= 1, `chunk_factor` >= 1, 0 <= root < ranks, and root 0 where the kind has
  // none; otherwise Error HK0201.
  static Collective make(CollectiveKind kind, int ranks, int chunk_factor, bool in_place = false,
                         int root = 0, CallSite at = CallSite::current());

  CollectiveKind kind() const { return kind_; }
  // The kind's name, or the custom collective's own.
  const std::string& name() const { return name_; }
  int num_ranks() const { return num_ranks_; }
  int chunk_factor() const { return chunk_factor_; }
  bool in_place() const { return in_place_; }
  int root() const { return root_; }  // 0 where the kind has none

  // Chunks of a rank's buffers. 0 where the rank has no such buffer.
  int input_chunks(int rank) const;
  int output_chunks(int rank) const;
  int chunks(int rank, BufferKind buffer) const;  // 0 for scratch
  // Chunks of the largest buffer of any rank: the runtimes' nchunksperloop.
  int chunks_per_loop() const;

  // The canonical name of a slot when in place; the slot itself otherwise. Idempotent.
  Slot alias(int rank, Slot slot) const;

  // What lies in a slot before the run (the slot need not be canonical); none: nothing.
  std::optional<Origin> initial(int rank, Slot slot) const;
  // What must lie there after it. Aliased names agree.
  Expected expected(int rank, Slot slot) const;
  // Where the chunk that starts as `origin` is wanted, alone or as a part of a sum, as an index of
  // the output (before aliasing). A custom collective says so where exactly one output slot of a
  // rank, and that of one rank or the same one of every rank, requires it.
  Destination destination(Origin origin) const;
  // False for a custom collective of which only the name is known, as when a file says "custom".
  bool has_postcondition() const { return has_postcondition_; }

  // Every chunk cut into `parts` equal parts: part p of chunk k becomes chunk k*parts+p, and
  // likewise every origin. Of a built-in collective: the same with chunk factor times `parts`.
  Collective refined(int parts) const;

  // The custom collective it was made from; null for the built-in ones. Its slots are those before
  // refined(): multiply by split().
  const CustomCollective* custom() const { return custom_.get(); }
  int split() const { return split_; }

  // Two collectives are equal when every answer above is, custom() and split() aside.
  friend bool operator==(const Collective& a, const Collective& b);

 private:
  friend class CustomCollective;
  CollectiveKind kind_ = CollectiveKind::custom;
  std::string name_ = "custom";
  int num_ranks_ = 0;
  int chunk_factor_ = 1;
  bool in_place_ = false;
  int root_ = 0;
  int split_ = 1;
  bool has_postcondition_ = false;
  std::shared_ptr<const CustomCollective> custom_;   // as declared
  std::shared_ptr<const CustomCollective> refined_;  // the same after every refined(); answers
};

// Short names for programs: allreduce(8, 8), allgather(8, 1, /*in_place=*/true), broadcast(8, 4,
// 2).
inline Collective allreduce(int ranks, int chunk_factor, bool in_place = false,
                            CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::allreduce, ranks, chunk_factor, in_place, 0, at);
}
inline Collective allgather(int ranks, int chunk_factor, bool in_place = false,
                            CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::allgather, ranks, chunk_factor, in_place, 0, at);
}
inline Collective reduce_scatter(int ranks, int chunk_factor, bool in_place = false,
                                 CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::reduce_scatter, ranks, chunk_factor, in_place, 0, at);
}
inline Collective alltoall(int ranks, int chunk_factor, bool in_place = false,
                           CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::alltoall, ranks, chunk_factor, in_place, 0, at);
}
inline Collective broadcast(int ranks, int chunk_factor, int root = 0, bool in_place = false,
                            CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::broadcast, ranks, chunk_factor, in_place, root, at);
}
inline Collective reduce(int ranks, int chunk_factor, int root = 0, bool in_place = false,
                         CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::reduce, ranks, chunk_factor, in_place, root, at);
}
inline Collective gather(int ranks, int chunk_factor, int root = 0, bool in_place = false,
                         CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::gather, ranks, chunk_factor, in_place, root, at);
}
inline Collective scatter(int ranks, int chunk_factor, int root = 0, bool in_place = false,
                          CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::scatter, ranks, chunk_factor, in_place, root, at);
}
inline Collective all_to_next_forward(int ranks, int chunk_factor, bool in_place = false,
                                      CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::all_to_next_forward, ranks, chunk_factor, in_place, 0,
                          at);
}
inline Collective all_to_next_backward(int ranks, int chunk_factor, bool in_place = false,
                                       CallSite at = CallSite::current()) {
  return Collective::make(CollectiveKind::all_to_next_backward, ranks, chunk_factor, in_place, 0,
                          at);
}

// A collective of one's own: sizes, what lies where, what must lie where.
//
//     CustomCollective swap("swap", 2);
//     for (int r : {0, 1}) {
//       swap.buffers(r, /*input_chunks=*/1, /*output_chunks=*/1)
//           .holds(r, {BufferKind::input, 0}, {r, 0})
//           .requires_(r, {BufferKind::output, 0}, {{1 - r, 0}});
//     }
//     Collective c = swap.build();
//
// Slots without holds() start uninitialised; slots without requires_() are "don't care". In place,
// either name of a slot may be used. Every mistake is Error HK0201: a rank or slot that is not
// there, an origin of no rank, a slot that is said twice with different content, a requirement of
// nothing.
class CustomCollective {
 public:
  explicit CustomCollective(std::string name, int ranks, int chunk_factor = 1,
                            bool in_place = false, CallSite at = CallSite::current());

  // Chunk counts of a rank's buffers; both 0 until said. Must come before the slots of that rank.
  CustomCollective& buffers(int rank, int input_chunks, int output_chunks,
                            CallSite at = CallSite::current());
  CustomCollective& holds(int rank, Slot slot, Origin origin, CallSite at = CallSite::current());
  CustomCollective& requires_(int rank, Slot slot, std::vector<Origin> origins,
                              CallSite at = CallSite::current());
  // The same collective with every slot "don't care" and no claim of a postcondition.
  CustomCollective& without_postcondition();

  // O(slots and origins declared, times log).
  Collective build() const;

  const std::string& name() const { return name_; }
  int num_ranks() const { return num_ranks_; }
  // What was declared of a rank, under canonical names. The vectors are as long as the buffers.
  struct RankSlots {
    int input_chunks = 0;
    int output_chunks = 0;
    std::vector<std::optional<Origin>> initial[2];                // by BufferKind input, output
    std::vector<std::optional<std::vector<Origin>>> expected[2];  // sorted
    friend bool operator==(const RankSlots&, const RankSlots&) = default;
  };
  const RankSlots& rank(int r) const { return ranks_[static_cast<std::size_t>(r)]; }

 private:
  friend class Collective;
  friend bool operator==(const Collective& a, const Collective& b);
  struct Wanted {
    Origin origin;
    Destination where;
  };
  RankSlots& slots_of(int rank, CallSite at);
  Slot checked_slot(int rank, Slot slot, CallSite at) const;
  Slot canonical(int rank, Slot slot) const;
  void check_origin(Origin origin, CallSite at) const;
  CustomCollective cut(int parts) const;
  void index_destinations();

  std::string name_;
  int num_ranks_;
  int chunk_factor_;
  bool in_place_;
  bool has_postcondition_ = true;
  std::vector<RankSlots> ranks_;
  std::vector<Wanted> wanted_;  // sorted by origin; made by build() and cut()
};

}  // namespace hocket
