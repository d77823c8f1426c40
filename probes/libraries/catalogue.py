"""A catalogue's text: declarations of functions in the format of .probes files, with the types that they need."""
import pathlib
import re

from clang.cindex import TypeKind

HERE = pathlib.Path(__file__).resolve().parent
WIDTH = 150
NUMBERS = {
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "short",
    "unsigned short",
    "char",
    "signed char",
    "unsigned char",
    "float",
    "double",
    "bool",
    "_Bool",
    "void",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
}
# Functions that answer a question about an object or make one: their pointers to numbers lead to memory of the host.
ANSWERS = re.compile(r"_get_|Get[A-Z]|[cC]reate|[vV]ersion$|Count$|UserRank$|CuDevice$|CommInit")
# Functions that say how much memory another one needs; they have that one's parameters, too.
SIZES = re.compile(r"[sS]ize(?:Ex|Ext)?(?:_64)?$|_size_|Size[A-Z]")
SIZE = re.compile(r"size|work|bytes", re.IGNORECASE)


def plain(name):
    return re.sub(
        r"\b(const|struct|enum|union|restrict|volatile) ", "", name.replace(" const", "").replace("const ", "")
    ).strip()


def known_types():
    text = "".join(path.read_text() for path in sorted(HERE.parent.glob("*.enums")) + [HERE.parent / "hip.probes"])
    out = set(re.findall(r"^(?:enum|flags|struct|union)\s+(\w+)", text, re.M))
    out |= set(re.findall(r"^typedef .*?(\w+)$", text, re.M))
    for line in re.findall(r"^handle (.*)$", text, re.M):
        out |= set(line.split())
    return out


class Types:
    """The types by value that the functions of one catalogue use, in the order of their first use."""

    def __init__(self, newer):
        self.known, self.newer = known_types(), newer
        self.handles, self.others = [], {}

    def name(self, type_):
        """The name of a type that is passed by value or read; declares it if the format does not know it."""
        spelled = plain(type_.spelling)
        canonical = type_.get_canonical()
        if spelled in NUMBERS or spelled in self.known or spelled in self.others or spelled in self.handles:
            return "bool" if spelled == "_Bool" else spelled
        if canonical.kind == TypeKind.POINTER:
            return self.pointer(spelled)
        if canonical.kind == TypeKind.ENUM:
            self.others[spelled] = enum_text(spelled, canonical, self.newer)
        elif canonical.kind == TypeKind.RECORD:
            self.others[spelled] = self.record_text(spelled, canonical)
        else:
            self.others[spelled] = f"typedef {plain(canonical.spelling)} {spelled}"
        return spelled

    def pointer(self, spelled):
        if not re.fullmatch(r"\w+", spelled):  # a function's type, written in the prototype
            return "void *"
        self.handles.append(spelled)
        return spelled

    def record_text(self, name, canonical):
        fields = list(canonical.get_fields())
        floats = {TypeKind.FLOAT, TypeKind.DOUBLE}
        if fields and all(f.type.get_canonical().kind in floats for f in fields):
            body = " ".join(f"{plain(f.type.get_canonical().spelling)} {f.spelling};" for f in fields)
            return f"struct {name} {{ {body} }}"
        return f"struct {name} {canonical.get_size()}"

    def lines(self):
        out, line = [], "handle"
        for name in self.handles:
            if len(line) + len(name) > WIDTH:
                out.append(line)
                line = "handle"
            line += " " + name
        return out + ([line] if line != "handle" else []) + list(self.others.values())


def enum_values(name, canonical, newer):
    """The header's values, and those of enums.tsv in place of the header's with the same number or name."""
    added = [(row["name"], int(row["value"])) for row in newer if row["enum"] == name]
    names, numbers = {n for n, _ in added}, {v for _, v in added}
    values = [
        (c.spelling, c.enum_value) for c in canonical.get_declaration().get_children() if c.enum_value is not None
    ]
    return [(n, v) for n, v in values if n not in names and v not in numbers] + added


def enum_text(name, canonical, newer):
    """All values; of equal values the first name is shown."""
    values = enum_values(name, canonical, newer)
    out, line = [f"enum {name} {{"], " "
    for spelled, value in values:
        word = f" {spelled} = {value}"
        if len(line) + len(word) > WIDTH:
            out.append(line)
            line = " "
        line += word
    return "\n".join(out + [line, "}"])


def is_handle(type_):
    """A typedef of a pointer: an object of the library."""
    return type_.get_canonical().kind == TypeKind.POINTER and re.fullmatch(r"\w+", plain(type_.spelling))


def gives_number(function, name):
    return ANSWERS.search(function) is not None if not SIZES.search(function) else SIZE.search(name) is not None


def is_output(function, name, pointee):
    if pointee.is_const_qualified():
        return False
    canonical = pointee.get_canonical()
    if is_handle(pointee) or canonical.kind == TypeKind.ENUM:
        return True
    number = plain(pointee.spelling) in NUMBERS | {"rocblas_int", "rocsparse_int", "rocblas_stride"}
    return (
        number
        and canonical.kind not in (TypeKind.VOID, TypeKind.CHAR_S, TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.UCHAR)
        and gives_number(function, name)
    )


def pointer_text(function, name, pointee, types, typed):
    """`typed`: with the type behind the pointer, which is not read. Functions that share a line do not share it."""
    if pointee.get_canonical().kind == TypeKind.CHAR_S and pointee.is_const_qualified():
        return f"const char *{name}"
    if is_output(function, name, pointee):
        return f"out {types.name(pointee)} *{name}"
    const = "const " if pointee.is_const_qualified() else ""
    stars = "*" * (1 + plain(pointee.spelling).count("*"))
    spelled = plain(pointee.spelling).replace("*", "").strip()
    if not typed or not re.fullmatch(r"[\w ]+", spelled):
        spelled = "void"
    return f"{const}{spelled} {stars}{name}"


def parameter_text(function, argument, number, types, typed):
    name = argument.spelling or f"arg{number}"
    type_ = argument.type
    canonical = type_.get_canonical()
    if is_handle(type_) or canonical.kind not in (TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY):
        written = types.name(type_)
        return written + name if written.endswith("*") else f"{written} {name}"
    if canonical.kind != TypeKind.POINTER:
        return f"void *{name}"
    pointee = type_.get_pointee() if type_.kind == TypeKind.POINTER else canonical.get_pointee()
    return pointer_text(function, name, pointee, types, typed)


def result_text(cursor, types):
    result = cursor.result_type
    if result.get_canonical().kind == TypeKind.POINTER and not is_handle(result):
        return "const char *" if plain(result.get_pointee().spelling) == "char" else "void *"
    return types.name(result) + " "


def parameters_text(cursor, types, written, typed):
    out = []
    for number, argument in enumerate(cursor.get_arguments(), 1):
        own = written.get(argument.spelling)
        if own:
            types.name(argument.type.get_pointee() if argument.type.kind == TypeKind.POINTER else argument.type)
        out.append(own or parameter_text(cursor.spelling, argument, number, types, typed))
    return ", ".join(out)


class Lines:
    """The functions in their order; those that differ by the letter of their type alone share the first one's line."""

    def __init__(self, row, parameters, newer):
        self.row, self.parameters, self.types = row, parameters, Types(newer)
        self.type, self.success, *self.ok = row["success"].split()
        self.groups = {}  # by what they have in common

    def add(self, cursor):
        name = cursor.spelling
        match = re.fullmatch(self.row["functions"], name)
        letters = match.groupdict().get("type")
        before, behind = (name[: match.start("type")], name[match.end("type") :]) if letters else (name, "")
        written = {p["parameter"]: p["written"] for p in self.parameters if re.fullmatch(p["function"], name)}
        shared = parameters_text(cursor, self.types, written, False)
        key = (result_text(cursor, self.types), before, behind, shared)
        self.groups.setdefault(key, []).append((letters, cursor, written))

    def notes(self, result):
        return f" @ok({', '.join(self.ok)})" if self.ok and result.strip() == self.type else ""

    def text(self):
        out = []
        for (result, before, behind, shared), members in self.groups.items():
            names = [letters or "" for letters, _, _ in members]
            if len(members) == 1:
                _, cursor, written = members[0]
                parameters = parameters_text(cursor, self.types, written, True)
                out.append(f"{result}{before}{names[0]}{behind}({parameters})" + self.notes(result))
            else:
                out.append(f"{result}{before}{{{','.join(names)}}}{behind}({shared})" + self.notes(result))
        return out


def text_of(row, functions, parameters, newer, versions):
    lines = Lines(row, parameters, newer)
    for cursor in functions:
        lines.add(cursor)
    body = lines.text()
    head = [
        f"# Made by generate.py from {versions}. Do not edit: change catalogues.tsv or parameters.tsv.",
        "",
        f"api {row['api']}",
        f"group {row['group']}",
        f"library \"{row['library']}\"",
        "",
    ]
    return "\n".join(head + lines.types.lines() + [f"success {lines.type} {lines.success}", ""] + body) + "\n"
