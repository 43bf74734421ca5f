// Everything public.
#pragma once

#include "hocket/algorithm.h"
#include "hocket/algorithms.h"
#include "hocket/collective.h"
#include "hocket/compile.h"
#include "hocket/diagnostic.h"
#include "hocket/format.h"
#include "hocket/location.h"
#include "hocket/policy.h"
#include "hocket/program.h"
#include "hocket/runtime.h"
#include "hocket/target.h"
#include "hocket/topology.h"
#include "hocket/verify.h"
#include "hocket/version.h"
