#include "random/program_spec.h"

#include <fmt/format.h>

#include <optional>

namespace hocket::random_test {
namespace {

using fmt::format;

Buffer buffer_of(int number) {
  if (number == 0) return Buffer::input;
  if (number == 1) return Buffer::output;
  return Buffer(format("s{}", number));
}

std::string buffer_text(int number) {
  if (number == 0) return "Buffer::input";
  if (number == 1) return "Buffer::output";
  return format("\"s{}\"", number);
}

CustomCollective declare(const ProgramSpec& spec) {
  const CollectiveSpec& c = spec.collective;
  CustomCollective custom("random", spec.ranks, c.chunk_factor, c.in_place);
  for (int r = 0; r < spec.ranks; ++r) {
    const RankShape& shape = c.shapes[static_cast<std::size_t>(r)];
    custom.buffers(r, shape.input, shape.output);
    for (int i = 0; i < shape.input; ++i) {
      if (shape.input_holds[static_cast<std::size_t>(i)]) {
        custom.holds(r, {BufferKind::input, i}, {r, i});
      }
    }
    for (int i = 0; i < shape.output; ++i) {
      if (shape.output_holds[static_cast<std::size_t>(i)]) {
        custom.holds(r, {BufferKind::output, i}, {r, shape.input + i});
      }
    }
  }
  return custom;
}

// The Ref of the source, made in the way the call says.
Ref source(Program& p, const Call& call) {
  const Place& s = call.src;
  const Buffer buffer = buffer_of(s.buffer);
  switch (call.shape) {
    case Shape::direct:
      break;
    case Shape::split: {
      const auto larger = 2 * s.size;
      if (s.index + larger > p.buffer_size(s.rank, buffer)) break;
      for (int i = s.index; i < s.index + larger; ++i) {
        if (!p.content(s.rank, buffer, i)) return p.chunk(s.rank, buffer, s.index, s.size);
      }
      return p.chunk(s.rank, buffer, s.index, larger).split(2)[0];
    }
    case Shape::grouped: {
      if (s.size < 2) break;
      Ref all = p.chunk(s.rank, buffer, s.index);
      for (int i = 1; i < s.size; ++i) all = all.group(p.chunk(s.rank, buffer, s.index + i));
      return all;
    }
    case Shape::overlap: {
      if (s.size < 3) break;
      const Ref low = p.chunk(s.rank, buffer, s.index, s.size - 1);
      return p.chunk(s.rank, buffer, s.index + 1, s.size - 1).group(low);
    }
  }
  return p.chunk(s.rank, buffer, s.index, s.size);
}

std::string source_text(const Call& call) {
  const Place& s = call.src;
  const std::string buffer = buffer_text(s.buffer);
  const auto chunk = [&](int index, int size) {
    return size == 1 ? format("p.chunk({}, {}, {})", s.rank, buffer, index)
                     : format("p.chunk({}, {}, {}, {})", s.rank, buffer, index, size);
  };
  switch (call.shape) {
    case Shape::split:
      return chunk(s.index, 2 * s.size) + ".split(2)[0]";
    case Shape::grouped: {
      std::string all = chunk(s.index, 1);
      for (int i = 1; i < s.size; ++i) all += ".group(" + chunk(s.index + i, 1) + ")";
      return all;
    }
    case Shape::overlap:
      if (s.size < 3) break;
      return chunk(s.index + 1, s.size - 1) + ".group(" + chunk(s.index, s.size - 1) + ")";
    case Shape::direct:
      break;
  }
  return chunk(s.index, s.size);
}

std::string via_text(const Via& via) {
  std::string text;
  const auto add = [&](const char* name, int value) {
    if (value == -1) return;
    if (!text.empty()) text += ", ";
    text += format(".{} = {}", name, value);
  };
  add("channel", via.channel);
  add("send_tb", via.send_tb);
  add("recv_tb", via.recv_tb);
  return text.empty() ? "" : ", {" + text + "}";
}

std::string call_text(const Call& call) {
  const Place& d = call.dst;
  if (call.reduce) {
    return format("p.chunk({}, {}, {}, {}).reduce({}{});", d.rank, buffer_text(d.buffer), d.index,
                  d.size, source_text(call), via_text(call.via));
  }
  switch (call.form) {
    case Form::same_place:
      return format("{}.copy({}{});", source_text(call), d.rank, via_text(call.via));
    case Form::append:
      return format("{}.copy({}, {}{});", source_text(call), d.rank, buffer_text(d.buffer),
                    via_text(call.via));
    case Form::explicit_place:
      break;
  }
  return format("{}.copy({}, {}, {}{});", source_text(call), d.rank, buffer_text(d.buffer), d.index,
                via_text(call.via));
}

std::string collective_text(const ProgramSpec& spec) {
  const CollectiveSpec& c = spec.collective;
  if (c.kind != CollectiveKind::custom) {
    return format("  auto collective = Collective::make(CollectiveKind::{}, {}, {}, {}, {});\n",
                  collective_kind_name(c.kind), spec.ranks, c.chunk_factor, c.in_place, c.root);
  }
  std::string text = format("  CustomCollective c(\"random\", {}, {}, {});\n", spec.ranks,
                            c.chunk_factor, c.in_place);
  for (int r = 0; r < spec.ranks; ++r) {
    const RankShape& shape = c.shapes[static_cast<std::size_t>(r)];
    text += format("  c.buffers({}, {}, {});", r, shape.input, shape.output);
    for (int i = 0; i < shape.input; ++i) {
      if (!shape.input_holds[static_cast<std::size_t>(i)]) text += format("  // no input[{}]", i);
    }
    for (int i = 0; i < shape.output; ++i) {
      if (shape.output_holds[static_cast<std::size_t>(i)])
        text += format("  // output[{}] held", i);
    }
    text += "\n";
  }
  text += spec.requirement.all
              ? "  // requires every slot that holds something at the end\n"
              : format("  // requires some of the slots, chosen by {}\n", spec.requirement.choice);
  return text;
}

}  // namespace

Collective collective_of(const ProgramSpec& spec) {
  const CollectiveSpec& c = spec.collective;
  if (c.kind != CollectiveKind::custom) {
    return Collective::make(c.kind, spec.ranks, c.chunk_factor, c.in_place, c.root);
  }
  return declare(spec).build();
}

Collective collective_of(const ProgramSpec& spec, const std::vector<Required>& required) {
  if (spec.collective.kind != CollectiveKind::custom) return collective_of(spec);
  CustomCollective custom = declare(spec);
  for (const Required& r : required) custom.requires_(r.rank, r.slot, r.content);
  return custom.build();
}

bool to_custom(ProgramSpec& spec) {
  if (spec.collective.kind == CollectiveKind::custom || spec.collective.in_place) return false;
  const Collective built_in = collective_of(spec);
  for (int r = 0; r < spec.ranks; ++r) {
    RankShape shape;
    shape.input = built_in.input_chunks(r);
    shape.output = built_in.output_chunks(r);
    for (int i = 0; i < shape.input; ++i) {
      shape.input_holds.push_back(built_in.initial(r, {BufferKind::input, i}).has_value());
    }
    shape.output_holds.assign(static_cast<std::size_t>(shape.output), false);
    spec.collective.shapes.push_back(shape);
  }
  spec.collective.kind = CollectiveKind::custom;
  spec.collective.root = 0;
  spec.collective.chunk_factor = 1;
  spec.options.replication = Replication::interleaved;  // batched needs a collective that allows it
  return true;
}

Program replay(const ProgramSpec& spec, const Collective& collective) {
  const Topology topology =
      spec.links.empty() ? fully_connected(spec.ranks) : Topology::from_table("random", spec.links);
  Program p("random", topology, collective, spec.options);
  std::optional<Fragment> open;
  int fragment = 0;
  std::uint32_t line = 0;
  for (const Call& call : spec.calls) {
    if (call.fragment != fragment) {
      open.reset();
      fragment = call.fragment;
      if (fragment != 0) {
        open.emplace(p.parallelize(spec.fragments[static_cast<std::size_t>(fragment)]));
      }
    }
    const CallSite at("random", ++line);
    const Place& d = call.dst;
    if (call.reduce) {
      const Ref other = source(p, call);
      p.chunk(d.rank, buffer_of(d.buffer), d.index, d.size, at).reduce(other, call.via, at);
      continue;
    }
    const Ref from = source(p, call);
    switch (call.form) {
      case Form::explicit_place:
        from.copy(d.rank, buffer_of(d.buffer), d.index, call.via, at);
        break;
      case Form::same_place:
        from.copy(d.rank, call.via, at);
        break;
      case Form::append:
        from.copy(d.rank, buffer_of(d.buffer), call.via, at);
        break;
    }
  }
  return p;
}

std::string listing(const ProgramSpec& spec) {
  const ProgramOptions& o = spec.options;
  std::string text = collective_text(spec);
  text += format(
      "  ProgramOptions o;  // protocol {}, instances {}, {}, {}, fuse {}, dependence_nop {}, "
      "lenient {}\n",
      protocol_name(o.protocol), o.instances,
      o.replication == Replication::batched ? "batched" : "interleaved",
      o.placement == Placement::manual ? "manual" : "automatic", o.fuse, o.dependence_nop,
      o.lenient_placement);
  text += format("  Program p(\"random\", {}({}), collective, o);\n",
                 spec.links.empty() ? "fully_connected" : "a sparse topology", spec.ranks);
  int fragment = 0;
  for (const Call& call : spec.calls) {
    if (call.fragment != fragment) {
      if (fragment != 0) text += "  }\n";
      fragment = call.fragment;
      if (fragment != 0) {
        text += format("  {{ auto f = p.parallelize({});\n",
                       spec.fragments[static_cast<std::size_t>(fragment)]);
      }
    }
    text += "  " + call_text(call) + "\n";
  }
  if (fragment != 0) text += "  }\n";
  return text;
}

}  // namespace hocket::random_test
