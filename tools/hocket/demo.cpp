// hocket demo: the whole way of one program, told as it goes. All-to-next for nodes of GPUs is
// traced, checked, compiled, written as MSCCL XML, read back from that file and run on real data,
// and every rank's output is compared.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>

#include "command.h"
#include "ir/trace.h"
#include "util/files.h"
#include "util/progress.h"
#include "util/sizes.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  int nodes = 2;
  int gpus = 8;
  std::string bytes = "1MiB";
  std::string output;
};

class Watch {
 public:
  // Since the last call, or the start.
  std::string lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> took = now - last_;
    last_ = now;
    return format_seconds(took.count());
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Program make(const std::string& kind, const Parameters& parameters) {
  return make_algorithm("all_to_next_backward_" + kind, parameters, CallSite{});
}

// Chunks that each GPU of node 1 sends to another node: what its network card carries.
std::string crossing(const Program& program, int gpus) {
  std::vector<int> sent(static_cast<std::size_t>(gpus), 0);
  for (const TraceOp& op : program.trace().ops) {
    const bool crosses = op.src_rank / gpus != op.dst_rank / gpus;
    if (crosses && op.src_rank / gpus == 1)
      sent[static_cast<std::size_t>(op.src_rank % gpus)] += op.count;
  }
  std::string text;
  for (const int chunks : sent) text += chunks == 0 ? "   ." : fmt::format("{:>4}", chunks);
  return text;
}

// The file at the end of which this is: kept where the user named it, else removed.
class OutputFile {
 public:
  explicit OutputFile(const std::string& asked) : path_(asked) {
    if (!asked.empty()) return;
    std::string folder = (std::filesystem::temp_directory_path() / "hocket.XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
      throw Error(Code::CannotWrite, fmt::format("cannot make a folder for temporary files: {}",
                                                 std::strerror(errno)));
    }
    folder_ = folder;
    path_ = folder + "/all_to_next.xml";
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string shown() const {
    return folder_.empty() ? path_ : "a temporary file (keep it with -o FILE)";
  }

 private:
  std::string folder_;
  std::string path_;
};

// The lines of one rank, as the runtime will read them.
std::string excerpt(const std::string& xml, int rank, int lines) {
  const std::size_t begin = xml.find(fmt::format("  <gpu id=\"{}\"", rank));
  std::string text;
  std::size_t at = begin;
  for (int i = 0; i < lines && at < xml.size(); ++i) {
    const std::size_t end = std::min(xml.find('\n', at), xml.size());
    text += "     | " + xml.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text + "     | ...\n";
}

// Runs it with random inputs and compares every output with its neighbour's input, bit by bit.
bool run_and_compare(const Algorithm& algorithm, std::int64_t count) {
  const int n = algorithm.num_ranks();
  const std::size_t size = static_cast<std::size_t>(count);
  std::vector<std::vector<float>> input(static_cast<std::size_t>(n), std::vector<float>(size));
  std::vector<std::vector<float>> output(static_cast<std::size_t>(n), std::vector<float>(size, -1));
  std::mt19937 random(1);
  for (std::vector<float>& buffer : input) {
    for (float& x : buffer) x = static_cast<float>(random() % 1000000);
  }
  std::vector<RankBuffers> buffers;
  for (std::size_t r = 0; r < input.size(); ++r) {
    buffers.push_back({reinterpret_cast<std::byte*>(input[r].data()),
                       reinterpret_cast<std::byte*>(output[r].data())});
  }

  LocalExecutor executor(algorithm);
  Watch watch;
  {
    const Progress progress("running");
    executor.run(buffers, {.type = DataType::float32, .count = count});
  }
  const std::string took = watch.lap();

  bool all = true;
  std::string text;
  for (int r = 0; r + 1 < n; ++r) {
    const auto& got = output[static_cast<std::size_t>(r)];
    const auto& want = input[static_cast<std::size_t>(r) + 1];
    const auto [found, expected] = std::mismatch(got.begin(), got.end(), want.begin());
    const bool right = found == got.end();
    all = all && right;
    text += fmt::format("     rank {:>3} <- rank {:>3}  {}\n", r, r + 1,
                        right ? "equal"
                              : fmt::format("WRONG at {}: expected {}, found {}",
                                            found - got.begin(), *expected, *found));
  }
  write_out(fmt::format("5. Run      {} ranks in this process, {} of float32 each, in {}\n{}", n,
                        format_size(count * 4), took, text));
  return all;
}

std::string counted(int n, std::string_view thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

int demo(const Options& options) {
  const std::int64_t count = parse_size(options.bytes, "--bytes") / 4;
  const int nodes = options.nodes;
  const int gpus = options.gpus;
  write_out(fmt::format(
      "All-to-next, backward: every GPU hands its buffer to the GPU before it. {} of {}.\n"
      "Between two nodes one network card would carry everything; so GPU 0 of a node scatters its\n"
      "buffer over its node, every GPU sends a part over its own card, and they gather beyond.\n\n",
      counted(nodes, "node"), counted(gpus, "GPU")));

  Watch watch;
  const Program naive = make(
      "naive", {{"ranks", std::to_string(nodes * gpus)}, {"chunk_factor", std::to_string(gpus)}});
  (void)watch.lap();
  const Program program =
      make("node_aware", {{"nodes", std::to_string(nodes)}, {"gpus", std::to_string(gpus)}});
  write_out(fmt::format("1. Trace    {} copies of chunks, in {}\n", program.trace().ops.size(),
                        watch.lap()));
  if (nodes > 1) {
    write_out(
        fmt::format("     chunks over each card of node 1, naive:     {}\n"
                    "                                      node-aware:{}\n",
                    crossing(naive, gpus), crossing(program, gpus)));
  }

  (void)watch.lap();
  const CheckReport report = program.check();
  write_out(fmt::format("2. Check    {} of {} chunks end where they must, in {}\n",
                        report.checked - report.wrong, report.checked, watch.lap()));
  report.require(CallSite{});

  const Algorithm compiled = compile(program, {.target = Target::msccl, .warn = print_diagnostic});
  const std::string compile_time = watch.lap();
  const AlgorithmStats shape = stats(compiled);
  write_out(fmt::format(
      "3. Compile  {} steps in {} threadblocks on {} channels, longest chain {} steps, in {}\n",
      shape.steps, shape.threadblocks, shape.channels, shape.critical_path, compile_time));

  const OutputFile file(options.output);
  const std::string xml = to_xml(compiled, {.target = Target::msccl});
  write_file(file.path(), xml);
  write_out(fmt::format("4. Write    {} bytes of MSCCL XML to {}\n{}", xml.size(), file.shown(),
                        excerpt(xml, gpus - 1, 8)));

  // The file says "custom": MSCCL has no name for this collective. So ours is put back for the run.
  Algorithm read = from_any(read_file(file.path()), file.path(), print_diagnostic);
  read.collective = compiled.collective;
  const bool right = run_and_compare(read, count);
  write_out(right ? "Every rank has what it must.\n" : "The result is wrong.\n");
  return right ? kYes : kNo;
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("demo", "The whole way of one program: trace, check, compile, write, run");
  command->add_option("-o,--output", options->output, "keep the MSCCL XML in this file")
      ->option_text("FILE");
  command->add_option("--nodes", options->nodes, "nodes; default 2")
      ->check(CLI::Range(1, 128))
      ->option_text("N");
  command->add_option("--gpus", options->gpus, "GPUs of a node; default 8")
      ->check(CLI::Range(1, 16))
      ->option_text("N");
  command->add_option("--bytes", options->bytes, "of every rank's buffer; default 1MiB")
      ->option_text("SIZE");
  command->footer(
      "Examples:\n"
      "  $ hocket demo\n"
      "  $ hocket demo -o all_to_next.xml\n"
      "  $ hocket demo --nodes 4 --gpus 4 --bytes 64KiB");
  command->callback([options, &action] { action = [options] { return demo(*options); }; });
}

}  // namespace hocket::tool
