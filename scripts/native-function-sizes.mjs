// Finds long and deeply nested functions in C++ by their braces. The style of clang-format makes a parser unnecessary.

/** Comments, strings and characters, whose braces do not count. A quote within a number separates digits. */
const TEXT =
  /R"\([\s\S]*?\)"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'/g;
const CONTROL = /^(if|for|while|switch|do|try|catch)\b|\belse(\s+if\b[^;]*)?$/;
/** What precedes the body of a function: its parameters and qualifiers, an initializer list, or the captures of a lambda. */
const FUNCTION =
  /(\)|\b(const|noexcept|override|final|mutable))$|\)(\s*(const|noexcept))*\s*(->|:[^:])[^;]*$|\]$/;
const OTHER = /^(namespace|extern|enum|(template.*>\s*)?(class|struct|union))\b/;

/** The kind of the block that begins after these words. */
function kindOf(before) {
  const head = before.trim().replace(/^(public|private|protected):\s*/, '');
  if (CONTROL.test(head)) return 'control';
  return !OTHER.test(head) && FUNCTION.test(head) ? 'function' : 'other';
}

/** Functions with their lines, and blocks with their depth, of one file. `nesting` counts functions and control blocks. */
export function nativeFunctionsOf(source, { maxLines, maxNesting }) {
  const text = source.replace(TEXT, (found) => found.replace(/[^\n]/g, ' '));
  const found = [];
  const open = [];
  let before = '';
  let line = 1;
  let brackets = 0;
  for (const letter of text.replace(/^#.*$/gm, '')) {
    if (letter === '\n') line += 1;
    if (letter === '(') brackets += 1;
    if (letter === ')') brackets -= 1;
    if (letter === '{') {
      const kind = kindOf(before);
      open.push({ kind, from: line - before.trimStart().split('\n').length + 1, brackets });
      brackets = 0;
      const nesting = open.filter((block) => block.kind !== 'other').length;
      if (kind !== 'other' && nesting === maxNesting + 1) found.push({ line, lines: 0, nesting });
    }
    if (letter === '}') {
      const block = open.pop();
      brackets = block?.brackets ?? 0;
      const lines = block?.kind === 'function' ? line - block.from + 1 : 0;
      if (lines > maxLines) found.push({ line: block.from, lines, nesting: 0 });
    }
    const isEnd = letter === '{' || letter === '}' || (letter === ';' && brackets === 0);
    before = isEnd ? '' : before + letter;
  }
  return found;
}
