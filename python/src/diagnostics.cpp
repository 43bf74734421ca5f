// Diagnostics as Python values, and the passage of C++ errors and warnings into Python.
//
// The exception and warning classes are Python's own (hocket/errors.py): the package hands over two
// functions that make the exception for a diagnostic and choose the warning category.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.h"

namespace hocket::python {
namespace {

struct Hooks {
  PyObject* make_error = nullptr;        // Diagnostic -> exception
  PyObject* internal_error = nullptr;    // exception class
  PyObject* warning_category = nullptr;  // code text -> warning class
};

// Never destroyed, as above: the interpreter may be gone by then.
Hooks& hooks() {
  static Hooks* const all = new Hooks;
  return *all;
}

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

void set_python_error(const Error& error) {
  if (hooks().make_error == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return;
  }
  Diagnostic diagnostic = error.diagnostic();
  // What has no line of its own comes from an argument of the call that is running.
  if (!diagnostic.where.known()) diagnostic.where = here();
  const nb::object exception = nb::handle(hooks().make_error)(nb::cast(diagnostic));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    set_python_error(error);
  } catch (const InternalError& error) {
    PyErr_SetString(hooks().internal_error != nullptr ? hooks().internal_error : PyExc_RuntimeError,
                    error.what());
  } catch (const nb::cast_error&) {
    const Location where(here());
    PyErr_SetString(PyExc_TypeError,
                    (where.str() + ": a value of a type that does not belong here").c_str());
  }
}

// What a warning prints after "file:line: Category: ".
std::string warning_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.message + " [" + std::string(code_text(diagnostic.code)) + "]";
  for (const Note& note : diagnostic.notes) {
    text += "\n  ";
    if (note.where.known()) text += note.where.str() + ": ";
    text += "note: " + note.message;
  }
  if (!diagnostic.hint.empty()) text += "\n  hint: " + diagnostic.hint;
  return text;
}

}  // namespace

void emit_warning(const Diagnostic& diagnostic) {
  nb::object category = nb::borrow(PyExc_UserWarning);
  if (hooks().warning_category != nullptr) {
    category = nb::handle(hooks().warning_category)(code_text(diagnostic.code));
  }
  const std::string text = warning_text(diagnostic);
  // Where nothing better is known, the running line of the user's.
  const Location where = diagnostic.where.known() ? diagnostic.where : Location(here());
  // The registry of the running frame's module keeps "once a line" working across calls.
  nb::object registry;
  nb::object module = nb::str("<unknown>");
  if (PyObject* globals = PyEval_GetGlobals()) {
    nb::dict names = nb::borrow<nb::dict>(globals);
    if (!names.contains("__warningregistry__")) names["__warningregistry__"] = nb::dict();
    registry = names["__warningregistry__"];
    if (names.contains("__name__")) module = names["__name__"];
  }
  const int failed = PyErr_WarnExplicitObject(
      category.ptr(), nb::str(text.c_str()).ptr(), nb::str(where.file.c_str()).ptr(),
      static_cast<int>(where.line), module.ptr(), registry.ptr());
  if (failed != 0) throw nb::python_error();
}

void bad_word(std::string_view what, std::string_view found,
              const std::vector<std::string>& allowed) {
  std::string text = std::string(what) + " '" + std::string(found) + "', but it must be one of ";
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (i != 0) text += ", ";
    text += "'" + allowed[i] + "'";
  }
  throw nb::value_error(text.c_str());
}

void register_diagnostics(nb::module_& m) {
  nb::class_<Location>(m, "Location", "A file and a line of the user's source.")
      .def_ro("file", &Location::file)
      .def_ro("line", &Location::line, "From 1; 0 where no place is known.")
      .def("__bool__", &Location::known)
      .def("__eq__", [](const Location& a, const Location& b) { return a == b; })
      .def("__hash__",
           [](const Location& a) {
             return std::hash<std::string>{}(a.file) ^ (std::size_t{a.line} << 1);
           })
      .def("__str__", &Location::str)
      .def("__repr__", [](const Location& a) { return "Location('" + a.str() + "')"; });

  nb::class_<Note>(m, "Note", "A second place that explains the first.")
      .def_ro("message", &Note::message)
      .def_ro("location", &Note::where)
      .def("__repr__", [](const Note& n) { return "Note('" + n.message + "')"; });

  nb::class_<Diagnostic>(
      m, "Diagnostic", "What went wrong, as a value. ``str()`` gives the form that editors parse.")
      .def_prop_ro(
          "severity", [](const Diagnostic& d) { return severity_name(d.severity); },
          "'note', 'warning' or 'error'.")
      .def_prop_ro(
          "code", [](const Diagnostic& d) { return code_text(d.code); },
          "The stable code, as 'HK0101'.")
      .def_ro("message", &Diagnostic::message)
      .def_ro("location", &Diagnostic::where)
      .def_ro("hint", &Diagnostic::hint, "What to do; may be empty.")
      .def_ro("notes", &Diagnostic::notes)
      .def("__str__", [](const Diagnostic& d) { return render(d); })
      .def("__repr__", [](const Diagnostic& d) {
        return "<Diagnostic " + std::string(code_text(d.code)) + ": " + d.message + ">";
      });

  m.def(
      "codes",
      [] {
        static const char* const names[] = {
#define HOCKET_CODE(name, code, about) #name,
#include "hocket/codes.def"
#undef HOCKET_CODE
        };
        std::vector<std::tuple<std::string, std::string, std::string>> table;
        std::size_t i = 0;
        for (const Code code : all_codes()) {
          table.emplace_back(code_text(code), names[i++], code_about(code));
        }
        return table;
      },
      "Every diagnostic code: (code, name, what it is about).");

  m.def(
      "_set_hooks",
      [](nb::object make_error, nb::object internal_error, nb::object warning_category) {
        hooks() = {make_error.release().ptr(), internal_error.release().ptr(),
                   warning_category.release().ptr()};
      },
      nb::arg("make_error"), nb::arg("internal_error"), nb::arg("warning_category"));
  m.def(
      "_make_error",
      [](std::string_view code, std::string message, std::string hint) {
        for (const Code c : all_codes()) {
          if (code_text(c) == code) throw Error(c, std::move(message), here(), std::move(hint));
        }
        throw nb::value_error("no such code");
      },
      nb::arg("code"), nb::arg("message"), nb::arg("hint") = "",
      "Raises the error of that code at the caller's line.");
  m.def(
      "_warn",
      [](std::string_view code, std::string message, std::string hint) {
        for (const Code c : all_codes()) {
          if (code_text(c) != code) continue;
          emit_warning({Severity::warning, c, std::move(message), here(), std::move(hint), {}});
          return;
        }
        throw nb::value_error("no such code");
      },
      nb::arg("code"), nb::arg("message"), nb::arg("hint") = "", "Warns at the caller's line.");
  m.def("_add_package_directory", &add_package_directory, nb::arg("directory"));
  m.def(
      "_here",
      [] {
        const CallSite at = here();
        return Location(at);
      },
      "The user's line that is running.");

  nb::register_exception_translator(translate);
}

}  // namespace hocket::python
