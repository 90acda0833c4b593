#!/usr/bin/env node
// Checks the language of documentation, comments, test titles and interface texts (CONTRIBUTING.md, "Writing").
// `node scripts/prose.mjs [PATH …]` lists the findings of the files below the paths.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { passagesOf } from './prose-text.mjs';

const root = resolve(import.meta.dirname, '..');
/** Longest sentence on a documentation page, in words. */
const WORDS_AT_MOST = 30;
/** Minimum number of files, so that a wrong pattern does not pass without checking. */
const FILES_AT_LEAST = 1000;

const WHERE = /\.(md|tsx?|mjs|cpp|hpp)$/;
const SKIPPED =
  /^(fixtures|bench\/results|build|web\/console)\/|(^|\/)node_modules\/|^packages\/client\/src\/api\.ts$|^scripts\/prose(-text|-planted)?\.mjs$/;

/** Pattern and replacement. */
const RULES = [
  [
    /\b(is|are|was|were|been|being) told\b|\btells? (of|who|so)\b|\bto tell\b(?! apart)/i,
    'report, notify, return',
  ],
  [/\b(taken|takes?|took) (it |them )?up\b/i, 'adopt, take over'],
  [/\b(of|on) (its|their|our|his) own\b(?= *([.,;:)]|$))/i, 'own, separate, custom'],
  [/\bby (it|them)sel(f|ves)\b/i, 'automatically'],
  [/\bat once\b/i, 'immediately; at the same time'],
  [
    /\bmeanwhile\b|\bthereby\b|\bthereof\b|\bas it were\b|\bnow and then\b|\bby turns\b|\bin turns\b/i,
    'leave out; during; alternately',
  ],
  [/\bbeside\b/i, 'next to, in addition to'],
  [/\b(nobody|somebody|whoever|whomever|everybody)\b/i, 'name the actor: client, node, caller'],
  [/\bstrangers?\b/i, 'unknown peer, unauthenticated source'],
  [/\bat the (most|least)\b/i, 'at most, at least'],
  [/\b(is|are|was|were) away\b/i, 'unavailable, down'],
  [/\b(goes|go|went) on\b/i, 'continues, proceeds'],
  [/\b(is|are|was|were) over\b(?! \d| a | the | TLS| TCP| UDP)/i, 'has ended'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, repair'],
  [/\bcomes? of it\b|\bcame in\b/i, 'result, arrived'],
  [/\bone after (the other|another)\b/i, 'sequentially, in order'],
  [/\b(is|are|be) (to be had|not to be had)\b/i, 'available'],
  [
    /(^|[.:] )(what|who|whoever) (is|are|was|were|has|have|stands?|comes?|goes|asks?|says?|does|calls?) (?![^.]*\?)/i,
    'start with a noun',
  ],
  [
    /(?<!\b(?:there|this|that|which) )\b(is|are) no(?! longer| more| less| other)\b (?!(route|reply|answer)\b)/i,
    'is not a …',
  ],
  [/\b(give[sn]?|gave) up\b/i, 'abandon, stop, time out'],
  [
    /\b(front|operator'?s?|session) doors?\b|\bdesks?\b(?! phones?)|\briddles?\b|\berrands?\b|\bglances?\b|\btellers?\b|\bacquaintances?\b/i,
    'the term of RFC 3261 or of the field',
  ],
  [/\b(a|its|their) life\b/i, 'lifetime'],
];

/** Texts that must stay as they are, and why. */
const ALLOWED = [];

const isTitleOrText = (text) => /[a-z]+ [a-z]+/i.test(text);

/**
 * @param {string} file
 * @param {string} source
 * @returns {string[]} findings as `file:line: "phrase" → replacement`
 */
export function findings(file, source) {
  const found = [];
  for (const { line, text, kind, isCell } of passagesOf(file, source)) {
    if (!isTitleOrText(text)) continue;
    for (const [pattern, instead] of RULES) {
      const phrase = pattern.exec(text)?.[0].trim();
      if (
        phrase === undefined ||
        ALLOWED.some(([where, what]) => where.test(file) && text.includes(what))
      )
        continue;
      found.push(`${file}:${line}: "${phrase}" → ${instead}`);
    }
    if (kind !== 'page' || file === 'CHANGELOG.md') continue;
    for (const sentence of text.split(isCell ? /(?<=[.!?:;])\s|\s·\s/ : /(?<=[.!?:])\s|\s·\s/)) {
      const words = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
      if (words > WORDS_AT_MOST)
        found.push(
          `${file}:${line}: ${words} words in "${sentence.slice(0, 40)}…" → at most ${WORDS_AT_MOST}`,
        );
    }
  }
  return found;
}

/** Checks all files, or the files below `paths`. */
export function checkProse(paths = []) {
  const listed = spawnSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', ...paths],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    },
  ).stdout.split('\n');
  const files = listed.filter(
    (file) => WHERE.test(file) && !SKIPPED.test(file) && existsSync(join(root, file)),
  );
  if (paths.length === 0 && files.length < FILES_AT_LEAST)
    return { ok: false, output: `only ${files.length} files were read` };
  const output = files.flatMap((file) => findings(file, readFileSync(join(root, file), 'utf8')));
  return { ok: output.length === 0, output: output.join('\n') };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { ok, output } = checkProse(process.argv.slice(2));
  if (!ok) console.log(output);
  process.exit(ok ? 0 : 1);
}
