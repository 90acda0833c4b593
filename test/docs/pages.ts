/** Pages of the documentation, with the commands and names in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../e2e/service.ts';

/** Markdown files for readers, relative to the project's root. Excludes the site's tools and the changelog. */
const FILES = ['.', 'docs', 'deploy', 'examples', 'packages']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' }).map((name) =>
      folder === '.' ? name : `${folder}/${name}`,
    ),
  )
  .filter((name) => name.endsWith('.md') && !/node_modules|CHANGELOG/.test(name));

export interface Page {
  readonly file: string;
  readonly text: string;
  /** Commands of its code blocks, one per line. Continued lines are joined and comments removed. */
  readonly commands: readonly string[];
  /** Inline code of its sentences. */
  readonly inline: readonly string[];
}

export const PAGES: readonly Page[] = FILES.map((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const blocks = [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => block,
  );
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return {
    file,
    text,
    commands: blocks.flatMap((block) =>
      block
        .replaceAll(/\\\n\s*/g, ' ')
        .split('\n')
        .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
        .filter((line) => line !== ''),
    ),
    inline: [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
  };
});

/** Pages of the documentation site. */
export const { PAGES: SITE_PAGES } = (await import(join(ROOT, 'docs/.vitepress/pages.mjs'))) as {
  readonly PAGES: readonly {
    readonly title: string;
    readonly path: string;
    readonly file: string;
  }[];
};

/** Splits a command line into words as a shell does, without expansion. */
export function words(line: string): readonly string[] {
  const found: string[] = [];
  let [word, quote, depth] = ['', '', 0];
  for (const [at, sign] of [...line].entries()) {
    const isOpening = sign === '(' && line[at - 1] === '$';
    if (isOpening) depth += 1;
    else if (sign === ')' && depth > 0) depth -= 1;
    if (quote === '' && depth === 0 && /\s/.test(sign)) {
      if (word !== '') found.push(word);
      word = '';
      continue;
    }
    if (depth === 0 && quote === '' && /["']/.test(sign)) quote = sign;
    else if (depth === 0 && sign === quote) quote = '';
    else word += sign;
  }
  return word === '' ? found : [...found, word];
}
