#include "random/program_generator.h"

#include <algorithm>
#include <map>
#include <set>

namespace hocket::random_test {
namespace {

// mt19937_64 is the same everywhere; the standard distributions are not, so none is used.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  std::uint64_t bits() { return engine_(); }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

// More contributions to a chunk than this are not interesting, and slow.
constexpr int kMaxContributions = 60;

struct Cell {
  int rank = 0;
  int buffer = 0;
  int index = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

// Which slots hold something, and of how many contributions. The one thing a program must know.
class Model {
 public:
  Model(const ProgramSpec& spec, const Collective& collective)
      : collective_(collective), scratch_(static_cast<std::size_t>(spec.ranks)) {
    for (int r = 0; r < spec.ranks; ++r) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (int i = 0; i < collective.chunks(r, kind); ++i) {
          if (collective.initial(r, {kind, i})) weight_[cell(r, static_cast<int>(kind), i)] = 1;
        }
      }
    }
  }

  Cell cell(int rank, int buffer, int index) const {
    if (buffer > 1) return {rank, buffer, index};
    const Slot slot = collective_.alias(rank, {static_cast<BufferKind>(buffer), index});
    return {rank, static_cast<int>(slot.buffer), slot.index};
  }
  // Chunks of a buffer; of a scratch buffer as it is now.
  int size(int rank, int buffer) const {
    if (buffer <= 1) return collective_.chunks(rank, static_cast<BufferKind>(buffer));
    const auto& lengths = scratch_[static_cast<std::size_t>(rank)];
    const auto found = lengths.find(buffer);
    return found == lengths.end() ? 0 : found->second;
  }
  int weight(const Cell& c) const {
    const auto found = weight_.find(c);
    return found == weight_.end() ? 0 : found->second;
  }
  std::vector<Cell> cells(const Place& p) const {
    std::vector<Cell> list;
    for (int i = 0; i < p.size; ++i) list.push_back(cell(p.rank, p.buffer, p.index + i));
    return list;
  }
  bool readable(const Place& p) const {
    if (p.index < 0 || p.index + p.size > size(p.rank, p.buffer)) return false;
    const auto list = cells(p);
    return std::all_of(list.begin(), list.end(), [this](const Cell& c) { return weight(c) > 0; });
  }
  bool overlap(const Place& a, const Place& b) const {
    const auto list = cells(a);
    const std::set<Cell> of_a(list.begin(), list.end());
    const auto other = cells(b);
    return std::any_of(other.begin(), other.end(),
                       [&](const Cell& c) { return of_a.count(c) != 0; });
  }

  void copy(const Place& from, const Place& to) {
    const auto src = cells(from);
    const auto dst = cells(to);
    for (std::size_t i = 0; i < src.size(); ++i) weight_[dst[i]] = weight(src[i]);
    if (to.buffer > 1) {
      int& length = scratch_[static_cast<std::size_t>(to.rank)][to.buffer];
      length = std::max(length, to.index + to.size);
    }
  }
  bool can_add(const Place& from, const Place& to) const {
    const auto src = cells(from);
    const auto dst = cells(to);
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (weight(src[i]) + weight(dst[i]) > kMaxContributions) return false;
    }
    return true;
  }
  void add(const Place& from, const Place& to) {
    const auto src = cells(from);
    const auto dst = cells(to);
    for (std::size_t i = 0; i < src.size(); ++i) weight_[dst[i]] += weight(src[i]);
  }

 private:
  const Collective& collective_;
  std::map<Cell, int> weight_;
  std::vector<std::map<int, int>> scratch_;  // lengths, by rank and buffer
};

class Generator {
 public:
  Generator(std::uint64_t seed, const GeneratorLimits& limits) : dice_(seed), limits_(limits) {}

  ProgramSpec run() {
    if (dice_.chance(4)) {
      // Runs of more chunks than one step of the public runtimes may have.
      wide_ = true;
      limits_.max_chunks = 150;
      limits_.max_calls = std::min(limits_.max_calls, 12);
      limits_.max_instances = std::min(limits_.max_instances, 2);
      max_size_ = 120;
      max_scratch_ = 200;
    }
    choose_shape();
    choose_options();
    const Collective collective = collective_of(spec_);
    Model model(spec_, collective);
    const int wanted = dice_.between(1, limits_.max_calls);
    // A favourite size, index and pair of ranks make long chains of equal hops likely.
    favourite_size_ = dice_.chance(60) && max_size_ == 4 ? 1 : dice_.between(1, max_size_);
    hop_chance_ = dice_.pick(std::vector<int>{10, 50, 85});
    reduce_chance_ = dice_.pick(std::vector<int>{0, 20, 50, 80});
    for (int tries = 0; tries < 12 * wanted && static_cast<int>(spec_.calls.size()) < wanted;
         ++tries) {
      if (dice_.chance(8)) {
        add_chain(model);
      } else {
        add_call(model);
      }
    }
    choose_fragments();
    choose_placement();
    return std::move(spec_);
  }

 private:
  void choose_shape() {
    spec_.ranks = dice_.between(1, limits_.max_ranks);
    if (dice_.chance(15)) spec_.ranks = 2;
    CollectiveSpec& c = spec_.collective;
    c.in_place = dice_.chance(35);
    if (dice_.chance(45)) {
      c.kind = static_cast<CollectiveKind>(dice_.below(static_cast<int>(CollectiveKind::custom)));
      c.chunk_factor = dice_.between(1, limits_.max_chunks);
      if (c.kind == CollectiveKind::broadcast || c.kind == CollectiveKind::reduce ||
          c.kind == CollectiveKind::gather || c.kind == CollectiveKind::scatter) {
        c.root = dice_.below(spec_.ranks);
      }
    } else {
      for (int r = 0; r < spec_.ranks; ++r) {
        RankShape shape;
        shape.input = dice_.between(dice_.chance(10) ? 0 : 1, limits_.max_chunks);
        shape.output = dice_.between(dice_.chance(10) ? 0 : 1, limits_.max_chunks);
        for (int i = 0; i < shape.input; ++i)
          shape.input_holds.push_back(wide_ || dice_.chance(92));
        for (int i = 0; i < shape.output; ++i) {
          shape.output_holds.push_back(!c.in_place && dice_.chance(8));
        }
        c.shapes.push_back(shape);
      }
      spec_.requirement.all = dice_.chance(50);
      spec_.requirement.choice = dice_.bits() % 1'000'000;
    }
    if (dice_.chance(20)) choose_links();
  }

  void choose_links() {
    const auto n = static_cast<std::size_t>(spec_.ranks);
    const int density = dice_.between(20, 80);
    spec_.links.assign(n, std::vector<double>(n, 0));
    for (std::size_t dst = 0; dst < n; ++dst) {
      for (std::size_t src = 0; src < n; ++src) {
        if (src != dst && ((src + 1) % n == dst || dice_.chance(density)))
          spec_.links[dst][src] = 1;
      }
    }
  }

  bool linked(int src, int dst) const {
    return src == dst || spec_.links.empty() ||
           spec_.links[static_cast<std::size_t>(dst)][static_cast<std::size_t>(src)] > 0;
  }

  void choose_options() {
    ProgramOptions& o = spec_.options;
    o.protocol = static_cast<Protocol>(dice_.below(3));
    o.instances = dice_.chance(55) ? 1 : dice_.between(1, limits_.max_instances);
    o.fuse = dice_.chance(80);
    o.dependence_nop = dice_.chance(30);
    switch (spec_.collective.kind) {
      // Each copy of these computes the same collective on its share.
      case CollectiveKind::allreduce:
      case CollectiveKind::broadcast:
      case CollectiveKind::reduce:
      case CollectiveKind::all_to_next_forward:
      case CollectiveKind::all_to_next_backward:
        if (dice_.chance(40)) o.replication = Replication::batched;
        break;
      default:
        break;
    }
  }

  int random_size() {
    if (dice_.chance(60)) return favourite_size_;
    return dice_.between(1, max_size_);
  }

  // Beyond the end of most buffers now and then: such places are not taken.
  int random_index() {
    return dice_.below(wide_ ? limits_.max_chunks / 4 : 2 * limits_.max_chunks);
  }

  // A place that can be read: where a late call wrote, or anywhere.
  bool choose_source(const Model& model, Place& place) {
    if (!spec_.calls.empty() && dice_.chance(hop_chance_)) {
      const int back = std::min<int>(dice_.between(1, 3), static_cast<int>(spec_.calls.size()));
      place = spec_.calls[spec_.calls.size() - static_cast<std::size_t>(back)].dst;
      if (dice_.chance(15)) place.size = random_size();
      if (dice_.chance(place.size > 1 ? 25 : 8)) place.index += dice_.between(-1, 1);
    } else {
      place = {dice_.below(spec_.ranks), dice_.below(4), random_index(), random_size()};
    }
    return model.readable(place);
  }

  void add_call(Model& model) {
    Call call;
    if (!choose_source(model, call.src)) return;
    call.reduce = dice_.chance(reduce_chance_);
    call.dst.rank = dice_.chance(15) ? call.src.rank : dice_.below(spec_.ranks);
    call.dst.size = call.src.size;
    if (!linked(call.src.rank, call.dst.rank)) return;
    if (!(call.reduce ? choose_sum(model, call) : choose_destination(model, call))) return;
    add(model, call);
  }

  // Hop after hop over the same place, adding or copying, with other uses of what passes.
  void add_chain(Model& model) {
    Place at;
    if (!choose_source(model, at)) return;
    const int percent = dice_.pick(std::vector<int>{0, 50, 100});
    for (int hops = dice_.between(2, 7); hops > 0; --hops) {
      Call call;
      call.src = at;
      call.dst = at;
      call.dst.rank = dice_.below(spec_.ranks);
      const Cell canonical = model.cell(at.rank, at.buffer, at.index);
      call.dst.buffer = canonical.buffer;
      call.dst.index = canonical.index;
      if (call.dst.rank == at.rank || !linked(at.rank, call.dst.rank)) continue;
      call.reduce =
          dice_.chance(percent) && model.readable(call.dst) && model.can_add(call.src, call.dst);
      if (call.dst.buffer <= 1 &&
          call.dst.index + call.dst.size > model.size(call.dst.rank, call.dst.buffer)) {
        continue;
      }
      add(model, call);
      at = call.dst;
    }
  }

  void add(Model& model, Call call) {
    call.shape = dice_.chance(70) ? Shape::direct : static_cast<Shape>(dice_.below(4));
    if (call.shape == Shape::split) {
      Place larger = call.src;
      larger.size *= 2;
      if (!model.readable(larger)) call.shape = Shape::direct;
    }
    spec_.calls.push_back(call);
    if (call.reduce) {
      model.add(call.src, call.dst);
    } else {
      model.copy(call.src, call.dst);
    }
  }

  bool choose_sum(const Model& model, Call& call) {
    Place& to = call.dst;
    if (dice_.chance(60)) {
      to.buffer = call.src.buffer;
      to.index = call.src.index;
    } else {
      to.buffer = dice_.below(4);
      to.index = random_index();
    }
    return model.readable(to) && !model.overlap(call.src, to) && model.can_add(call.src, to);
  }

  bool choose_destination(const Model& model, Call& call) {
    Place& to = call.dst;
    const int how = dice_.below(10);
    if (how < 4) {
      // The same place on the other rank, said in either way. In place, the language names the
      // place by its canonical name.
      call.form = dice_.chance(70) ? Form::same_place : Form::explicit_place;
      const Cell canonical = model.cell(call.src.rank, call.src.buffer, call.src.index);
      to.buffer = canonical.buffer;
      to.index = canonical.index;
    } else if (how < 6) {
      call.form = Form::append;
      to.buffer = dice_.between(2, 3);
      to.index = model.size(to.rank, to.buffer);
    } else {
      to.buffer = dice_.below(4);
      to.index = to.buffer > 1 ? dice_.below(4) : random_index();
    }
    if (to.buffer <= 1 && to.index + to.size > model.size(to.rank, to.buffer)) return false;
    if (to.buffer > 1 && to.index + to.size > max_scratch_) return false;
    return !model.overlap(call.src, to);
  }

  void choose_fragments() {
    if (!dice_.chance(30)) return;
    int current = 0;
    for (Call& call : spec_.calls) {
      if (dice_.chance(25)) {
        current = 0;
        if (dice_.chance(60)) {
          spec_.fragments.push_back(dice_.between(1, 3));
          current = static_cast<int>(spec_.fragments.size()) - 1;
        }
      }
      call.fragment = current;
    }
  }

  void choose_placement() {
    const int how = dice_.below(20);
    if (how < 10) return;  // all left to the compiler
    if (how < 14) {
      for (Call& call : spec_.calls) {
        if (call.src.rank != call.dst.rank && dice_.chance(50)) {
          call.via.channel = dice_.below(3);
        }
      }
    } else if (how < 16) {
      // The original's rule: numbers that only say what must not be fused.
      spec_.options.lenient_placement = true;
      for (Call& call : spec_.calls) {
        if (dice_.chance(50)) call.via.send_tb = dice_.below(3);
        if (dice_.chance(50)) call.via.recv_tb = dice_.below(3);
      }
    } else {
      place_by_hand();
    }
  }

  struct HandTb {
    int send = -1;
    int recv = -1;
    int channel = -1;
  };

  // One peer each way and one channel a threadblock, one threadblock an end of a connection.
  void place_by_hand() {
    spec_.options.placement = Placement::manual;
    std::vector<std::vector<HandTb>> tbs(static_cast<std::size_t>(spec_.ranks));
    const int spread = dice_.between(1, 4);
    const int channels = dice_.between(1, 3);
    const auto choose = [&](int rank, int HandTb::*peer_of, int peer, int channel) {
      auto& list = tbs[static_cast<std::size_t>(rank)];
      std::vector<int> fit;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const HandTb& tb = list[i];
        if (tb.*peer_of == peer && tb.channel == channel) return static_cast<int>(i);
        if (tb.*peer_of == -1 && (tb.channel == -1 || tb.channel == channel)) {
          fit.push_back(static_cast<int>(i));
        }
      }
      int chosen = static_cast<int>(list.size());
      if (!fit.empty() && dice_.chance(70)) {
        chosen = dice_.pick(fit);
      } else {
        list.emplace_back();
      }
      list[static_cast<std::size_t>(chosen)].*peer_of = peer;
      list[static_cast<std::size_t>(chosen)].channel = channel;
      return chosen;
    };
    for (Call& call : spec_.calls) {
      if (call.src.rank == call.dst.rank) {
        auto& list = tbs[static_cast<std::size_t>(call.src.rank)];
        call.via.send_tb = dice_.below(spread);
        while (static_cast<int>(list.size()) <= call.via.send_tb) list.emplace_back();
        continue;
      }
      call.via.channel = dice_.below(channels);
      call.via.send_tb = choose(call.src.rank, &HandTb::send, call.dst.rank, call.via.channel);
      call.via.recv_tb = choose(call.dst.rank, &HandTb::recv, call.src.rank, call.via.channel);
    }
    leave_some_unsaid();
  }

  // What is left out can be found again: channels from the other ends, and threadblock -1, where
  // the rules are lenient, is one more threadblock.
  void leave_some_unsaid() {
    const int unsaid = dice_.pick(std::vector<int>{0, 0, 50, 100});
    for (Call& call : spec_.calls) {
      if (dice_.chance(unsaid)) call.via.channel = -1;
    }
    if (!dice_.chance(25)) return;
    spec_.options.lenient_placement = true;
    const int number = dice_.below(3);
    for (Call& call : spec_.calls) {
      if (call.via.send_tb == number) call.via.send_tb = -1;
      if (call.via.recv_tb == number) call.via.recv_tb = -1;
    }
  }

  Dice dice_;
  GeneratorLimits limits_;
  bool wide_ = false;
  int max_size_ = 4;  // of a Ref
  int max_scratch_ = 12;
  ProgramSpec spec_;
  int favourite_size_ = 1;
  int hop_chance_ = 50;
  int reduce_chance_ = 20;
};

}  // namespace

ProgramSpec generate(std::uint64_t seed, const GeneratorLimits& limits) {
  return Generator(seed, limits).run();
}

}  // namespace hocket::random_test
