// Runs an algorithm once, in a given order, on ids in place of data: 0 is "nothing".
//
// A Domain says what adding means and may watch:
//   std::uint32_t add(std::uint32_t a, std::uint32_t b);       neither is 0
//   bool sources_first(const Instr& chain);                    of a merged chain of reduces
//   void read(InstrId, int lane, CellId, std::uint32_t value);  each operand, in order
//   void wrote(InstrId, int lane, CellId);
//   void made(InstrId, int lane, std::uint32_t value);          what it wrote or sent
#pragma once

#include <vector>

#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

template <typename Domain>
class Interpreter {
 public:
  Interpreter(const Loaded& loaded, Domain& domain, std::vector<std::uint32_t>& cells)
      : loaded_(loaded), domain_(domain), cells_(cells) {
    std::vector<std::uint64_t> size(loaded.connections.size() + 1, 0);
    for (const Instr& i : loaded.instrs) {
      if (op_info(i.op).sends) {
        size[std::size_t{loaded.blocks[i.block].out} + 1] += static_cast<std::uint64_t>(i.count);
      }
    }
    for (std::size_t c = 1; c < size.size(); ++c) size[c] += size[c - 1];
    messages_.resize(size.back());
    sent_ = size;
    received_ = std::move(size);
  }

  void run(const ExecutionOrder& order) {
    for (const InstrId i : order.order) step(i);
  }

 private:
  std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    return a == 0 || b == 0 ? 0 : domain_.add(a, b);
  }

  std::uint32_t read(InstrId i, std::int32_t lane, CellId cell) {
    domain_.read(i, lane, cell, cells_[cell]);
    return cells_[cell];
  }

  void step(InstrId i) {
    const Instr& instr = loaded_.instrs[i];
    const Block& block = loaded_.blocks[instr.block];
    const OpInfo& info = op_info(instr.op);
    for (std::int32_t lane = 0; lane < instr.count; ++lane) {
      std::uint32_t value = 0;
      if (info.receives) value = messages_[received_[block.in]++];
      if (info.reads_src) {
        const std::uint32_t operand =
            read(i, lane, loaded_.cell(block.rank, instr.src_buffer, instr.src_offset + lane));
        value = info.receives ? add(value, operand) : operand;
      }
      if (info.accumulates) value = reduce(i, instr, block.rank, lane, value);
      if (info.writes_dst) {
        const CellId cell = loaded_.cell(block.rank, instr.dst_buffer, instr.dst_offset + lane);
        cells_[cell] = value;
        domain_.wrote(i, lane, cell);
      }
      domain_.made(i, lane, value);
      if (info.sends) messages_[sent_[block.out]++] = value;
    }
  }

  // `first` is the first source.
  std::uint32_t reduce(InstrId i, const Instr& instr, std::int32_t rank, std::int32_t lane,
                       std::uint32_t first) {
    const CellId dst = loaded_.cell(rank, instr.dst_buffer, instr.dst_offset + lane);
    const bool sources_first = instr.more_sources > 0 && domain_.sources_first(instr);
    std::uint32_t value = sources_first ? first : add(read(i, lane, dst), first);
    for (const std::int32_t offset : loaded_.sources_of(i)) {
      value = add(value, read(i, lane, loaded_.cell(rank, instr.src_buffer, offset + lane)));
    }
    return sources_first ? add(read(i, lane, dst), value) : value;
  }

  const Loaded& loaded_;
  Domain& domain_;
  std::vector<std::uint32_t>& cells_;
  std::vector<std::uint32_t> messages_;  // connection after connection
  std::vector<std::uint64_t> sent_;      // of each connection, into messages_
  std::vector<std::uint64_t> received_;
};

}  // namespace hocket::verifying
