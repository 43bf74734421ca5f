// An algorithm as a runtime has it after loading: what every check of this part reads.
//
// Instructions are numbered over the whole algorithm, those of a threadblock ("block") together and
// in order, blocks of a rank together, ranks in order. Nops are gone: their waits stand at the next
// instruction. Consecutive `re` that the loaders merge (spec 5.4) are one instruction with several
// sources. Flat arrays, 32-bit ids.
//
// Memory is numbered too: a cell is one chunk of one rank, aliased names (in place) being one cell.
// The cells of a rank stand together: input, output, scratch.
//
// load() reports what it finds wrong with the structure. Where that list is empty the invariants
// below hold, and only then may the other checks run:
// * every operand lies inside its buffer, and no instruction overlaps itself;
// * every wait names an instruction of another block of the rank that will publish;
// * the k-th send of a connection and the k-th receive are each other's partner, with equal count.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/verify.h"

namespace hocket::verifying {

using InstrId = std::uint32_t;
using BlockId = std::uint32_t;
using CellId = std::uint32_t;
using ConnectionId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffu;

struct Instr {
  OpCode op = OpCode::nop;
  bool publishes = false;  // of the last merged step
  BufferKind src_buffer = BufferKind::input;
  BufferKind dst_buffer = BufferKind::output;
  std::int32_t src_offset = 0;  // of the first merged step
  std::int32_t dst_offset = 0;
  std::int32_t count = 0;
  std::int32_t step = 0;           // position of the (first merged) step in its threadblock
  std::int32_t last_step = 0;      // of the last merged step: the number that its flag shows
  std::uint32_t more_sources = 0;  // merged reduces beyond the first: Loaded::sources_of
  InstrId partner = kNone;         // of a receive: the send it meets; see also Loaded::receiver_of
  BlockId block = kNone;
};

struct Block {
  std::int32_t rank = 0;
  std::int32_t tb = 0;  // id in the rank
  InstrId first = 0;
  std::uint32_t num = 0;
  ConnectionId in = kNone;  // none where no instruction uses one
  ConnectionId out = kNone;
};

struct Connection {
  std::int32_t src = 0;
  std::int32_t dst = 0;
  std::int32_t channel = 0;
  BlockId sender = kNone;
  BlockId receiver = kNone;
};

struct Loaded {
  const Algorithm* algorithm = nullptr;
  const Collective* collective = nullptr;  // what to check against
  bool in_place = false;                   // names alias as the collective says

  std::vector<Instr> instrs;
  std::vector<InstrId> receiver_of;  // of a send (by instruction): the receive it meets
  std::vector<Block> blocks;
  std::vector<BlockId> first_block;  // of each rank, and the end
  std::vector<Connection> connections;
  // What each instruction waits for: CSR. A wait on step t of block b is a wait on the first
  // instruction of b at or after t that publishes (spec 5.3).
  std::vector<std::uint32_t> first_wait;
  std::vector<InstrId> waits;
  // Offsets of the sources of merged reduces beyond the first, in src_buffer: CSR by instruction.
  std::vector<std::uint32_t> first_source;
  std::vector<std::int32_t> sources;

  std::vector<std::array<std::int32_t, 3>> sizes;  // chunks of each rank's buffers, by BufferKind
  std::vector<CellId> first_cell;                  // of each rank, and the end
  std::vector<CellId> alias;  // of each cell before aliasing: its canonical cell

  int num_ranks() const { return static_cast<int>(first_block.size()) - 1; }
  std::size_t num_cells() const { return alias.size(); }
  std::span<const InstrId> waits_of(InstrId i) const {
    return {waits.data() + first_wait[i], first_wait[i + 1] - first_wait[i]};
  }
  std::span<const std::int32_t> sources_of(InstrId i) const {
    return {sources.data() + first_source[i], first_source[i + 1] - first_source[i]};
  }
  std::int32_t rank_of(InstrId i) const { return blocks[instrs[i].block].rank; }
  std::uint32_t position(InstrId i) const { return i - blocks[instrs[i].block].first; }
  StepPlace place(InstrId i) const {
    const Block& b = blocks[instrs[i].block];
    return {b.rank, b.tb, instrs[i].step};
  }
  // The cell of a chunk; inside the buffer.
  CellId cell(std::int32_t rank, BufferKind buffer, std::int32_t index) const {
    const std::array<std::int32_t, 3>& size = sizes[static_cast<std::size_t>(rank)];
    const std::int64_t before = buffer == BufferKind::input    ? 0
                                : buffer == BufferKind::output ? size[0]
                                                               : std::int64_t{size[0]} + size[1];
    return alias[first_cell[static_cast<std::size_t>(rank)] +
                 static_cast<std::size_t>(before + index)];
  }
};

// A buffer that the algorithm says has 0 chunks although its collective gives it some (in place, a
// file may name only one of the two) has the collective's number of cells all the same.
//
// O(steps + chunks). `structure` takes the faults (HK1001 to HK1003) and, where there are none, is
// proved; nothing is thrown. Where `structure` is not proved, `out` is not to be used. False: more
// chunks or counts than `max_chunks` allows, and `structure` is undecided, saying what.
bool load(const Algorithm& algorithm, const Collective& collective, bool in_place,
          std::int64_t max_chunks, Loaded& out, PropertyRuling& structure, int max_findings = 10);

}  // namespace hocket::verifying
