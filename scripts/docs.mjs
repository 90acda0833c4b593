#!/usr/bin/env node
// Builds the documentation site into build/docs with VitePress: `docs.mjs [--if-stale] [--low-priority]`.
// With SKIP_DOCS=1 it does nothing: the service then runs without the site.
// 1. Installs the site's tools (docs/package.json) if their lock file changed.
// 2. Copies docs/ and the pages outside of it into build/docs-source and adapts their links.
// 3. Builds the site, llms.txt (list of pages) and llms-full.txt (all pages as one text).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAGES, SECTIONS } from '../docs/.vitepress/pages.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const docs = join(root, 'docs');
const target = join(root, 'build/docs');
const stamp = join(target, '.carillon-stamp');
// Names with the process ID: two builds at the same time do not disturb each other.
const stage = `${target}-source-${process.pid}`;
const fresh = `${target}-new-${process.pid}`;

/** Without a reachable registry, the installation fails after a minute instead of half an hour. */
const NO_WAIT = ['--fetch-retries=1', '--fetch-retry-maxtimeout=10000', '--fetch-timeout=20000'];
/** Maximum duration of each step in ms. */
const STEP_MS = 300_000;
/** Folders in docs/ that are not sources. */
const TOOLS = /^docs\/(node_modules|\.vitepress\/(cache|dist))(\/|$)/;
/** Pages by their file, as links in the sources name them. */
const byFile = new Map(PAGES.map((page) => [page.file, page]));

if (process.env.SKIP_DOCS === '1') process.exit(0);
if (process.argv.includes('--low-priority')) setPriority(19);
const sources = sourcesHash();
if (!process.argv.includes('--if-stale') || !isBuiltFrom(sources)) {
  installTools();
  stagePages();
  buildSite();
}

function isBuiltFrom(hash) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
}

function sourcesHash() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  const inside = readdirSync(docs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !TOOLS.test(file));
  for (const file of [...inside, ...PAGES.map((page) => page.file)].sort())
    hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function installTools() {
  const lock = createHash('sha256').update(readFileSync(join(docs, 'package-lock.json')));
  const wanted = lock.digest('hex');
  const installed = join(docs, 'node_modules', '.carillon-stamp');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return;
  run(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...NO_WAIT],
    docs,
  );
  writeFileSync(installed, wanted);
}

function stagePages() {
  rmSync(stage, { recursive: true, force: true });
  cpSync(docs, stage, {
    recursive: true,
    filter: (path) => !TOOLS.test(relative(root, path)),
  });
  symlinkSync(join(docs, 'node_modules'), join(stage, 'node_modules'));
  const whole = [];
  for (const page of PAGES) {
    const text = withSiteLinks(page, readFileSync(join(root, page.file), 'utf8'));
    const path = join(stage, `${page.path}.md`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `---\nsource: ${page.file}\n---\n\n${text}`);
    whole.push(text);
  }
  mkdirSync(join(stage, 'public'), { recursive: true });
  writeFileSync(join(stage, 'public/llms.txt'), pageList());
  writeFileSync(join(stage, 'public/llms-full.txt'), whole.join('\n\n---\n\n'));
}

/**
 * Links between files of the project become links between pages. A link to a file that is not a page becomes plain text. A link
 * to the service itself (`/docs`, `/phone`) leaves the site.
 */
function withSiteLinks(page, text) {
  const here = dirname(page.path);
  return text.replaceAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, picture, words, href) => {
    if (/^(https?:|#|mailto:)/.test(href)) return link;
    if (href.startsWith('/')) return `[${words}](service:${href})`;
    const [path, part] = href.split('#');
    const file = join(dirname(page.file), path);
    if (picture) return `![${words}](${relativeTo(here, relative('docs', file))})`;
    const found = byFile.get(file);
    if (found === undefined) return words;
    return `[${words}](${relativeTo(here, found.path)}.md${part === undefined ? '' : `#${part}`})`;
  });
}

function relativeTo(folder, path) {
  const found = relative(folder, path);
  return found.startsWith('.') ? found : `./${found}`;
}

/** The index for language models (llmstxt.org): every page with its address and first sentence. */
function pageList() {
  const lines = ['# Carillon', '', '> Self-hosted programmable voice platform.', ''];
  for (const { title, pages } of SECTIONS) {
    lines.push(`## ${title}`, '');
    for (const { title: name, path } of pages)
      lines.push(`- [${name}](/docs/guide/${path}): ${firstSentence(path)}`);
    lines.push('');
  }
  return lines.join('\n');
}

function firstSentence(path) {
  const text = readFileSync(join(stage, `${path}.md`), 'utf8');
  const body = text.replace(/^---[\s\S]*?---/, '').replace(/^#.*$/m, '');
  const paragraph = body.split(/\n\s*\n/).find((part) => /^\w/.test(part.trim())) ?? '';
  return /^[\s\S]*?[.:](?=\s|$)/.exec(paragraph.trim())?.[0].replaceAll(/\s+/g, ' ') ?? '';
}

/** Builds next to the old site and then replaces it, so that a running service never serves half a site. */
function buildSite() {
  rmSync(fresh, { recursive: true, force: true });
  run(
    process.execPath,
    [join(docs, 'node_modules/vitepress/bin/vitepress.js'), 'build', stage],
    root,
    {
      CARILLON_DOCS_OUT: fresh,
    },
  );
  writeFileSync(join(fresh, '.carillon-stamp'), sources);
  rmSync(target, { recursive: true, force: true });
  renameSync(fresh, target);
  rmSync(stage, { recursive: true, force: true });
}

function run(command, args, cwd, environment = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: STEP_MS,
    env: { ...process.env, ...environment },
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  process.exit(1);
}
