// A drop-in program's compiled algorithm, seen as its collective's check() sees the program: by the
// program's names, its chunks whole again.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm.h"
#include "dropin.h"
#include "verify.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a
using OriginPair = std::pair<int, int>;

// Into how many parts the instances of an algorithm, perhaps read from a file, have cut each chunk
// of the program's collective.
int parts_of(const Collective& whole, const Algorithm& algorithm) {
  for (int r = 0; r < std::min(whole.num_ranks(), algorithm.num_ranks()); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const int has = algorithm.ranks[static_cast<std::size_t>(r)].chunks(kind);
      const int wants = whole.chunks(r, kind);
      if (has > wants && wants > 0 && has % wants == 0) return has / wants;
    }
  }
  return 1;
}

// One part of a slot: where it lies, and which part of which chunk an origin is.
struct Cut {
  bool batched = false;  // part p of a buffer of n chunks is chunks p*n to p*n+n-1
  int parts = 1;

  int index(int chunk, int part, int length) const {
    return batched ? part * length + chunk : chunk * parts + part;
  }
  std::vector<Origin> part_of(std::vector<Origin> origins, int part,
                              const Collective& collective) const {
    for (Origin& o : origins) o.index = index(o.index, part, collective.input_chunks(o.rank));
    return origins;
  }
  std::optional<Origin> whole(Origin origin, int part, const Collective& collective) const {
    if (!batched) {
      if (origin.index % parts != part) return std::nullopt;
      return Origin{origin.rank, origin.index / parts};
    }
    const int index = origin.index - part * collective.input_chunks(origin.rank);
    if (index < 0 || index >= collective.input_chunks(origin.rank)) return std::nullopt;
    return Origin{origin.rank, index};
  }
};

// What all parts of a slot agree on; none: nothing. An Error where they do not agree: no chunk
// object could say it.
std::optional<std::vector<OriginPair>> content_of(DropInProgram& program,
                                                  const BoundContents& bound, int rank,
                                                  nb::handle buffer, int index, bool batched) {
  const Collective& collective = program.program().collective();
  const Buffer& named = program.buffer(rank, program.name_id(buffer));
  if (named.kind() == BufferKind::scratch || rank < 0 || rank >= collective.num_ranks()) {
    return std::nullopt;
  }
  const FinalContents& contents = bound.get();
  const int length = collective.chunks(rank, named.kind());
  if (index < 0 || index >= length) return std::nullopt;
  const Cut cut{batched, contents.collective().chunks(rank, named.kind()) / std::max(length, 1)};
  const auto part_content = [&](int part) -> std::optional<std::vector<OriginPair>> {
    std::vector<OriginPair> pairs;
    const Slot slot{named.kind(), cut.index(index, part, length)};
    for (const Origin& o : contents.origins(rank, slot)) {
      const auto whole = cut.whole(o, part, collective);
      if (!whole) return std::nullopt;
      pairs.emplace_back(whole->rank, whole->index);
    }
    return pairs;
  };
  auto first = part_content(0);
  for (int part = 1; part < cut.parts; ++part) {
    if (part_content(part) == first) continue;
    throw Error(Code::WrongContent,
                "the instances leave different things in rank " + std::to_string(rank) + " " +
                    std::string(named.name()) + "[" + std::to_string(index) + "]",
                here());
  }
  if (!first) {
    throw Error(Code::WrongContent,
                "instance 0 leaves what belongs to another in rank " + std::to_string(rank) + " " +
                    std::string(named.name()) + "[" + std::to_string(index) + "]",
                here());
  }
  if (first->empty()) return std::nullopt;
  return first;
}

// The collective, its chunks cut as the instances cut them, with what the program as traced leaves
// in every slot as its postcondition.
Collective traced_collective(const DropInProgram& program, int instances, bool batched) {
  const Program& traced = program.program();
  const Collective& c = traced.collective();
  Collective fine = c.refined(std::max(instances, 1));
  if (c.custom() == nullptr) return fine;
  const Cut cut{batched, std::max(instances, 1)};
  CustomCollective said(fine.name(), fine.num_ranks(), fine.chunk_factor(), fine.in_place(),
                        here());
  for (int r = 0; r < c.num_ranks(); ++r) {
    said.buffers(r, fine.input_chunks(r), fine.output_chunks(r), here());
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const Buffer& buffer = kind == BufferKind::input ? Buffer::input : Buffer::output;
      const int length = c.chunks(r, kind);
      for (int i = 0; i < length; ++i) {
        if (c.alias(r, {kind, i}) != Slot{kind, i}) continue;
        const auto origins = traced.content(r, buffer, i);
        for (int part = 0; part < cut.parts; ++part) {
          const Slot slot{kind, cut.index(i, part, length)};
          if (const auto origin = fine.initial(r, slot)) said.holds(r, slot, *origin, here());
          if (origins) said.requires_(r, slot, cut.part_of(*origins, part, c), here());
        }
      }
    }
  }
  return said.build();
}

}  // namespace

void register_dropin_verify(nb::module_& m) {
  m.def("_compiled_content", &content_of, "program"_a, "contents"_a, "rank"_a, "buffer"_a,
        "index"_a, "batched"_a);
  m.def("_traced_collective", &traced_collective, "program"_a, "instances"_a, "batched"_a);
  m.def(
      "_own_collective",
      [](const DropInProgram& program, const BoundAlgorithm& algorithm) {
        const Collective& c = program.program().collective();
        return c.refined(parts_of(c, *algorithm.algorithm));
      },
      "program"_a, "algorithm"_a);
}

}  // namespace hocket::python
