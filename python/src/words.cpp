// The library's enumerations as the words that Python programs write.
#include "words.h"

#include "hocket/target.h"

namespace hocket::python {
namespace {

template <typename T, typename Name>
std::vector<std::string> names_of(const std::vector<T>& all, Name name) {
  std::vector<std::string> names;
  for (const T& value : all) names.emplace_back(name(value));
  return names;
}

[[noreturn]] void bad_type(std::string_view what, std::string_view found,
                           const std::vector<std::string>& expected) {
  std::string message = std::string(what) + " '" + std::string(found) + "', expected one of ";
  for (const std::string& word : expected) message += (&word == &expected[0] ? "" : ", ") + word;
  throw Error(Code::BadType, std::move(message), here());
}

}  // namespace

Protocol parse_protocol(std::string_view word) {
  if (const auto protocol = protocol_from_name(word)) return *protocol;
  // The sentence that programs written for the original language may look for.
  throw Error(Code::BadProtocol,
              "Given protocol: " + std::string(word) + ". Must be either Simple, LL, LL128", here(),
              "upper and lower case count");
}

Replication parse_replication(std::string_view word) {
  if (word == "interleaved") return Replication::interleaved;
  if (word == "batched") return Replication::batched;
  bad_word("replication", word, {"interleaved", "batched"});
}

Placement parse_placement(std::string_view word) {
  if (word == "automatic") return Placement::automatic;
  if (word == "manual") return Placement::manual;
  bad_word("placement", word, {"automatic", "manual"});
}

Target parse_target(std::string_view word) {
  if (const auto target = target_from_name(word)) return *target;
  bad_word("target", word, names_of(all_targets(), target_name));
}

DataType parse_data_type(std::string_view word) {
  if (const auto type = data_type_from_name(word)) return *type;
  bad_type("dtype", word, names_of(all_data_types(), data_type_name));
}

ReduceOp parse_reduce_op(std::string_view word) {
  if (const auto op = reduce_op_from_name(word)) return *op;
  bad_type("op", word, names_of(all_reduce_ops(), reduce_op_name));
}

CollectiveKind parse_collective_kind(std::string_view word) {
  if (const auto kind = collective_kind_from_name(word)) return *kind;
  std::vector<std::string> names;
  for (int k = 0; k < static_cast<int>(CollectiveKind::custom); ++k) {
    names.emplace_back(collective_kind_name(static_cast<CollectiveKind>(k)));
  }
  bad_word("collective", word, names);
}

std::string_view replication_name(Replication replication) {
  return replication == Replication::interleaved ? "interleaved" : "batched";
}

std::string_view placement_name(Placement placement) {
  return placement == Placement::automatic ? "automatic" : "manual";
}

Buffer parse_buffer(nb::handle buffer) {
  if (nb::isinstance<Buffer>(buffer)) return nb::cast<const Buffer&>(buffer);
  if (nb::isinstance<nb::str>(buffer)) return Buffer(nb::cast<std::string>(buffer));
  throw nb::type_error("a buffer is Buffer.input, Buffer.output or the name of a scratch buffer");
}

BufferKind parse_user_buffer(nb::handle buffer) {
  if (nb::isinstance<Buffer>(buffer)) return nb::cast<const Buffer&>(buffer).kind();
  if (nb::isinstance<nb::str>(buffer)) {
    const auto word = nb::cast<std::string>(buffer);
    if (word == "input") return BufferKind::input;
    if (word == "output") return BufferKind::output;
  }
  throw nb::type_error("a collective has the buffers Buffer.input and Buffer.output");
}

const Buffer& buffer_of(BufferKind kind) {
  return kind == BufferKind::input    ? Buffer::input
         : kind == BufferKind::output ? Buffer::output
                                      : Buffer::scratch;
}

}  // namespace hocket::python
