/**
 * Writes the generated pages of docs/reference from the code: answer XML, settings, command line and metrics, and the default
 * settings. A test fails when a file differs from what the code says.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../src/cli/program.ts';
import { defaultsFile, settingsPage } from '../src/config/page.ts';
import { createMetrics } from '../src/edge/metrics/metrics.ts';
import { consoleRoutesPage } from './console-routes.ts';
import { xmlCompletions } from './xml-reference/completions.ts';
import { xmlReference } from './xml-reference/page.ts';

const root = join(import.meta.dirname, '..');

/** Generated pages: file below the project's root and the function that returns its text. */
export const GENERATED: readonly (readonly [string, () => string | Promise<string>])[] = [
  ['docs/reference/xml.md', xmlReference],
  ['docs/reference/settings.md', settingsPage],
  ['config/default.json', defaultsFile],
  ['docs/reference/cli.md', commandPage],
  ['docs/reference/metrics.md', metricsPage],
  ['web/console/xml-elements.json', xmlCompletions],
  ['docs/internals/console-routes.md', consoleRoutesPage],
];

/** Every command of `carillon` with its arguments and options. */
function commandPage(): string {
  const program = createProgram({
    print: () => undefined,
    note: () => undefined,
    fail: () => undefined,
    env: {},
  } as unknown as Parameters<typeof createProgram>[0]);
  const sections = program.commands.map((command) => {
    const leaves = leavesOf(command);
    const isGroup = command.commands.length > 0;
    return [
      `## ${command.name()}`,
      '',
      ...(isGroup ? [sentence(command.description()), ''] : []),
      ...leaves.flatMap(commandLines),
    ].join('\n');
  });
  return `# Command line

This page lists the commands of \`npx carillon\` (installed systems: \`carillon\`), which administer a running service through the operator API.

- Every command prints a table, or JSON with \`--json\`.
- If the service refuses a request, the command prints one line on standard error and exits with 1.
- \`carillon COMMAND --help\` shows the same options, and all fields of \`key=value\` arguments.

| option of every command | meaning |
|-|-|
${optionRows(program)}

${sections.join('\n')}`;
}

function leavesOf(command: Command, path = ''): readonly (readonly [string, Command])[] {
  const name = `${path} ${command.name()}`.trim();
  if (command.commands.length === 0) return [[name, command]];
  return command.commands.flatMap((child) => leavesOf(child, name));
}

function commandLines([name, command]: readonly [string, Command]): readonly string[] {
  const args = command.registeredArguments.map((argument) => {
    const word = argument.name() + (argument.variadic ? '…' : '');
    return argument.required ? word.toUpperCase() : `[${word.toUpperCase()}]`;
  });
  const heading = name.includes(' ') ? [`### ${name}`, ''] : [];
  const usage = `\`carillon ${[name, ...args].join(' ')}\``;
  const rows = optionRows(command);
  const options = rows === '' ? [] : ['', '| option | meaning |', '|-|-|', rows];
  return [...heading, usage, '', sentence(command.description()), ...options, ''];
}

const optionRows = (command: Command): string =>
  command.options
    .map(
      ({ flags, description }) => `| \`${flags.replaceAll('|', '\\|')}\` | ${cell(description)} |`,
    )
    .join('\n');

/** Every metric with its type and help text. */
async function metricsPage(): Promise<string> {
  const { text } = await createMetrics().scrape();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(
    ([, name = '', help = '']) => `| \`${name}\` | ${types.get(name)} | ${cell(sentence(help))} |`,
  );
  const own = rows.filter((row) => row.startsWith('| `voice_'));
  const runtime = rows.filter((row) => !row.startsWith('| `voice_'));
  const head = '| metric | type | meaning |\n|-|-|-|\n';
  return `# Metrics

This page lists the metrics of \`GET /metrics\`. The format is Prometheus text, or OpenMetrics with exemplars if the client requests it.

Times are in seconds and sizes in bytes. No label contains an account ID, so the number of series is bounded.
[Monitoring](../operate/monitoring.md) describes access, dashboards and alert rules.

## Service

${head}${own.join('\n')}

## Node.js runtime

${head}${runtime.join('\n')}
`;
}

const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');

/** First letter upper case and a full stop at the end. */
function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) || whole === '' ? whole : `${whole}.`;
}

if (process.argv[1] === import.meta.filename)
  for (const [file, text] of GENERATED) writeFileSync(join(root, file), await text());
