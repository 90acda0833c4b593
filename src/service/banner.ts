/** Text that every start prints after the service is ready. It fits on a screen of 80 columns and 24 rows. */
import { join } from 'node:path';
import { bracketed } from '../base/host.ts';
import type { Settings } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import type { Users } from '../domain/user/user.ts';
import { invitationLink } from '../edge/rest/server.ts';
import type { DemoFile } from '../phone/options.ts';
import { DEMO_FILE } from './data-folder.ts';
import type { firstStart } from './first-start.ts';

export interface Started {
  readonly settings: Pick<Settings, 'demo' | 'dataDir'>;
  readonly users: Pick<Users, 'invite'>;
  readonly first: Awaited<ReturnType<typeof firstStart>>;
  readonly sip: { readonly host: string; readonly port: number };
  readonly baseUrl: string;
}

/** Returns the text of this start. The first start creates the invitation of the console's owner. */
export async function startBanner({
  settings,
  users,
  first,
  sip,
  baseUrl,
}: Started): Promise<string> {
  const isFirst = first?.isFirst === true;
  const owner = isFirst
    ? await users.invite({ email: undefined, role: 'owner', accountId: undefined })
    : undefined;
  return banner({
    version: VERSION,
    baseUrl,
    sip: `${bracketed(sip.host)}:${sip.port}`,
    demo: first?.things,
    demoPath: join(settings.dataDir, DEMO_FILE),
    answers: settings.demo,
    isFirst,
    isTerminal: process.stdout.isTTY,
    invitation: owner?.ok ? invitationLink(baseUrl, owner.value.token) : undefined,
  });
}

export interface BannerFacts {
  readonly version: string;
  /** Base URL of REST API, console and browser phone. */
  readonly baseUrl: string;
  /** `host:port` for SIP phones. */
  readonly sip: string;
  /** Account, endpoint and number for a first call; undefined if the demo was never created. */
  readonly demo: DemoFile | undefined;
  /** Path of the file with these credentials. */
  readonly demoPath: string;
  /** The demo is enabled: its number answers. */
  readonly answers: boolean;
  /** The first start prints all credentials. */
  readonly isFirst: boolean;
  /** Later starts print the link with the phone's password on a terminal only, because other outputs may be stored. */
  readonly isTerminal: boolean;
  /** Link that lets the owner choose a password, on the first start only. */
  readonly invitation: string | undefined;
}

export function banner(facts: BannerFacts): string {
  const lines = [
    `Carillon ${facts.version} is running.`,
    '',
    ...(facts.demo === undefined ? [] : demoLines(facts, facts.demo)),
    ...consoleLines(facts),
    ...row('Documentation', `${facts.baseUrl}/docs/guide`),
    ...row('SIP phones', `${facts.sip} (UDP and TCP)`),
    ...(facts.demo === undefined ? [] : credentialLines(facts, facts.demo)),
    '',
    ...row('Stop', 'Ctrl+C waits for active calls to end; a second Ctrl+C does not.'),
  ];
  return `\n${lines.map((line) => (line === '' ? line : `  ${line}`)).join('\n')}\n`;
}

const LABEL_WIDTH = 15;
const row = (label: string, text: string): string[] => [`${label.padEnd(LABEL_WIDTH)}${text}`];

function demoLines(facts: BannerFacts, demo: DemoFile): string[] {
  const { baseUrl, isFirst, isTerminal, answers } = facts;
  return [
    ...row('Browser phone', isFirst || isTerminal ? phoneLink(demo) : `${baseUrl}/phone`),
    ...(answers ? row('Dial', `${demo.dial}, or in a second terminal: npm run call`) : []),
  ];
}

const consoleLines = ({ baseUrl, invitation }: BannerFacts): string[] =>
  invitation === undefined
    ? row('Console', `${baseUrl}/console`)
    : [...row('Console', invitation), ...row('', '(works once: choose your password)')];

function credentialLines(facts: BannerFacts, demo: DemoFile): string[] {
  if (!facts.isFirst) return row('Credentials', facts.demoPath);
  const { authId, authToken } = demo;
  const path = `/api/v1/Account/${authId}/balance/USD`;
  return [
    ...row('SIP user', demo.username),
    ...row('SIP password', demo.password),
    ...row('Auth ID', authId),
    ...row('Auth token', authToken),
    ...row('Kept in', facts.demoPath),
    '',
    `curl -H 'X-Auth-ID: ${authId}' -H 'X-Auth-Token: ${authToken}' ${demo.baseUrl}${path}`,
  ];
}

/** The credentials are in the fragment after `#`, which browsers do not send to the server. */
function phoneLink({ baseUrl, username, password, dial }: DemoFile): string {
  const account = new URLSearchParams({ user: username, password, dial });
  return `${baseUrl}/phone#${account}`;
}
