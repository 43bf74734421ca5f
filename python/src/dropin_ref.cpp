// chunk(), copy(), reduce() and their kin in the original language's shapes: the hot path of
// tracing.
#include <algorithm>

#include "dropin.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

void deprecated(const std::string& what, const std::string& instead) {
  emit_warning({Severity::warning, Code::DeprecatedCall, what, here(), instead, {}});
}

DropInRef made(const DropInRef& from, Place place, const Ref& ref) {
  from.program->bound().emit_new_warnings();
  return {from.owner, from.program, place, ref};
}

// Where copy(dst, buffer, index) lands, by the names of the program.
Place landing(const DropInRef& self, int dst, const nb::object& buffer, int index, CallSite at) {
  DropInProgram& program = *self.program;
  Place to;
  if (buffer.is_none()) {
    if (index != -1) {
      throw Error(Code::BadBufferName, "copy to index " + std::to_string(index) + " of no buffer",
                  at,
                  "name the buffer too: Buffer.input, Buffer.output or a scratch buffer's name");
    }
    to = self.place;
  } else {
    to = {program.name_id(buffer), index};
    if (index == -1) {
      if (to.name <= kOutputName) {
        throw Error(Code::MissingIndex,
                    std::string("copy to the ") + (to.name == kInputName ? "input" : "output") +
                        " of rank " + std::to_string(dst) + " without an index",
                    at, "only scratch buffers grow at their end; say where: index=...");
      }
      to.index = program.program().buffer_size(dst, program.buffer(dst, to.name));
    }
  }
  // With the rank of the source: programs rely on it.
  const int src = self.ref.rank();
  const Place mapped = program.mapped(src, to, self.ref.size(), at);
  if (program.map() == PlaceMap::output_in_input && to.name == kOutputName && dst != src) {
    const std::string said = std::to_string(to.index);
    emit_warning({Severity::warning,
                  Code::MappedBySource,
                  "copy to output[" + said + "] of rank " + std::to_string(dst) +
                      " lands in its input[" + std::to_string(mapped.index) +
                      "]: in place, the output of a copy's destination is counted from the part of "
                      "its source, rank " +
                      std::to_string(src),
                  at,
                  "say which is meant: Buffer.input, index " + std::to_string(mapped.index) +
                      ", or for rank " + std::to_string(dst) + "'s own part Buffer.input, index " +
                      std::to_string(program.mapped(dst, to, self.ref.size(), at).index),
                  {}});
  }
  return mapped;
}

DropInRef copy(const DropInRef& self, int dst, const nb::object& buffer, int index, int sendtb,
               int recvtb, int ch) {
  const CallSite at = here();
  DropInProgram& program = *self.program;
  // Ranks are checked before they are used to name anything.
  if (dst < 0 || dst >= program.program().num_ranks()) {
    return made(self, self.place, self.ref.copy(dst, {ch, sendtb, recvtb}, at));
  }
  const Place to = landing(self, dst, buffer, index, at);
  if (dst == self.ref.rank() && to.name == self.place.name && to.index == self.place.index) {
    return self;  // already there
  }
  const Ref ref =
      self.ref.copy(dst, program.buffer(dst, to.name), to.index, {ch, sendtb, recvtb}, at);
  return made(self, to, ref);
}

DropInRef reduce(DropInRef& self, const DropInRef& other, int sendtb, int recvtb, int ch) {
  const Ref sum = self.ref.reduce(other.ref, {ch, sendtb, recvtb}, here());
  return made(self, self.place, sum);
}

// c.reduce(rank, buffer, index): adds c to that place and returns the place.
DropInRef reduce_into(const DropInRef& self, int rank, const nb::object& buffer, int index,
                      int sendtb, int recvtb, int ch) {
  deprecated("reduce() of a rank, a buffer and an index is an older release's call",
             "write chunk(rank, buffer, index).reduce(c)");
  const nb::object into = dropin_chunk(
      self.owner, rank, buffer.is_none() ? self.program->name_object(self.place.name) : buffer,
      buffer.is_none() && index == -1 ? self.place.index : index, self.ref.size());
  if (into.is_none()) {
    throw Error(Code::ReduceUninitialised,
                "reduce into a place of rank " + std::to_string(rank) + " that nobody has written",
                here());
  }
  return reduce(nb::cast<DropInRef&>(into), self, sendtb, recvtb, ch);
}

nb::list split(const DropInRef& self, int num) {
  nb::list parts;
  Place place = self.place;
  for (const Ref& ref : self.ref.split(num, here())) {
    parts.append(made(self, place, ref));
    place.index += ref.size();
  }
  return parts;
}

DropInRef group(const DropInRef& self, const DropInRef& other) {
  const Ref hull = self.ref.group(other.ref, here());
  return made(self, {self.place.name, std::min(self.place.index, other.place.index)}, hull);
}

// A field of the i-th chunk: from the object that the program's collective made, or computed.
nb::object field(const DropInRef& self, int i, const char* name) {
  const Origin origin = self.ref.origin(i, here());
  const nb::object chunk = self.program->chunk_object(origin);
  if (chunk.is_valid()) return chunk.attr(name);
  const std::string_view which = name;
  if (which == "origin_rank") return nb::int_(origin.rank);
  if (which == "origin_index") return nb::int_(origin.index);
  const auto [rank, index] = self.program->destination(origin);
  return nb::int_(which == "dst_rank" ? rank : index);
}

nb::object python_name(const DropInRef& self) { return self.program->name_object(self.place.name); }

std::string repr(const DropInRef& self) {
  return "Ref(Buffer:" + nb::cast<std::string>(nb::str(python_name(self))) +
         ", Index:" + std::to_string(self.place.index) +
         ", Size:" + std::to_string(self.ref.size()) + ", Rank:" + std::to_string(self.ref.rank()) +
         ")";
}

}  // namespace

nb::object dropin_chunk(nb::handle owner, int rank, nb::handle buffer, int index, int size) {
  auto& program = nb::cast<DropInProgram&>(owner);
  const CallSite at = here();
  Place place{program.name_id(buffer), index};
  if (rank >= 0 && rank < program.program().num_ranks()) {
    place = program.mapped(rank, place, std::max(size, 1), at);
  }
  const auto ref = program.bound().program.find_chunk(rank, program.buffer(rank, place.name),
                                                      place.index, size, at);
  program.bound().emit_new_warnings();
  if (!ref) {
    program.last_nothing = "chunk() at " + Location(at).str() + " returned None: rank " +
                           std::to_string(rank) + " " + program.buffer(rank, place.name).name() +
                           "[" + std::to_string(place.index) + "] holds nothing there";
    return nb::none();
  }
  return nb::cast(DropInRef{nb::borrow(owner), &program, place, *ref});
}

void register_dropin_ref(nb::module_& m) {
  nb::class_<DropInRef>(m, "DropInRef", "A place: `size` chunks of a buffer of a rank.")
      .def(
          "__init__",
          [](DropInRef* self, int rank, const nb::object& buffer, int index, int size,
             const nb::object& prog) {
            if (!nb::isinstance<DropInProgram>(prog) || !nb::inst_ready(prog)) {
              throw nb::type_error("Ref() of a prog that is not an MSCCLProgram");
            }
            const nb::object made = dropin_chunk(prog, rank, buffer, index, size);
            if (made.is_none()) {
              throw Error(Code::UninitialisedChunk, "a Ref of a place that nobody has written",
                          here());
            }
            new (self) DropInRef(nb::cast<const DropInRef&>(made));
          },
          "rank"_a, "buffer"_a, "index"_a, "size"_a, "prog"_a)
      .def_prop_ro("rank", [](const DropInRef& r) { return r.ref.rank(); })
      .def_prop_ro("buffer", &python_name)
      .def_prop_ro("index", [](const DropInRef& r) { return r.place.index; })
      .def_prop_ro("size", [](const DropInRef& r) { return r.ref.size(); })
      .def_prop_ro("prog", [](const DropInRef& r) { return r.owner; })
      .def("copy", &copy, "dst"_a, "buffer"_a = nb::none(), "index"_a = -1, "sendtb"_a = -1,
           "recvtb"_a = -1, "ch"_a = -1,
           "Copies this place to rank `dst` and returns the place written. Without a buffer: the "
           "same buffer and index. With a scratch buffer and no index: appended to its end.")
      .def("reduce", &reduce, "other_chunkref"_a, "sendtb"_a = -1, "recvtb"_a = -1, "ch"_a = -1,
           "self += other, element by element; returns self.")
      .def("reduce", &reduce_into, "dst"_a, "buffer"_a = nb::none(), "index"_a = -1,
           "sendtb"_a = -1, "recvtb"_a = -1, "ch"_a = -1, "An older release's call shape.")
      .def(
          "send",
          [](const DropInRef& self, int dst, const nb::object& buffer, int index, int sendtb,
             int recvtb, int ch, const nb::object&) {
            deprecated("send() is an older release's name of copy()", "write copy()");
            return copy(self, dst, buffer, index, sendtb, recvtb, ch);
          },
          "dst"_a, "buffer"_a = nb::none(), "index"_a = -1, "sendtb"_a = -1, "recvtb"_a = -1,
          "ch"_a = -1, "step"_a = nb::none(), "An older release's name of copy().")
      .def("split", &split, "num"_a, "Places of equal size, low to high.")
      .def("group", &group, "other"_a,
           "The hull of two places of one buffer that touch or overlap.")
      .def(
          "get_origin_rank",
          [](const DropInRef& r, int index) { return field(r, index, "origin_rank"); },
          "index"_a = 0)
      .def(
          "get_origin_index",
          [](const DropInRef& r, int index) { return field(r, index, "origin_index"); },
          "index"_a = 0)
      .def(
          "get_dst_rank", [](const DropInRef& r, int index) { return field(r, index, "dst_rank"); },
          "index"_a = 0)
      .def(
          "get_dst_index",
          [](const DropInRef& r, int index) { return field(r, index, "dst_index"); }, "index"_a = 0)
      .def(
          "print_chunk_info",
          [](const DropInRef& r, int index) {
            if (index < 0 || index >= r.ref.size()) {
              throw Error(Code::IndexOutOfRange,
                          "chunk " + std::to_string(index) + " of " + repr(r) + ", but it has " +
                              std::to_string(r.ref.size()),
                          here());
            }
            const nb::object chunks = r.owner.attr("buffers")[r.ref.rank()][python_name(r)];
            nb::print(nb::repr(chunks[r.place.index + index]));
          },
          "index"_a = 0)
      .def("__eq__",
           [](const DropInRef& a, const DropInRef& b) {
             return a.program == b.program && a.ref.rank() == b.ref.rank() &&
                    a.place.name == b.place.name && a.place.index == b.place.index &&
                    a.ref.size() == b.ref.size();
           })
      .def("__eq__", [](const DropInRef&, const nb::object&) { return false; })
      .def("__repr__", &repr)
      .attr("__hash__") = nb::none();

  m.def(
      "_dropin_chunk",
      [](int rank, nb::handle buffer, const nb::object& index, int size) {
        const nb::handle program = current_program();
        if (!program.is_valid()) {
          throw Error(Code::NoContext, "No Program in context", here(),
                      "call it inside `with MSCCLProgram(...):`");
        }
        if (index.is_none()) {
          deprecated("chunk() without an index is an older release's call",
                     "write the index: chunk(rank, buffer, 0)");
          return dropin_chunk(program, rank, buffer, 0, size);
        }
        int at = 0;
        if (!nb::try_cast<int>(index, at)) {
          if (nb::isinstance<nb::int_>(index)) {
            throw Error(Code::IndexOutOfRange,
                        "chunk index " + nb::cast<std::string>(nb::str(index)) +
                            ", but chunks are numbered with 32 bits",
                        here());
          }
          throw nb::type_error("an index is an int");
        }
        return dropin_chunk(program, rank, buffer, at, size);
      },
      "rank"_a, "buffer"_a.none(), "index"_a = nb::none(), "size"_a = 1,
      "The place (rank, buffer, index, size) in the current program; None where the first slot "
      "holds "
      "nothing.");
}

}  // namespace hocket::python
