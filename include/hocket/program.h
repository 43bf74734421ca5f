// The language: a program is written as movements of chunks between ranks and traced as it runs.
//
//     #include <hocket/hocket.h>
//     using namespace hocket;
//
//     Program ring_allgather(int n) {
//       Program p("ring_allgather", ring(n), allgather(n, 1));
//       for (int r = 0; r < n; ++r) {
//         Ref c = p.chunk(r, Buffer::input, 0).copy(r, Buffer::output, r);
//         for (int hop = 1; hop < n; ++hop) c = c.copy((r + hop) % n);
//       }
//       return p;
//     }
//
//     int main() {
//       Program p = ring_allgather(8);
//       p.check().require();                        // is it an allgather?
//       std::cout << to_xml(compile(p));            // what the runtimes load
//     }
//
// A Ref names a place (rank, buffer, index, size), and remembers when it was made. `copy` sends
// what is there to another place and returns that place; `reduce` adds another place's content to
// it. The order of calls gives the meaning: every read sees the last write before it. What may run
// concurrently is the compiler's business.
//
// Every mistake is an Error thrown at the call that makes it and names the caller's line. There is
// no global state: any number of programs may be traced at once, one thread each.
//
// Costs: a copy or reduce of s chunks is O(s), some 100 to 200 ns for one; a program keeps about 50
// bytes an operation, 8 a slot and 40 for each sum that did not occur before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/collective.h"
#include "hocket/diagnostic.h"
#include "hocket/policy.h"
#include "hocket/topology.h"

namespace hocket {

struct Trace;
class Program;
class ProgramState;  // src/lang/program_state.h
struct Operand;
struct Place;

// A buffer of a rank: its input, its output, or a scratch buffer by name. A named scratch buffer
// comes into being with the first copy into it, on that rank, and grows as it is written.
class Buffer {
 public:
  static const Buffer input;
  static const Buffer output;
  static const Buffer scratch;  // the scratch buffer whose name is "scratch"

  Buffer(const char* name) : Buffer(std::string(name)) {}  // NOLINT: "s" is a buffer
  Buffer(std::string name) : kind_(BufferKind::scratch), name_(std::move(name)) {}  // NOLINT
  Buffer(std::string_view name) : Buffer(std::string(name)) {}                      // NOLINT

  BufferKind kind() const { return kind_; }
  const std::string& name() const { return name_; }  // "input", "output", or the scratch's name
  friend bool operator==(const Buffer&, const Buffer&) = default;

 private:
  Buffer(BufferKind kind, const char* name) : kind_(kind), name_(name) {}
  BufferKind kind_;
  std::string name_;
};
inline const Buffer Buffer::input{BufferKind::input, "input"};
inline const Buffer Buffer::output{BufferKind::output, "output"};
inline const Buffer Buffer::scratch{BufferKind::scratch, "scratch"};

// By which channel and threadblocks an operation goes. -1: the compiler's choice. Threadblock
// numbers are for programs with manual placement; `send_tb` is also the threadblock of a local
// operation.
struct Via {
  int channel = -1;
  int send_tb = -1;
  int recv_tb = -1;
};

class Ref {
 public:
  int rank() const { return rank_; }
  const Buffer& buffer() const;  // after in-place aliasing
  int index() const { return index_; }
  int size() const { return size_; }

  // Copies this place to rank `dst` and returns the place written. Without a buffer: the same
  // buffer and index. With a scratch buffer and no index: appended to that buffer's end on `dst`.
  // Input and output need an index (HK0121). A copy onto itself does nothing, with a warning.
  Ref copy(int dst, Via via = {}, CallSite at = CallSite::current()) const;
  Ref copy(int dst, const Buffer& buffer, int index, Via via = {},
           CallSite at = CallSite::current()) const;
  Ref copy(int dst, const Buffer& buffer, Via via = {}, CallSite at = CallSite::current()) const;

  // this = this (+) other, element by element; other may be on any rank and must be of equal size.
  // Returns this place, as it is now.
  Ref reduce(const Ref& other, Via via = {}, CallSite at = CallSite::current());

  // `parts` places of equal size, low to high.
  std::vector<Ref> split(int parts, CallSite at = CallSite::current()) const;
  // The hull of two places of one buffer that touch or overlap.
  Ref group(const Ref& other, CallSite at = CallSite::current()) const;

  // Where the i-th chunk of this place started, and where the collective wants it (-1: nowhere
  // said). Error HK0103 on a reduced or uninitialised chunk.
  Origin origin(int i = 0, CallSite at = CallSite::current()) const;
  int dst_rank(int i = 0, CallSite at = CallSite::current()) const;
  int dst_index(int i = 0, CallSite at = CallSite::current()) const;

  // "rank 3 output[4..7]"
  std::string str() const;
  friend bool operator==(const Ref& a, const Ref& b) {
    return a.state_ == b.state_ && a.rank_ == b.rank_ && a.buffer_ == b.buffer_ &&
           a.index_ == b.index_ && a.size_ == b.size_;
  }

 private:
  friend class Program;
  Ref(ProgramState* state, const Place& place, CallSite at);
  Operand operand() const;
  Ref copy_to(const Place& dst, const Via& via, CallSite at) const;

  ProgramState* state_;
  std::int32_t rank_;
  std::uint32_t buffer_;
  std::int32_t index_;
  std::int32_t size_;
  std::uint32_t born_;  // number of operations traced when it was made
  std::uint32_t site_;
};

// One slot that does not hold what it must.
struct WrongChunk {
  int rank = 0;
  BufferKind buffer = BufferKind::output;
  int index = 0;
  std::vector<Origin> expected;  // capped, as found, missing and surplus are
  std::vector<Origin> found;     // empty: nothing was written there
  std::vector<Origin> missing;
  std::vector<Origin> surplus;
  bool written = false;
  Location last_write;  // unknown where nothing was
  std::string message;  // one line, complete
};

struct CheckReport {
  std::int64_t checked = 0;      // slots that the postcondition names
  std::int64_t wrong = 0;        // all of them, however many are listed
  std::vector<WrongChunk> list;  // the first `max_listed`
  bool has_postcondition = true;
  std::string program;  // the names of what was compared, for the messages
  std::string collective;

  bool ok() const { return has_postcondition && wrong == 0; }
  explicit operator bool() const { return ok(); }
  // For people: a line a wrong chunk, then the count of those not listed.
  std::string str() const;
  // Throws Error HK0203 (or HK0204) unless ok().
  void require(CallSite at = CallSite::current()) const;
};

struct ProgramOptions {
  Protocol protocol = Protocol::simple;
  int instances = 1;  // copies of the whole program, each on its share of every chunk
  Replication replication = Replication::interleaved;
  Placement placement = Placement::automatic;
  bool fuse = true;
  bool dependence_nop = false;  // gather the waits of consecutive local reduces before the first
  // The original language's rules for threadblock numbers: see Trace::lenient_placement.
  bool lenient_placement = false;
};

// Ends its fragment when it goes out of scope.
class Fragment {
 public:
  Fragment(Fragment&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
  Fragment(const Fragment&) = delete;
  Fragment& operator=(const Fragment&) = delete;
  Fragment& operator=(Fragment&&) = delete;
  ~Fragment();

 private:
  friend class Program;
  explicit Fragment(ProgramState* state) : state_(state) {}
  ProgramState* state_;
};

class Program {
 public:
  // The topology and the collective must have equally many ranks (HK0202).
  Program(std::string name, Topology topology, Collective collective, ProgramOptions options = {},
          CallSite at = CallSite::current());
  Program(Program&&) noexcept;  // Refs stay valid: they follow the state, not this object
  Program& operator=(Program&&) noexcept;
  ~Program();

  // The place (rank, buffer, index, size); every slot of it must have been written (HK0103).
  Ref chunk(int rank, const Buffer& buffer, int index, int size = 1,
            CallSite at = CallSite::current());
  // The same, or none where the first slot is inside its buffer but holds nothing.
  std::optional<Ref> find_chunk(int rank, const Buffer& buffer, int index, int size = 1,
                                CallSite at = CallSite::current());

  // Until the returned object dies, every operation runs as `n` instances on n-ths of its data,
  // each on its own threadblocks and channels; the rest of the program does not. Fragments do not
  // nest.
  //
  //     {
  //       auto fast = p.parallelize(4);
  //       c.copy(8, "s", 0);
  //     }
  [[nodiscard]] Fragment parallelize(int n, CallSite at = CallSite::current());

  // Compares what every slot holds now with the collective's postcondition.
  CheckReport check(int max_listed = 20) const;

  const std::string& name() const;
  const Topology& topology() const;
  const Collective& collective() const;
  int num_ranks() const;
  int buffer_size(int rank, const Buffer& buffer) const;  // chunks; 0 for a scratch not yet written
  // What lies in a slot now; none where nothing does. Sorted. O(contributions).
  std::optional<std::vector<Origin>> content(int rank, const Buffer& buffer, int index) const;

  // Stale references and the like, in the order they were found.
  const std::vector<Diagnostic>& warnings() const;

  const Trace& trace() const;  // for the compiler; see src/ir/trace.h

  ProgramState& state() { return *state_; }
  const ProgramState& state() const { return *state_; }

 private:
  std::unique_ptr<ProgramState> state_;
};

}  // namespace hocket
