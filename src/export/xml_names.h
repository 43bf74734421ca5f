// What the XML writer and the XML reader must agree on.
#pragma once

#include "hocket/collective.h"

namespace hocket {

// Collectives with a root; the runtimes know none, so only our own dialect names it.
inline bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

}  // namespace hocket
