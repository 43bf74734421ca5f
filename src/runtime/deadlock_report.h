// A deadlock in words: who waits for whom.
#pragma once

#include "hocket/diagnostic.h"
#include "runtime/engine.h"

namespace hocket::runtime {

// HK0701 for an engine whose run() has just said that threadblocks are left. Has a note for every
// threadblock of a cycle of waits if there is one, then for the others, capped.
Error deadlock_error(const Plan& plan, const Engine& engine, const Call& call);

}  // namespace hocket::runtime
