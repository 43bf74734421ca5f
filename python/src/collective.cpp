// Collectives: the built-in ones, and those declared by what lies where before and after.
#include "hocket/collective.h"

#include "bindings.h"
#include "hocket/format.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a
using OriginPair = std::pair<int, int>;

OriginPair pair_of(Origin origin) { return {origin.rank, origin.index}; }

Slot slot_of(const std::pair<nb::object, int>& slot) {
  return {parse_user_buffer(slot.first), slot.second};
}

std::optional<std::vector<OriginPair>> expected_origins(const Collective& c, int rank, Slot slot) {
  const Expected expected = c.expected(rank, slot);
  std::vector<OriginPair> origins;
  switch (expected.kind) {
    case Expected::Kind::any:
      return std::nullopt;
    case Expected::Kind::one:
      origins.push_back(pair_of(expected.origin));
      break;
    case Expected::Kind::all_ranks:
      for (int r = 0; r < c.num_ranks(); ++r) origins.emplace_back(r, expected.origin.index);
      break;
    case Expected::Kind::list:
      for (const Origin& origin : expected.list) origins.push_back(pair_of(origin));
      break;
  }
  return origins;
}

void check_slot(const Collective& c, int rank, Slot slot) {
  if (rank < 0 || rank >= c.num_ranks()) throw nb::index_error("no such rank");
  if (slot.index < 0 || slot.index >= c.chunks(rank, slot.buffer)) {
    throw nb::index_error("no such chunk");
  }
}

// A builder without a root: allreduce, allgather, ...
void def_plain(nb::module_& m, const char* name, CollectiveKind kind, const char* doc) {
  m.def(
      name,
      [kind](int ranks, int chunk_factor, bool in_place) {
        return Collective::make(kind, ranks, chunk_factor, in_place, 0, here());
      },
      "ranks"_a, "chunk_factor"_a = 1, "in_place"_a = false, doc);
}

void def_rooted(nb::module_& m, const char* name, CollectiveKind kind, const char* doc) {
  m.def(
      name,
      [kind](int ranks, int chunk_factor, int root, bool in_place) {
        return Collective::make(kind, ranks, chunk_factor, in_place, root, here());
      },
      "ranks"_a, "chunk_factor"_a = 1, "root"_a = 0, "in_place"_a = false, doc);
}

}  // namespace

void register_collective(nb::module_& m) {
  nb::class_<Buffer> buffer_class(
      m, "Buffer",
      "A buffer of a rank: ``Buffer.input``, ``Buffer.output``, or a scratch buffer by "
      "name. Wherever a buffer is expected a string is one: the scratch of that name.");
  buffer_class.def(nb::init<std::string>(), "name"_a, "The scratch buffer of that name.")
      .def_prop_ro(
          "kind", [](const Buffer& b) { return buffer_kind_name(b.kind()); },
          "'input', 'output' or 'scratch'.")
      .def_prop_ro("name", &Buffer::name)
      .def("__eq__", [](const Buffer& a, const Buffer& b) { return a == b; })
      .def("__eq__", [](const Buffer&, const nb::object&) { return false; })
      .def("__hash__",
           [](const Buffer& b) {
             return std::hash<std::string>{}(b.name()) * 3 + static_cast<std::size_t>(b.kind());
           })
      .def("__str__", &Buffer::name)
      .def("__repr__", [](const Buffer& b) {
        return b.kind() == BufferKind::scratch ? "Buffer('" + b.name() + "')"
                                               : "Buffer." + b.name();
      });
  buffer_class.attr("input") = Buffer::input;
  buffer_class.attr("output") = Buffer::output;
  buffer_class.attr("scratch") = Buffer::scratch;

  nb::class_<Collective>(m, "Collective",
                         "What must hold before and after. Made by ``allreduce(8, 8)`` and its "
                         "siblings, or by ``CustomCollective.build()``.")
      .def_static(
          "make",
          [](std::string_view kind, int ranks, int chunk_factor, bool in_place, int root) {
            return Collective::make(parse_collective_kind(kind), ranks, chunk_factor, in_place,
                                    root, here());
          },
          "kind"_a, "ranks"_a, "chunk_factor"_a = 1, "in_place"_a = false, "root"_a = 0)
      .def_prop_ro("kind", [](const Collective& c) { return collective_kind_name(c.kind()); })
      .def_prop_ro("name", &Collective::name)
      .def_prop_ro("num_ranks", &Collective::num_ranks)
      .def_prop_ro("chunk_factor", &Collective::chunk_factor)
      .def_prop_ro("in_place", &Collective::in_place)
      .def_prop_ro("root", &Collective::root)
      .def_prop_ro("chunks_per_loop", &Collective::chunks_per_loop,
                   "Chunks of the largest buffer of any rank.")
      .def_prop_ro("has_postcondition", &Collective::has_postcondition)
      .def(
          "chunks",
          [](const Collective& c, int rank, const nb::object& buffer) {
            const BufferKind kind = parse_user_buffer(buffer);
            if (rank < 0 || rank >= c.num_ranks()) throw nb::index_error("no such rank");
            return c.chunks(rank, kind);
          },
          "rank"_a, "buffer"_a, "Chunks of that buffer on that rank.",
          nb::sig("def chunks(self, rank: int, buffer: Buffer | str) -> int"))
      .def(
          "initial",
          [](const Collective& c, int rank, const nb::object& buffer,
             int index) -> std::optional<OriginPair> {
            const Slot slot{parse_user_buffer(buffer), index};
            check_slot(c, rank, slot);
            if (const auto origin = c.initial(rank, slot)) return pair_of(*origin);
            return std::nullopt;
          },
          "rank"_a, "buffer"_a, "index"_a,
          "The (rank, index) of the chunk that lies there before the run, or None.",
          nb::sig("def initial(self, rank: int, buffer: Buffer | str, index: int) -> "
                  "tuple[int, int] | None"))
      .def(
          "expected",
          [](const Collective& c, int rank, const nb::object& buffer, int index) {
            const Slot slot{parse_user_buffer(buffer), index};
            check_slot(c, rank, slot);
            return expected_origins(c, rank, slot);
          },
          "rank"_a, "buffer"_a, "index"_a,
          "The chunks whose sum must lie there after the run; None: don't care.",
          nb::sig("def expected(self, rank: int, buffer: Buffer | str, index: int) -> "
                  "list[tuple[int, int]] | None"))
      .def(
          "to_post_json", [](const Collective& c) { return to_post_json(c); },
          "As a postcondition file, for `hocket verify FILE --post` and from_post_json().")
      .def("refined", &Collective::refined, "parts"_a, "Every chunk cut into equal parts.")
      .def("__eq__", [](const Collective& a, const Collective& b) { return a == b; })
      .def("__eq__", [](const Collective&, const nb::object&) { return false; })
      .def("__repr__", [](const Collective& c) {
        return nb::str("<Collective {}: {} ranks, chunk factor {}{}>")
            .format(c.name(), c.num_ranks(), c.chunk_factor(), c.in_place() ? ", in place" : "");
      });

  def_plain(m, "allreduce", CollectiveKind::allreduce, "out[k] = sum over ranks q of in_q[k].");
  def_plain(m, "allgather", CollectiveKind::allgather, "out[q*c+k] = in_q[k].");
  def_plain(m, "reduce_scatter", CollectiveKind::reduce_scatter,
            "out[k] on rank r = sum over ranks q of in_q[r*c+k].");
  def_plain(m, "alltoall", CollectiveKind::alltoall, "out[q*c+k] on rank r = in_q[r*c+k].");
  def_plain(m, "all_to_next_forward", CollectiveKind::all_to_next_forward,
            "out[k] on rank r = in_{r-1}[k]; rank 0 gets nothing.");
  def_plain(m, "all_to_next_backward", CollectiveKind::all_to_next_backward,
            "out[k] on rank r = in_{r+1}[k]; the last rank gets nothing.");
  def_rooted(m, "broadcast", CollectiveKind::broadcast, "out[k] = in_root[k].");
  def_rooted(m, "reduce", CollectiveKind::reduce, "out[k] on the root = sum of in_q[k].");
  def_rooted(m, "gather", CollectiveKind::gather, "out[q*c+k] on the root = in_q[k].");
  def_rooted(m, "scatter", CollectiveKind::scatter, "out[k] on rank r = in_root[r*c+k].");

  nb::class_<CustomCollective>(
      m, "CustomCollective",
      "A collective of one's own: sizes, what lies where, what must lie where.\n\n"
      "Slots without holds() start uninitialised; slots without requires() are \"don't care\".")
      .def(
          "__init__",
          [](CustomCollective* self, std::string name, int ranks, int chunk_factor, bool in_place) {
            new (self) CustomCollective(std::move(name), ranks, chunk_factor, in_place, here());
          },
          "name"_a, "ranks"_a, "chunk_factor"_a = 1, "in_place"_a = false)
      .def(
          "buffers",
          [](CustomCollective& c, int rank, int inputs, int outputs) -> CustomCollective& {
            return c.buffers(rank, inputs, outputs, here());
          },
          "rank"_a, "input_chunks"_a, "output_chunks"_a, nb::rv_policy::reference_internal,
          "Chunk counts of a rank's buffers; before the slots of that rank.")
      .def(
          "holds",
          [](CustomCollective& c, int rank, const std::pair<nb::object, int>& slot,
             OriginPair origin) -> CustomCollective& {
            return c.holds(rank, slot_of(slot), {origin.first, origin.second}, here());
          },
          "rank"_a, "slot"_a, "origin"_a, nb::rv_policy::reference_internal,
          "Slot (buffer, index) of `rank` starts with chunk `origin` = (rank, index).",
          nb::sig("def holds(self, rank: int, slot: tuple[Buffer | str, int], "
                  "origin: tuple[int, int]) -> CustomCollective"))
      .def(
          "requires",
          [](CustomCollective& c, int rank, const std::pair<nb::object, int>& slot,
             const std::vector<OriginPair>& origins) -> CustomCollective& {
            std::vector<Origin> list;
            for (const auto& [r, i] : origins) list.push_back({r, i});
            return c.requires_(rank, slot_of(slot), std::move(list), here());
          },
          "rank"_a, "slot"_a, "origins"_a, nb::rv_policy::reference_internal,
          "Slot (buffer, index) of `rank` must end with the sum of the chunks `origins`.",
          nb::sig("def requires(self, rank: int, slot: tuple[Buffer | str, int], "
                  "origins: collections.abc.Sequence[tuple[int, int]]) -> CustomCollective"))
      .def("without_postcondition", &CustomCollective::without_postcondition,
           nb::rv_policy::reference_internal,
           "Every slot \"don't care\" and no claim of a postcondition.")
      .def("build", &CustomCollective::build);
}

}  // namespace hocket::python
