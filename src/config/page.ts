import { listSettings } from './schema.ts';

/** Generates `docs/reference/settings.md`: every setting with environment variable, default and description. */
export function settingsPage(): string {
  const rows = listSettings().map(({ path, setting, environment }) => {
    const initial = JSON.stringify(setting.default);
    return `| \`${path.join('.')}\` | \`${environment}\` | \`${initial}\` | ${setting.about}${allowed(setting)}${setting.live ? '; *live*' : ''} |`;
  });
  return `# Settings

Defaults are in \`default.json\`. A file named by \`CARILLON_CONFIG\` (JSON or YAML), or the same text in \`CARILLON_CONFIG_BODY\`, overrides them.
The environment overrides both. Environment variables use commas in lists and \`on\` or \`off\` for switches. An unknown key or an invalid value stops the
start with one line; \`npm run check-config\` and \`npx carillon config check --file FILE\` list every problem with its line.
\`npx carillon config show\` prints the effective settings and their origin, with \`***\` instead of secrets.

\`\`\`yaml
sip: { host: 0.0.0.0, publicHost: sip.example.com }
rates: /etc/carillon/rates.yaml   # or the rows themselves, as below
carriers:                         # fields as in POST /admin/v1/carriers
  - { name: main, host: sip.carrier.example, prefixes: ['1', '44'] }
\`\`\`

On SIGHUP (\`systemctl reload carillon\`, \`npx carillon config reload\`) a running service takes over what is marked *live* below, reads the files behind
\`rates\` and \`carriers\` again, and certificates too. What needs a restart is named in the log and stays as it is until then. A file with a problem is refused as a
whole, with a line in the log. Carriers that a new list leaves out stay: \`npx carillon carriers remove\`.

A carrier has \`identity: trusted\` by default: the service accepts its asserted caller identities, and sends it the caller's identity even if the caller requested privacy. Trunks and
addresses of customers are untrusted unless a trunk says otherwise. \`stir\`, \`sign\`, \`pass_headers\`, \`add_headers\` and \`remove_headers\` of a carrier come before
the settings of that name below.

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
