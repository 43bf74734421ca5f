// Programs, references, fragments and the check report.
#include "program.h"

#include <nanobind/stl/optional.h>

#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a
using OriginPair = std::pair<int, int>;

// `with program.parallelize(4):`. The fragment begins on entry, so that an object that is never
// entered has no effect.
struct FragmentScope {
  nb::object owner;
  BoundProgram* program = nullptr;
  int instances = 1;
  std::optional<Fragment> fragment;
};

std::vector<OriginPair> pairs_of(const std::vector<Origin>& origins) {
  std::vector<OriginPair> pairs;
  pairs.reserve(origins.size());
  for (const Origin& origin : origins) pairs.emplace_back(origin.rank, origin.index);
  return pairs;
}

BoundRef derived(const BoundRef& from, const Ref& ref) {
  from.program->emit_new_warnings();
  return {from.owner, from.program, ref};
}

BoundRef copy(const BoundRef& self, int dst, const nb::object& buffer, std::optional<int> index,
              int ch, int send_tb, int recv_tb) {
  const CallSite at = here();
  const Via via{ch, send_tb, recv_tb};
  if (buffer.is_none()) {
    if (!index) return derived(self, self.ref.copy(dst, via, at));
    return derived(self, self.ref.copy(dst, self.ref.buffer(), *index, via, at));
  }
  const auto to = [&](const Buffer& place) {
    return derived(self, index ? self.ref.copy(dst, place, *index, via, at)
                               : self.ref.copy(dst, place, via, at));
  };
  if (nb::isinstance<Buffer>(buffer)) return to(nb::cast<const Buffer&>(buffer));
  return to(parse_buffer(buffer));
}

void register_ref(nb::module_& m) {
  nb::class_<BoundRef>(
      m, "Ref",
      "A place: `size` chunks of a buffer of a rank. Made by Program.chunk() and by "
      "the operations themselves.")
      .def_prop_ro("rank", [](const BoundRef& r) { return r.ref.rank(); })
      .def_prop_ro(
          "buffer", [](const BoundRef& r) { return r.ref.buffer(); }, "After in-place aliasing.")
      .def_prop_ro("index", [](const BoundRef& r) { return r.ref.index(); })
      .def_prop_ro("size", [](const BoundRef& r) { return r.ref.size(); })
      .def("copy", &copy, "dst"_a, "buffer"_a = nb::none(), "index"_a = nb::none(), nb::kw_only(),
           "ch"_a = -1, "send_tb"_a = -1, "recv_tb"_a = -1,
           "Copies this place to rank `dst` and returns the place written.\n\n"
           "Without a buffer: the same buffer (and, without an index, the same index). With a "
           "scratch "
           "buffer and no index: appended to that buffer's end on `dst`. `ch` is the channel, "
           "`send_tb` and `recv_tb` the threadblocks at both ends; -1: the compiler's choice.",
           nb::sig("def copy(self, dst: int, buffer: Buffer | str | None = None, "
                   "index: int | None = None, *, ch: int = -1, send_tb: int = -1, "
                   "recv_tb: int = -1) -> Ref"))
      .def(
          "reduce",
          [](BoundRef& self, const BoundRef& other, int ch, int send_tb, int recv_tb) {
            const Ref sum = self.ref.reduce(other.ref, {ch, send_tb, recv_tb}, here());
            return derived(self, sum);
          },
          "other"_a, nb::kw_only(), "ch"_a = -1, "send_tb"_a = -1, "recv_tb"_a = -1,
          "self += other, element by element; `other` may be on any rank and must be of equal "
          "size. "
          "Returns this place.")
      .def(
          "split",
          [](const BoundRef& self, int parts) {
            std::vector<BoundRef> refs;
            for (const Ref& ref : self.ref.split(parts, here())) refs.push_back(derived(self, ref));
            return refs;
          },
          "parts"_a, "Places of equal size, low to high.")
      .def(
          "group",
          [](const BoundRef& self, const BoundRef& other) {
            return derived(self, self.ref.group(other.ref, here()));
          },
          "other"_a, "The hull of two places of one buffer that touch or overlap.")
      .def(
          "origin",
          [](const BoundRef& self, int i) {
            const Origin origin = self.ref.origin(i, here());
            return OriginPair(origin.rank, origin.index);
          },
          "i"_a = 0, "(rank, index) where the i-th chunk started.")
      .def(
          "dst_rank", [](const BoundRef& self, int i) { return self.ref.dst_rank(i, here()); },
          "i"_a = 0, "Where the collective wants the i-th chunk; -1: nowhere said.")
      .def(
          "dst_index", [](const BoundRef& self, int i) { return self.ref.dst_index(i, here()); },
          "i"_a = 0)
      .def("__eq__", [](const BoundRef& a, const BoundRef& b) { return a.ref == b.ref; })
      .def("__eq__", [](const BoundRef&, const nb::object&) { return false; })
      .def("__str__", [](const BoundRef& r) { return r.ref.str(); })
      .def("__repr__", [](const BoundRef& r) { return "<Ref " + r.ref.str() + ">"; });
}

void register_check_report(nb::module_& m) {
  nb::class_<WrongChunk>(m, "WrongChunk", "One slot that does not hold what it must.")
      .def_ro("rank", &WrongChunk::rank)
      .def_prop_ro("buffer", [](const WrongChunk& w) { return buffer_of(w.buffer); })
      .def_ro("index", &WrongChunk::index)
      .def_prop_ro(
          "expected", [](const WrongChunk& w) { return pairs_of(w.expected); },
          "(rank, index) of each chunk of the sum; capped, as the next three are.")
      .def_prop_ro("found", [](const WrongChunk& w) { return pairs_of(w.found); })
      .def_prop_ro("missing", [](const WrongChunk& w) { return pairs_of(w.missing); })
      .def_prop_ro("surplus", [](const WrongChunk& w) { return pairs_of(w.surplus); })
      .def_ro("written", &WrongChunk::written)
      .def_ro("last_write", &WrongChunk::last_write, "The line of the last write to the slot.")
      .def_ro("message", &WrongChunk::message)
      .def("__str__", [](const WrongChunk& w) { return w.message; })
      .def("__repr__", [](const WrongChunk& w) { return "<WrongChunk " + w.message + ">"; });

  nb::class_<CheckReport>(m, "CheckReport",
                          "What Program.check() found. True when the program implements its "
                          "collective; ``str()`` lists what is wrong.")
      .def_ro("checked", &CheckReport::checked, "Slots that the postcondition names.")
      .def_ro("wrong", &CheckReport::wrong, "All that are wrong, however many are listed.")
      .def_ro("list", &CheckReport::list)
      .def_ro("has_postcondition", &CheckReport::has_postcondition)
      .def_prop_ro("ok", &CheckReport::ok)
      .def(
          "require", [](const CheckReport& r) { r.require(here()); },
          "Raises hocket.Error (HK0203 or HK0204) unless ok.")
      .def("__bool__", &CheckReport::ok)
      .def("__str__", &CheckReport::str)
      .def("__repr__", [](const CheckReport& r) {
        return nb::str("<CheckReport: {} of {} wrong>").format(r.wrong, r.checked);
      });
}

void register_fragment(nb::module_& m) {
  nb::class_<FragmentScope>(m, "Fragment", "What Program.parallelize() returns; use it in `with`.")
      .def("__enter__",
           [](FragmentScope& f) {
             f.fragment.reset();
             f.fragment.emplace(f.program->program.parallelize(f.instances, here()));
           })
      .def(
          "__exit__",
          [](FragmentScope& f, const nb::args&) {
            f.fragment.reset();
            return false;
          },
          nb::sig("def __exit__(self, *args: object) -> bool"));
}

}  // namespace

void BoundProgram::emit_all_new_warnings() {
  const auto& all = program.warnings();
  while (told < all.size()) {
    const Diagnostic warning = all[told++];  // a copy: the user's warning hook may trace on
    emit_warning(warning);
  }
}

void register_program(nb::module_& m) {
  register_ref(m);
  register_check_report(m);
  register_fragment(m);

  nb::class_<BoundProgram>(
      m, "Program",
      "A program: movements of chunks between ranks, traced as they are called.\n\n"
      "Every mistake is a hocket.Error raised at the call that makes it.",
      nb::is_weak_referenceable())
      .def(
          "__init__",
          [](BoundProgram* self, std::string name, Topology topology, Collective collective,
             int instances, std::string_view protocol, std::string_view replication,
             std::string_view placement, bool fuse, bool dependence_nop) {
            ProgramOptions options;
            options.protocol = parse_protocol(protocol);
            options.instances = instances;
            options.replication = parse_replication(replication);
            options.placement = parse_placement(placement);
            options.fuse = fuse;
            options.dependence_nop = dependence_nop;
            new (self) BoundProgram(Program(std::move(name), std::move(topology),
                                            std::move(collective), options, here()));
          },
          "name"_a, "topology"_a, "collective"_a, nb::kw_only(), "instances"_a = 1,
          "protocol"_a = "Simple", "replication"_a = "interleaved", "placement"_a = "automatic",
          "fuse"_a = true, "dependence_nop"_a = false,
          "The topology and the collective must have equally many ranks.\n\n"
          "`instances`: copies of the whole program, each on its share of every chunk. `protocol`: "
          "'Simple', 'LL' or 'LL128'. `replication`: 'interleaved' or 'batched'. `placement`: "
          "'automatic', or 'manual' where every operation names its threadblocks.",
          nb::sig(
              "def __init__(self, name: str, topology: Topology, collective: Collective, *, "
              "instances: int = 1, protocol: typing.Literal['Simple', 'LL', 'LL128'] = 'Simple', "
              "replication: typing.Literal['interleaved', 'batched'] = 'interleaved', "
              "placement: typing.Literal['automatic', 'manual'] = 'automatic', "
              "fuse: bool = True, dependence_nop: bool = False) -> None"))
      .def(
          "chunk",
          [](nb::handle_t<BoundProgram> self, int rank, const nb::object& buffer, int index,
             int size) {
            auto& bound = nb::cast<BoundProgram&>(self);
            const CallSite at = here();
            Ref ref =
                nb::isinstance<Buffer>(buffer)
                    ? bound.program.chunk(rank, nb::cast<const Buffer&>(buffer), index, size, at)
                    : bound.program.chunk(rank, parse_buffer(buffer), index, size, at);
            return BoundRef{nb::borrow(self), &bound, ref};
          },
          "rank"_a, "buffer"_a, "index"_a, "size"_a = 1,
          "The place (rank, buffer, index, size); every slot of it must have been written.",
          nb::sig("def chunk(self, rank: int, buffer: Buffer | str, index: int, size: int = 1) -> "
                  "Ref"))
      .def(
          "find_chunk",
          [](nb::handle_t<BoundProgram> self, int rank, const nb::object& buffer, int index,
             int size) -> std::optional<BoundRef> {
            auto& bound = nb::cast<BoundProgram&>(self);
            const auto ref =
                bound.program.find_chunk(rank, parse_buffer(buffer), index, size, here());
            if (!ref) return std::nullopt;
            return BoundRef{nb::borrow(self), &bound, *ref};
          },
          "rank"_a, "buffer"_a, "index"_a, "size"_a = 1,
          "The same, or None where the first slot holds nothing.",
          nb::sig("def find_chunk(self, rank: int, buffer: Buffer | str, index: int, "
                  "size: int = 1) -> Ref | None"))
      .def(
          "parallelize",
          [](nb::handle_t<BoundProgram> self, int n) {
            return FragmentScope{nb::borrow(self), &nb::cast<BoundProgram&>(self), n, std::nullopt};
          },
          "n"_a,
          "``with program.parallelize(4):`` runs each operation inside as 4 instances on quarters "
          "of "
          "its data; the rest of the program does not.")
      .def(
          "check",
          [](const BoundProgram& p, int max_listed) { return p.program.check(max_listed); },
          "max_listed"_a = 20,
          "Compares what every slot holds now with the collective's postcondition.")
      .def_prop_ro("name", [](const BoundProgram& p) { return p.program.name(); })
      .def_prop_ro("topology", [](const BoundProgram& p) { return p.program.topology(); })
      .def_prop_ro("collective", [](const BoundProgram& p) { return p.program.collective(); })
      .def_prop_ro("num_ranks", [](const BoundProgram& p) { return p.program.num_ranks(); })
      .def_prop_ro(
          "warnings", [](const BoundProgram& p) { return p.program.warnings(); },
          "Stale references and the like, in the order they were found.")
      .def(
          "buffer_size",
          [](const BoundProgram& p, int rank, const nb::object& buffer) {
            return p.program.buffer_size(rank, parse_buffer(buffer));
          },
          "rank"_a, "buffer"_a, "Chunks; 0 for a scratch buffer not yet written.",
          nb::sig("def buffer_size(self, rank: int, buffer: Buffer | str) -> int"))
      .def(
          "content",
          [](const BoundProgram& p, int rank, const nb::object& buffer,
             int index) -> std::optional<std::vector<OriginPair>> {
            const auto origins = p.program.content(rank, parse_buffer(buffer), index);
            if (!origins) return std::nullopt;
            return pairs_of(*origins);
          },
          "rank"_a, "buffer"_a, "index"_a,
          "What lies in a slot now: the (rank, index) of every contribution, sorted; None: "
          "nothing.",
          nb::sig("def content(self, rank: int, buffer: Buffer | str, index: int) -> "
                  "list[tuple[int, int]] | None"))
      .def("__repr__", [](const BoundProgram& p) {
        return nb::str("<Program {!r}: {} on {} ranks>")
            .format(p.program.name(), p.program.collective().name(), p.program.num_ranks());
      });
}

}  // namespace hocket::python
