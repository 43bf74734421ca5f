// The algorithms that the tests of this folder share.
#pragma once

#include <string>

#include "hocket/algorithm.h"
#include "hocket/format.h"

namespace hocket::test {

// Two ranks, in place, one threadblock each: the smallest allreduce.
inline const char* const kPairXml =
    R"(<algo name="pair_ar" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1" outofplace="0" minBytes="0" maxBytes="65536">
  <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrcs" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)";

inline const char* const kPairText = R"(algorithm "pair_ar" proto=LL channels=1 in_place max=65536
collective allreduce ranks=2 factor=2
rank 0 in=2 out=0 scratch=0
  tb 0 send=1 recv=1 chan=0
    s    i[1]
    rrcs i[0]
    r    i[1]
rank 1 in=2 out=0 scratch=0
  tb 0 send=0 recv=0 chan=0
    s    i[0]
    rrcs i[1]
    r    i[0]
)";

// The same out of place on rank 0, with scratch, dependences and a nop. Rank 1 mirrors it.
inline const char* const kNopText = R"(algorithm "pair_oop" channels=1
collective allreduce ranks=2 factor=2
rank 0 in=2 out=2 scratch=1
  tb 0 send=1 recv=1 chan=0
    s    i[1] -> s[0]
    r    i[0] -> s[0] signals
    s    o[0] after=1:1
    r    o[1]
  tb 1 chan=0
    nop after=2:0
    re   s[0] -> o[0] after=0:1 signals
  tb 2 chan=0
    cpy  i[0] -> o[0] signals
rank 1 in=2 out=2 scratch=1
  tb 0 send=0 recv=0 chan=0
    s    i[0] -> s[0]
    r    i[1] -> s[0] signals
    s    o[1] after=1:1
    r    o[0]
  tb 1 chan=0
    nop after=2:0
    re   s[0] -> o[1] after=0:1 signals
  tb 2 chan=0
    cpy  i[1] -> o[1] signals
)";

// `text` with its first `from` replaced; empty when there is none.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return {};
  return text.replace(at, from.size(), to);
}

}  // namespace hocket::test
