import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Json } from '../output.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

const CALL = '/admin/v1/calls/{call_uuid}';
const MESSAGES = '/admin/v1/calls/{call_uuid}/messages';

/** Commands for live calls, registrations and the state of the service. */
export function addServiceCommands(program: Command, sessionOf: SessionOf): void {
  addCallCommands(program, sessionOf);
  addLadderCommand(program, sessionOf);
  addStateCommands(program, sessionOf);
}

function addCallCommands(program: Command, sessionOf: SessionOf): void {
  const calls = program.command('calls').alias('call').description('Manage live calls');
  calls
    .command('list')
    .description('List live and queued calls')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      session.list(await session.client.get('/admin/v1/calls'), 'calls', [
        { title: 'CALL', value: (row) => row['call_uuid'] },
        { title: 'ACCOUNT', value: (row) => row['account_id'] },
        { title: 'DIRECTION', value: (row) => row['direction'] },
        { title: 'STATUS', value: (row) => row['call_status'] },
        { title: 'FROM', value: (row) => row['from'] },
        { title: 'TO', value: (row) => row['to'] },
        { title: 'SINCE', value: (row) => row['start_time'] },
      ]);
    });
  calls
    .command('show')
    .description("show a call's timeline")
    .argument('<call_uuid>')
    .option('--messages', 'show the SIP messages of the call instead, one per line')
    .action(async (uuid: string, flags: { messages?: boolean }, command: Command) => {
      const session = sessionOf(command);
      const path = { call_uuid: uuid };
      if (flags.messages) {
        return showMessages(session, (await session.client.get(MESSAGES, { path })) as Json);
      }
      const reply = await session.client.get(CALL, { path });
      session.list(reply, 'log', [
        { title: 'TIME', value: (row) => String(row['at']).slice(11, 23) },
        { title: 'KIND', value: (row) => row['kind'] },
        { title: 'WHAT', value: (row) => row['text'] },
        { title: 'FACTS', value: (row) => facts(row['facts']) },
      ]);
    });
  calls
    .command('hangup')
    .description('Hang up a call')
    .argument('<call_uuid>')
    .action(async (uuid: string, _: object, command: Command) => {
      const session = sessionOf(command);
      await session.client.delete(CALL, { path: { call_uuid: uuid } });
      session.done(`call ${uuid} hung up`);
    });
}

/** Adds `carillon ladder UUID`, which shows the SIP messages of a call as text or writes a pcap file. */
function addLadderCommand(program: Command, sessionOf: SessionOf): void {
  program
    .command('ladder')
    .description(
      'Show the SIP messages of both legs of a call as a ladder diagram. --pcap writes a capture for Wireshark.',
    )
    .argument('<call_uuid>')
    .option('--pcap <file>', 'write a pcap file instead')
    .action(async (uuid: string, { pcap }: { pcap?: string }, command: Command) => {
      const session = sessionOf(command);
      const path = { call_uuid: uuid };
      if (pcap !== undefined) {
        const reply = await session.client.file(MESSAGES, { path, query: { format: 'pcap' } });
        await writeFile(pcap, new Uint8Array(await reply.arrayBuffer()));
        return session.done(`written to ${pcap}`);
      }
      const { wantsJson } = session;
      if (wantsJson) return session.one((await session.client.get(MESSAGES, { path })) as Json);
      const reply = await session.client.file(MESSAGES, { path, query: { format: 'text' } });
      const text = await reply.text();
      session.terminal.print(
        text === '' ? 'no SIP messages are stored for this call' : text.trimEnd(),
      );
    });
}

const facts = (value: unknown): string =>
  Object.entries((value ?? {}) as Json)
    .map(([name, fact]) => `${name}=${typeof fact === 'string' ? fact : JSON.stringify(fact)}`)
    .join(' ');

function showMessages(session: Session, reply: Json): void {
  const arrow = (row: Json): string => (row['direction'] === 'in' ? '<-' : '->');
  const firstLine = (row: Json): string => String(row['text']).split('\r\n', 1)[0] ?? '';
  session.list(reply, 'messages', [
    { title: 'TIME', value: (row) => String(row['at']).slice(11, 23) },
    { title: '', value: arrow },
    { title: 'PEER', value: (row) => `${row['transport']} ${row['remote']}` },
    { title: 'MESSAGE', value: firstLine },
  ]);
}

function addStateCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command('registrations')
    .description('List registered contacts of SIP endpoints')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      session.list(await session.client.get('/admin/v1/registrations'), 'registrations', [
        { title: 'USERNAME', value: (row) => row['username'] },
        { title: 'CONTACT', value: (row) => row['contact_uri'] },
        { title: 'FROM', value: (row) => `${row['transport']} ${row['address']}:${row['port']}` },
        { title: 'USER AGENT', value: (row) => row['user_agent'] },
        { title: 'EXPIRES', value: (row) => row['expires_at'] },
      ]);
    });
  program
    .command('status')
    .description('Show the state of the service')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      const reply = await session.client.get('/admin/v1/status');
      const { parts, ...rest } = reply;
      const lines = parts.map(
        ({ part, ready, detail }) => `${part}: ${ready ? 'up' : `down (${detail})`}`,
      );
      session.one(reply, { ...rest, parts: lines });
    });
  program
    .command('alarms')
    .description('Show current faults; exit status 1 if there are any')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      const reply = await session.client.get('/admin/v1/alarms');
      session.list(reply, 'alarms', [
        { title: 'SINCE', value: (row) => row['since'] },
        { title: 'KIND', value: (row) => row['kind'] },
        { title: 'OF', value: (row) => row['subject'] },
        { title: 'WHAT', value: (row) => row['detail'] },
      ]);
      if (reply.alarms.length > 0) session.terminal.fail();
    });
  program
    .command('drain')
    .description('Accept no new calls. Active calls continue.')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      session.done(
        'the service accepts no new calls',
        await session.client.post('/admin/v1/drain'),
      );
    });
}
