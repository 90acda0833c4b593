/** Commands for the contacts, calls, number pool and agents of campaigns. */
import type { Command } from 'commander';
import type { Client } from '../../../packages/client/src/client.ts';
import { assigned, type Fields, takesFields } from '../fields.ts';
import { unchecked } from '../output.ts';
import { type PageFlags, withPages } from '../pages.ts';
import type { Session } from '../terminal.ts';
import { readLines, upload } from '../transfer.ts';

const poolFields: Fields = async () =>
  (await import('../../edge/rest/wire/campaign-contact.ts')).PoolNumberBody;
const agentFields: Fields = async () =>
  (await import('../../edge/rest/wire/campaign-agent.ts')).AgentCreateBody;

/** Access to the service for a command. */
export interface Ways {
  sessionOf(command: Command): Session;
  clientOf(command: Command): Client;
}

export const CAMPAIGNS = '/api/v1/account/{auth_id}/campaigns';
export const CAMPAIGN = '/api/v1/account/{auth_id}/campaigns/{campaign_id}';
const AGENTS = '/api/v1/account/{auth_id}/campaign/agents';
const AGENT = '/api/v1/account/{auth_id}/campaign/agents/{agent_id}';

export function addContactCommands(campaigns: Command, ways: Ways): void {
  const { sessionOf, clientOf } = ways;
  addUpload(campaigns, ways);
  for (const [name, path, description] of [
    ['results', '/results', 'Print the status of every contact as CSV'],
    ['errors', '/upload/errors', 'Print every invalid row of the contact list as CSV'],
  ] as const) {
    campaigns
      .command(name)
      .description(description)
      .argument('<id>')
      .action(async (id: string, _: object, command: Command) => {
        const print = (line: string): void => sessionOf(command).terminal.print(line);
        const reply = await clientOf(command).file(`${CAMPAIGN}${path}`, {
          path: { campaign_id: id },
        });
        await readLines(reply, print);
      });
  }
  withPages(campaigns.command('contacts'))
    .description('List contacts in upload order')
    .argument('<id>')
    .option('--status <status>', 'pending, dialling, answered, retry_pending …')
    .option('--search <digits>', 'digits contained in the number')
    .action(async (id: string, flags: Record<string, string>, command: Command) => {
      const input = { path: { campaign_id: id }, query: unchecked(flags) };
      sessionOf(command).list(
        await clientOf(command).get(`${CAMPAIGN}/contacts`, input),
        'objects',
        [
          { title: 'ROW', value: (row) => row['row_number'], align: 'right' },
          { title: 'TO', value: (row) => row['to_number'] },
          { title: 'STATUS', value: (row) => row['status'] },
          { title: 'WHY', value: (row) => row['reason'] },
          { title: 'ATTEMPTS', value: (row) => row['attempts'], align: 'right' },
          { title: 'NEXT', value: (row) => row['next_attempt_at'] },
          { title: 'CALL', value: (row) => row['call_uuid'] },
        ],
      );
    });
}

function addUpload(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  campaigns
    .command('upload')
    .description('Upload contacts as CSV or JSON. They replace the existing contacts.')
    .argument('<id>')
    .argument('<file>')
    .action(async (id: string, file: string, _: object, command: Command) => {
      const session = sessionOf(command);
      let share = 0;
      const work = clientOf(command).upload(
        `${CAMPAIGN}/upload`,
        upload(file, (done, all) => {
          share = all === 0 ? 0 : done / all;
        }),
        { path: { campaign_id: id } },
      );
      const reply = await session.working('uploading', work, async () => share);
      for (const bad of reply.errors) {
        session.terminal.note(`row ${bad.row_number}: ${bad.reason}\n`);
      }
      const { valid_contacts: valid, invalid_rows: invalid } = reply;
      session.done(`${valid} contacts, ${invalid} invalid rows`, reply);
    });
}

export function addCallCommands(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  campaigns
    .command('calls')
    .description('List call attempts, newest first')
    .argument('<id>')
    .option('--page <n>', 'page', '1')
    .action(async (id: string, flags: { page: string }, command: Command) => {
      const input = { path: { campaign_id: id }, query: { per_page: 100, page: flags.page } };
      sessionOf(command).list(await clientOf(command).get(`${CAMPAIGN}/calls`, input), 'objects', [
        { title: 'PLACED', value: (row) => row['placed_at'] },
        { title: 'ROW', value: (row) => row['row_number'], align: 'right' },
        { title: 'TO', value: (row) => row['to_number'] },
        { title: 'FROM', value: (row) => row['from_number'] },
        { title: 'STATUS', value: (row) => row['status'] },
        { title: 'SECONDS', value: (row) => row['duration'], align: 'right' },
        { title: 'CAUSE', value: (row) => row['hangup_cause'] },
        { title: 'CALL', value: (row) => row['call_uuid'] },
      ]);
    });
  campaigns
    .command('lookup')
    .description('Show the campaign and contact of a call')
    .argument('<call_uuid>')
    .action(async (callUuid: string, _: object, command: Command) => {
      const reply = await clientOf(command).get(
        '/api/v1/account/{auth_id}/call-lookup/{call_uuid}',
        {
          path: { call_uuid: callUuid },
        },
      );
      sessionOf(command).one(reply);
    });
}

export function addPoolCommands(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  const pool = campaigns.command('pool').description('Manage the caller ID pool of a campaign');
  pool
    .command('list')
    .description('List numbers and how often each was used')
    .argument('<id>')
    .action(async (id: string, _: object, command: Command) => {
      const reply = await clientOf(command).get(`${CAMPAIGN}/pool`, { path: { campaign_id: id } });
      sessionOf(command).list(reply, 'objects', [
        { title: 'ID', value: (row) => row['id'] },
        { title: 'NUMBER', value: (row) => row['from_number'] },
        { title: 'LABEL', value: (row) => row['label'] },
        { title: 'CALLS', value: (row) => row['total_calls'], align: 'right' },
        { title: 'LAST', value: (row) => row['last_used_at'] },
      ]);
    });
  pool
    .command('add')
    .description('Add numbers')
    .argument('<id>')
    .argument('<number...>')
    .action(async (id: string, typed: string[], _: object, command: Command) => {
      const numbers = typed.map((number) => ({ from_number: number }));
      const input = { path: { campaign_id: id }, body: { numbers } };
      const reply = await clientOf(command).post(`${CAMPAIGN}/pool`, input);
      sessionOf(command).done(`${reply.added.length} numbers in the pool`, reply);
    });
  const set = pool
    .command('set')
    .description('Update a number of the pool')
    .argument('<id>')
    .argument('<number_id>');
  const example = 'label=North from_number=14155550111';
  takesFields(set, '<key=value...>', example, poolFields).action(
    async (id: string, numberId: string, pairs: string[], _: object, command: Command) => {
      const path = { campaign_id: id, number_id: numberId };
      const input = { path, body: unchecked(await assigned(pairs, poolFields)) };
      sessionOf(command).one(await clientOf(command).put(`${CAMPAIGN}/pool/{number_id}`, input));
    },
  );
  pool
    .command('remove')
    .description('Remove a number from the pool')
    .argument('<id>')
    .argument('<number_id>')
    .action(async (id: string, numberId: string, _: object, command: Command) => {
      const path = { campaign_id: id, number_id: numberId };
      await clientOf(command).delete(`${CAMPAIGN}/pool/{number_id}`, { path });
      sessionOf(command).done(`number ${numberId} removed`);
    });
}

export function addAgentCommands(campaigns: Command, { sessionOf, clientOf }: Ways): void {
  const agents = campaigns
    .command('agents')
    .description('Manage the agents that campaigns connect calls to');
  withPages(agents.command('list'))
    .description('List agents')
    .action(async (query: PageFlags, command: Command) => {
      const reply = await clientOf(command).get(AGENTS, { query });
      sessionOf(command).list(reply, 'objects', [
        { title: 'ID', value: (row) => row['id'] },
        { title: 'NAME', value: (row) => row['name'] },
        { title: 'ANSWER URL', value: (row) => row['answer_url'] },
      ]);
    });
  const create = agents
    .command('create')
    .description('Create an agent')
    .argument('<name>')
    .argument('<answer_url>');
  const example = 'hangup_url=https://… ring_timeout=30';
  takesFields(create, '[key=value...]', example, agentFields).action(
    async (name: string, url: string, pairs: string[], _: object, command: Command) => {
      const fields = await assigned(pairs, agentFields);
      const body = unchecked({ ...fields, name, answer_url: url });
      const made = await clientOf(command).post(AGENTS, { body });
      sessionOf(command).done(`agent ${made['id']} created`, made);
    },
  );
  agents
    .command('show')
    .description('Show an agent')
    .argument('<agent_id>')
    .action(async (id: string, _: object, command: Command) => {
      sessionOf(command).one(await clientOf(command).get(AGENT, { path: { agent_id: id } }));
    });
  const set = agents.command('set').description('Update an agent').argument('<agent_id>');
  takesFields(set, '<key=value...>', 'ring_timeout=30', agentFields).action(
    async (id: string, pairs: string[], _: object, command: Command) => {
      const input = { path: { agent_id: id }, body: unchecked(await assigned(pairs, agentFields)) };
      const changed = await clientOf(command).put(AGENT, input);
      sessionOf(command).one(changed);
    },
  );
  agents
    .command('remove')
    .description('Delete an agent that no campaign uses')
    .argument('<agent_id>')
    .action(async (id: string, _: object, command: Command) => {
      await clientOf(command).delete(AGENT, { path: { agent_id: id } });
      sessionOf(command).done(`agent ${id} removed`);
    });
}
