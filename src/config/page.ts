import { listSettings } from './schema.ts';

/** `docs/reference/settings.md`: every setting with its environment name, default and meaning. */
export function settingsPage(): string {
  const rows = listSettings().map(({ path, setting, environment }) => {
    const initial = JSON.stringify(setting.default);
    return `| \`${path.join('.')}\` | \`${environment}\` | \`${initial}\` | ${setting.about}${allowed(setting)}${setting.live ? '; *live*' : ''} |`;
  });
  return `# Settings

Defaults stand in \`default.json\`; a file named by \`CARILLON_CONFIG\`, in JSON or YAML, overrides them (or the same text in \`CARILLON_CONFIG_BODY\`), the
environment overrides both. In the environment, lists are written with commas and switches as on or off. An unknown key or a wrong value stops the
start with one line; \`npm run check-config\` and \`npx carillon config check --file FILE\` tell every problem with its line.
\`npx carillon config show\` prints the effective settings, where each comes from, and \`***\` instead of secrets.

\`\`\`yaml
sip: { host: 0.0.0.0, publicHost: sip.example.com }
rates: /etc/carillon/rates.yaml   # or the rows themselves, as below
carriers:                         # fields as in POST /admin/v1/carriers
  - { name: main, host: sip.carrier.example, prefixes: ['1', '44'] }
\`\`\`

On SIGHUP (\`systemctl reload carillon\`, \`npx carillon config reload\`) a running service takes over what is marked *live* below, reads the files behind
\`rates\` and \`carriers\` again, and certificates too. What needs a restart is named in the log and stays as it is until then. A file with a problem is refused as a
whole, with a line in the log. Carriers that a new list leaves out stay: \`npx carillon carriers remove\`.

A carrier is \`identity: trusted\` unless it says \`untrusted\`: what it asserts about callers is believed, and it is told who calls even where the caller hides. Trunks and
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
    return ` (${setting.oneOf.join(', ')})`;
  return '';
}
