// Makes a failing program small: tries simpler programs and keeps those that fail in the same way.
#include <algorithm>
#include <functional>

#include "random/property.h"

namespace hocket::random_test {
namespace {

using Edit = std::function<bool(ProgramSpec&)>;  // false: nothing to change

class Shrinker {
 public:
  Shrinker(ProgramSpec spec, const Checks& checks, std::string fault)
      : best_(std::move(spec)), checks_(checks), fault_(std::move(fault)) {}

  ProgramSpec run() {
    for (bool better = true; better;) {
      better = drop_calls();
      for (const Edit& edit : whole_edits()) better = attempt(edit) || better;
      for (std::size_t i = 0; i < best_.calls.size(); ++i) better = simplify_call(i) || better;
    }
    return best_;
  }

 private:
  bool attempt(const Edit& edit) {
    ProgramSpec candidate = best_;
    if (!edit(candidate)) return false;
    const Outcome outcome = check_program(candidate, checks_);
    if (outcome.right || outcome.fault != fault_) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool drop_calls() {
    bool better = false;
    for (std::size_t length = std::max<std::size_t>(best_.calls.size() / 2, 1);; length /= 2) {
      for (std::size_t i = 0; i + length <= best_.calls.size();) {
        const bool dropped = attempt([&](ProgramSpec& spec) {
          const auto from = spec.calls.begin() + static_cast<std::ptrdiff_t>(i);
          spec.calls.erase(from, from + static_cast<std::ptrdiff_t>(length));
          return true;
        });
        better = better || dropped;
        if (!dropped) ++i;
      }
      if (length <= 1) return better;
    }
  }

  template <typename T>
  static bool set(T& value, const T& simpler) {
    if (value == simpler) return false;
    value = simpler;
    return true;
  }

  static std::vector<Edit> whole_edits() {
    return {
        [](ProgramSpec& s) { return set(s.options.instances, 1); },
        [](ProgramSpec& s) { return s.options.instances > 2 && set(s.options.instances, 2); },
        [](ProgramSpec& s) { return set(s.options.replication, Replication::interleaved); },
        [](ProgramSpec& s) { return set(s.options.fuse, false); },
        [](ProgramSpec& s) { return set(s.options.dependence_nop, false); },
        [](ProgramSpec& s) { return set(s.options.lenient_placement, false); },
        [](ProgramSpec& s) { return set(s.options.protocol, Protocol::simple); },
        [](ProgramSpec& s) { return set(s.requirement.all, true); },
        [](ProgramSpec& s) { return set(s.links, {}); },
        [](ProgramSpec& s) { return set(s.collective.in_place, false); },
        [](ProgramSpec& s) {
          for (Call& call : s.calls) call.fragment = 0;
          return set(s.fragments, {1});
        },
        [](ProgramSpec& s) {
          bool changed = set(s.options.placement, Placement::automatic);
          for (Call& call : s.calls) {
            changed = set(call.via.send_tb, -1) || changed;
            changed = set(call.via.recv_tb, -1) || changed;
          }
          return changed;
        },
        [](ProgramSpec& s) {
          bool changed = false;
          for (Call& call : s.calls) changed = set(call.via.channel, -1) || changed;
          return changed;
        },
        [](ProgramSpec& s) {
          if (s.ranks == 1 || s.collective.root == s.ranks - 1) return false;
          --s.ranks;
          if (!s.collective.shapes.empty()) s.collective.shapes.pop_back();
          if (!s.links.empty()) {
            s.links.pop_back();
            for (auto& row : s.links) row.pop_back();
          }
          return true;
        },
        [](ProgramSpec& s) {
          if (s.collective.kind == CollectiveKind::custom || s.collective.chunk_factor == 1) {
            return false;
          }
          --s.collective.chunk_factor;
          return true;
        },
        to_custom,
    };
  }

  bool simplify_call(std::size_t i) {
    bool better = false;
    const auto change = [&](auto&& edit) {
      better = attempt([&](ProgramSpec& spec) { return edit(spec.calls[i]); }) || better;
    };
    change([](Call& c) { return set(c.shape, Shape::direct); });
    change([](Call& c) { return set(c.form, Form::explicit_place); });
    change([](Call& c) { return set(c.via.channel, -1); });
    change([](Call& c) { return set(c.fragment, 0); });
    change([](Call& c) {
      c.dst.size = 1;
      return set(c.src.size, 1);
    });
    change([](Call& c) {
      if (c.src.size == 1) return false;
      --c.src.size;
      --c.dst.size;
      return true;
    });
    return better;
  }

  ProgramSpec best_;
  const Checks& checks_;
  const std::string fault_;
};

}  // namespace

ProgramSpec shrink(const ProgramSpec& spec, const Checks& checks, const Outcome& outcome) {
  return Shrinker(spec, checks, outcome.fault).run();
}

}  // namespace hocket::random_test
