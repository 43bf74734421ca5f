// The local executor on Python buffers, and its self test.
#include "hocket/runtime.h"

#include <algorithm>

#include "algorithm.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

// A view of a Python object's memory, given back when it goes.
class Memory {
 public:
  Memory() = default;
  Memory(nb::handle object, bool writable, const std::string& what) {
    if (PyObject_GetBuffer(object.ptr(), &view_,
                           PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) !=
        0) {
      PyErr_Clear();
      throw Error(Code::BadBuffers,
                  what + " is not contiguous " + (writable ? "writable " : "") +
                      "memory (bytearray, array.array, a NumPy array, ...)",
                  here());
    }
    held_ = true;
  }
  Memory(Memory&& other) noexcept : view_(other.view_), held_(other.held_) { other.held_ = false; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (held_) PyBuffer_Release(&view_);
  }

  explicit operator bool() const { return held_; }
  std::byte* data() const { return held_ ? static_cast<std::byte*>(view_.buf) : nullptr; }
  std::size_t bytes() const { return held_ ? static_cast<std::size_t>(view_.len) : 0; }
  std::optional<DataType> type() const;

 private:
  Py_buffer view_{};
  bool held_ = false;
};

std::optional<DataType> Memory::type() const {
  if (!held_) return std::nullopt;
  std::string_view format = view_.format != nullptr ? view_.format : "B";
  while (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) {
    format.remove_prefix(1);
  }
  if (format == "f") return DataType::float32;
  if (format == "d") return DataType::float64;
  if (format == "e") return DataType::float16;
  if (format == "B") return DataType::uint8;
  if (format == "i" || format == "l" || format == "q") {
    if (view_.itemsize == 4) return DataType::int32;
    if (view_.itemsize == 8) return DataType::int64;
  }
  return std::nullopt;
}

std::vector<Memory> memories(const std::optional<nb::sequence>& objects, bool writable,
                             const std::vector<bool>& written, int ranks, const char* name) {
  std::vector<Memory> list;
  if (!objects) {
    for (int r = 0; r < ranks; ++r) list.emplace_back();
    return list;
  }
  if (nb::len(*objects) != static_cast<std::size_t>(ranks)) {
    throw Error(Code::BadBuffers,
                std::string(name) + "s of " + std::to_string(nb::len(*objects)) +
                    " ranks, but the algorithm has " + std::to_string(ranks),
                here());
  }
  for (const nb::handle object : *objects) {
    const std::size_t r = list.size();
    if (object.is_none()) {
      list.emplace_back();
    } else {
      list.emplace_back(object, writable || written[r],
                        std::string(name) + " of rank " + std::to_string(r));
    }
  }
  return list;
}

// Whether the steps of each rank write its input: then it must be writable memory.
std::vector<bool> input_written(const Algorithm& algorithm) {
  std::vector<bool> written;
  for (const RankProgram& rank : algorithm.ranks) {
    bool any = false;
    for (const ThreadBlock& tb : rank.threadblocks) {
      for (const Step& step : algorithm.steps_of(tb)) {
        any = any || (op_info(step.op).writes_dst && step.dst_buffer == BufferKind::input);
      }
    }
    written.push_back(any);
  }
  return written;
}

bool fits(const Collective& c, std::int64_t count, std::size_t element,
          const std::vector<Memory>& inputs, const std::vector<Memory>& outputs) {
  for (int r = 0; r < c.num_ranks(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    const auto needs = [&](std::int64_t n) { return static_cast<std::size_t>(n) * element; };
    if (inputs[i] && inputs[i].bytes() != needs(input_elements(c, r, count))) return false;
    if (outputs[i] && outputs[i].bytes() != needs(output_elements(c, r, count))) return false;
  }
  return true;
}

// The call's element count from the lengths of the buffers: it is one of the lengths, or a rank's
// share of one.
std::int64_t infer_count(const Collective& c, std::size_t element,
                         const std::vector<Memory>& inputs, const std::vector<Memory>& outputs) {
  for (const std::vector<Memory>* side : {&inputs, &outputs}) {
    for (const Memory& memory : *side) {
      if (!memory) continue;
      const auto length = static_cast<std::int64_t>(memory.bytes() / element);
      for (const std::int64_t count : {length, length / c.num_ranks()}) {
        if (fits(c, count, element, inputs, outputs)) return count;
      }
    }
  }
  throw Error(
      Code::BadBuffers, "the lengths of the buffers do not fit a call of any count", here(),
      "input and output of a rank have the sizes of the collective, with `count` elements in "
      "the smaller one");
}

void run_on_buffers(LocalExecutor& executor, const std::optional<nb::sequence>& input_objects,
                    const std::optional<nb::sequence>& output_objects,
                    const std::optional<std::string>& dtype, std::string_view op,
                    std::optional<std::int64_t> count, bool in_place, int threads,
                    std::optional<int> slots) {
  const Algorithm& algorithm = executor.algorithm();
  const int ranks = algorithm.num_ranks();
  if (!in_place && (!input_objects || !output_objects)) {
    throw Error(Code::BadBuffers, "a call without inputs or without outputs", here(),
                "give both, or say in_place=True");
  }
  const std::vector<Memory> inputs =
      memories(input_objects, in_place, input_written(algorithm), ranks, "input");
  const std::vector<Memory> outputs = memories(
      output_objects, true, std::vector<bool>(static_cast<std::size_t>(ranks)), ranks, "output");

  RunOptions options;
  options.op = parse_reduce_op(op);
  options.in_place = in_place;
  options.threads = threads;
  options.slots = slots;
  if (dtype) {
    options.type = parse_data_type(*dtype);
  } else {
    std::optional<DataType> type;
    for (const std::vector<Memory>* side : {&inputs, &outputs}) {
      for (const Memory& memory : *side) {
        if (!type) type = memory.type();
      }
    }
    if (!type) {
      throw Error(Code::BadType, "buffers whose element type is not known", here(),
                  "say dtype='float32' or the like");
    }
    options.type = *type;
  }
  const std::size_t element = data_type_size(options.type);
  options.count = count ? *count : infer_count(algorithm.collective, element, inputs, outputs);
  if (!fits(algorithm.collective, options.count, element, inputs, outputs)) {
    throw Error(Code::BadBuffers,
                "buffers that do not have the lengths of a call of " +
                    std::to_string(options.count) + " elements",
                here());
  }

  std::vector<RankBuffers> buffers;
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
    buffers.push_back({inputs[r].data(), outputs[r].data()});
  }
  const nb::gil_scoped_release nogil;
  executor.run(buffers, options);
}

SelfTestResult run_self_test(LocalExecutor& executor, std::int64_t count, std::string_view dtype,
                             std::string_view op, bool in_place, bool check, int repeats,
                             int threads, std::optional<int> slots, std::uint64_t seed) {
  SelfTestOptions options;
  options.run.type = parse_data_type(dtype);
  options.run.op = parse_reduce_op(op);
  options.run.count = count;
  options.run.in_place = in_place;
  options.run.threads = threads;
  options.run.slots = slots;
  options.check = check;
  options.repeats = repeats;
  options.seed = seed;
  const nb::gil_scoped_release nogil;
  return self_test(executor, options);
}

}  // namespace

void register_runtime(nb::module_& m) {
  nb::class_<DataMismatch>(m, "DataMismatch",
                           "The first element that is not what the postcondition says.")
      .def_ro("rank", &DataMismatch::rank)
      .def_prop_ro("buffer", [](const DataMismatch& d) { return buffer_of(d.buffer); })
      .def_ro("offset", &DataMismatch::offset, "In elements.")
      .def_ro("expected", &DataMismatch::expected)
      .def_ro("found", &DataMismatch::found)
      .def_ro("wrong", &DataMismatch::wrong, "Elements wrong in all.")
      .def("__str__", [](const DataMismatch& d) { return describe(d); })
      .def("__repr__", [](const DataMismatch& d) { return "<DataMismatch " + describe(d) + ">"; });

  nb::class_<SelfTestResult>(m, "SelfTestResult", "What LocalExecutor.self_test() measured.")
      .def_ro("seconds", &SelfTestResult::seconds, "Median of the timed runs.")
      .def_ro("bytes", &SelfTestResult::bytes, "The larger buffer of a rank.")
      .def_ro("algorithm_bandwidth", &SelfTestResult::algorithm_bandwidth, "GB/s.")
      .def_ro("bus_bandwidth", &SelfTestResult::bus_bandwidth,
              "GB/s, with nccl-tests' factor of the collective.")
      .def_ro("mismatch", &SelfTestResult::mismatch)
      .def_ro("checked", &SelfTestResult::checked)
      .def("__repr__", [](const SelfTestResult& r) {
        return nb::str("<SelfTestResult: {} bytes in {} s, {}>")
            .format(r.bytes, r.seconds,
                    r.mismatch ? "wrong" : (r.checked ? "right" : "not checked"));
      });

  nb::class_<LocalExecutor>(m, "LocalExecutor", "Runs an algorithm on real data in this process.")
      .def(
          "__init__",
          [](LocalExecutor* self, const BoundAlgorithm& algorithm) {
            new (self) LocalExecutor(*algorithm.algorithm);
          },
          "algorithm"_a)
      .def("run", &run_on_buffers, "inputs"_a.none(), "outputs"_a = nb::none(), nb::kw_only(),
           "dtype"_a = nb::none(), "op"_a = "sum", "count"_a = nb::none(), "in_place"_a = false,
           "threads"_a = 0, "slots"_a = nb::none(),
           "One call on a buffer a rank: anything with the buffer protocol.\n\n"
           "`dtype` and `count` (elements of the smaller buffer) are taken from the buffers where "
           "they are not given. In place, one of the two lists may be None: the buffer that lies "
           "inside the other, or either of two equal ones.",
           nb::sig(
               "def run(self, inputs: collections.abc.Sequence[object] | None, "
               "outputs: collections.abc.Sequence[object] | None = None, *, "
               "dtype: "
               "typing.Literal['float32', 'float64', 'int32', 'int64', 'uint8', 'float16', "
               "'bfloat16'] | None = None, "
               "op: typing.Literal['sum', 'prod', 'min', 'max'] = 'sum', count: int | None = None, "
               "in_place: bool = False, threads: int = 0, slots: int | None = None) -> None"))
      .def("self_test", &run_self_test, nb::kw_only(), "count"_a, "dtype"_a = "float32",
           "op"_a = "sum", "in_place"_a = false, "check"_a = true, "repeats"_a = 1, "threads"_a = 0,
           "slots"_a = nb::none(), "seed"_a = 1,
           "Fills buffers so that misplaced, missing and doubled chunks show, runs, compares.",
           nb::sig(
               "def self_test(self, *, count: int, dtype: typing.Literal['float32', 'float64', "
               "'int32', 'int64', 'uint8', 'float16', 'bfloat16'] = 'float32', "
               "op: typing.Literal['sum', 'prod', 'min', 'max'] = 'sum', in_place: bool = False, "
               "check: bool = True, repeats: int = 1, threads: int = 0, "
               "slots: int | None = None, seed: int = 1) -> SelfTestResult"));

  m.def(
      "_count_for_bytes",
      [](const BoundAlgorithm& a, std::int64_t bytes, std::string_view dtype) {
        const Collective& c = a.algorithm->collective;
        const auto element = static_cast<std::int64_t>(data_type_size(parse_data_type(dtype)));
        // Sizes are proportional to the count: the ratio is that of the largest buffer.
        std::int64_t ratio = 1;
        for (int r = 0; r < c.num_ranks(); ++r) {
          ratio = std::max({ratio, input_elements(c, r, 1), output_elements(c, r, 1)});
        }
        return bytes / element / ratio;
      },
      "algorithm"_a, "bytes"_a, "dtype"_a);
}

}  // namespace hocket::python
