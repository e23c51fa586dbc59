"""An import hook under which the domain words every sentence for people differently.

It simulates a release that edits its texts: every text with a space gets a mark at both ends.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

MARK = "~"
# Modules of the domain that write texts for people. Modules that parse text are not among them.
ALTERED_MODULES = frozenset(
    f"duecourse.domain.{name}"
    for name in (
        "failures.decision",
        "journal.history",
        *("lifecycle.run_transitions", "lifecycle.apply_failure", "lifecycle.advance_series"),
        *("lifecycle.blocked", "lifecycle.blocked_outcome", "lifecycle.user_actions"),
        *("lifecycle.quiet_hours", "lifecycle.reclassification", "lifecycle.spec_review"),
        *("lifecycle.verification", "tasks.wait_text"),
        *("chat.notifications_for", "chat.notification_text", "chat.task_view"),
    )
)


class _AlterTexts(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and " " in node.value:
            return ast.copy_location(ast.Constant(f"{MARK}{node.value}{MARK}"), node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        if any(" " in str(text) for text in texts):
            mark = ast.copy_location(ast.Constant(MARK), node)
            node.values = [mark, *node.values, mark]
        return node


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Compile the source; a cached file is never used."""
        path = self.get_filename(fullname)
        tree = _AlterTexts().visit(ast.parse(self.get_data(path), path))
        code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec")
        return code


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in ALTERED_MODULES else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


def install() -> None:
    """Install the hook. Raises RuntimeError if one of the modules is already imported."""
    if early := ALTERED_MODULES & sys.modules.keys():
        raise RuntimeError(f"already imported: {', '.join(sorted(early))}")
    sys.meta_path.insert(0, _Finder())
