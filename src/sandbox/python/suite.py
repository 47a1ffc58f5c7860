# Test code with every assertion turned into a test of its own.
import ast
import builtins

COMPARED = "__rolecall_left", "__rolecall_right"


class Suite:
    """Test code with every assertion turned into a test of its own, one code object per statement."""

    def __init__(self, text):
        tree = ast.parse(text["code"], "tests.py")
        self.entry = text["entry"]
        rewriter = Rewriter(text["lines"], tree, text)
        self.preamble = None
        bound = set(vars(builtins)) | {"__name__", "__file__", "__doc__", self.entry}
        for part in (text["support"], text["preamble"]):
            if part:
                bound |= bound_names(ast.parse(part))
        rewriter.known = bound | bound_names(tree)
        self.places, self.functions = rewriter.places, rewriter.functions
        self.statements = []
        for statement in tree.body:
            names = {node.id for node in ast.walk(statement) if type(node) is ast.Name and type(node.ctx) is ast.Store}
            first, last = statement.lineno, statement.end_lineno
            new = rewriter.visit(statement)
            module = ast.Module([new], [])
            ast.fix_missing_locations(module)
            self.statements.append((compile(module, "tests.py", "exec", dont_inherit=True), names, first, last))
        if rewriter.next != rewriter.expected:
            raise ValueError(f"{rewriter.expected} assertions were announced, {rewriter.next} found")
        self.support = compile(text["support"] or "", "support.py", "exec", dont_inherit=True)
        self.prompt = compile(text["preamble"] or "", "prompt.py", "exec", dont_inherit=True)


def bound_names(tree):
    """Names that a text binds anywhere: whatever else it reads can only come from the candidate."""
    names = set()
    for node in ast.walk(tree):
        if type(node) is ast.Name and type(node.ctx) is not ast.Load:
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif type(node) is ast.arg:
            names.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif type(node) is ast.ExceptHandler and node.name:
            names.add(node.name)
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            names.add(node.name)
    return names


class Rewriter(ast.NodeTransformer):
    """Numbers the assertions in source order and rewrites them."""

    def __init__(self, lines, tree, text):
        self.known = set()
        self.next = 0
        self.expected = len(lines)
        self.function = None
        self.functions = []
        self.places = []  # (line, last line, range of the function around) of each assertion
        found = sorted(
            (node for node in ast.walk(tree) if type(node) is ast.Assert),
            key=lambda node: (node.lineno, node.col_offset),
        )
        self.numbers = {}
        wanted = list(lines)
        for node in found:
            if wanted and node.lineno == wanted[0]:
                self.numbers[id(node)] = len(self.numbers)
                self.places.append([node.lineno, node.end_lineno, None])
                wanted.pop(0)
        self.next = len(self.numbers)

    def visit_function(self, node):
        outer, self.function = self.function, (node.lineno, node.end_lineno)
        self.functions.append(self.function)
        node = self.generic_visit(node)
        self.function = outer
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function

    def visit_Name(self, node):
        if type(node.ctx) is ast.Load and node.id not in self.known:
            call = ast.Call(ast.Name("__rolecall_name", ast.Load()), [ast.Constant(node.id)], [])
            return ast.copy_location(call, node)
        return node

    def visit_Assert(self, node):
        number = self.numbers.get(id(node))
        test = self.generic_visit(node).test
        if number is None:
            return node
        self.places[number][2] = self.function
        wants = None
        if type(test) is ast.Compare and len(test.ops) == 1:
            left, right = (ast.Name(name, ast.Load()) for name in COMPARED)
            body = [
                ast.Assign([ast.Name(COMPARED[0], ast.Store())], test.left),
                ast.Expr(call("half")),
                ast.Assign([ast.Name(COMPARED[1], ast.Store())], test.comparators[0]),
            ]
            outcome = ast.Compare(left, test.ops, [right])
            shown = [left, right]
            wants = type(test.ops[0]).__name__ + (":swapped" if literal(test.left) and not literal(test.comparators[0]) else "")
        else:
            body, outcome, shown = [], test, []
            if type(test) is ast.UnaryOp and type(test.op) is ast.Not:
                wants = "False"
            elif not isinstance(test, (ast.BoolOp, ast.Compare)):
                wants = "True"
        body.append(ast.Expr(call("end", ast.Constant(number), outcome, ast.Constant(wants), *shown)))
        failed = ast.Name("__rolecall_error", ast.Load())
        handler = ast.ExceptHandler(
            ast.Name("BaseException", ast.Load()), "__rolecall_error",
            [ast.Expr(call("crash", ast.Constant(number), failed))],
        )
        new = ast.If(call("begin", ast.Constant(number)), [ast.Try(body, [handler], [], [])], [])
        for part in ast.walk(new):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node)
        return new


def literal(node):
    """Whether the text of an operand is a plain value."""
    return all(
        isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load))
        for part in ast.walk(node)
    )


def call(method, *arguments):
    return ast.Call(ast.Attribute(ast.Name("__rolecall", ast.Load()), method, ast.Load()), list(arguments), [])
