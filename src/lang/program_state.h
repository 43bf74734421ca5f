// What a Program is behind its face: the trace so far, what every slot holds, and the rules that
// every operation is checked by. Ref and Program (and the Python binding) are thin over it.
//
// Two kinds of names meet here. A caller names a Buffer of a rank as the user does; find_place(),
// place() and destination() check that and turn it into a Place, whose buffer number and index are
// canonical (in-place aliasing applied). copy() and reduce() take Places, so a binding with mapping
// rules of its own can make them itself; they check them again, as far as safety needs.
//
// Every call either does all of its work or throws an Error and changes nothing but the table of
// names.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hocket/program.h"
#include "ir/chunk_values.h"
#include "ir/trace.h"
#include "lang/site_table.h"
#include "lang/slot_store.h"

namespace hocket {

// `size` slots of one buffer of a rank, under canonical names: kInputBuffer, kOutputBuffer, or
// kFirstScratch + the scratch name's number.
struct Place {
  std::int32_t rank = 0;
  std::uint32_t buffer = kInputBuffer;
  std::int32_t index = 0;
  std::int32_t size = 1;
  friend bool operator==(const Place&, const Place&) = default;
};

// A place as an operand: `born` is the version() at which the user came to know it, `site` the
// number of the line where. A slot that was written later makes the use stale.
struct Operand {
  static constexpr std::uint32_t kNeverStale = std::numeric_limits<std::uint32_t>::max();
  Place place;
  std::uint32_t born = kNeverStale;
  std::uint32_t site = 0;
};

class ProgramState {
 public:
  // A scratch buffer of more chunks than this is a mistake, not a program.
  static constexpr std::int32_t kMaxScratchChunks = 1 << 24;
  static constexpr int kMaxChannel = 1023;
  static constexpr int kMaxThreadblock = 65535;

  ProgramState(std::string name, Topology topology, Collective collective,
               const ProgramOptions& options, CallSite at);
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

  // --- naming places

  // A readable place; every slot of it holds something.
  Place place(int rank, const Buffer& buffer, int index, int size, CallSite at) const;
  // The same; none where the first slot is inside its buffer but holds nothing.
  std::optional<Place> find_place(int rank, const Buffer& buffer, int index, int size,
                                  CallSite at) const;
  // Where a copy of `src` to rank `dst` lands: the same buffer and index; a given index; the end of
  // a scratch buffer.
  Place destination(const Place& src, int dst, CallSite at) const;
  Place destination(const Place& src, int dst, const Buffer& buffer, int index, CallSite at);
  Place destination(const Place& src, int dst, const Buffer& buffer, CallSite at);

  // The number of a buffer; a scratch name that is new gets one. Error HK0126 on an empty name.
  std::uint32_t buffer_number(const Buffer& buffer, CallSite at);
  std::optional<std::uint32_t> find_buffer_number(const Buffer& buffer) const;
  const Buffer& buffer(std::uint32_t number) const { return buffers_[number]; }
  // "rank 3 output[4..7]"
  std::string describe(const Place& place) const;

  // --- operations

  // False where `dst` is `src`: nothing happened but a warning.
  bool copy(const Operand& src, const Place& dst, const Via& via, CallSite at);
  // dst = dst (+) src
  void reduce(const Operand& dst, const Operand& src, const Via& via, CallSite at);
  // Warns when a slot of the operand was written after it was born. For uses that are no operation.
  void check_fresh(const Operand& operand, CallSite at);

  void begin_fragment(int instances, CallSite at);
  void end_fragment() {
    fragment_ = 0;
    in_fragment_ = false;
  }

  // --- looking

  // Operations so far; grows with every one.
  std::uint32_t version() const { return static_cast<std::uint32_t>(trace_.ops.size()); }
  std::uint32_t site_number(CallSite at) { return sites_.number(at, trace_.sites); }
  // Chunks of a buffer of a rank as it is now: of the collective, or up to the last one written.
  int length(int rank, std::uint32_t buffer) const;
  // What a slot holds and who wrote it. The place's first slot; it must be inside its buffer.
  SlotRecord slot(const Place& place) const {
    return slots_.at(place.rank, place.buffer, place.index);
  }
  const ChunkValues& values() const { return values_; }
  CheckReport check(int max_listed) const;

  const Topology& topology() const { return topology_; }
  const Collective& collective() const { return trace_.collective; }
  const Trace& trace() const { return trace_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  // For a binding's own warnings, in their place among the others.
  void warn(Diagnostic diagnostic) { warnings_.push_back(std::move(diagnostic)); }
  Location site(std::uint32_t number) const { return trace_.sites[number]; }
  // The line of the operation that wrote a slot last; unknown for initial content.
  Location last_write(const SlotRecord& slot) const;

 private:
  void check_rank(int rank, std::string_view doing, CallSite at) const;
  void check_user_index(std::string_view doing, int rank, const Buffer& buffer, int index, int size,
                        CallSite at) const;
  void check_place(const Place& place, CallSite at) const;
  void check_via(const Via& via, bool local, CallSite at) const;
  void check_link(int src, int dst, std::string_view doing, CallSite at) const;
  std::uint32_t check_written(const Place& place, const SlotRecord* slots, Code code,
                              std::string_view doing, CallSite at) const;
  Place canonical(int naming_rank, int rank, const Buffer& buffer, int index, int size) const;
  void warn_stale(const Operand& operand, CallSite at);
  void record(TraceOp::Kind kind, const Place& src, const Place& dst, const Via& via, CallSite at);
  std::string describe(int rank, const Buffer& buffer, std::int64_t index, std::int64_t size) const;

  Trace trace_;
  Topology topology_;
  ChunkValues values_;
  SlotStore slots_;
  SiteTable sites_;
  std::deque<Buffer> buffers_;  // by number; never moves
  std::unordered_map<std::string, std::uint32_t> scratch_numbers_;
  std::uint16_t fragment_ = 0;
  bool in_fragment_ = false;
  CallSite fragment_site_;
  std::vector<Diagnostic> warnings_;
  std::unordered_set<std::uint64_t> stale_pairs_;  // (where made, where used), warned about
  std::unordered_set<std::uint32_t> self_copies_;  // sites, warned about
};

}  // namespace hocket
