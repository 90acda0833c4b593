/** Commands for the campaigns of one account. They use the account's API. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Client } from '../../../packages/client/src/client.ts';
import { isOver, progressLine } from '../campaign-progress.ts';
import { type AccountOptions, accountClient, withAccountOptions } from '../connection.ts';
import { assigned, type Fields, numberOf, takesFields } from '../fields.ts';
import { type Json, unchecked } from '../output.ts';
import { type PageFlags, withPages } from '../pages.ts';
import type { GlobalOptions, Session } from '../terminal.ts';
import {
  addAgentCommands,
  addCallCommands,
  addContactCommands,
  addPoolCommands,
  CAMPAIGN,
  CAMPAIGNS,
  type Ways,
} from './campaign-parts.ts';
import { accountsList, addDoNotCallCommands } from './do-not-call.ts';

const campaignFields: Fields = async () =>
  (await import('../../edge/rest/wire/campaign.ts')).CampaignCreateBody;
const updateFields: Fields = async () =>
  (await import('../../edge/rest/wire/campaign.ts')).CampaignUpdateBody;

type SessionOf = (command: Command) => Session;
type Flags = GlobalOptions & AccountOptions;

const COMMANDS = {
  start: 'Start a ready campaign',
  pause: 'Pause a campaign: stop placing calls',
  resume: 'Resume a paused campaign',
  cancel: 'Cancel a campaign permanently',
  archive: 'Archive a campaign',
} as const;

export function addCampaignCommands(program: Command, sessionOf: SessionOf): void {
  const campaigns = withAccountOptions(
    program
      .command('campaigns')
      .alias('campaign')
      .description('Manage outbound campaigns of an account'),
  );
  const clientOf = (command: Command): Client =>
    accountClient(command.optsWithGlobals<Flags>(), sessionOf(command).terminal.env);
  const ways: Ways = { sessionOf, clientOf };
  addReading(campaigns, ways);
  addMaking(campaigns, ways);
  addCommands(campaigns, ways);
  addContactCommands(campaigns, ways);
  addCallCommands(campaigns, ways);
  addPoolCommands(campaigns, ways);
  addAgentCommands(campaigns, ways);
  addDoNotCallCommands(campaigns, 'the account', sessionOf, (command) =>
    accountsList(clientOf(command)),
  );
}

function addReading(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  withPages(campaigns.command('list'))
    .description('List campaigns, newest first')
    .option('--archived', 'list archived campaigns instead')
    .action(async (query: PageFlags & { archived?: true }, command: Command) => {
      const session = sessionOf(command);
      session.list(await clientOf(command).get(CAMPAIGNS, { query }), 'objects', [
        { title: 'ID', value: (row) => row['id'] },
        { title: 'NAME', value: (row) => row['name'] },
        { title: 'STATUS', value: (row) => row['status'] },
        { title: 'WHY', value: (row) => row['pause_reason'] },
        { title: 'CONTACTS', value: (row) => row['total_contacts'], align: 'right' },
        { title: 'ANSWERED', value: (row) => row['answered'], align: 'right' },
        { title: 'PENDING', value: (row) => row['pending'], align: 'right' },
      ]);
    });
  campaigns
    .command('show')
    .description('Show a campaign')
    .argument('<id>')
    .action(async (id: string, _: object, command: Command) => {
      const session = sessionOf(command);
      session.one(await clientOf(command).get(CAMPAIGN, { path: { campaign_id: id } }));
    });
  campaigns
    .command('watch')
    .description('Show the progress of a campaign until it ends')
    .argument('<id>')
    .option('--every <seconds>', 'interval between updates, in seconds', '1')
    .action(async (id: string, flags: { every: string }, command: Command) => {
      const session = sessionOf(command);
      const everyMs = intervalMs(flags.every);
      await watch(
        session,
        () => clientOf(command).get(CAMPAIGN, { path: { campaign_id: id } }),
        everyMs,
      );
    });
}

/** Maximum interval between updates, in seconds. Longer timers would fire immediately. */
const EVERY_MAX = 86_400;

function intervalMs(text: string): number {
  const seconds = numberOf('--every', text);
  if (seconds < 0.01 || seconds > EVERY_MAX)
    throw new Error(`--every must be from 0.01 to ${EVERY_MAX} seconds`);
  return seconds * 1000;
}

/** Redraws one line on a terminal. Without a terminal or with --json, prints a line for each change. */
async function watch(session: Session, look: () => Promise<Json>, everyMs: number): Promise<void> {
  const { terminal } = session;
  let last = '';
  for (;;) {
    const campaign = await look();
    const line = progressLine(campaign);
    const over = isOver(campaign);
    if (terminal.interactive && !over && !session.wantsJson) terminal.note(`\r${line}\u001b[K`);
    else if (line !== last) {
      if (terminal.interactive) terminal.note('\r\u001b[K');
      terminal.print(session.wantsJson ? JSON.stringify(campaign) : line);
    }
    if (over) return;
    last = line;
    await wait(everyMs);
  }
}

function addMaking(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  const create = campaigns
    .command('create')
    .description('Create a campaign. It stays a draft until contacts are uploaded.')
    .argument('<name>');
  const example = 'agent_id=… max_concurrent=10 timezone=Asia/Kolkata caller_id_strategy=fixed';
  takesFields(create, '<key=value...>', example, campaignFields).action(
    async (name: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const made = await clientOf(command).post(CAMPAIGNS, {
        body: unchecked({ ...(await assigned(pairs, campaignFields)), name }),
      });
      session.done(`campaign ${made['id']} created: ${made['status']}`, made);
    },
  );
  const set = campaigns
    .command('set')
    .description('Update a campaign that has not started. `null` removes a value.')
    .argument('<id>');
  takesFields(set, '<key=value...>', 'max_concurrent=5', updateFields).action(
    async (id: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const body = unchecked(await assigned(pairs, updateFields));
      const input = { path: { campaign_id: id }, body };
      session.one(await clientOf(command).put(CAMPAIGN, input));
    },
  );
  campaigns
    .command('schedule')
    .description('Schedule the start of a campaign. Without a time, remove the schedule.')
    .argument('<id>')
    .argument('[time]', 'ISO 8601 with a UTC offset, for example 2026-01-31T09:00:00+05:30')
    .action(async (id: string, time: string | undefined, _: object, command: Command) => {
      const session = sessionOf(command);
      const input = { path: { campaign_id: id }, body: { scheduled_at: time ?? null } };
      const reply = await clientOf(command).post(`${CAMPAIGN}/schedule`, input);
      session.done(`campaign ${id}: scheduled for ${reply['scheduled_at'] ?? 'no time'}`, reply);
    });
  campaigns
    .command('clone')
    .description('Copy the settings of a campaign to a new draft')
    .argument('<id>')
    .argument('[name]')
    .action(async (id: string, name: string | undefined, _: object, command: Command) => {
      const session = sessionOf(command);
      const input = { path: { campaign_id: id }, body: name === undefined ? {} : { name } };
      const made = await clientOf(command).post(`${CAMPAIGN}/clone`, input);
      session.done(`campaign ${made['id']} created: ${made['status']}`, made);
    });
}

function addCommands(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  for (const name of Object.keys(COMMANDS) as (keyof typeof COMMANDS)[]) {
    campaigns
      .command(name)
      .description(COMMANDS[name])
      .argument('<id>')
      .action(async (id: string, _: object, command: Command) => {
        const session = sessionOf(command);
        const path = { campaign_id: id };
        const reply = await clientOf(command).post(`${CAMPAIGN}/${name}`, { path });
        session.done(`campaign ${id}: ${reply['status']}`, reply);
      });
  }
}
