// Orders of addition: what is the same, what is not, and how it is written.
#include "verify/bits.h"

#include "text.h"
#include "verify/orders.h"

namespace hocket::verifying {
namespace {

PropertyRuling bits_of(const std::string& text, const VerifyOptions& options = {}) {
  const auto t = load_text(text);
  return compare_bits(t->loaded, t->order, execute(t->loaded, t->order, {}), options);
}

// Every rank gets the chunks of all others into scratch, chunk q from rank q; then the last
// threadblock does what `sums` says of the rank. Its first step carries the waits.
std::string swap_all(const std::vector<std::string>& sums, const char* proto) {
  const int n = static_cast<int>(sums.size());
  std::string text = fmt::format(
      "algorithm \"a\" proto={} channels=1 out_of_place\ncollective allreduce ranks={} factor=1\n",
      proto, n);
  for (int r = 0; r < n; ++r) {
    text += fmt::format("rank {} in=1 out=1 scratch={}\n", r, n);
    for (int q = 0, t = 0; q < n; ++q) {
      if (q == r) continue;
      text += fmt::format("  tb {} send={} recv={} chan=0\n    s i[0]\n    r s[{}] signals\n", t++,
                          q, q, q);
    }
    text += fmt::format("  tb {} chan=0\n", n - 1);
    for (int t = 0; t + 2 < n; ++t) text += fmt::format("    nop after={}:1\n", t);
    text += fmt::format("    cpy i[0] -> s[{}] after={}:1\n", r, n - 2);
    text += sums[static_cast<std::size_t>(r)];
  }
  return text;
}

// Adds chunks to the output in that order; `mark` after each reduce: "" or " signals", which keeps
// the loaders from merging it with the next.
std::string in_order(const std::string& order, const char* mark = "") {
  std::string text = fmt::format("    cpy s[{}] -> o[0]\n", order[0]);
  for (std::size_t k = 1; k < order.size(); ++k) {
    text += fmt::format("    re s[{}] -> o[0]{}\n", order[k], mark);
  }
  return text;
}

std::string one_shot(const std::vector<std::string>& orders, const char* proto = "LL") {
  std::vector<std::string> sums;
  for (const std::string& order : orders) sums.push_back(in_order(order));
  return swap_all(sums, proto);
}

TEST(Bits, two_terms_have_one_order) {
  EXPECT_EQ(bits_of(one_shot({"01", "10"})).ruling, Ruling::proved);
}

TEST(Bits, every_rank_starts_from_its_own) {
  const PropertyRuling r = bits_of(one_shot({"012", "102", "201"}));
  EXPECT_EQ(r.ruling, Ruling::refuted);
  ASSERT_EQ(r.findings.size(), 1U);
  const Finding& f = r.findings[0];
  EXPECT_EQ(f.diagnostic.code, Code::DifferentBits);
  EXPECT_EQ(f.diagnostic.severity, Severity::warning);
  EXPECT_EQ(f.diagnostic.message,
            "rank 0 output[0] and rank 2 output[0] hold the same sum, but not the same bits: ranks "
            "0-1 output[0]: ((in0+in1)+in2); rank 2 output[0]: ((in0+in2)+in1) of chunk 0");
  EXPECT_EQ(f.expected, "((in0+in1)+in2)");
  EXPECT_EQ(f.found, "((in0+in2)+in1)");
  VerifyOptions required;
  required.require_same_bits = true;
  EXPECT_EQ(bits_of(one_shot({"012", "102", "201"}), required).findings[0].diagnostic.severity,
            Severity::error);
}

TEST(Bits, merged_sources_may_add_up_first) {
  // (0+1)+2 everywhere, but rank 0 has it merged, and may make 0+(1+2) of it.
  const auto text = [](const char* proto) {
    return swap_all({in_order("012"), in_order("102", " signals"), in_order("012", " signals")},
                    proto);
  };
  VerifyOptions options;
  EXPECT_EQ(bits_of(text("LL")).ruling, Ruling::proved);
  const PropertyRuling r = bits_of(text("Simple"));
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_NE(r.findings[0].diagnostic.message.find("where large pieces add up merged sources first"),
            std::string::npos);
  EXPECT_EQ(r.findings[0].expected, "((in1+in2)+in0)");
  options.target = Target::msccl_executor;
  EXPECT_EQ(bits_of(text("Simple"), options).ruling, Ruling::refuted);
  options.target = Target::rccl;
  EXPECT_EQ(bits_of(text("Simple"), options).ruling, Ruling::proved);
  options.target = Target::hocket;
  EXPECT_EQ(bits_of(text("Simple"), options).ruling, Ruling::proved);
  // All merged alike.
  EXPECT_EQ(bits_of(one_shot({"012", "021", "012"}, "Simple")).ruling, Ruling::refuted);
  EXPECT_EQ(bits_of(one_shot({"012", "012", "012"}, "Simple")).ruling, Ruling::proved);
}

TEST(Bits, orders_of_all_elements) {
  const auto t = load_text(one_shot({"012", "021", "012"}, "LL"));
  const Execution e = execute(t->loaded, t->order, {});
  const std::vector<SumOrder> orders = reduction_orders(t->loaded, t->order, e);
  ASSERT_EQ(orders.size(), 2U);
  using Places = std::vector<SumOrder::Place>;
  const auto output = [](int rank) { return SumOrder::Place{rank, {BufferKind::output, 0}}; };
  EXPECT_EQ(orders[0].order, "((in0+in1)+in2) of chunk 0");
  EXPECT_EQ(orders[0].places, (Places{output(0), output(2)}));
  EXPECT_EQ(orders[1].order, "((in0+in2)+in1) of chunk 0");
  EXPECT_EQ(orders[1].places, Places{output(1)});
}

TEST(Bits, many_terms_are_cut_short) {
  const auto sum = [](int n) {
    std::vector<std::string> sums;
    for (int r = 0; r < n; ++r) {
      std::string text = fmt::format("    cpy s[{}] -> o[0]\n", r);
      for (int q = 0; q < n; ++q) {
        if (q != r) text += fmt::format("    re s[{}] -> o[0]\n", q);
      }
      sums.push_back(text);
    }
    const PropertyRuling r = bits_of(swap_all(sums, "LL"));
    return r.findings.empty() ? std::string() : r.findings[0].expected;
  };
  EXPECT_EQ(sum(10), "(((((((((in0+in1)+in2)+in3)+in4)+in5)+in6)+in7)+in8)+in9)");
  EXPECT_EQ(sum(16), "(((((((((in0+in1)+in2)+in3)+in4)+in5)+in6)+in7)+in8)+...6 more...+in15)");
}

}  // namespace
}  // namespace hocket::verifying
