// Reads the XML of every dialect into an algorithm.
//
// Tolerant where the runtimes are: attributes in any order, comments, gpus and threadblocks in any
// order, unknown elements and attributes (a warning). Strict where they refuse a file, and where
// they would accept it and then hang, overrun or compute something else than it says: such a file
// is an error with its line, so that whoever reads an algorithm from here can rely on its
// structure.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "export/xml_collective.h"
#include "export/xml_document.h"
#include "hocket/format.h"

namespace hocket {
namespace {

constexpr std::int32_t kMaxInt = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxLong = std::numeric_limits<std::int64_t>::max();

// The tables of attributes; an enumerator is the position of its name.
namespace algo {
enum {
  name,
  proto,
  nchannels,
  nchunksperloop,
  ngpus,
  coll,
  inplace,
  outofplace,
  min_bytes,
  max_bytes,
  nthreads,
  root,
  aliased,
  kCount
};
constexpr std::array<const char*, kCount> kNames = {
    "name",       "proto",    "nchannels", "nchunksperloop", "ngpus", "coll",   "inplace",
    "outofplace", "minBytes", "maxBytes",  "nthreads",       "root",  "aliased"};
}  // namespace algo
namespace gpu {
enum { id, i_chunks, o_chunks, s_chunks, kCount };
constexpr std::array<const char*, kCount> kNames = {"id", "i_chunks", "o_chunks", "s_chunks"};
}  // namespace gpu
namespace tb {
enum { id, send, recv, chan, kCount };
constexpr std::array<const char*, kCount> kNames = {"id", "send", "recv", "chan"};
}  // namespace tb
namespace step {
enum { s, type, srcbuf, srcoff, dstbuf, dstoff, cnt, depid, deps, hasdep, line, kCount };
constexpr std::array<const char*, kCount> kNames = {
    "s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep", "line"};
}  // namespace step
namespace source {
enum { id, file, line, kCount };
constexpr std::array<const char*, kCount> kNames = {"id", "file", "line"};
}  // namespace source

// The dialects' names of collectives that differ from ours.
std::optional<CollectiveKind> collective_from_xml(std::string_view name) {
  if (name == "reducescatter") return CollectiveKind::reduce_scatter;
  return collective_kind_from_name(name);
}

// A child that can be looked at by number, wherever it stands in the file.
using Children = std::vector<pugi::xml_node>;

class Reader {
 public:
  Reader(std::string_view text, std::string file, const DiagnosticSink& warn)
      : doc_(text, std::move(file), "algo", warn) {}

  Algorithm read() {
    const Attributes<algo::kCount> root(doc_, doc_.root(), algo::kNames);
    read_root(root);
    sort_root_children();
    a_.ranks.resize(gpus_.size());
    read_sources();
    for (std::size_t r = 0; r < gpus_.size(); ++r) read_gpu(r);
    doc_.context.clear();
    const CollectiveFacts facts = collective_facts(root);
    a_.collective = read_collective(doc_, a_, facts);
    a_.root_guessed = has_root(kind_) && !facts.root;
    return std::move(a_);
  }

 private:
  void read_root(const Attributes<algo::kCount>& root) {
    a_.name = root.has(algo::name) ? std::string(root.text(algo::name)) : std::string("unnamed");
    const auto protocol = protocol_from_name(root.text(algo::proto));
    if (!protocol) {
      root.bad(algo::proto, Code::XmlValue,
               fmt::format("\"{}\", expected Simple, LL or LL128", root.text(algo::proto)));
    }
    a_.protocol = *protocol;
    a_.num_channels = root.int32(algo::nchannels, 0);
    a_.chunks_per_loop = root.int32(algo::nchunksperloop, 1);
    ranks_ = root.int32(algo::ngpus, 1, kMaxFormatRanks);
    const auto kind = collective_from_xml(root.text(algo::coll));
    if (!kind) {
      root.bad(algo::coll, Code::XmlValue,
               fmt::format("\"{}\", expected allreduce, allgather, reduce, broadcast, alltoall, "
                           "reduce_scatter, reducescatter, gather, scatter, all_to_next_forward, "
                           "all_to_next_backward or custom",
                           root.text(algo::coll)));
    }
    kind_ = *kind;
    a_.in_place = flag(root, algo::inplace);
    a_.out_of_place = root.has(algo::outofplace) ? flag(root, algo::outofplace) : !a_.in_place;
    a_.min_bytes = root.number_or(algo::min_bytes, 0, kMaxLong, 0);
    read_max_bytes(root);
    if (root.has(algo::nthreads)) {
      a_.num_threads = root.int32(algo::nthreads, 0);
      if (*a_.num_threads % 32 != 0) {
        root.bad(algo::nthreads, Code::XmlValue,
                 fmt::format("{}, expected a multiple of 32", *a_.num_threads));
      }
    }
  }

  // With `outofplace` the file is in the dialect of RCCL and the executor, whose limit is inclusive
  // and 0 for none; without it, in MSCCL's, whose limit is exclusive.
  void read_max_bytes(const Attributes<algo::kCount>& root) {
    if (!root.has(algo::max_bytes)) return;
    const std::int64_t limit = root.number(algo::max_bytes, 0, kMaxLong);
    if (root.has(algo::outofplace)) {
      if (limit != 0) a_.max_bytes = limit;
    } else if (limit != kMaxLong) {
      a_.max_bytes = limit - 1;
    }
    if (a_.max_bytes && (*a_.max_bytes < 1 || *a_.max_bytes < a_.min_bytes)) {
      root.bad(algo::max_bytes, Code::XmlRange,
               fmt::format("{} with minBytes {} leaves no message size", limit, a_.min_bytes));
    }
  }

  template <std::size_t N>
  bool flag(const Attributes<N>& attributes, std::size_t i) const {
    return attributes.number(i, std::numeric_limits<std::int32_t>::min(), kMaxInt) != 0;
  }

  // Puts `node` at its id. The ids must turn out to be 0 .. n-1; see check_dense().
  void place(Children& children, pugi::xml_node node, std::int64_t id, std::string_view what) {
    const auto i = static_cast<std::size_t>(id);
    if (i < children.size() && children[i]) {
      doc_.fail(Code::XmlDuplicate, node.name(), fmt::format("{} {} a second time", what, id));
    }
    if (i >= children.size()) children.resize(i + 1);
    children[i] = node;
  }

  // The ids of `count` children all lie below `children.size()` and differ; so one is missing
  // exactly when there are fewer.
  void check_dense(const Children& children, std::size_t expected, pugi::xml_node parent,
                   std::string_view what) {
    for (std::size_t i = 0; i < expected; ++i) {
      if (i < children.size() && children[i]) continue;
      doc_.fail(Code::XmlGap, parent.name(),
                fmt::format("no {} {}, expected {} 0 to {}", what, i, what, expected - 1));
    }
  }

  static std::int64_t count_children(pugi::xml_node parent, std::string_view name) {
    std::int64_t n = 0;
    for (const pugi::xml_node child : parent.children()) n += name == child.name() ? 1 : 0;
    return n;
  }

  void sort_root_children() {
    doc_.for_children(doc_.root(), [&](pugi::xml_node child) {
      const std::string_view name = child.name();
      if (name == "gpu") {
        const Attributes<gpu::kCount> attributes(doc_, child, gpu::kNames);
        place(gpus_, child, attributes.int32(gpu::id, 0, ranks_ - 1), "gpu");
      } else if (name == "collective" && !collective_) {
        collective_ = child;
      } else if (name == "sources" && !sources_) {
        sources_ = child;
      } else {
        doc_.warn_unknown(child.name(), "algo", "element", name);
      }
    });
    check_dense(gpus_, static_cast<std::size_t>(ranks_), doc_.root(), "gpu");
  }

  void read_sources() {
    if (!sources_) return;
    a_.locations.emplace_back();
    doc_.for_children(sources_, [&](pugi::xml_node child) {
      const Attributes<source::kCount> attributes(doc_, child, source::kNames);
      const auto expected = static_cast<std::int32_t>(a_.locations.size());
      if (attributes.int32(source::id, 1) != expected) {
        attributes.bad(source::id, Code::XmlGap,
                       fmt::format("{}, expected {}", attributes.text(source::id), expected));
      }
      a_.locations.emplace_back(std::string(attributes.text(source::file)),
                                static_cast<std::uint32_t>(attributes.number(
                                    source::line, 0, std::numeric_limits<std::uint32_t>::max())));
    });
  }

  void read_gpu(std::size_t r) {
    const pugi::xml_node node = gpus_[r];
    doc_.context = fmt::format("rank {}: ", r);
    const Attributes<gpu::kCount> attributes(doc_, node, gpu::kNames);
    RankProgram& program = a_.ranks[r];
    program.input_chunks = attributes.int32(gpu::i_chunks, 0);
    program.output_chunks = attributes.int32(gpu::o_chunks, 0);
    program.scratch_chunks = attributes.int32(gpu::s_chunks, 0);

    tbs_.clear();
    const std::int64_t count = count_children(node, "tb");
    doc_.for_children(node, [&](pugi::xml_node child) {
      if (std::string_view(child.name()) != "tb") {
        doc_.warn_unknown(child.name(), "gpu", "element", child.name());
        return;
      }
      const Attributes<tb::kCount> ids(doc_, child, tb::kNames);
      const std::int64_t id = ids.int32(tb::id, 0);
      if (id >= count) {
        ids.bad(tb::id, Code::XmlGap,
                fmt::format("{} of {} threadblocks, expected 0 to {}", id, count, count - 1));
      }
      place(tbs_, child, id, "tb");
    });
    check_dense(tbs_, static_cast<std::size_t>(count), node, "tb");

    program.threadblocks.resize(tbs_.size());
    // Step counts come first: a dependence may name a threadblock that stands further down.
    for (std::size_t t = 0; t < tbs_.size(); ++t) {
      program.threadblocks[t].num_steps =
          static_cast<std::uint32_t>(count_children(tbs_[t], "step"));
    }
    for (std::size_t t = 0; t < tbs_.size(); ++t) {
      doc_.context = fmt::format("rank {}, threadblock {}: ", r, t);
      read_tb(static_cast<std::int32_t>(r), program, t);
    }
  }

  void read_tb(std::int32_t r, const RankProgram& program, std::size_t t) {
    const pugi::xml_node node = tbs_[t];
    const Attributes<tb::kCount> attributes(doc_, node, tb::kNames);
    ThreadBlock& block = a_.ranks[static_cast<std::size_t>(r)].threadblocks[t];
    block.send = peer(attributes, tb::send, r);
    block.recv = peer(attributes, tb::recv, r);
    block.channel = attributes.int32(tb::chan, 0);
    if ((block.send >= 0 || block.recv >= 0) && block.channel >= a_.num_channels) {
      attributes.bad(tb::chan, Code::XmlRange,
                     fmt::format("{}, but nchannels is {}: the runtimes would never connect it",
                                 block.channel, a_.num_channels));
    }
    block.first_step = static_cast<std::uint32_t>(a_.steps.size());
    pending_ = false;
    std::int32_t position = 0;
    doc_.for_children(node, [&](pugi::xml_node child) {
      if (std::string_view(child.name()) != "step") {
        doc_.warn_unknown(child.name(), "tb", "element", child.name());
        return;
      }
      read_step(program, block, position++, child);
    });
  }

  std::int32_t peer(const Attributes<tb::kCount>& attributes, std::size_t i, std::int32_t r) {
    const std::int32_t p = attributes.int32(i, -1, ranks_ - 1);
    if (p == r) attributes.bad(i, Code::XmlPeer, fmt::format("{}, the rank itself", p));
    return p;
  }

  void read_step(const RankProgram& program, const ThreadBlock& block, std::int32_t position,
                 pugi::xml_node node) {
    using step::kCount;
    const Attributes<kCount> x(doc_, node, step::kNames);
    if (x.int32(step::s, 0) != position) {
      x.bad(step::s, Code::XmlValue,
            fmt::format("{}, expected {}: its position, by which the runtimes number steps",
                        x.text(step::s), position));
    }
    const auto op = op_from_name(x.text(step::type));
    if (!op) {
      x.bad(step::type, Code::XmlValue,
            fmt::format("\"{}\", expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop",
                        x.text(step::type)));
    }
    const OpInfo& info = op_info(*op);
    const bool real = *op != OpCode::nop;
    Step st;
    st.op = *op;
    st.src_buffer = buffer(x, step::srcbuf);
    st.dst_buffer = buffer(x, step::dstbuf);
    st.src_offset = x.int32(step::srcoff, -1);
    st.dst_offset = x.int32(step::dstoff, -1);
    st.count = x.int32(step::cnt, real ? 1 : std::numeric_limits<std::int32_t>::min());
    if (info.reads_src)
      check_operand(x, step::srcoff, st.src_offset, st.count, st.src_buffer, program);
    if (info.writes_dst)
      check_operand(x, step::dstoff, st.dst_offset, st.count, st.dst_buffer, program);
    read_dependence(x, st, program);
    st.has_dependent = x.number(step::hasdep, real ? 0 : std::numeric_limits<std::int32_t>::min(),
                                real ? 1 : kMaxInt) != 0;
    if (info.sends && block.send < 0) {
      x.bad(step::type, Code::XmlPeer,
            fmt::format("{} sends, but the threadblock has no peer to send to", info.name));
    }
    if (info.receives && block.recv < 0) {
      x.bad(step::type, Code::XmlPeer,
            fmt::format("{} receives, but the threadblock has no peer to receive from", info.name));
    }
    if (sources_) {
      a_.step_locations.push_back(static_cast<std::uint32_t>(
          x.number_or(step::line, 0, static_cast<std::int64_t>(a_.locations.size()) - 1, 0)));
    }
    a_.steps.push_back(st);
  }

  BufferKind buffer(const Attributes<step::kCount>& x, std::size_t i) const {
    const std::string_view letter = x.text(i);
    if (letter == "i") return BufferKind::input;
    if (letter == "o") return BufferKind::output;
    if (letter == "s") return BufferKind::scratch;
    x.bad(i, Code::XmlValue, fmt::format("\"{}\", expected i, o or s", letter));
  }

  void check_operand(const Attributes<step::kCount>& x, std::size_t i, std::int32_t offset,
                     std::int32_t count, BufferKind kind, const RankProgram& program) const {
    const std::int32_t size = program.chunks(kind);
    if (offset < 0 || offset > size - count) {
      x.bad(i, Code::XmlRange,
            fmt::format("{} with {} chunk{}, but the {} buffer has {}", offset, count,
                        count == 1 ? "" : "s", buffer_kind_name(kind), size));
    }
  }

  // Waits collect over nops until a real step, which must have a wait of its own: the loaders
  // refuse the file otherwise.
  void read_dependence(const Attributes<step::kCount>& x, Step& st, const RankProgram& program) {
    const std::int32_t id = x.int32(step::depid, std::numeric_limits<std::int32_t>::min());
    const std::int32_t at = x.int32(step::deps, std::numeric_limits<std::int32_t>::min());
    if (id < 0) {
      if (st.op == OpCode::nop) {
        x.bad(step::depid, Code::XmlValue,
              fmt::format("{} on a nop, expected a threadblock: a nop is one more dependence", id));
      }
      if (pending_) {
        x.bad(
            step::depid, Code::XmlValue,
            fmt::format("{} after a nop, expected a threadblock: the runtimes keep the dependences "
                        "of nops only for a step that has one itself",
                        id),
            "move the last nop's dependence to this step");
      }
      return;
    }
    if (static_cast<std::size_t>(id) >= program.threadblocks.size()) {
      x.bad(step::depid, Code::XmlRange,
            fmt::format("{}, but the rank has {} threadblocks", id, program.threadblocks.size()));
    }
    const std::uint32_t steps = program.threadblocks[static_cast<std::size_t>(id)].num_steps;
    if (at < 0 || static_cast<std::uint32_t>(at) >= steps) {
      x.bad(step::deps, Code::XmlRange,
            fmt::format("{}, but threadblock {} has {} steps", at, id, steps));
    }
    st.depend_tb = id;
    st.depend_step = at;
    pending_ = st.op == OpCode::nop;
  }

  CollectiveFacts collective_facts(const Attributes<algo::kCount>& root) const {
    CollectiveFacts facts;
    facts.kind = kind_;
    facts.in_place =
        root.has(algo::aliased) ? flag(root, algo::aliased) : a_.in_place && !a_.out_of_place;
    if (has_root(kind_) && root.has(algo::root)) {
      facts.root = root.int32(algo::root, 0, ranks_ - 1);
    }
    facts.chunks_place = root.place(algo::nchunksperloop);
    facts.element = collective_;
    return facts;
  }

  XmlDocument doc_;
  Algorithm a_;
  std::int32_t ranks_ = 0;
  CollectiveKind kind_ = CollectiveKind::custom;
  Children gpus_;
  Children tbs_;
  pugi::xml_node collective_;
  pugi::xml_node sources_;
  bool pending_ = false;  // nops whose dependences no real step has taken yet
};

}  // namespace

Algorithm from_xml(std::string_view text, std::string file, const DiagnosticSink& warn) {
  return Reader(text, std::move(file), warn).read();
}

}  // namespace hocket
