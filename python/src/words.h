// The library's enumerations as the words that Python programs write.
#pragma once

#include <string_view>

#include "bindings.h"
#include "hocket/algorithm.h"
#include "hocket/collective.h"
#include "hocket/format.h"
#include "hocket/policy.h"
#include "hocket/program.h"
#include "hocket/runtime.h"

namespace hocket::python {

Protocol parse_protocol(std::string_view word);  // Error HK0117 at the caller's line
Replication parse_replication(std::string_view word);
Placement parse_placement(std::string_view word);
Target parse_target(std::string_view word);
DataType parse_data_type(std::string_view word);
ReduceOp parse_reduce_op(std::string_view word);
CollectiveKind parse_collective_kind(std::string_view word);

std::string_view replication_name(Replication replication);
std::string_view placement_name(Placement placement);

// A hocket.Buffer, or a string: the scratch buffer of that name.
Buffer parse_buffer(nb::handle buffer);
// Only input and output.
BufferKind parse_user_buffer(nb::handle buffer);
const Buffer& buffer_of(BufferKind kind);

}  // namespace hocket::python
