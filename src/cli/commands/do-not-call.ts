/** Lists of numbers that no campaign calls: the operator's, and an account's. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Json } from '../client.ts';
import type { Session } from '../terminal.ts';

const NUMBERS_AT_ONCE = 1000;
const SHOWN = '100';

/** Requests below the API that the list belongs to. */
export type Send = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
) => Promise<Json>;

export function addDoNotCallCommands(
  parent: Command,
  whose: string,
  sessionOf: (command: Command) => Session,
  sendOf: (command: Command) => Send,
): void {
  const lists = parent.command('donotcall').description(`numbers that ${whose} never calls`);
  lists
    .command('list')
    .description('list numbers')
    .option('--search <digits>', 'part of the number')
    .option('--limit <n>', 'rows', SHOWN)
    .action(async (flags: { search?: string; limit: string }, command: Command) => {
      const query = new URLSearchParams({ ...flags });
      const reply = await sendOf(command)('GET', `/do-not-call?${query}`);
      sessionOf(command).list(reply, 'objects', [
        { title: 'NUMBER', value: (row) => row['number'] },
        { title: 'SINCE', value: (row) => row['added_at'] },
      ]);
    });
  lists
    .command('add')
    .description('add numbers')
    .argument('<number...>')
    .action(async (numbers: string[], _: object, command: Command) => {
      const added = await addAll(sendOf(command), numbers);
      sessionOf(command).done(`${added} numbers added`, { added });
    });
  lists
    .command('import')
    .description('add the numbers of a file, one on each line')
    .argument('<file>')
    .action(async (file: string, _: object, command: Command) => {
      const added = await addAll(sendOf(command), numbersIn(file));
      sessionOf(command).done(`${added} numbers added`, { added });
    });
  lists
    .command('remove')
    .description('a number may be called again')
    .argument('<number>')
    .action(async (number: string, _: object, command: Command) => {
      await sendOf(command)('DELETE', `/do-not-call/${encodeURIComponent(number)}`);
      sessionOf(command).done(`${number} removed`);
    });
}

/** What follows a number on its line, behind a comma, is left out; so is a head without digits. */
function numbersIn(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/);
  const numbers = lines.map((line) => (line.split(',')[0] ?? '').replaceAll('"', '').trim());
  return numbers.filter((number) => /\d/.test(number));
}

async function addAll(send: Send, numbers: readonly string[]): Promise<number> {
  let added = 0;
  for (let first = 0; first < numbers.length; first += NUMBERS_AT_ONCE) {
    const part = numbers.slice(first, first + NUMBERS_AT_ONCE);
    added += Number((await send('POST', '/do-not-call', { numbers: part }))['added'] ?? 0);
  }
  return added;
}
