// How a check says what it found.
#pragma once

#include <string>
#include <utility>

#include "hocket/verify.h"

namespace hocket::verifying {

// Counts the finding, lists it while there is room, and refutes.
inline void refute(PropertyRuling& ruling, int max_findings, Finding finding) {
  ruling.ruling = Ruling::refuted;
  if (ruling.num_findings++ < max_findings) ruling.findings.push_back(std::move(finding));
}

inline PropertyRuling undecided(std::string why) {
  PropertyRuling ruling;
  ruling.summary = std::move(why);
  return ruling;
}

}  // namespace hocket::verifying
