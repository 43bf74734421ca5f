// Making the collective; see the header.
#include "export/xml_collective.h"

#include <fmt/format.h>

#include "export/custom_slots.h"

namespace hocket {
namespace {

// The tables of attributes; an enumerator is the position of its name.
namespace coll {
enum { name, factor, split, postcondition, kCount };
constexpr std::array<const char*, kCount> kNames = {"name", "factor", "split", "postcondition"};
}  // namespace coll
namespace rank {
enum { id, i_chunks, o_chunks, kCount };
constexpr std::array<const char*, kCount> kNames = {"id", "i_chunks", "o_chunks"};
}  // namespace rank
namespace slots {
enum { buf, off, cnt, kCount };
constexpr std::array<const char*, kCount> kNames = {"buf", "off", "cnt"};
}  // namespace slots
namespace from {
enum { rank, last, index, kCount };
constexpr std::array<const char*, kCount> kNames = {"rank", "last", "index"};
}  // namespace from

class CollectiveReader {
 public:
  CollectiveReader(const XmlDocument& document, const Algorithm& algorithm,
                   const CollectiveFacts& facts)
      : doc_(document), a_(algorithm), facts_(facts), ranks_(algorithm.num_ranks()) {}

  Collective read() const {
    if (facts_.kind == CollectiveKind::custom) return custom();
    std::int32_t factor = a_.chunks_per_loop;
    const CollectiveKind kind = facts_.kind;
    const bool by_rank = kind == CollectiveKind::allgather ||
                         kind == CollectiveKind::reduce_scatter ||
                         kind == CollectiveKind::alltoall || kind == CollectiveKind::gather ||
                         kind == CollectiveKind::scatter;
    if (by_rank) {
      if (factor % ranks_ != 0) {
        doc_.fail(Code::XmlValue, facts_.chunks_place,
                  fmt::format("nchunksperloop {}, expected a multiple of the {} ranks for {}",
                              factor, ranks_, collective_kind_name(kind)));
      }
      factor /= ranks_;
    }
    std::int32_t root = 0;
    if (has_root(kind)) root = facts_.root ? *facts_.root : inferred_root();
    return Collective::make(kind, ranks_, factor, facts_.in_place, root);
  }

 private:
  // The runtimes bake the root into the steps. It is the one rank that receives nothing (broadcast,
  // scatter) or sends nothing (reduce, gather), if there is exactly one such; else 0.
  std::int32_t inferred_root() const {
    const bool source =
        facts_.kind == CollectiveKind::broadcast || facts_.kind == CollectiveKind::scatter;
    std::int32_t found = -1;
    for (std::int32_t r = 0; r < ranks_; ++r) {
      bool moves = false;
      for (const ThreadBlock& block : a_.ranks[static_cast<std::size_t>(r)].threadblocks) {
        for (const Step& st : a_.steps_of(block)) {
          moves = moves || (source ? op_info(st.op).receives : op_info(st.op).sends);
        }
      }
      if (moves) continue;
      if (found >= 0) return 0;
      found = r;
    }
    return found < 0 ? 0 : found;
  }

  Collective custom() const {
    const char* at = facts_.element ? facts_.element.name() : doc_.root().name();
    const CustomBuilder::Fail fail = [&](bool too_large, const std::string& message) {
      doc_.fail(too_large ? Code::XmlTooLarge : Code::XmlRange, at, message);
    };
    if (!facts_.element) {
      // Only the name is known: sizes from the file, nothing to check against.
      CustomBuilder builder("custom", ranks_, a_.chunks_per_loop, facts_.in_place, doc_.size(),
                            fail);
      for (std::int32_t r = 0; r < ranks_; ++r) {
        const RankProgram& program = a_.ranks[static_cast<std::size_t>(r)];
        builder.buffers(r, program.input_chunks, program.output_chunks, fail);
      }
      return builder.build(1, false, fail);
    }
    const Attributes<coll::kCount> x(doc_, facts_.element, coll::kNames);
    CustomBuilder builder(std::string(x.text(coll::name)), ranks_, x.int32(coll::factor, 1),
                          facts_.in_place, doc_.size(), fail);
    doc_.for_children(facts_.element, [&](pugi::xml_node child) {
      at = child.name();
      if (std::string_view(at) != "rank") {
        doc_.warn_unknown(at, "collective", "element", at);
        return;
      }
      const Attributes<rank::kCount> sizes(doc_, child, rank::kNames);
      const std::int32_t r = sizes.int32(rank::id, 0, ranks_ - 1);
      builder.buffers(r, sizes.int32(rank::i_chunks, 0), sizes.int32(rank::o_chunks, 0), fail);
      doc_.for_children(child, [&](pugi::xml_node said) {
        at = said.name();
        const std::string_view tag = at;
        if (tag == "hold") {
          builder.holds(r, slot_run(said), fail);
        } else if (tag == "want") {
          builder.wants(r, slot_run(said), fail);
        } else {
          doc_.warn_unknown(at, "rank", "element", tag);
        }
      });
    });
    at = facts_.element.name();
    return builder.build(x.int32(coll::split, 1), x.int32(coll::postcondition, 0, 1) != 0, fail);
  }

  SlotRun slot_run(pugi::xml_node node) const {
    const Attributes<slots::kCount> x(doc_, node, slots::kNames);
    SlotRun run;
    const std::string_view letter = x.text(slots::buf);
    if (letter != "i" && letter != "o") {
      x.bad(slots::buf, Code::XmlValue, fmt::format("\"{}\", expected i or o", letter));
    }
    run.buffer = letter == "i" ? BufferKind::input : BufferKind::output;
    run.first = x.int32(slots::off, 0);
    run.count = x.int32(slots::cnt, 1);
    doc_.for_children(node, [&](pugi::xml_node child) {
      if (std::string_view(child.name()) != "from") {
        doc_.warn_unknown(child.name(), node.name(), "element", child.name());
        return;
      }
      const Attributes<from::kCount> o(doc_, child, from::kNames);
      const std::int32_t first = o.int32(from::rank, 0, ranks_ - 1);
      run.origins.push_back(
          {first, static_cast<std::int32_t>(o.number_or(from::last, first, ranks_ - 1, first)),
           o.int32(from::index, 0)});
    });
    return run;
  }

  const XmlDocument& doc_;
  const Algorithm& a_;
  const CollectiveFacts& facts_;
  std::int32_t ranks_;
};

}  // namespace

Collective read_collective(const XmlDocument& document, const Algorithm& algorithm,
                           const CollectiveFacts& facts) {
  return CollectiveReader(document, algorithm, facts).read();
}

}  // namespace hocket
