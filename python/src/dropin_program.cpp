// The drop-in package's program: names of buffers, mapped places, the current program of a thread,
// lowering.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "algorithm.h"
#include "dropin.h"
#include "hocket/compile.h"
#include "hocket/format.h"
#include "ir/trace.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

// Owned: a program stays while it is current.
thread_local PyObject* current = nullptr;

PlaceMap parse_place_map(std::string_view word) {
  if (word == "none") return PlaceMap::none;
  if (word == "output_to_input") return PlaceMap::output_to_input;
  if (word == "input_to_output") return PlaceMap::input_to_output;
  if (word == "output_in_input") return PlaceMap::output_in_input;
  if (word == "python") return PlaceMap::python;
  throw nb::value_error("no such map of places");
}

Destination parse_destination(std::string_view word) {
  if (word == "nowhere") return Destination::nowhere;
  if (word == "same_index") return Destination::same_index;
  if (word == "gathered") return Destination::gathered;
  if (word == "scattered") return Destination::scattered;
  if (word == "exchanged") return Destination::exchanged;
  throw nb::value_error("no such destination");
}

void enter(nb::handle program) {
  if (!nb::inst_ready(program)) {
    throw nb::type_error("MSCCLProgram.__init__() of this program has not been called");
  }
  if (current != nullptr) {
    throw Error(Code::NoContext, "There is already a MSCCL Program in context", here(),
                "end the `with` of the first program before the second begins");
  }
  current = program.inc_ref().ptr();
}

void leave() { Py_CLEAR(current); }

// The built-in collective that the file's `coll` names, cut as `algorithm` is; none where that is
// what it has already, or no built-in one's name.
std::optional<Collective> named_collective(const Algorithm& algorithm, std::string_view name,
                                           int chunk_factor, int instances) {
  const auto kind = collective_kind_from_name(name);
  if (!kind || *kind == CollectiveKind::custom || *kind == algorithm.collective.kind()) return {};
  return Collective::make(*kind, algorithm.num_ranks(), std::max(chunk_factor, 1),
                          algorithm.in_place, 0, here())
      .refined(instances);
}

BoundAlgorithm lower(DropInProgram& program, std::string_view protocol, int instances, bool manual,
                     bool batched, bool fuse, bool dependence_nop, bool check_xml, bool in_place,
                     std::string_view collective, int chunk_factor) {
  if (instances < 1) {
    throw Error(Code::BadInstances,
                std::to_string(instances) + " instances, but there must be at least 1", here());
  }
  Trace trace =
      program.program().trace();  // a copy: the program can be traced on and lowered again
  trace.protocol = parse_protocol(protocol);
  trace.instances = instances;
  trace.placement = manual ? Placement::manual : Placement::automatic;
  trace.replication = batched ? Replication::batched : Replication::interleaved;
  trace.fuse = fuse;
  trace.hoist_dependences = dependence_nop;
  CompileOptions options;
  options.target = Target::msccl;
  options.verify = check_xml ? Verify::result : Verify::nothing;
  options.check_limits = false;  // broken limits are warnings: the original writes such files too
  std::vector<Diagnostic> warnings;
  options.warn = [&](const Diagnostic& d) { warnings.push_back(d); };
  Algorithm algorithm = [&] {
    const nb::gil_scoped_release nogil;
    return compile(trace, options);
  }();
  algorithm.in_place = in_place;
  algorithm.out_of_place = !in_place;
  // As the file will say it: a loader derives sizes from the name.
  std::optional<Collective> own = named_collective(algorithm, collective, chunk_factor, instances);
  if (own) std::swap(*own, algorithm.collective);
  std::vector<Diagnostic> limits = check_limits(algorithm, Target::msccl, 1);
  if (own) std::swap(*own, algorithm.collective);
  for (Diagnostic& d : limits) {
    d.severity = Severity::warning;
    warnings.push_back(std::move(d));
  }
  for (const Diagnostic& d : warnings) emit_warning(d);
  return BoundAlgorithm(std::move(algorithm));
}

using TraceRow =
    std::tuple<std::string, int, nb::object, int, int, nb::object, int, int, int, int, int>;

std::vector<TraceRow> trace_rows(DropInProgram& program) {
  std::vector<TraceRow> rows;
  for (const TraceOp& op : program.program().trace().ops) {
    rows.emplace_back(op.kind == TraceOp::Kind::copy ? "copy" : "reduce", op.src_rank,
                      program.trace_buffer_name(op.src_buffer), op.src_index, op.dst_rank,
                      program.trace_buffer_name(op.dst_buffer), op.dst_index, op.count, op.send_tb,
                      op.recv_tb, op.channel);
  }
  return rows;
}

// repr(), in ASCII: a string of Python's may hold what UTF-8 cannot.
std::string printed(nb::handle object) {
  const nb::object text = nb::steal(PyObject_ASCII(object.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

// Every slot that does not hold what its built-in collective says, as (rank, index). The index is
// that of the result: in place, a reduce_scatter's lies inside the input.
std::vector<std::pair<int, int>> wrong_slots(const DropInProgram& program) {
  const Collective& c = program.program().collective();
  std::vector<std::pair<int, int>> wrong;
  for (const WrongChunk& w : program.program().check(std::numeric_limits<int>::max()).list) {
    const bool inside = c.kind() == CollectiveKind::reduce_scatter && w.buffer == BufferKind::input;
    wrong.emplace_back(w.rank, inside ? w.index - w.rank * c.chunk_factor() : w.index);
  }
  return wrong;
}

void erase_attribute(std::string& element, std::string_view name) {
  const std::string start = " " + std::string(name) + "=\"";
  const std::size_t begin = element.find(start);
  if (begin == std::string::npos) return;
  const std::size_t end = element.find('"', begin + start.size());
  element.erase(begin, end + 1 - begin);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += "&#" + std::to_string(c) + ";";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          throw Error(
              Code::NameTooLong,
              "a name with the control character " + std::to_string(c) + ", which XML cannot hold",
              here(), "rename the program");
        }
        out += c;
    }
  }
  return out;
}

// The file as the original writes it: the seven attributes of <algo> and no others, the
// collective's own name where it is a built-in one's, any name of the program.
std::string dropin_xml(const BoundAlgorithm& bound, const std::string& name,
                       std::string_view collective, int chunk_factor, int instances) {
  const Algorithm* algorithm = bound.algorithm.get();
  Algorithm changed;
  const auto own = [&]() -> Algorithm& {
    if (algorithm != &changed) {
      changed = *algorithm;
      algorithm = &changed;
    }
    return changed;
  };
  if (auto named = named_collective(*algorithm, collective, chunk_factor, instances)) {
    own().collective = *std::move(named);
  }
  const std::string safe = escaped(name);
  // The program's name may have changed since; what has escapes is put in below.
  if (safe != name) {
    own().name = "unnamed";
  } else if (name != algorithm->name) {
    own().name = name;
  }
  std::string xml = to_xml(*algorithm, {Target::msccl});
  std::string root = xml.substr(0, xml.find('>'));
  const std::size_t rest = root.size();
  if (safe != name) {
    root.replace(root.find("unnamed"), std::string_view("unnamed").size(), safe);
  }
  erase_attribute(root, "minBytes");
  erase_attribute(root, "maxBytes");
  xml.replace(0, rest, root);
  if (!xml.empty() && xml.back() == '\n') xml.pop_back();  // print() adds its own
  return xml;
}

}  // namespace

BufferMembers& buffer_members() {
  static BufferMembers* const members = new BufferMembers;
  return *members;
}

nb::handle current_program() { return current; }

DropInProgram::DropInProgram(Program program, PlaceMap map, nb::object get_buffer_index,
                             int chunk_factor, Destination destination,
                             std::vector<bool> output_is_input,
                             const std::vector<std::pair<std::pair<int, int>, nb::object>>& chunks)
    : bound_(std::move(program)),
      map_(map),
      get_buffer_index_(std::move(get_buffer_index)),
      chunk_factor_(chunk_factor),
      destination_(destination),
      output_is_input_(std::move(output_is_input)) {
  for (const auto& [origin, object] : chunks) {
    chunks_.emplace(key({origin.first, origin.second}), object);
  }
  const BufferMembers& members = buffer_members();
  names_.push_back({nb::borrow(members.input), Buffer::input});
  names_.push_back({nb::borrow(members.output), Buffer::output});
}

NameId DropInProgram::name_id(nb::handle buffer) {
  const BufferMembers& members = buffer_members();
  if (buffer.ptr() == members.input) return kInputName;
  if (buffer.ptr() == members.output) return kOutputName;
  PyObject* found = PyDict_GetItemWithError(ids_.ptr(), buffer.ptr());  // borrowed
  if (found != nullptr) return PyLong_AsSize_t(found);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw Error(Code::BadBufferName,
                "a scratch buffer named " + printed(buffer) + ", but a name must be hashable",
                here());
  }
  if (buffer.is_none()) {
    throw Error(Code::BadBufferName, "a scratch buffer named None", here(),
                "name the buffer: Buffer.input, Buffer.output, a string or a tuple");
  }
  // The language names buffers by strings; two objects that print alike stay two buffers.
  std::string name;
  if (buffer.ptr() == members.scratch) {
    name = "scratch";
  } else if (!nb::isinstance<nb::str>(buffer) || !nb::try_cast(buffer, name)) {
    name = printed(buffer);
  }
  for (bool taken = true; taken;) {
    taken = false;
    for (NameId id = kOutputName + 1; id < names_.size(); ++id) {
      taken = taken || names_[id].buffer.name() == name;
    }
    if (taken) name += "'";
  }
  names_.push_back({nb::borrow(buffer), Buffer(name)});
  ids_[buffer] = names_.size() - 1;
  return names_.size() - 1;
}

const Buffer& DropInProgram::buffer(int rank, NameId id) const {
  if (id == kOutputName && rank >= 0 && static_cast<std::size_t>(rank) < output_is_input_.size() &&
      output_is_input_[static_cast<std::size_t>(rank)]) {
    return Buffer::input;
  }
  return names_[id].buffer;
}

Place DropInProgram::mapped(int rank, Place place, int size, CallSite at) {
  const auto part_of = [&](NameId outer) {
    if (place.index < 0 || place.index >= chunk_factor_ ||
        std::int64_t{place.index} + size > chunk_factor_) {
      throw Error(Code::IndexOutOfRange,
                  std::to_string(size) + (size == 1 ? " chunk from rank " : " chunks from rank ") +
                      std::to_string(rank) + " " + (outer == kInputName ? "output[" : "input[") +
                      std::to_string(place.index) + "], but in place a rank's part is " +
                      std::to_string(chunk_factor_) + " chunks",
                  at, "other ranks' chunks are in the " + std::string(buffer(rank, outer).name()));
    }
    return Place{outer, rank * chunk_factor_ + place.index};
  };
  switch (map_) {
    case PlaceMap::none:
      break;
    case PlaceMap::output_to_input:
      if (place.name == kOutputName) return {kInputName, place.index};
      break;
    case PlaceMap::input_to_output:
      if (place.name == kInputName) return part_of(kOutputName);
      break;
    case PlaceMap::output_in_input:
      if (place.name == kOutputName) return part_of(kInputName);
      break;
    case PlaceMap::python: {
      const nb::object answer = get_buffer_index_(rank, name_object(place.name), place.index);
      int index = 0;
      if (!nb::isinstance<nb::sequence>(answer) || nb::len(answer) != 2 ||
          !nb::try_cast(answer[1], index)) {
        throw Error(Code::BadCollective,
                    "get_buffer_index() returned " + printed(answer) +
                        ", but it must return (buffer, index)",
                    at);
      }
      return {name_id(answer[0]), index};
    }
  }
  return place;
}

int DropInProgram::size(int rank, nb::handle name) {
  return program().buffer_size(rank, buffer(rank, name_id(name)));
}

std::optional<std::vector<Origin>> DropInProgram::content(int rank, nb::handle name, int index) {
  return program().content(rank, buffer(rank, name_id(name)), index);
}

std::vector<nb::object> DropInProgram::scratch_names(int rank) const {
  std::vector<nb::object> present;
  for (NameId id = kOutputName + 1; id < names_.size(); ++id) {
    if (program().buffer_size(rank, names_[id].buffer) > 0) present.push_back(names_[id].object);
  }
  return present;
}

nb::object DropInProgram::trace_buffer_name(std::uint32_t number) const {
  if (number == kInputBuffer) return names_[kInputName].object;
  if (number == kOutputBuffer) return names_[kOutputName].object;
  const std::string& name = program().trace().scratch_names[number - kFirstScratch];
  for (const Name& candidate : names_) {
    if (candidate.buffer.kind() == BufferKind::scratch && candidate.buffer.name() == name) {
      return candidate.object;
    }
  }
  return nb::str(name.c_str());
}

nb::object DropInProgram::chunk_object(Origin origin) const {
  const auto found = chunks_.find(key(origin));
  return found == chunks_.end() ? nb::object() : found->second;
}

std::pair<int, int> DropInProgram::destination(Origin origin) const {
  const int c = chunk_factor_;
  switch (destination_) {
    case Destination::nowhere:
      break;
    case Destination::same_index:
      return {-1, origin.index};
    case Destination::gathered:
      return {-1, origin.rank * c + origin.index};
    case Destination::scattered:
      return {origin.index / c, origin.index % c};
    case Destination::exchanged:
      return {origin.index / c, origin.index % c + origin.rank * c};
  }
  return {-1, -1};
}

void register_dropin(nb::module_& m) {
  register_dropin_ref(m);

  nb::class_<DropInProgram>(m, "DropInProgram", "What msccl.language.MSCCLProgram is made of.")
      .def(
          "__init__",
          [](DropInProgram* self, std::string name, Topology topology, Collective collective,
             std::string_view protocol, int instances, bool manual, bool batched, bool fuse,
             bool dependence_nop, std::string_view place_map, nb::object get_buffer_index,
             int chunk_factor, std::string_view destination, std::vector<bool> output_is_input,
             const std::vector<std::pair<std::pair<int, int>, nb::object>>& chunks) {
            ProgramOptions options;
            options.protocol = parse_protocol(protocol);
            options.instances = instances;
            options.replication = batched ? Replication::batched : Replication::interleaved;
            options.placement = manual ? Placement::manual : Placement::automatic;
            options.fuse = fuse;
            options.dependence_nop = dependence_nop;
            options.lenient_placement = true;
            new (self)
                DropInProgram(Program(std::move(name), std::move(topology), std::move(collective),
                                      options, here()),
                              parse_place_map(place_map), std::move(get_buffer_index), chunk_factor,
                              parse_destination(destination), std::move(output_is_input), chunks);
          },
          nb::kw_only(), "name"_a, "topology"_a, "collective"_a, "protocol"_a, "instances"_a,
          "manual"_a, "batched"_a, "fuse"_a, "dependence_nop"_a, "place_map"_a,
          "get_buffer_index"_a.none(), "chunk_factor"_a, "destination"_a, "output_is_input"_a,
          "chunks"_a)
      .def("_enter", [](nb::handle_t<DropInProgram> self) { enter(self); })
      // Of no program: leaving always clears the context, whatever has become of the program.
      .def_static("_leave", &leave)
      .def("_ref", &dropin_chunk, "rank"_a, "buffer"_a.none(), "index"_a, "size"_a)
      .def("_lower", &lower, nb::kw_only(), "protocol"_a, "instances"_a, "manual"_a, "batched"_a,
           "fuse"_a, "dependence_nop"_a, "check_xml"_a, "in_place"_a, "collective"_a,
           "chunk_factor"_a)
      .def("_size", &DropInProgram::size, "rank"_a, "buffer"_a)
      .def(
          "_content",
          [](DropInProgram& p, int rank, const nb::object& buffer,
             int index) -> std::optional<std::vector<std::pair<int, int>>> {
            const auto origins = p.content(rank, buffer, index);
            if (!origins) return std::nullopt;
            std::vector<std::pair<int, int>> pairs;
            for (const Origin& o : *origins) pairs.emplace_back(o.rank, o.index);
            return pairs;
          },
          "rank"_a, "buffer"_a, "index"_a)
      .def("_scratch_names", &DropInProgram::scratch_names, "rank"_a)
      .def(
          "_destination",
          [](const DropInProgram& p, int rank, int index) {
            return p.destination({rank, index});
          },
          "rank"_a, "index"_a)
      .def("_trace", &trace_rows)
      .def("_check", &wrong_slots)
      .def(
          "_inputs",
          [](const DropInProgram& p, int rank) {
            return p.program().collective().input_chunks(rank);
          },
          "rank"_a)
      .def_prop_ro("_last_nothing", [](const DropInProgram& p) { return p.last_nothing; })
      .def_prop_ro("_warnings", [](const DropInProgram& p) { return p.program().warnings(); });

  m.def(
      "_set_buffer_members",
      [](nb::object input, nb::object output, nb::object scratch) {
        buffer_members() = {input.release().ptr(), output.release().ptr(), scratch.release().ptr()};
      },
      "input"_a, "output"_a, "scratch"_a);
  m.def(
      "_current_program",
      []() -> nb::object { return current != nullptr ? nb::borrow(current) : nb::none(); },
      nb::sig("def _current_program() -> DropInProgram | None"));
  register_dropin_verify(m);
  m.def("_dropin_xml", &dropin_xml, "algorithm"_a, "name"_a, "collective"_a, "chunk_factor"_a,
        "instances"_a);
}

}  // namespace hocket::python
