# SPDX-License-Identifier: Apache-2.0
"""Decides which mutants a source file has, and writes a copy that holds them all behind switch.hpp.

Mutants are found in clang's syntax tree, so that each compiles; constant expressions have none.
Operators: comparisons (boundary and opposite), arithmetic, minus signs, conditions and parts of
conditions (as if true or false), numbers (one more, one less; twice for reals), booleans, results,
ends of min and max, and statements (dropped). One mutant is on at a time, so each chooses between
its own text and the original, in which the others lie.
"""

import dataclasses
import itertools
import re

from clang.cindex import CursorKind, Index, TranslationUnit, TypeKind

NAMESPACE = "::gradverify::mutants::"
AS_BOOL = "static_cast<bool>({})"

COMPARISONS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
    "!=": ("==",),
}  # fmt: skip
# None: the left operand alone.
ARITHMETIC = {
    "+": ("-", None), "-": ("+", None), "*": ("+",), "/": ("*",), "%": ("/",), "<<": (">>",),
    ">>": ("<<",), "&": ("|",), "|": ("&",), "^": ("&",),
}  # fmt: skip
# Functions of two numbers that become one of them.
FUNCTIONS = {"max", "min"}
# Without these a program is slower, and the same.
ONLY_FASTER = {"reserve"}

NUMBERS = {
    TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG,
    TypeKind.ULONGLONG, TypeKind.DOUBLE, TypeKind.FLOAT, TypeKind.SHORT, TypeKind.USHORT,
}  # fmt: skip
FUNCTION_KINDS = {
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR, CursorKind.FUNCTION_TEMPLATE, CursorKind.CONVERSION_FUNCTION,
}  # fmt: skip
DECLARATIONS = FUNCTION_KINDS | {
    CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.PARM_DECL,
}  # fmt: skip
LITERALS = {
    CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR,
}  # fmt: skip
CONSTANT = {
    CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL, CursorKind.TEMPLATE_REF, CursorKind.TYPE_REF,
}  # fmt: skip
LOOPS = {CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.FOR_STMT}
DROPPED = {
    CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT, CursorKind.UNARY_OPERATOR,
    CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
}  # fmt: skip
WRAPPERS = {CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR}

EDIT = re.compile("«(.*) => (.*)»")


@dataclasses.dataclass
class Mutant:
    file: str
    function: str
    line: int
    edit: str  # the source line or lines that it changes, as one: ...«old text => new text»...
    number: int

    def key(self):
        return (self.file, self.function, *ends_of(self.edit))


def ends_of(edit):
    """The line of an edit as it was, and as it is changed."""
    return tuple(one_line(EDIT.sub(end, edit)) for end in (r"\1", r"\2"))


class Finder:
    def __init__(self, root, path, first_number):
        self.path = path
        self.bytes = (root / path).read_bytes()
        self.unit = Index.create().parse(
            str(root / path),
            args=["-x", "c++", "-std=c++20", f"-I{root}", "-Wno-everything"],
            options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
        )
        wrong = [str(d) for d in self.unit.diagnostics if d.severity >= 3]
        if wrong:
            raise SystemExit("mutants: clang does not understand " + "\n".join(wrong))
        self.number = first_number
        self.mutants = []
        self.function = ""
        self.last_breaks, self.constant = set(), set()
        self.macro_uses = {
            span(c) for c in self.unit.cursor.get_children()
            if c.kind == CursorKind.MACRO_INSTANTIATION and self.is_here(c)
        }  # fmt: skip
        # Text to insert: at an offset, the outermost first before and last behind.
        self.before, self.behind = [], []

    # ---- text

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def of(self, cursor):
        return self.text(*span(cursor))

    def add(self, start, end, new_text):
        """A mutant that replaces this text; its number."""
        first = self.bytes.rfind(b"\n", 0, start) + 1
        last = self.bytes.find(b"\n", end)
        edit = f"{self.text(first, start)}«{self.text(start, end)} => {new_text}»{self.text(end, last)}"
        line = self.bytes.count(b"\n", 0, start) + 1
        self.mutants.append(Mutant(self.path, self.function, line, one_line(edit), self.number))
        self.number += 1
        return self.number - 1

    def choose(self, start, end, edits, kept="{}"):
        """Mutants of an expression, each with one edit of its text; `kept` is a cast around each."""
        if not edits:
            return
        choices = "("
        for at, to, new in edits:
            mutated = kept.format(self.text(start, at) + new + self.text(to, end))
            choices += f"{NAMESPACE}on({self.add(at, to, new)}) ? {mutated} : "
        before, behind = kept.split("{}")
        self.insert(start, end, choices + before, behind + ")")

    def replace(self, cursor, texts, kept="{}"):
        """Mutants that replace an expression by one of these texts."""
        start, end = span(cursor)
        self.choose(start, end, [(start, end, text) for text in texts], kept)

    def insert(self, start, end, before, behind=""):
        self.before.append((start, len(self.before), before))
        self.behind.append((end, -len(self.behind), behind))

    def mutated(self):
        edits = [(at, 1, order, at, new) for at, order, new in self.before]
        edits += [(at, 0, order, at, new) for at, order, new in self.behind]
        result, position = "", 0
        for start, _, _, end, new in sorted(edits):
            result += self.text(position, start) + new
            position = end
        result += self.text(position, len(self.bytes))
        include = '#include "properties/tests/mutants/switch.hpp"\n'
        if self.path.endswith(".hpp"):
            return result.replace("#pragma once\n", "#pragma once\n" + include, 1)
        return include + result

    # ---- the walk

    def find(self):
        for cursor in self.unit.cursor.get_children():
            if self.is_here(cursor):
                self.visit(cursor, None)

    def is_here(self, cursor):
        where = cursor.location.file
        return where is not None and where.name == self.unit.spelling

    def visit(self, cursor, parent, literals=True):
        kind = cursor.kind
        if kind in CONSTANT or span(cursor) in self.constant or not self.may_vary(cursor):
            return
        if kind == CursorKind.SWITCH_STMT:
            self.note_last_break(cursor)
        outer_function = self.function
        if kind in FUNCTION_KINDS:
            self.function = cursor.spelling
        children = list(cursor.get_children())
        handler = HANDLERS.get(kind)
        literals_below = True
        if handler is not None:
            literals_below = handler(self, cursor, children, parent, literals) is not False
        elif kind in WRAPPERS:
            literals_below = literals
        statements = statement_children(kind, children, self)
        for child in children:
            if kind == CursorKind.CASE_STMT and child == children[0]:
                continue
            if kind in DECLARATIONS and span(child)[0] < cursor.location.offset:
                continue  # a part of the type, such as an array's length
            if child in statements:
                self.statement(child)
            self.visit(child, cursor, literals_below)
        self.function = outer_function

    def may_vary(self, cursor):
        """Whether a declaration's value or body may be mutated. A named constant is tuned: its
        neighbours are as right."""
        if cursor.kind in FUNCTION_KINDS:
            from_macro = span(cursor) in self.macro_uses  # its text is the macro's
            return not from_macro and not constexpr_of(cursor)
        if cursor.kind == CursorKind.DECL_STMT:
            return not constexpr_of(cursor)  # of all its names: libclang gives it to the first alone
        if cursor.kind not in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL):
            return True
        if cursor.type.get_canonical().kind == TypeKind.CONSTANTARRAY:
            return False
        if cursor.kind == CursorKind.FIELD_DECL:
            owner = cursor.semantic_parent
            constructors = [c for c in owner.get_children() if c.kind == CursorKind.CONSTRUCTOR]
            return not any(map(constexpr_of, constructors))
        return not constexpr_of(cursor)

    def note_last_break(self, switch):
        """A break at the end of a switch goes where its absence goes."""
        last = switch
        while children := list(last.get_children()):
            last = children[-1]
        if last.kind == CursorKind.BREAK_STMT:
            self.last_breaks.add(span(last))

    def statement(self, cursor):
        if not self.is_droppable(cursor) or span(cursor) in self.last_breaks:
            return
        start, end = span(cursor)
        number = self.add(start, end, "")
        self.insert(start, end, f"GRADVERIFY_MUTANT_DROPS({number}) ")

    def is_droppable(self, cursor):
        inner = unwrapped(cursor)
        if inner.kind == CursorKind.CALL_EXPR:
            return inner.spelling not in ONLY_FASTER
        return cursor.kind in DROPPED or inner.kind in DROPPED

    # ---- expressions

    def operator_between(self, left, right):
        """The operator's place in the text between two operands, and its text."""
        start, end = span(left)[1], span(right)[0]
        between = self.text(start, end)
        stripped = between.strip()
        return start + between.index(stripped) if stripped else start, stripped

    def binary(self, cursor, children, parent, literals):
        if len(children) != 2:
            return None
        left, right = children
        _, operator = self.operator_between(left, right)
        if operator in ("&&", "||"):
            for operand in children:
                if self.logical_operator(operand) != operator:
                    self.choose_condition(operand, ("true" if operator == "&&" else "false",))
            return None
        if operator in COMPARISONS:
            self.exchange(left, right, COMPARISONS[operator])
            return False
        if operator in ARITHMETIC and all(
            one.type.get_canonical().kind in NUMBERS for one in (cursor, left, right)
        ):  # fmt: skip
            self.exchange(left, right, ARITHMETIC[operator])
            return operator not in "+-"
        return None

    def exchange(self, left, right, operators):
        at, operator = self.operator_between(left, right)
        (start, left_end), (_, end) = span(left), span(right)
        self.choose(start, end, [
            (left_end, end, "") if new is None else (at, at + len(operator), new)
            for new in operators
        ])  # fmt: skip

    def logical_operator(self, cursor):
        inner = unwrapped(cursor, parentheses=False)
        children = list(inner.get_children())
        if inner.kind != CursorKind.BINARY_OPERATOR or len(children) != 2:
            return ""
        return self.operator_between(*children)[1]

    def compound(self, cursor, children, parent, literals):
        _, operator = self.operator_between(*children)
        if operator in ("+=", "-=") and cursor.type.get_canonical().kind in NUMBERS:
            self.exchange(*children, ("-=" if operator == "+=" else "+=",))

    def unary(self, cursor, children, parent, literals):
        text, operand = self.of(cursor), children[0]
        if text.startswith("!") and not text.startswith("!="):
            self.replace(cursor, (self.of(operand),), AS_BOOL)
        if (
            text.startswith("-") and not text.startswith("--")
            and unwrapped(operand).kind not in LITERALS
            and cursor.type.get_canonical().kind in NUMBERS
        ):  # fmt: skip
            self.replace(cursor, (self.of(operand),))

    def call(self, cursor, children, parent, literals):
        if cursor.spelling.startswith("operator"):
            if self.is_comparison(cursor):
                left, operator, right = children
                if span(left)[1] <= span(operator)[0] and span(operator)[1] <= span(right)[0]:
                    self.exchange(left, right, COMPARISONS[self.of(operator)])
                return False
            return cursor.spelling != "operator[]"
        arguments = [self.of(argument) for argument in children[1:]]
        if (
            cursor.spelling in FUNCTIONS and len(arguments) == 2
            and self.of(children[0]).startswith("std::" + cursor.spelling)
            and cursor.type.get_canonical().kind in NUMBERS
        ):
            self.replace(cursor, arguments)
        return None

    def number_literal(self, cursor, children, parent, literals):
        text = self.of(cursor)
        if not literals or not re.fullmatch(r"[0-9][0-9a-fA-FxXpPuUlL.'+-]*", text):
            return
        if cursor.kind == CursorKind.FLOATING_LITERAL:
            self.replace(cursor, ("1.0" if float_of(text) == 0 else f"2 * {text}",))
        elif re.fullmatch(r"0[uUlL]*", text):
            self.replace(cursor, ("1",))
        elif text.isdigit():
            self.replace(cursor, (str(int(text) + 1), str(int(text) - 1)))
        else:
            self.replace(cursor, (f"{text} + 1",))

    def bool_literal(self, cursor, children, parent, literals):
        if parent is not None and parent.kind in LOOPS:
            return
        text = self.of(cursor)
        if text in ("true", "false"):
            self.replace(cursor, ("false" if text == "true" else "true",))

    # ---- conditions and results

    def if_statement(self, cursor, children, parent, literals):
        body = self.branches(children)[0]
        condition = children[children.index(body) - 1]
        if re.match(r"if\s+constexpr\b", self.of(cursor)):
            self.constant.add(span(condition))
            return
        if declares_variable(children, condition):
            return
        # Dropping the body says the same as false.
        texts = ("false",) if body != children[-1] or not self.is_droppable(body) else ()
        if not self.is_mutated(condition):
            texts += ("true",)
        self.choose_condition(condition, texts)

    def branches(self, children):
        """Those of an `if`: one, or two where there is an `else`."""
        between = self.text(span(children[-2])[1], span(children[-1])[0])
        return children[-2:] if "else" in between else children[-1:]

    def choose_condition(self, condition, texts):
        if self.of(condition) not in texts:
            self.replace(condition, texts, AS_BOOL)

    def loop(self, cursor, children, parent, literals):
        if cursor.kind == CursorKind.FOR_STMT:
            return
        condition = children[1] if cursor.kind == CursorKind.DO_STMT else children[-2]
        if not declares_variable(children, condition) and not self.is_mutated(condition):
            self.choose_condition(condition, ("false",))

    def conditional(self, cursor, children, parent, literals):
        if not self.is_mutated(children[0]):
            self.choose_condition(children[0], ("false", "true"))
        return None

    def returned(self, cursor, children, parent, literals):
        if not children or not self.function:
            return
        value = children[0]
        kind = value.type.get_canonical().kind
        if self.is_mutated(value):
            return
        if kind == TypeKind.BOOL:
            self.choose_condition(value, ("false", "true"))
        elif kind in NUMBERS and unwrapped(value).kind != CursorKind.CONDITIONAL_OPERATOR:
            if self.of(value) != "INFINITY":
                self.replace(value, (self.of(value) + " + 1",))

    def is_mutated(self, cursor):
        """Whether an expression has mutants of its own that change its value."""
        inner = unwrapped(cursor)
        if inner.kind == CursorKind.UNARY_OPERATOR:
            return self.of(inner)[0] in "!-"
        if inner.kind == CursorKind.CALL_EXPR:
            return inner.spelling in FUNCTIONS or self.is_comparison(inner)
        return inner.kind == CursorKind.BINARY_OPERATOR or inner.kind in LITERALS

    def is_comparison(self, call):
        """Whether a call is one of an operator that compares."""
        children = list(call.get_children())
        return (
            call.spelling.startswith("operator") and len(children) == 3
            and self.of(children[1]) in COMPARISONS
        )  # fmt: skip


BODY_LAST = {
    CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.CXX_FOR_RANGE_STMT, CursorKind.CASE_STMT,
    CursorKind.DEFAULT_STMT,
}  # fmt: skip
HANDLERS = {
    CursorKind.BINARY_OPERATOR: Finder.binary,
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: Finder.compound,
    CursorKind.UNARY_OPERATOR: Finder.unary,
    CursorKind.CALL_EXPR: Finder.call,
    CursorKind.INTEGER_LITERAL: Finder.number_literal,
    CursorKind.FLOATING_LITERAL: Finder.number_literal,
    CursorKind.CXX_BOOL_LITERAL_EXPR: Finder.bool_literal,
    CursorKind.IF_STMT: Finder.if_statement,
    CursorKind.WHILE_STMT: Finder.loop,
    CursorKind.DO_STMT: Finder.loop,
    CursorKind.CONDITIONAL_OPERATOR: Finder.conditional,
    CursorKind.RETURN_STMT: Finder.returned,
    CursorKind.ARRAY_SUBSCRIPT_EXPR: lambda *_: False,
}


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def declares_variable(children, condition):
    """Whether a condition is the variable that it declares, as in `if (int* p = f())`."""
    if condition.kind == CursorKind.VAR_DECL:
        return True
    before = children[: children.index(condition)]
    return any(first <= span(condition)[0] < last for first, last in map(span, before))


def one_line(text):
    return " ".join(text.split())


def float_of(text):
    return float.fromhex(text) if text.lower().startswith("0x") else float(text.rstrip("fFlL"))


def constexpr_of(cursor):
    """The token `constexpr` of a declaration before its value or body, or None."""
    before = itertools.takewhile(lambda token: token.spelling not in "{=", cursor.get_tokens())
    return next((token for token in before if token.spelling == "constexpr"), None)


def unwrapped(cursor, parentheses=True):
    kinds = WRAPPERS if parentheses else {CursorKind.UNEXPOSED_EXPR}
    while cursor.kind in kinds:
        children = list(cursor.get_children())
        if len(children) != 1:
            return cursor
        cursor = children[0]
    return cursor


def statement_children(kind, children, finder):
    if kind == CursorKind.COMPOUND_STMT:
        return children
    if kind == CursorKind.IF_STMT:
        return finder.branches(children)
    if kind == CursorKind.DO_STMT:
        return children[:1]
    return children[-1:] if kind in BODY_LAST else []


def find_mutants(root, path, first_number):
    """The mutants of a file, numbered from `first_number` on, and the text that holds them all."""
    finder = Finder(root, path, first_number)
    finder.find()
    return finder.mutants, finder.mutated()
