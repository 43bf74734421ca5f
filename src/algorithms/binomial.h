// Binomial trees. Ranks are renumbered from the root, which is place 0; a place's parent is the
// place with its lowest set bit cleared, so that the subtree of a place is a run of consecutive
// places.
#pragma once

#include <algorithm>
#include <vector>

namespace hocket::algorithms {

class BinomialTree {
 public:
  BinomialTree(int ranks, int root) : ranks_(ranks), root_(root) {}

  int rank(int place) const {
    return static_cast<int>((static_cast<long long>(place) + root_) % ranks_);
  }
  int parent(int place) const { return place & (place - 1); }
  // Places of the subtree: place, place + 1, ...
  int subtree(int place) const {
    return place == 0 ? ranks_ : std::min(place & -place, ranks_ - place);
  }
  // Nearest (smallest subtree) first.
  std::vector<int> children(int place) const {
    std::vector<int> list;
    for (long long bit = 1; bit < subtree(place); bit *= 2) {
      list.push_back(static_cast<int>(place + bit));
    }
    return list;
  }

 private:
  int ranks_;
  int root_;
};

}  // namespace hocket::algorithms
