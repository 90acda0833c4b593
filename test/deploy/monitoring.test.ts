/** Verifies that dashboards and alert rules use existing metrics with names that Prometheus accepts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARDS, dashboardJson } from '../../scripts/dashboards.ts';
import { exposed, scrape } from './scrape.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

const METRIC = /\b(?:voice|process|nodejs)_[a-z0-9_]+/g;

/** Returns names and labels in a query that the service does not export. */
function unknownIn(
  expr: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const names = [...expr.matchAll(METRIC)].map(([name]) => name);
  expect(names, expr).not.toEqual([]);
  const labels = names.flatMap((name) => [...(known.get(name) ?? [])]);
  const requested = [...expr.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
  const by = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  return [
    ...names.filter((name) => !known.has(name)),
    ...[...requested, ...by].filter((label) => !labels.includes(label)),
  ];
}

it('uses existing metrics and labels in every dashboard query', async () => {
  const known = exposed(await scrape());
  for (const [name, { panels }] of Object.entries(DASHBOARDS)) {
    for (const { title, queries } of panels) {
      for (const { expr, legend } of queries) {
        expect([name, title, unknownIn(expr, known)]).toEqual([name, title, []]);
        const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        const labels = [...expr.matchAll(METRIC)].flatMap(([metric]) => [
          ...(known.get(metric) ?? []),
        ]);
        expect([title, shown.filter((label) => !labels.includes(label))]).toEqual([title, []]);
      }
    }
  }
});

it('contains exactly the files that scripts/dashboards.ts writes', () => {
  const files = readdirSync(join(DEPLOY, 'grafana/dashboards')).sort();
  expect(files).toEqual(
    Object.keys(DASHBOARDS)
      .map((name) => `${name}.json`)
      .sort(),
  );
  for (const name of Object.keys(DASHBOARDS))
    expect(read(`grafana/dashboards/${name}.json`)).toBe(dashboardJson(name));
});

it('uses existing metrics in every alert, and describes each alert in the runbook', async () => {
  const known = exposed(await scrape());
  const { groups } = parse(read('prometheus/alerts.yml')) as {
    groups: { rules: { alert: string; expr: string; annotations: { runbook: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const headings = [...read('../docs/operate/troubleshooting.md').matchAll(/^## (\w+)$/gm)].map(
    ([, name]) => name,
  );
  expect(headings).toEqual(rules.map(({ alert }) => alert));
  for (const { alert, expr, annotations } of rules) {
    expect(annotations.runbook).toBe(`docs/operate/troubleshooting.md#${alert.toLowerCase()}`);
    if (!/^up\{/.test(expr)) expect([alert, unknownIn(expr, known)]).toEqual([alert, []]);
  }
});

it.skipIf(!hasPromtool)('promtool accepts metrics, rules and queries', async () => {
  const text = await scrape();
  const check = (args: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync('promtool', [...args], {
      input,
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };
  expect(check(['check', 'metrics'], text)).toEqual({ status: 0, said: '' });
  expect(check(['check', 'rules', join(DEPLOY, 'prometheus/alerts.yml')])).toMatchObject({
    status: 0,
  });
  const queries = Object.values(DASHBOARDS).flatMap(({ panels }) =>
    panels.flatMap((panel) =>
      panel.queries.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')),
    ),
  );
  const rules = queries.map((expr, n) => ({ record: `checked:q${n}`, expr }));
  const file = JSON.stringify({ groups: [{ name: 'queries', rules }] });
  const checkedFile = (content: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-rules-'));
    writeFileSync(join(folder, 'rules.yml'), content);
    const checked = check(['check', 'rules', join(folder, 'rules.yml')]);
    rmSync(folder, { recursive: true });
    return checked;
  };
  expect(checkedFile(file)).toMatchObject({ status: 0 });
});
