// Names and equality of the algorithm's parts.
#include "hocket/algorithm.h"

#include <algorithm>
#include <array>

namespace hocket {
namespace {

constexpr std::array<OpInfo, kNumOps> kOps = {{
#define HOCKET_OP(name, xml, src, dst, accum, recv, send) {xml, src, dst, accum, recv, send},
#include "hocket/ops.def"
#undef HOCKET_OP
}};

struct ProtocolRow {
  std::string_view name;
  int slots;
  std::int64_t transfer_bytes;
};
// Slots and transfer sizes: NCCL_STEPS = 8 buffer steps a connection; Simple uses 4 a transfer, LL
// and LL128 one. 4 MiB / 8 * 4; 512 KiB / 8 / 2; 4,915,200 B / 8 * 15/16.
constexpr std::array<ProtocolRow, 3> kProtocols = {{
    {"Simple", 2, 2 << 20},
    {"LL", 8, 32 << 10},
    {"LL128", 8, 576000},
}};

}  // namespace

const OpInfo& op_info(OpCode op) { return kOps[static_cast<std::size_t>(op)]; }

std::optional<OpCode> op_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kOps.size(); ++i) {
    if (kOps[i].name == name) return static_cast<OpCode>(i);
  }
  return std::nullopt;
}

std::string_view protocol_name(Protocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)].name;
}

std::optional<Protocol> protocol_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kProtocols.size(); ++i) {
    if (kProtocols[i].name == name) return static_cast<Protocol>(i);
  }
  return std::nullopt;
}

int protocol_slots(Protocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)].slots;
}

std::int64_t protocol_transfer_bytes(Protocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)].transfer_bytes;
}

Location Algorithm::location_of(std::uint32_t step) const {
  return step < step_locations.size() ? locations[step_locations[step]] : Location{};
}

namespace {

// Where the steps lie in their array is no part of what an algorithm says.
bool same_programs(const Algorithm& a, const Algorithm& b) {
  return std::equal(
      a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(),
      [&](const RankProgram& p, const RankProgram& q) {
        return p.input_chunks == q.input_chunks && p.output_chunks == q.output_chunks &&
               p.scratch_chunks == q.scratch_chunks &&
               std::equal(p.threadblocks.begin(), p.threadblocks.end(), q.threadblocks.begin(),
                          q.threadblocks.end(), [&](const ThreadBlock& s, const ThreadBlock& t) {
                            const std::span<const Step> left = a.steps_of(s);
                            const std::span<const Step> right = b.steps_of(t);
                            return s.send == t.send && s.recv == t.recv && s.channel == t.channel &&
                                   std::equal(left.begin(), left.end(), right.begin(), right.end());
                          });
      });
}

}  // namespace

bool operator==(const Algorithm& a, const Algorithm& b) {
  return a.name == b.name && a.collective == b.collective && a.protocol == b.protocol &&
         a.in_place == b.in_place && a.out_of_place == b.out_of_place &&
         a.num_channels == b.num_channels && a.chunks_per_loop == b.chunks_per_loop &&
         a.min_bytes == b.min_bytes && a.max_bytes == b.max_bytes &&
         a.num_threads == b.num_threads && same_programs(a, b);
}

}  // namespace hocket
