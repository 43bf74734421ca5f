// "Did you mean ...?": the names nearest to what was typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hocket {

// Of `names`, those within a third of the word's length of `typed` by edits (insert, delete,
// replace, swap neighbours) or that contain it; nearest first, at most `most`.
std::vector<std::string> nearest_names(std::string_view typed,
                                       const std::vector<std::string>& names, std::size_t most = 3);

// "did you mean a, b or c?", or "" when nothing is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

}  // namespace hocket
