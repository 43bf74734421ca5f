// Names and sizes of types and operators.
#include <algorithm>
#include <array>

#include "hocket/runtime.h"

namespace hocket {
namespace {

struct TypeRow {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<TypeRow, 7> kTypes = {{
    {"float32", 4},
    {"float64", 8},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"float16", 2},
    {"bfloat16", 2},
}};
constexpr std::array<std::string_view, 4> kOps = {"sum", "prod", "min", "max"};

}  // namespace

std::string_view data_type_name(DataType type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

std::optional<DataType> data_type_from_name(std::string_view name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const TypeRow& row) { return row.name == name; });
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<DataType>(found - kTypes.begin());
}

std::size_t data_type_size(DataType type) { return kTypes[static_cast<std::size_t>(type)].size; }

std::vector<DataType> all_data_types() {
  std::vector<DataType> types;
  for (std::size_t i = 0; i < kTypes.size(); ++i) types.push_back(static_cast<DataType>(i));
  return types;
}

std::string_view reduce_op_name(ReduceOp op) { return kOps[static_cast<std::size_t>(op)]; }

std::optional<ReduceOp> reduce_op_from_name(std::string_view name) {
  const auto* found = std::find(kOps.begin(), kOps.end(), name);
  if (found == kOps.end()) return std::nullopt;
  return static_cast<ReduceOp>(found - kOps.begin());
}

std::vector<ReduceOp> all_reduce_ops() {
  std::vector<ReduceOp> ops;
  for (std::size_t i = 0; i < kOps.size(); ++i) ops.push_back(static_cast<ReduceOp>(i));
  return ops;
}

}  // namespace hocket
