/**
 * Verifies that all items named in the documentation exist: commands, options, npm scripts, settings, metrics, routes,
 * files.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { listSettings } from '../../src/config/schema.ts';
import { canonicalPath, pathPattern } from '../../src/edge/rest/http/url.ts';
import { ROUTES } from '../../src/edge/rest/routes.ts';
import { TestTerminal } from '../cli/terminal.ts';
import { metricNames, scrape } from '../deploy/scrape.ts';
import { ROOT } from '../e2e/service.ts';
import { PAGES, words } from './pages.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const program = createProgram(new TestTerminal());

const namedBy = (parent: Command, name: string): Command | undefined =>
  parent.commands.find((command) => command.name() === name || command.aliases().includes(name));

/** Returns why the program would refuse the words. `isWhole`: also checks for missing arguments. */
function refusal(given: readonly string[], isWhole: boolean): string | undefined {
  let command = program;
  const chain = [program];
  let args = 0;
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? '';
    if (word.startsWith('--') && word.length > 2) {
      const [name = ''] = word.split('=');
      const option = chain.flatMap(({ options }) => options).find(({ long }) => long === name);
      if (option === undefined && name !== '--help') return `no option ${name}`;
      if (option?.required && !word.includes('=')) at += 1;
      continue;
    }
    const next = args === 0 ? namedBy(command, word) : undefined;
    if (next === undefined) {
      if (command.commands.length > 0) return `no command ${word}`;
      args += 1;
      continue;
    }
    command = next;
    chain.push(next);
  }
  const wanted = command.registeredArguments.filter(({ required }) => required).length;
  const isMore = command.registeredArguments.some(({ variadic }) => variadic);
  if (args > command.registeredArguments.length && !isMore) return 'too many arguments';
  return isWhole && args < wanted ? 'arguments are missing' : undefined;
}

/** Expands `carillon a b|c --d …` into its alternatives, up to the ellipsis. */
function alternatives(text: string): readonly (readonly string[])[] {
  const given = words(text.replace(/^(sudo (?:-u carillon )?)?(npx )?carillon\s+/, ''));
  const shown = given.slice(0, given.findIndex((word) => /[…[\]()]/.test(word)) >>> 0);
  return shown.reduce<readonly (readonly string[])[]>(
    (lines, word) =>
      word
        .split(word.startsWith('-') ? /$a/ : /[|,]/)
        .filter((part) => part !== '')
        .flatMap((part) => lines.map((line) => [...line, part])),
    [[]],
  );
}

describe('the documentation names only', () => {
  it('existing carillon commands and options', () => {
    let seen = 0;
    const wrong: string[] = [];
    for (const { file, commands, inline } of PAGES) {
      const whole = commands
        .flatMap((line) => line.split(/ \| | && |; /))
        .map((line) => line.trim());
      const check = (lines: readonly string[], isWhole: boolean): void => {
        for (const line of lines) {
          if (!/^(sudo (?:-u carillon )?)?(npx )?carillon (?!COMMAND\b)/.test(line)) continue;
          for (const given of isWhole
            ? [words(line.replace(/^(sudo (?:-u carillon )?)?(npx )?carillon\s+/, ''))]
            : alternatives(line)) {
            seen += 1;
            const why = refusal(given, isWhole);
            if (why !== undefined) wrong.push(`${file}: ${line}: ${why}`);
          }
        }
      };
      check(whole, true);
      check(inline, false);
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(40);
    // Verifies that the check itself detects errors.
    expect(refusal(['calls', 'lst'], true)).toBe('no command lst');
    expect(refusal(['calls', 'list', '--all'], true)).toBe('no option --all');
    expect(refusal(['calls', 'show'], true)).toBe('arguments are missing');
  });

  it('existing npm scripts', () => {
    const named = PAGES.flatMap(({ file, text }) =>
      [...text.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[a-z]+(?::[a-z]+)?)\b/g)].map(
        ([, script = '']) => [file, script] as const,
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, script]) => scripts[script] === undefined)).toEqual([]);
  });

  it('npm scripts that have no arguments before the documented ones', () => {
    const named = PAGES.flatMap(({ text }) =>
      [...text.matchAll(/\bnpm run ([a-z]+(?::[a-z]+)?) -- (?!-)\w/g)].map(([, name = '']) => name),
    );
    expect(named).toContain('crash');
    const wrong = [...new Set(named)].filter(
      (name) => !/^node( --\S+)* \S+$/.test(scripts[name] ?? ''),
    );
    expect(wrong).toEqual([]);
  });

  it('existing settings', () => {
    const settings = listSettings();
    const paths = settings.map(({ path }) => path.join('.'));
    const sections = new Set(settings.flatMap(({ path }) => (path.length > 1 ? [path[0]] : [])));
    const variables = new Set(settings.map(({ environment }) => environment));
    // Variables of the command line only.
    for (const own of ['CONFIG', 'CONFIG_BODY', 'URL', 'AUTH_ID', 'AUTH_TOKEN', 'MCP_TOKEN'])
      variables.add(`CARILLON_${own}`);
    const wrong: string[] = [];
    for (const { file, text, inline } of PAGES) {
      for (const [name] of text.matchAll(/CARILLON_[A-Z][A-Z0-9_]*[A-Z0-9]/g))
        if (!variables.has(name)) wrong.push(`${file}: ${name}`);
      for (const code of inline) {
        const [, section = '', rest = ''] = /^([a-z][\w]*)\.([a-zA-Z.*]+)$/.exec(code) ?? [];
        // These are methods of a vendor's library.
        if (file === 'docs/guides/plivo.md' && ['accounts', 'numbers'].includes(section)) continue;
        if (!sections.has(section) || /\.(ts|md|json|yaml|py|service|com)$/.test(code)) continue;
        const isThere = rest === '*' || paths.some((path) => `${path}.`.startsWith(`${code}.`));
        if (!isThere) wrong.push(`${file}: ${code}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('existing metrics', async () => {
    const text = await scrape();
    const helped = [...text.matchAll(/^# HELP (\S+)/gm)].map(([, name = '']) => name);
    const known = new Set([...metricNames(text), ...helped]);
    const wrong = PAGES.flatMap(({ file, text }) =>
      [...text.matchAll(/\bvoice_[a-z0-9_]+/g)]
        .filter(([name]) => ![...known].some((one) => one === name || one.startsWith(`${name}_`)))
        .map(([name]) => `${file}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('existing routes', () => {
    const routes = ROUTES.map(({ method, path }) => ({
      method,
      pattern: pathPattern(method, path),
    }));
    const isRoute = (method: string, path: string): boolean => {
      const filled = path
        .split('?', 1)[0]
        ?.replaceAll(/\$\(demo authId\)|\$AUTH_ID|\{auth_id\}/g, 'MA_0123456789ABCDEFG')
        .replaceAll(/\$\(\w+ \w+\)|\$\w+|\{\w+\}|\b(?:UUID|NAME|MA_…)\b/g, '1');
      const requested = canonicalPath(method, filled ?? '');
      return routes.some((route) => route.method === method && route.pattern.test(requested));
    };
    const wrong: string[] = [];
    let seen = 0;
    for (const { file, commands, inline } of PAGES) {
      const requested = [
        ...commands.flatMap((line) => {
          const [, path] = /^curl .*http:\/\/127\.0\.0\.1:8080(\/[^\s"']*)/.exec(line) ?? [];
          const isPost = / -d /.test(line);
          return path === undefined ? [] : [[isPost ? 'POST' : 'GET', path] as const];
        }),
        ...inline.flatMap((code) => {
          const [, method = '', path] =
            /^(GET|POST|PUT|PATCH|DELETE) (\/(?:api|v1|admin|phone|healthz|readyz)[^\s…]*)$/.exec(
              code,
            ) ?? [];
          return path === undefined ? [] : [[method, path] as const];
        }),
      ];
      seen += requested.length;
      for (const [method, path] of requested)
        if (!isRoute(method, path)) wrong.push(`${file}: ${method} ${path}`);
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(8);
  });

  it('existing files', () => {
    const wrong = PAGES.flatMap(({ file, inline }) =>
      inline
        .filter((code) =>
          /^(src|test|docs|deploy|scripts|examples|bench|config|native|packages|fixtures|bin|web)\/[\w./-]+$/.test(
            code,
          ),
        )
        .filter(
          (path) =>
            !['', '.ts', '.test.ts', '.cpp'].some((end) => existsSync(join(ROOT, path + end))),
        )
        // The user creates this file.
        .filter((path) => path !== 'deploy/.env')
        .map((path) => `${file}: ${path}`),
    );
    expect(wrong).toEqual([]);
  });
});
