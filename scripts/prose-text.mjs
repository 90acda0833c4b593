// Finds the prose of a file: Markdown text, comments, and string literals that are sentences or titles.

/**
 * @typedef {{ line: number, text: string, kind: 'page' | 'comment' | 'string', isCell?: boolean }} Passage
 * @param {string} file path, whose extension selects the reader
 * @param {string} source content of the file
 * @returns {Passage[]} passages in order. `line` is the first line, from 1.
 */
export function passagesOf(file, source) {
  return file.endsWith('.md') ? pagePassages(source) : [...codePassages(source, TESTS.test(file))];
}

/** Markdown: paragraphs, list items and table cells, without code, link targets and HTML tags. */
function pagePassages(source) {
  const passages = [];
  let inCode = false;
  let open;
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*```/.test(line)) inCode = !inCode;
    const isText = !inCode && !/^\s*(```|$)/.test(line);
    const isStart = /^\s*([-*#>|]|\d+\.)/.test(line);
    if (!isText || isStart) open = undefined;
    if (!isText) continue;
    const text = line
      .replace(/^\s*([-*#>]+|\d+\.)\s/, '')
      .replace(/`[^`]*`/g, 'CODE')
      .replace(/\]\([^)]*\)/g, ']')
      .replace(/<[^>]+>/g, ' ');
    if (line.trimStart().startsWith('|')) {
      for (const cell of text.split('|'))
        passages.push({ line: index + 1, text: cell.trim(), kind: 'page', isCell: true });
    } else if (open === undefined) {
      open = { line: index + 1, text: text.trim(), kind: 'page' };
      passages.push(open);
    } else open.text += ` ${text.trim()}`;
  }
  return passages;
}

const TESTS = /(^|\/)test\//;
/** Text before a test title. All other strings of tests are data. */
const TITLE = /(\b(it|test|describe)(\.\w+)*|\))\(\s*$/;

/** Comments, strings and regular expressions of TypeScript, JavaScript and C++. Longer alternatives come first. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|>[^<>{}=;]+(?=<\/)/g;

function* codePassages(source, isTest) {
  let comment;
  let line = 1;
  let at = 0;
  for (const match of source.matchAll(TOKEN)) {
    const [token] = match;
    const between = source.slice(at, match.index);
    line += countLines(between);
    const isLineComment = token.startsWith('//');
    // Consecutive line comments are one passage.
    if (
      isLineComment &&
      comment !== undefined &&
      between.trim() === '' &&
      countLines(between) === 1
    ) {
      comment.text += ` ${bare(token)}`;
    } else {
      if (comment !== undefined) yield comment;
      comment = isLineComment ? { line, text: bare(token), kind: 'comment' } : undefined;
      if (token.startsWith('/*')) yield { line, text: bare(token), kind: 'comment' };
      else if (/^['"`>]/.test(token) && (!isTest || TITLE.test(between)))
        yield { line, text: literal(token), kind: 'string' };
    }
    line += countLines(token);
    at = match.index + token.length;
  }
  if (comment !== undefined) yield comment;
}

const countLines = (text) => text.split('\n').length - 1;

const bare = (token) =>
  token
    .replace(/^\/\*+|\*+\/$|^\s*\*\s?|^\/\/[/!<]*/gm, '')
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/\s+/g, ' ')
    .trim();

const literal = (token) =>
  token
    .replace(/^['"`>]|['"`]$/g, '')
    .replace(/\$\{[^{}]*\}/g, 'VALUE')
    .replace(/\s+/g, ' ');
