// The report for people.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "hocket/verify.h"
#include "verify/words.h"

namespace hocket {
namespace {

// One line, whatever a file calls itself.
std::string one_line(std::string_view name) {
  constexpr std::size_t kMost = 200;
  std::string shown(name.substr(0, kMost));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return name.size() > kMost ? shown + "..." : shown;
}

class Writer {
 public:
  explicit Writer(const VerifyReport& report) : report_(report) {}

  std::string run() {
    put("{}: {}\n", one_line(report_.name), ruling_name(report_.ruling()));
    for (const PlacementReport& placement : report_.placements) write(placement);
    if (!report_.targets.empty()) {
      put("  targets{}\n", report_.target_asked ? "" : " (not counted in the verdict)");
      for (const TargetRuling& target : report_.targets) {
        line(target_name(target.target), target.ruling);
      }
    }
    if (report_.num_waste > 0) {
      put("  waste\n    {} {}\n", report_.num_waste,
          report_.num_waste == 1 ? "thing could be left out" : "things could be left out");
    }
    for (const PlacementReport& placement : report_.placements) {
      for (const PropertyRuling& property : placement.properties) write_findings(property);
    }
    // What keeps all targets is said above; of targets that were not asked about, the line will do.
    if (report_.target_asked) {
      for (const TargetRuling& target : report_.targets) {
        if (target.ruling.ruling == Ruling::refuted) write_findings(target.ruling);
      }
    }
    for (const Finding& finding : report_.waste) put("{}\n", render(finding.diagnostic));
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void line(std::string_view what, const PropertyRuling& ruling) {
    put("    {:<15}{:<10}{}\n", what, ruling_name(ruling.ruling), ruling.summary);
  }

  void write(const PlacementReport& placement) {
    put("  {}\n", placement.in_place ? "in place" : "out of place");
    for (int k = 0; k < kNumProperties; ++k) {
      line(property_name(static_cast<Property>(k)), placement.of(static_cast<Property>(k)));
    }
    if (!placement.orders.empty()) put("    orders\n");
    for (const SumOrder& order : placement.orders) {
      put("      {}: {}\n", verifying::places_text(order.places), order.order);
    }
  }

  void write_findings(const PropertyRuling& ruling) {
    for (const Finding& finding : ruling.findings) {
      const std::string text = render(finding.diagnostic);
      // Both ways of calling mostly have the same faults.
      if (std::find(said_.begin(), said_.end(), text) != said_.end()) continue;
      said_.push_back(text);
      put("{}\n", text);
    }
    const auto listed = static_cast<std::int64_t>(ruling.findings.size());
    if (ruling.num_findings > listed) put("... and {} more\n", ruling.num_findings - listed);
  }

  const VerifyReport& report_;
  std::string out_;
  std::vector<std::string> said_;
};

}  // namespace

std::string VerifyReport::str() const { return Writer(*this).run(); }

}  // namespace hocket
