// Read before an example: its compile() proves, for every target, what it makes.
#pragma once

#include <hocket/hocket.h>

#include <cstdlib>
#include <iostream>

#include "hocket/verify.h"

namespace hocket {

inline Algorithm compile_and_prove(const Program& program, CompileOptions options = {}) {
  const Target asked = options.target;
  options.check_limits = false;
  for (const Target target : all_targets()) {
    options.target = target;
    const VerifyReport report = verify(compile(program, options));
    if (report.ruling() == Ruling::proved) continue;
    std::cerr << "for " << target_name(target) << "\n" << report.str();
    std::exit(1);
  }
  options.target = asked;
  options.check_limits = true;
  return compile(program, options);
}

}  // namespace hocket

#define compile compile_and_prove
