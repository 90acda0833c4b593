import { isSetting, listSettings, SETTINGS } from './schema.ts';

/** Generates `config/default.json`: every setting with its default. */
export function defaultsFile(): string {
  const value = (initial: unknown): string =>
    Array.isArray(initial)
      ? `[${initial.map((one) => JSON.stringify(one)).join(', ')}]`
      : JSON.stringify(initial);
  const group = (node: object, indent: string): string => {
    const rows = Object.entries(node).map(([key, child]) => {
      const text = isSetting(child) ? value(child.default) : group(child, `${indent}  `);
      return `${indent}  ${JSON.stringify(key)}: ${text}`;
    });
    return `{\n${rows.join(',\n')}\n${indent}}`;
  };
  return `${group(SETTINGS, '')}\n`;
}

/** Generates `docs/reference/settings.md`: every setting with environment variable, default and description. */
export function settingsPage(): string {
  const rows = listSettings().map(({ path, setting, environment }) => {
    const initial = JSON.stringify(setting.default);
    return `| \`${path.join('.')}\` | \`${environment}\` | \`${initial}\` | ${setting.about}${allowed(setting)}${setting.live ? '; *live*' : ''} |`;
  });
  return `# Settings

This page lists all settings with their environment variables and defaults.

- \`default.json\` contains the defaults. A JSON or YAML file named by \`CARILLON_CONFIG\`, or its content in \`CARILLON_CONFIG_BODY\`, overrides them.
- Environment variables override both. They use commas in lists, and \`on\` or \`off\` for switches.
- An unknown key or an invalid value prevents the start; the service prints the reason in one line. \`npm run check-config\` and \`npx carillon config check --file FILE\`
  list every problem with its line.
- \`npx carillon config show\` prints the effective settings and their origin, with \`***\` instead of secrets.

\`\`\`yaml
sip: { host: 0.0.0.0, publicHost: sip.example.com }
rates: /etc/carillon/rates.yaml   # or the rows themselves, as below
carriers:                         # fields as in POST /admin/v1/carriers
  - { name: main, host: sip.carrier.example, prefixes: ['1', '44'] }
\`\`\`

On SIGHUP (\`systemctl reload carillon\`, \`npx carillon config reload\`), a running service applies changes of the settings marked *live*. It also reads certificates
and the files of \`rates\` and \`carriers\` again. The log names changed settings that need a restart. If the file has a problem, the service changes nothing and logs the
problem. A reload does not remove carriers that are missing in the new list; use \`npx carillon carriers remove\`.

A carrier has \`identity: trusted\` by default: the service accepts its asserted caller identities, and sends it the caller's identity even if the caller requested privacy.
Trunks and addresses of customers are untrusted by default. The fields \`stir\`, \`sign\`, \`pass_headers\`, \`add_headers\` and \`remove_headers\` of a carrier override
the settings with these names.

| setting | environment | default | meaning |
|-|-|-|-|
${rows.join('\n')}
`;
}

function allowed(setting: ReturnType<typeof listSettings>[number]['setting']): string {
  if (setting.kind === 'integer') return ` (${setting.min} to ${setting.max})`;
  if (setting.kind === 'text' && setting.oneOf !== undefined)
    return ` (${setting.oneOf.map((value) => `\`${value}\``).join(', ')})`;
  return '';
}
