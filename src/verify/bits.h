// In which order is every sum added up, and do all slots that must hold the same sum hold the same
// bits (HK1009)? The operators commute, so only the grouping of the additions counts: two groupings
// are equal exactly when they are the same tree up to the order of branches.
//
// A merged chain of reduces adds its sources to the destination one after another; with Simple,
// MSCCL and msccl-executor-nccl first add up the sources where a piece is large (the loader's
// rules, spec 3.5). Bits must be the same either way, unless a target is named that has only one.
#pragma once

#include "verify/execution.h"
#include "verify/loaded.h"

namespace hocket::verifying {

// Slots that the postcondition names and that hold the same content are compared. The order must be
// complete and `execution` its run. Findings are warnings unless options.require_same_bits.
PropertyRuling compare_bits(const Loaded& loaded, const ExecutionOrder& order,
                            const Execution& execution, const VerifyOptions& options);

}  // namespace hocket::verifying
