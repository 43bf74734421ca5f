// hocket verify: is it right, in every schedule, at every size? Decided from the algorithm alone.
#include "hocket/verify.h"

#include <fmt/format.h>

#include "command.h"
#include "util/files.h"
#include "util/progress.h"
#include "util/sizes.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  SourceOptions source;
  std::string target;
  std::string min_bytes;
  std::string max_bytes;
  int slots = -1;
  int root = -1;
  std::string as;
  std::string post;
  bool in_place = false;
  bool out_of_place = false;
  bool require_same_bits = false;
  bool orders = false;
  bool no_waste = false;
  bool json = false;
  int max_findings = 10;
};

VerifyOptions verify_options(const Options& options) {
  VerifyOptions verifying;
  if (!options.target.empty()) verifying.target = parse_target(options.target);
  if (!options.min_bytes.empty())
    verifying.min_bytes = parse_size(options.min_bytes, "--min-bytes");
  if (!options.max_bytes.empty())
    verifying.max_bytes = parse_size(options.max_bytes, "--max-bytes");
  if (options.slots >= 0) verifying.slots = options.slots;
  if (options.in_place) verifying.in_place = true;
  if (options.out_of_place) verifying.in_place = false;
  verifying.require_same_bits = options.require_same_bits;
  verifying.orders = options.orders;
  verifying.waste = !options.no_waste;
  verifying.max_findings = options.max_findings;
  return verifying;
}

// The root that was given, or, where the file's does not fit, the one that does.
void choose_root(const Algorithm& algorithm, const Options& options, VerifyOptions& verifying) {
  const Collective& c = algorithm.collective;
  if (options.root < 0) {
    const std::optional<int> root = infer_root(algorithm, verifying);
    if (!root || *root == c.root()) return;
    write_err(fmt::format("note: the root is rank {}, going by what it computes (--root to say)\n",
                          *root));
    verifying.collective =
        Collective::make(c.kind(), c.num_ranks(), c.chunk_factor(), c.in_place(), *root);
    return;
  }
  if (!has_root(c.kind()) || options.root >= c.num_ranks()) {
    throw Error(Code::Usage,
                has_root(c.kind())
                    ? fmt::format("--root {}: there are {} ranks", options.root, c.num_ranks())
                    : fmt::format("--root {}: {} has none", options.root, c.name()));
  }
  verifying.collective =
      Collective::make(c.kind(), c.num_ranks(), c.chunk_factor(), c.in_place(), options.root);
}

int verify(const Options& options) {
  if (options.in_place && options.out_of_place) {
    throw Error(Code::Usage, "--in-place and --out-of-place exclude each other", {},
                "leave both out to verify every way the algorithm may be called");
  }
  if (options.post == "-" && options.source.what == "-") {
    throw Error(Code::Usage, "the algorithm and --post cannot both be standard input");
  }
  const std::string post = options.post == "-" ? "<stdin>" : options.post;
  VerifyOptions verifying = verify_options(options);
  CompileOptions compile;
  compile.check_limits = false;
  if (verifying.target) compile.target = *verifying.target;
  Source source = load(options.source.what, options.source.parameters, compile);
  set_collective(source.algorithm, options.as);
  if (!options.post.empty()) {
    if (!options.as.empty() || options.root >= 0) {
      throw Error(Code::Usage, "--post says all that --as and --root could say", {},
                  "leave them out");
    }
    verifying.collective = from_post_json(read_file(options.post), post);
  }
  VerifyReport report;
  try {
    const Progress progress("verifying");
    if (!verifying.collective) choose_root(source.algorithm, options, verifying);
    report = hocket::verify(source.algorithm, verifying);
  } catch (const Error& error) {
    // A postcondition of something else is unusable input, and refutes nothing.
    if (options.post.empty() || error.code() != Code::BadCollective) throw;
    throw Error(Code::PostValue, error.diagnostic().message, Location(post, 1),
                error.diagnostic().hint);
  }
  write_out(options.json ? to_json(report) : report.str());
  const Ruling ruling = report.ruling();
  if (ruling == Ruling::undecided && !verifying.collective &&
      !source.algorithm.collective.has_postcondition()) {
    write_err(
        "hint: say what it computes with --as, for example --as all_to_next_forward, or with "
        "--post\n");
  }
  return ruling == Ruling::proved ? kYes : ruling == Ruling::refuted ? kNo : kUndecided;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "verify", "Prove an algorithm right in every schedule, or show why it is not");
  add_source(*command, options->source, /*files=*/true);
  command->add_option("--target", options->target, "the runtime asked about; else a line for each")
      ->option_text("TARGET");
  command
      ->add_option("--min-bytes", options->min_bytes, "smallest message, as 64KiB; else the file's")
      ->option_text("SIZE");
  command->add_option("--max-bytes", options->max_bytes, "largest message; else the file's, or any")
      ->option_text("SIZE");
  command->add_option("--slots", options->slots, "slots of a connection; else the protocol's")
      ->option_text("N")
      ->check(CLI::Range(0, 1'000'000));
  command
      ->add_option("--root", options->root,
                   "the root of a broadcast, reduce, gather or scatter; else found out")
      ->option_text("RANK")
      ->check(CLI::Range(0, kMaxFormatRanks - 1));
  command
      ->add_option("--as", options->as,
                   "the collective that a file computes when it only says `custom`")
      ->option_text("COLLECTIVE");
  command
      ->add_option("--post", options->post,
                   "what it must compute, as a JSON file; docs/formats.md has the form")
      ->option_text("FILE");
  command->add_flag("--in-place", options->in_place, "only calls in place");
  command->add_flag("--out-of-place", options->out_of_place, "only calls out of place");
  command->add_flag("--require-same-bits", options->require_same_bits,
                    "refute where ranks add in different orders");
  command->add_flag("--orders", options->orders,
                    "list in which order every element of the result is added up");
  command->add_flag("--no-waste", options->no_waste, "do not look for what could be left out");
  command->add_option("--max-findings", options->max_findings, "listed of each kind; else 10")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--json", options->json, "for programs; docs/verification.md describes it");
  command->footer(
      "Exit code 0: proved. 1: refuted. 2: unusable input. 4: undecided, and why.\n"
      "docs/verification.md says what is proved and under which assumptions.\n"
      "\n"
      "Examples:\n"
      "  $ hocket verify allreduce_ring ranks=8\n"
      "  $ hocket gen allreduce_ring ranks=8 --target msccl -o ring.xml\n"
      "  $ hocket verify ring.xml --target msccl --max-bytes 64MiB\n"
      "  $ hocket verify ring.xml --json");
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}  // namespace hocket::tool
