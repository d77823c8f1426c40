"""The code stays easy to read: files, lines, functions and classes are as CONTRIBUTING.md has it (cmake/sizes.py)."""
import importlib.util
import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILE, FUNCTION = 200, 15  # lines that nine of ten have at most
DECISION = 120  # words


def load():
    spec = importlib.util.spec_from_file_location("sizes", SOURCE / "cmake" / "sizes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sizes = load()


@pytest.fixture(scope="module")
def files():
    return sizes.code(SOURCE)


@pytest.fixture(scope="module")
def found(files):
    return list(sizes.tags(files))


def test_lines(files):
    assert [f"{path.relative_to(SOURCE)}:{number}" for path, number in sizes.wide_lines(files)] == []


def test_files(files):
    assert len(files) > 2000
    assert sizes.percentile([len(lines) for lines in files.values()], 0.9) <= FILE


def test_functions(found):
    functions = sizes.functions(found)
    assert len(functions) > 5000
    assert sizes.percentile([function.lines for function in functions], 0.9) <= FUNCTION


def test_a_large_class_says_why(found, files):
    classes = sizes.classes(found, files)
    assert len(classes) > 1000
    assert [c.name for c in sizes.large(classes) if not c.comment] == []


def test_decisions_are_short():
    entries = re.findall(r"^## (\d+\. .*)\n((?:(?!## ).*\n)*)", (SOURCE / "DECISIONS.md").read_text(), re.M)
    words = {title: len(re.sub(r"^More: .*$", "", text, flags=re.M).split()) for title, text in entries}
    assert len(words) > 150
    assert {title: count for title, count in words.items() if count > DECISION} == {}


def test_what_is_counted(tmp_path):
    (tmp_path / "a.hpp").write_text("""namespace n {
// Says why.
class Large {
 public:
  void f();
  int g() { return 1; }
 private:
  static constexpr int kNo = 1;
  int a = 0, b = 0;
};
class Bare {};
void free_function() {
}
}
""")
    (tmp_path / "wide.py").write_text("x = 1\n" + "#" * 121 + "\n" + "#" * 120 + "\n")
    subprocess.run("git init -q && git add .", shell=True, check=True, cwd=tmp_path)
    files = sizes.code(tmp_path)
    assert sizes.wide_lines(files) == [(tmp_path / "wide.py", 2)]
    found = list(sizes.tags(files))
    assert sorted((function.name, function.lines) for function in sizes.functions(found)) == [
        ("free_function", 2), ("g", 1)]
    assert sorted((c.name, c.functions, c.members, c.comment) for c in sizes.classes(found, files)) == [
        ("n::Bare", 0, 0, ""), ("n::Large", 2, 2, "Says why.")]
