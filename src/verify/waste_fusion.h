// A receive and a send of the same chunks right after it: one step could do both (code HK1017).
//
// `r` and `s` become `rcs`; `rrc` and `s` become `rrcs`, or `rrs` where nobody else reads the sum.
// It is claimed only where
// * the send waits for nothing and nobody waits for the receive, who would then wait for more;
// * it is one transfer, received and sent on as one, at any cut: then fusing some of those claimed
//   asks no more of the slots than fusing all, and all of them have been run;
// * it is one chunk, or its receiver does not pass the chunks on: a chunk that has come through a
//   fused step says nothing about the other chunks of the message, and a later write might count
//   on that.
#pragma once

#include <vector>

#include "verify/loaded.h"
#include "verify/waste_list.h"

namespace hocket::verifying {

// `named[s]`: a dependence names step s of Algorithm::steps. `read_after`: of a send, whether what
// it reads is read or wanted later too (find_reads); empty: not known.
void find_missed_fusion(const Loaded& loaded, const std::vector<bool>& named,
                        const std::vector<bool>& read_after, const VerifyOptions& options,
                        WasteList& list);

}  // namespace hocket::verifying
