// What a Topology keeps: a rule for its links, the exceptions that were set one by one, and its
// switches, which are made on the first look at them (those of a big hub are n^2 numbers).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/topology.h"
#include "topo/link_rule.h"

namespace hocket {

class Topology::Impl {
 public:
  using MakeSwitches = std::function<std::vector<Switch>()>;

  Impl(std::string topology_name, int num_ranks, LinkRulePtr link_rule,
       MakeSwitches switches = nullptr)
      : name(std::move(topology_name)),
        ranks(num_ranks),
        rule(std::move(link_rule)),
        make_switches_(std::move(switches)) {}
  Impl(const Impl& other)
      : name(other.name),
        ranks(other.ranks),
        rule(other.rule),
        set_links(other.set_links),
        make_switches_(other.make_switches_),
        added_(other.added_) {}
  Impl& operator=(const Impl&) = delete;

  Link link(int src, int dst) const {
    if (src < 0 || src >= ranks || dst < 0 || dst >= ranks) return {};
    if (!set_links.empty()) {
      const auto found = set_links.find(key(src, dst));
      if (found != set_links.end()) return found->second;
    }
    return rule->link(src, dst);
  }

  static std::uint64_t key(int src, int dst) {
    return std::uint64_t{static_cast<std::uint32_t>(src)} << 32 | static_cast<std::uint32_t>(dst);
  }

  // Safe to call from several threads at once.
  const std::vector<Switch>& switches() const {
    if (!make_switches_) return added_;
    std::call_once(made_once_, [this] {
      made_ = make_switches_();
      made_.insert(made_.end(), added_.begin(), added_.end());
    });
    return made_;
  }

  // Not while others look.
  void add_switch(Switch s) {
    if (make_switches_) {
      std::vector<Switch> all = switches();
      make_switches_ = nullptr;
      added_ = std::move(all);
    }
    added_.push_back(std::move(s));
  }

  std::string name;
  int ranks;
  LinkRulePtr rule;
  std::unordered_map<std::uint64_t, Link> set_links;  // by key(); over the rule

 private:
  MakeSwitches make_switches_;
  std::vector<Switch> added_;
  mutable std::once_flag made_once_;
  mutable std::vector<Switch> made_;
};

}  // namespace hocket
