/** Table of REST operations and the console page of each, for docs/internals/console-routes.md. */
import { ROUTES } from '../src/edge/rest/routes.ts';

/** Page by method and path. The first match wins. */
const PAGES: readonly (readonly [RegExp, string])[] = [
  [/JWT\/Token\/\{jti\}/, 'API credentials'],
  [/JWT\/Token/, 'Endpoints: browser phone'],
  [/\/partner\//, 'Account: capacity of customers'],
  [/auth\/me|concurrency$|capacity$/, 'Account'],
  [/^POST .*\/Account\/\{auth_id\}\/$/, 'Account'],
  [/low-balance-alert|\/balance\/|transactions|usage$|invoices/, 'Billing'],
  [/\/(token|access-token|credentials-use)$/, 'API credentials'],
  [/\/webhooks/, 'Webhooks'],
  [/\/stream-test$/, 'Streams'],
  [/caller-ids/, 'Caller IDs'],
  [/\/Endpoint\//, 'Endpoints'],
  [/\/Application\//, 'Applications'],
  [/POST .*\/admin\/v1\/numbers|\/admin\/v1\/numbers/, 'Numbers: inventory'],
  [/\/PhoneNumber|\/Number\//, 'Numbers'],
  [/\/numbers|inventory/, 'Numbers'],
  [/Pricing/, 'Rates'],
  [/admin\/v1\/accounts\/\{auth_id\}\/trunks/, 'Trunks: trunk policy'],
  [/media-policies/, 'Media policies'],
  [/\/trunks|origination-uris|\/credentials|ip-acl/, 'Trunks'],
  [/\/Request\//, 'Calls'],
  [/Call\/\{call_uuid\}\/Stream/, 'Streams, call page'],
  [/Call\/\{call_uuid\}/, 'Call page'],
  [/^POST .*\/Call\/$/, 'Calls: place call'],
  [/\/Call\/$|\/cdr/, 'Calls'],
  [/Conference|MultiPartyCall/, 'Conferences'],
  [/export\/recording|Recording|Transcription/, 'Recordings'],
  [/campaign\/agents/, 'Agents'],
  [/call-lookup/, 'Call page: campaign'],
  [/campaigns/, 'Campaigns'],
  [/do-not-call/, 'Do-not-call list'],
  [/sub-accounts|Subaccount/, 'Sub-accounts'],
  [/\/Account\/\{auth_id\}\/$/, 'Overview'],
  [/admin\/v1\/accounts\/\{auth_id\}\/credit/, 'Billing'],
  [/admin\/v1\/accounts\/\{auth_id\}\/balances/, 'Account: balances'],
  [/admin\/v1\/accounts/, 'Accounts'],
  [/admin\/v1\/(carriers|routes)/, 'Carriers'],
  [/admin\/v1\/rates/, 'Rates'],
  [/admin\/v1\/alarms/, 'Alarms'],
  [/admin\/v1\/settings/, 'Settings'],
  [/admin\/v1\/doctor/, 'Doctor'],
  [/admin\/v1\/log/, 'Log'],
  [/admin\/v1\/history/, 'Health'],
  [/admin\/v1\/nodes/, 'Nodes'],
  [/admin\/v1\/(status|registrations|drain|reload)/, 'Health'],
  [/admin\/v1\/calls/, 'Calls, call page'],
  [/admin\/v1\/users/, 'People'],
  [/admin\/v1\/audit/, 'Audit log'],
  [/admin\/v1\/(backup|verify|unreadable-rows)/, 'Database'],
  [/admin\/v1\/import/, 'Import'],
  [/admin\/v1\/personal-data/, 'Personal data'],
];

/** Paths in the forms of other providers, which repeat the operations of the documented form. */
const isAlias = (path: string): boolean =>
  path.startsWith('/v1/') || path.startsWith('/api/v1/account/') || path.startsWith('/api/v1/cdr/');

export function consoleRoutesPage(): string {
  const rows = ROUTES.filter(
    ({ path }) => /^\/(api\/v1|admin\/v1)\//.test(path) && !isAlias(path),
  ).map(({ method, path, summary }) => {
    const asked = `${method} ${path}`;
    const found = PAGES.find(([pattern]) => pattern.test(asked));
    if (found === undefined) throw new Error(`no console page is named for ${asked}`);
    return `| \`${asked}\` | ${summary.split('. ')[0]?.replaceAll('|', '\\|')} | ${found[1]} |`;
  });
  return [
    '# Console and REST API',
    '',
    '<!-- Written by scripts/reference.ts from the routes and scripts/console-routes.ts. -->',
    '',
    'This table lists each REST operation and the console page that offers it. Paths in the forms of other providers are left out.',
    '',
    '| operation | purpose | page |',
    '|-|-|-|',
    ...rows,
    '',
  ].join('\n');
}
