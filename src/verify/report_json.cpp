// The report for programs; docs/verification.md describes it.
#include <nlohmann/json.hpp>
#include <string>

#include "hocket/verify.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const StepPlace& place) {
  return {{"rank", place.rank}, {"tb", place.tb}, {"step", place.step}};
}

void add_where(Json& json, const Location& where) {
  if (!where.known()) return;
  json["file"] = where.file;
  json["line"] = where.line;
}

const char* severity_name(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

Json to_json(const Finding& finding) {
  Json json = {{"code", code_text(finding.diagnostic.code)},
               {"severity", severity_name(finding.diagnostic.severity)},
               {"message", finding.diagnostic.message}};
  add_where(json, finding.diagnostic.where);
  if (finding.at.rank >= 0) json["at"] = to_json(finding.at);
  if (finding.buffer) {
    json["chunk"] = {{"buffer", buffer_kind_name(*finding.buffer)}, {"index", finding.index}};
  }
  if (!finding.expected.empty()) json["expected"] = finding.expected;
  if (!finding.found.empty()) json["found"] = finding.found;
  if (!finding.chain.empty()) {
    Json chain = Json::array();
    for (const StepPlace& place : finding.chain) chain.push_back(to_json(place));
    json["chain"] = std::move(chain);
  }
  if (!finding.diagnostic.notes.empty()) {
    Json notes = Json::array();
    for (const Note& note : finding.diagnostic.notes) {
      Json one = {{"message", note.message}};
      add_where(one, note.where);
      notes.push_back(std::move(one));
    }
    json["notes"] = std::move(notes);
  }
  if (!finding.diagnostic.hint.empty()) json["hint"] = finding.diagnostic.hint;
  if (finding.saves > 0) json["saves"] = finding.saves;
  return json;
}

Json to_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) json.push_back(to_json(finding));
  return json;
}

Json to_json(const PropertyRuling& ruling) {
  return {{"ruling", ruling_name(ruling.ruling)},
          {"summary", ruling.summary},
          {"num_findings", ruling.num_findings},
          {"findings", to_json(ruling.findings)}};
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const PlacementReport& placement) {
  Json properties = Json::object();
  for (int k = 0; k < kNumProperties; ++k) {
    properties[std::string(property_name(static_cast<Property>(k)))] =
        to_json(placement.of(static_cast<Property>(k)));
  }
  Json orders = Json::array();
  for (const SumOrder& order : placement.orders) {
    Json places = Json::array();
    for (const SumOrder::Place& p : order.places) {
      places.push_back(
          {{"rank", p.rank}, {"buffer", buffer_kind_name(p.slot.buffer)}, {"index", p.slot.index}});
    }
    orders.push_back({{"order", order.order}, {"places", std::move(places)}});
  }
  return {{"in_place", placement.in_place},
          {"ruling", ruling_name(placement.ruling)},
          {"properties", std::move(properties)},
          {"least_slots", or_null(placement.least_slots)},
          {"largest_safe_bytes", or_null(placement.largest_safe_bytes)},
          {"orders", std::move(orders)}};
}

}  // namespace

std::string to_json(const VerifyReport& report) {
  Json placements = Json::array();
  for (const PlacementReport& placement : report.placements) {
    placements.push_back(to_json(placement));
  }
  Json targets = Json::object();
  for (const TargetRuling& target : report.targets) {
    targets[std::string(target_name(target.target))] = to_json(target.ruling);
  }
  const Json json = {{"name", report.name},
                     {"ruling", ruling_name(report.ruling())},
                     {"placements", std::move(placements)},
                     {"target_asked", report.target_asked},
                     {"targets", std::move(targets)},
                     {"num_waste", report.num_waste},
                     {"waste", to_json(report.waste)}};
  // A file may hold names that are not UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hocket
