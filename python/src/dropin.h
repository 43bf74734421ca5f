// The program and the references behind the drop-in package `msccl`: the original language's call
// shapes and naming rules on top of hocket::Program.
//
// What differs from hocket's own Python face and lives here: any hashable object names a scratch
// buffer; the collective's get_buffer_index() maps a place with the source's rank; a reference
// shows the place by the name that the program used; chunks may be objects of the program's own
// making.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "bindings.h"
#include "program.h"

namespace hocket::python {

// How get_buffer_index() of the built-in collectives maps a place, with n ranks and chunk factor c.
enum class PlaceMap {
  none,             // identity
  output_to_input,  // in-place allreduce
  input_to_output,  // in-place allgather: input i is output r*c+i
  output_in_input,  // in-place reduce_scatter: output i is input r*c+i
  python,           // the program's own method
};

// What get_dst_rank() and get_dst_index() say of a built-in collective's chunks.
enum class Destination { nowhere, same_index, gathered, scattered, exchanged };

using NameId = std::size_t;  // into DropInProgram's names
inline constexpr NameId kInputName = 0;
inline constexpr NameId kOutputName = 1;

struct Place {
  NameId name = 0;
  int index = 0;
};

struct DropInRef {
  nb::object owner;  // the program's Python object
  class DropInProgram* program = nullptr;
  Place place;  // as the program names it, mapped
  Ref ref;      // as the language names it
};

class DropInProgram {
 public:
  DropInProgram(Program program, PlaceMap map, nb::object get_buffer_index, int chunk_factor,
                Destination destination, std::vector<bool> output_is_input,
                const std::vector<std::pair<std::pair<int, int>, nb::object>>& chunks);

  BoundProgram& bound() { return bound_; }
  const Program& program() const { return bound_.program; }

  // The id of a buffer's name, new where the program has not used it. Error HK0126 for None and
  // what cannot be hashed.
  NameId name_id(nb::handle buffer);
  nb::object name_object(NameId id) const { return names_[id].object; }
  const Buffer& buffer(int rank, NameId id) const;

  // What the collective's get_buffer_index() says of `size` chunks from `place` on. HK0102 where a
  // built-in one would map them past the rank's part, into that of another.
  Place mapped(int rank, Place place, int size, CallSite at);
  // One slot's place by the names of the language, for reading what lies there.
  int size(int rank, nb::handle buffer);
  std::optional<std::vector<Origin>> content(int rank, nb::handle buffer, int index);
  // The scratch buffers that `rank` has, in the order in which the program first named them.
  std::vector<nb::object> scratch_names(int rank) const;
  // The name of buffer `number` of the trace.
  nb::object trace_buffer_name(std::uint32_t number) const;

  // The object of the program's own that stands for `origin`; null where there is none.
  nb::object chunk_object(Origin origin) const;
  std::pair<int, int> destination(Origin origin) const;

  PlaceMap map() const { return map_; }
  // The line of the last chunk() that found nothing, for the message of what follows from it.
  std::string last_nothing;

 private:
  struct Name {
    nb::object object;
    Buffer buffer;
  };
  static std::uint64_t key(Origin o) {
    return std::uint64_t{static_cast<std::uint32_t>(o.rank)} << 32 |
           static_cast<std::uint32_t>(o.index);
  }

  BoundProgram bound_;
  PlaceMap map_;
  nb::object get_buffer_index_;
  int chunk_factor_;
  Destination destination_;
  std::vector<bool> output_is_input_;  // by rank; empty: nowhere
  std::unordered_map<std::uint64_t, nb::object> chunks_;
  std::vector<Name> names_;
  nb::dict ids_;
};

// chunk(), copy(), reduce(), ...: see dropin_ref.cpp.
nb::object dropin_chunk(nb::handle program, int rank, nb::handle buffer, int index, int size);
void register_dropin_ref(nb::module_& m);
void register_dropin_verify(nb::module_& m);

// msccl.language.Buffer.input and .output, set when that module is imported.
struct BufferMembers {
  PyObject* input = nullptr;
  PyObject* output = nullptr;
  PyObject* scratch = nullptr;
};
BufferMembers& buffer_members();

// The program of the innermost `with` of this thread; null outside.
nb::handle current_program();

}  // namespace hocket::python
