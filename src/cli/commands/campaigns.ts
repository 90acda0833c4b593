/** Campaigns of one account: a client of the customers' API. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { AccountClient, type AccountOptions, findAccount } from '../account-client.ts';
import { isOver, progressLine } from '../campaign-progress.ts';
import type { Json } from '../client.ts';
import { assignments } from '../output.ts';
import type { GlobalOptions, Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;
type Flags = GlobalOptions & AccountOptions;

const COMMANDS = {
  start: 'start a ready campaign',
  pause: 'place no further calls',
  resume: 'go on with a paused campaign',
  cancel: 'end a campaign for good',
  archive: 'put a campaign away',
} as const;

const clientOf = (command: Command, session: Session): AccountClient =>
  new AccountClient(findAccount(command.optsWithGlobals<Flags>(), session.terminal.env));

const pathOf = (id: string, rest = ''): string => `/campaigns/${encodeURIComponent(id)}${rest}`;

export function addCampaignCommands(program: Command, sessionOf: SessionOf): void {
  const campaigns = program
    .command('campaigns')
    .alias('campaign')
    .description('outbound campaigns of an account')
    .option('--auth-id <id>', 'account; default: CARILLON_AUTH_ID or the first account')
    .option('--auth-token <token>', 'its token; default: CARILLON_AUTH_TOKEN or the data folder');
  addReading(campaigns, sessionOf);
  addMaking(campaigns, sessionOf);
  addCommands(campaigns, sessionOf);
  addFiles(campaigns, sessionOf);
  addAgents(campaigns, sessionOf);
}

function addReading(campaigns: Command, sessionOf: SessionOf): void {
  campaigns
    .command('list')
    .description('list campaigns, latest first')
    .option('--archived', 'those that were put away')
    .action(async (flags: { archived?: true }, command: Command) => {
      const session = sessionOf(command);
      const path = `/campaigns?limit=100${flags.archived ? '&archived=true' : ''}`;
      session.list(await clientOf(command, session).json('GET', path), 'objects', [
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
    .description('show a campaign')
    .argument('<id>')
    .action(async (id: string, _: object, command: Command) => {
      const session = sessionOf(command);
      session.one(await clientOf(command, session).json('GET', pathOf(id)));
    });
  campaigns
    .command('watch')
    .description('follow a campaign until it is over')
    .argument('<id>')
    .option('--every <seconds>', 'between two looks', '1')
    .action(async (id: string, flags: { every: string }, command: Command) => {
      const session = sessionOf(command);
      const everyMs = Math.max(10, Number(flags.every) * 1000 || 1000);
      await watch(session, () => clientOf(command, session).json('GET', pathOf(id)), everyMs);
    });
}

/** One line that changes on a terminal; elsewhere a line for each change. */
async function watch(session: Session, look: () => Promise<Json>, everyMs: number): Promise<void> {
  const { terminal } = session;
  let last = '';
  for (;;) {
    const campaign = await look();
    const line = progressLine(campaign);
    const over = isOver(campaign);
    if (terminal.interactive && !over) terminal.note(`\r${line}\u001b[K`);
    else if (line !== last) {
      if (terminal.interactive) terminal.note('\r\u001b[K');
      terminal.print(line);
    }
    if (over) return;
    last = line;
    await wait(everyMs);
  }
}

function addMaking(campaigns: Command, sessionOf: SessionOf): void {
  campaigns
    .command('create')
    .description('create a campaign, a draft until contacts are uploaded')
    .argument('<name>')
    .argument('<key=value...>', 'agent_id, max_concurrent, timezone, caller_id_strategy …')
    .action(async (name: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const body = { ...assignments(pairs), name };
      const made = await clientOf(command, session).json('POST', '/campaigns', body);
      session.done(`campaign ${made['id']} created: ${made['status']}`, made);
    });
  campaigns
    .command('set')
    .description('change a draft or ready campaign; null clears')
    .argument('<id>')
    .argument('<key=value...>')
    .action(async (id: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      session.one(await clientOf(command, session).json('PUT', pathOf(id), assignments(pairs)));
    });
  campaigns
    .command('clone')
    .description('the same plan as a new draft')
    .argument('<id>')
    .argument('[name]')
    .action(async (id: string, name: string | undefined, _: object, command: Command) => {
      const session = sessionOf(command);
      const body = name === undefined ? {} : { name };
      const made = await clientOf(command, session).json('POST', pathOf(id, '/clone'), body);
      session.done(`campaign ${made['id']} created: ${made['status']}`, made);
    });
}

function addCommands(campaigns: Command, sessionOf: SessionOf): void {
  for (const [name, description] of Object.entries(COMMANDS)) {
    campaigns
      .command(name)
      .description(description)
      .argument('<id>')
      .action(async (id: string, _: object, command: Command) => {
        const session = sessionOf(command);
        const reply = await clientOf(command, session).json('POST', pathOf(id, `/${name}`));
        session.done(`campaign ${id}: ${reply['status']}`, reply);
      });
  }
}

function addFiles(campaigns: Command, sessionOf: SessionOf): void {
  campaigns
    .command('upload')
    .description('upload contacts, CSV or JSON; they take the place of those before')
    .argument('<id>')
    .argument('<file>')
    .action(async (id: string, file: string, _: object, command: Command) => {
      const session = sessionOf(command);
      let share = 0;
      const work = clientOf(command, session).upload(pathOf(id, '/upload'), file, (done, all) => {
        share = all === 0 ? 0 : done / all;
      });
      const reply = await session.working('uploading', work, async () => share);
      for (const bad of (reply['errors'] ?? []) as Json[]) {
        session.terminal.note(`row ${bad['row_number']}: ${bad['reason']}\n`);
      }
      const { valid_contacts: valid, invalid_rows: invalid } = reply;
      session.done(`${valid} contacts, ${invalid} rows that are none`, reply);
    });
  for (const [name, path, description] of [
    ['results', '/results', 'where every contact stands, as CSV'],
    ['errors', '/upload/errors', 'every row of the list that is no contact, as CSV'],
  ] as const) {
    campaigns
      .command(name)
      .description(description)
      .argument('<id>')
      .action(async (id: string, _: object, command: Command) => {
        const session = sessionOf(command);
        const print = (line: string): void => session.terminal.print(line);
        await clientOf(command, session).lines(pathOf(id, path), print);
      });
  }
}

function addAgents(campaigns: Command, sessionOf: SessionOf): void {
  const agents = campaigns.command('agents').description('what calls are connected to');
  agents
    .command('list')
    .description('list agents')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      const reply = await clientOf(command, session).json('GET', '/campaign/agents?limit=100');
      session.list(reply, 'objects', [
        { title: 'ID', value: (row) => row['id'] },
        { title: 'NAME', value: (row) => row['name'] },
        { title: 'ANSWER URL', value: (row) => row['answer_url'] },
      ]);
    });
  agents
    .command('create')
    .description('create an agent')
    .argument('<name>')
    .argument('<answer_url>')
    .argument('[key=value...]', 'hangup_url, ring_timeout, machine_detection …')
    .action(async (name: string, url: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const body = { ...assignments(pairs), name, answer_url: url };
      const made = await clientOf(command, session).json('POST', '/campaign/agents', body);
      session.done(`agent ${made['id']} created`, made);
    });
}
