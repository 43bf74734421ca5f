// Which links there are, by rule: a rule answers for any pair of ranks inside its range and keeps
// no more than it needs to.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hocket/topology.h"

namespace hocket {

class LinkRule {
 public:
  virtual ~LinkRule() = default;
  // 0 <= src, dst < the number of ranks.
  virtual Link link(int src, int dst) const = 0;
};

using LinkRulePtr = std::shared_ptr<const LinkRule>;

class NoLinks final : public LinkRule {
 public:
  Link link(int /*src*/, int /*dst*/) const override { return {}; }
};

class FullRule final : public LinkRule {
 public:
  explicit FullRule(double bandwidth) : bandwidth_(bandwidth) {}
  Link link(int src, int dst) const override { return src == dst ? Link{} : Link{bandwidth_, 0}; }

 private:
  double bandwidth_;
};

class RingRule final : public LinkRule {
 public:
  explicit RingRule(int ranks) : ranks_(ranks) {}
  Link link(int src, int dst) const override {
    const bool next = (src + 1) % ranks_ == dst;
    const bool previous = (dst + 1) % ranks_ == src;
    return next || previous ? Link{1, 0} : Link{};
  }

 private:
  int ranks_;
};

class LineRule final : public LinkRule {
 public:
  Link link(int src, int dst) const override {
    return src - dst == 1 || dst - src == 1 ? Link{1, 0} : Link{};
  }
};

class StarRule final : public LinkRule {
 public:
  Link link(int src, int dst) const override {
    return (src == 0) != (dst == 0) ? Link{1, 0} : Link{};
  }
};

// Bandwidths as a table, row by destination.
class TableRule final : public LinkRule {
 public:
  TableRule(int ranks, std::vector<double> table) : ranks_(ranks), table_(std::move(table)) {}
  Link link(int src, int dst) const override {
    const auto row = static_cast<std::size_t>(dst) * static_cast<std::size_t>(ranks_);
    return {table_[row + static_cast<std::size_t>(src)], 0};
  }

 private:
  int ranks_;
  std::vector<double> table_;
};

// Copies of a topology side by side, every two of them fully joined.
class CopiesRule final : public LinkRule {
 public:
  CopiesRule(Topology local, double remote_bandwidth)
      : local_(std::move(local)), local_ranks_(local_.num_ranks()), remote_(remote_bandwidth) {}
  Link link(int src, int dst) const override {
    if (src / local_ranks_ != dst / local_ranks_) return {remote_, 0};
    return local_.link(src % local_ranks_, dst % local_ranks_);
  }

 private:
  Topology local_;
  int local_ranks_;
  double remote_;
};

class ReversedRule final : public LinkRule {
 public:
  explicit ReversedRule(Topology of) : of_(std::move(of)) {}
  Link link(int src, int dst) const override { return of_.link(dst, src); }

 private:
  Topology of_;
};

class BinarizedRule final : public LinkRule {
 public:
  explicit BinarizedRule(Topology of) : of_(std::move(of)) {}
  Link link(int src, int dst) const override {
    const Link l = of_.link(src, dst);
    return l.bandwidth > 0 ? Link{1, l.latency_us} : Link{};
  }

 private:
  Topology of_;
};

}  // namespace hocket
