// Where in the user's Python source the running call stands.
//
// The frame that calls into the module is the innermost Python frame; frames of our own packages
// are passed over. Walking a code object's line table takes time that grows with the function, so
// the answer is kept for each (code object, instruction).
#include <array>
#include <memory>
#include <string>
#include <unordered_map>

#include "bindings.h"

namespace hocket::python {
namespace {

struct File {
  std::string name;
  bool ours = false;
};

struct Cached {
  PyCodeObject* code = nullptr;  // owned, so that the address stays this code object's
  int instruction = -1;
  const File* file = nullptr;
  std::uint32_t line = 0;
};

struct Sites {
  std::vector<std::string> package_directories;
  // By the file name object, owned; a name outlives every program that was traced with it.
  std::unordered_map<PyObject*, std::unique_ptr<File>> files;
  std::array<Cached, 1024> cache;
};

// Never destroyed: Python objects cannot be released after the interpreter has gone.
Sites& sites() {
  static Sites* const all = new Sites;
  return *all;
}

const File& file_of(PyCodeObject* code) {
  Sites& all = sites();
  PyObject* name = code->co_filename;
  const auto found = all.files.find(name);
  if (found != all.files.end()) return *found->second;
  auto file = std::make_unique<File>();
  if (const char* text = PyUnicode_AsUTF8(name)) {
    file->name = text;
  } else {
    PyErr_Clear();
    file->name = "<unknown>";
  }
  for (const std::string& directory : all.package_directories) {
    if (file->name.starts_with(directory)) file->ours = true;
  }
  Py_INCREF(name);
  return *all.files.emplace(name, std::move(file)).first->second;
}

const Cached& site_of(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);  // new reference
  const int instruction = PyFrame_GetLasti(frame);
  const std::size_t key =
      (reinterpret_cast<std::uintptr_t>(code) >> 5) ^ (static_cast<std::size_t>(instruction) >> 1);
  Cached& entry = sites().cache[key % sites().cache.size()];
  if (entry.code == code && entry.instruction == instruction) {
    Py_DECREF(code);
    return entry;
  }
  const int line = PyFrame_GetLineNumber(frame);
  const File& file = file_of(code);
  Py_XDECREF(entry.code);
  entry = {code, instruction, &file, line > 0 ? static_cast<std::uint32_t>(line) : 0};
  return entry;
}

}  // namespace

CallSite here() {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return {};
  const Cached* site = &site_of(frame);
  if (!site->file->ours) return {site->file->name.c_str(), site->line};
  Py_INCREF(frame);
  while (site->file->ours) {
    PyFrameObject* caller = PyFrame_GetBack(frame);  // new reference
    if (caller == nullptr) break;
    Py_DECREF(frame);
    frame = caller;
    site = &site_of(frame);
  }
  const CallSite result{site->file->name.c_str(), site->line};
  Py_DECREF(frame);
  return result;
}

void add_package_directory(std::string_view directory) {
  sites().package_directories.emplace_back(directory);
}

}  // namespace hocket::python
