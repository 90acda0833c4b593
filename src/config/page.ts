import { listSettings } from './schema.ts';

/** `config/README.md`: every setting with its environment name, default and meaning. */
export function settingsPage(): string {
  const rows = listSettings().map(({ path, setting, environment }) => {
    const initial = JSON.stringify(setting.default);
    return `| \`${path.join('.')}\` | \`${environment}\` | \`${initial}\` | ${setting.about}${allowed(setting)} |`;
  });
  return `# Settings

Defaults stand in \`default.json\`; a file named by \`CARILLON_CONFIG\` overrides them, the environment overrides both. In the environment, lists are
written with commas and switches as on or off. An unknown key or a wrong value stops the start with one line. \`rates.json\` holds prices,
\`carriers.json\` SIP gateways (fields as in \`POST /admin/v1/carriers\`).

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
