// Progress: shown on a terminal for what takes longer than a second, nowhere else.
#include <gtest/gtest.h>

#include "cli/command.h"

namespace hocket {
namespace {

// Slow on any machine: the input comes late.
constexpr const char* kLong =
    "hocket gen allgather_ring ranks=2 -o ring.xml; (sleep 1.6; cat ring.xml) | hocket stats -";

TEST(Terminal, ShowsProgressOnLongWork) {
  const Output o = Session().shell_on_terminal(kLong);
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "\rreading - ... 1 s\r\033[K") << "drawn once and wiped";
  EXPECT_NE(o.out.find("allgather_ring: allgather, 2 ranks"), std::string::npos);
}

TEST(Terminal, IsQuietOnShortWork) {
  EXPECT_EQ(Session().shell_on_terminal("hocket stats allgather_ring ranks=2").err, "");
}

TEST(Terminal, IsQuietWithoutATerminal) { EXPECT_EQ(Session().shell(kLong).err, ""); }

}  // namespace
}  // namespace hocket
