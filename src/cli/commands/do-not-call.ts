/** Commands for do-not-call lists: the list of the operator and the list of an account. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Client } from '../../../packages/client/src/client.ts';
import type { Json } from '../output.ts';
import { type PageFlags, withPages } from '../pages.ts';
import type { Session } from '../terminal.ts';

const NUMBERS_AT_ONCE = 1000;

/** Operations on a do-not-call list. */
export interface NumberList {
  show(query: PageFlags & { search?: string }): Promise<Json>;
  add(numbers: readonly string[]): Promise<{ readonly added: number }>;
  remove(number: string): Promise<unknown>;
}

const OPERATORS = '/admin/v1/do-not-call';
const ACCOUNTS = '/api/v1/account/{auth_id}/do-not-call';

export const operatorsList = (client: Client): NumberList => ({
  show: (query) => client.get(OPERATORS, { query }),
  add: (numbers) => client.post(OPERATORS, { body: { numbers } }),
  remove: (number) => client.delete(`${OPERATORS}/{number}`, { path: { number } }),
});

export const accountsList = (client: Client): NumberList => ({
  show: (query) => client.get(ACCOUNTS, { query }),
  add: (numbers) => client.post(ACCOUNTS, { body: { numbers } }),
  remove: (number) => client.delete(`${ACCOUNTS}/{number}`, { path: { number } }),
});

export function addDoNotCallCommands(
  parent: Command,
  whose: string,
  sessionOf: (command: Command) => Session,
  listOf: (command: Command) => NumberList,
): void {
  const lists = parent.command('donotcall').description(`Manage numbers that ${whose} never calls`);
  withPages(lists.command('list'))
    .description('List numbers')
    .option('--search <digits>', 'digits contained in the number')
    .action(async (flags: PageFlags & { search?: string }, command: Command) => {
      const reply = await listOf(command).show(flags);
      sessionOf(command).list(reply, 'objects', [
        { title: 'NUMBER', value: (row) => row['number'] },
        { title: 'SINCE', value: (row) => row['added_at'] },
      ]);
    });
  lists
    .command('add')
    .description('Add numbers')
    .argument('<number...>')
    .action(async (numbers: string[], _: object, command: Command) => {
      const added = await addAll(listOf(command), numbers);
      sessionOf(command).done(`${added} numbers added`, { added });
    });
  lists
    .command('import')
    .description('Add the numbers of a file with one number per line')
    .argument('<file>')
    .action(async (file: string, _: object, command: Command) => {
      const added = await addAll(listOf(command), numbersIn(file));
      sessionOf(command).done(`${added} numbers added`, { added });
    });
  lists
    .command('remove')
    .description('Remove a number, so that it may be called again')
    .argument('<number>')
    .action(async (number: string, _: object, command: Command) => {
      await listOf(command).remove(number);
      sessionOf(command).done(`${number} removed`);
    });
}

/** Reads the first CSV column of each line. Skips a header line without digits. */
function numbersIn(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/);
  const numbers = lines.map((line) => (line.split(',')[0] ?? '').replaceAll('"', '').trim());
  return numbers.filter((number) => /\d/.test(number));
}

async function addAll(list: NumberList, numbers: readonly string[]): Promise<number> {
  let added = 0;
  for (let first = 0; first < numbers.length; first += NUMBERS_AT_ONCE) {
    const part = numbers.slice(first, first + NUMBERS_AT_ONCE);
    added += (await list.add(part)).added;
  }
  return added;
}
