/** Links between Markdown pages, read from the sources. `site.test.ts` checks the built site. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../e2e/service.ts';
import { PAGES, SITE_PAGES } from './pages.ts';

const withoutCode = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

/** Part of an address that the site gives to a heading: GitHub and VitePress agree on it for our headings. */
const slugOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, ' ')
    .trim()
    .replaceAll(/\s+/g, '-');

/** Slugs of the headings of a file. A repeated heading gets a number. */
function slugsIn(file: string): ReadonlySet<string> {
  const text = withoutCode(readFileSync(join(ROOT, file), 'utf8'));
  const slugs = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^#+ (.+)$/gm)) {
    const slug = slugOf(heading);
    let unique = slug;
    for (let again = 1; slugs.has(unique); again += 1) unique = `${slug}-${again}`;
    slugs.add(unique);
  }
  return slugs;
}

it('the sidebar of the site lists every page of docs/ once', () => {
  const listed = new Set(SITE_PAGES.map(({ file }) => file));
  const pages = PAGES.map(({ file }) => file).filter((file) =>
    /^docs\/(?!(index|README)\.md$)/.test(file),
  );
  expect(pages.filter((file) => !listed.has(file))).toEqual([]);
  expect(new Set(SITE_PAGES.map(({ path }) => path)).size).toBe(SITE_PAGES.length);
});

it('links name files and headings that exist', () => {
  let count = 0;
  const dead = PAGES.flatMap(({ file, text }) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^(\w+:|\/)/.test(target))
      .filter((target) => {
        count += 1;
        const [path = '', part] = target.split('#');
        const to = path === '' ? file : join(dirname(file), path);
        if (!existsSync(join(ROOT, to))) return true;
        return part !== undefined && !slugsIn(to).has(part);
      })
      .map((target) => `${file} → ${target}`),
  );
  expect(dead).toEqual([]);
  expect(count).toBeGreaterThan(200);
});
