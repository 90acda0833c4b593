// Makes the pages that /docs/guide serves from docs/*.md, and the report of the benchmarks from bench/results. Part of the set-up; plain
// JavaScript. `docs.mjs FOLDER`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';
import { benchmarkReport } from './docs/benchmarks.mjs';
import { PAGES } from './docs/pages.mjs';
import { STYLE } from './docs/style.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const target = resolve(process.argv[2] ?? join(root, 'build/docs'));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const known = new Map(PAGES.map((page) => [page.file, page]));
for (const page of PAGES) writeFileSync(join(target, `${page.name}.html`), pageOf(page));

function pageOf(page) {
  const text =
    page.file === undefined
      ? benchmarkReport(results())
      : readFileSync(join(root, page.file), 'utf8');
  const body = markdown(page).parse(text);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(page.title)} · Carillon</title><style>${STYLE}</style></head><body>
<nav><a href="/docs/guide/index"><b>Carillon</b></a>${menu(page)}<p><a href="/docs">REST API</a> <a href="/phone">Phone</a></p></nav>
<main>${body}</main></body></html>\n`;
}

function menu(current) {
  const groups = [...new Set(PAGES.map(({ group }) => group))];
  return groups
    .map((group) => {
      const links = PAGES.filter((page) => page.group === group).map(
        ({ name, title }) =>
          `<a href="/docs/guide/${name}"${name === current.name ? ' class="here"' : ''}>${escaped(title)}</a>`,
      );
      return `<h2>${group}</h2>${links.join('')}`;
    })
    .join('');
}

/** Headings get names, and links between files of the project become links between pages, or texts. */
function markdown(page) {
  return new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const id = text
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .trim()
          .replace(/\s+/g, '-');
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // A page asks for nothing: its pictures are in it.
      image({ href, text }) {
        const file = join(root, dirname(page.file), href);
        if (href.endsWith('.svg')) return `<figure>${readFileSync(file, 'utf8')}</figure>`;
        const data = readFileSync(file).toString('base64');
        return `<img alt="${escaped(text)}" src="data:image/png;base64,${data}">`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        if (/^(https?:|\/|#|mailto:)/.test(href)) return `<a href="${escaped(href)}">${words}</a>`;
        const [path, part] = href.split('#');
        const found = known.get(join(dirname(page.file ?? 'docs/x.md'), path));
        if (found === undefined) return words;
        return `<a href="/docs/guide/${found.name}${part === undefined ? '' : `#${part}`}">${words}</a>`;
      },
    },
  });
}

function results() {
  const folder = join(root, 'bench/results');
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
