import type { Command } from 'commander';
import { assigned, type Fields, takesFields } from '../fields.ts';
import { unchecked } from '../output.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

const accountFields: Fields = async () =>
  (await import('../../edge/rest/wire/account.ts')).AccountCreateBody;
const patchFields: Fields = async () =>
  (await import('../../edge/rest/wire/account.ts')).AccountPatchBody;

export function addAccountCommands(program: Command, sessionOf: SessionOf): void {
  const accounts = program.command('accounts').description('accounts and sub-accounts');
  accounts
    .command('list')
    .description('list main accounts, or the sub-accounts of one')
    .option('--parent <auth_id>', 'list its sub-accounts')
    .option('--limit <n>', 'rows', '100')
    .option('--offset <n>', 'rows to skip', '0')
    .action(async (flags: { parent?: string; limit: string; offset: string }, command: Command) => {
      const session = sessionOf(command);
      session.list(await session.client.get('/admin/v1/accounts', { query: flags }), 'accounts', [
        { title: 'AUTH ID', value: (row) => row['auth_id'] },
        { title: 'NAME', value: (row) => row['name'] },
        { title: 'STATUS', value: (row) => row['status'] },
        { title: 'CURRENCY', value: (row) => row['currency'] },
        { title: 'CALLS', value: (row) => row['concurrent_calls_limit'], align: 'right' },
        { title: 'CPS', value: (row) => row['cps_limit'], align: 'right' },
      ]);
    });
  const create = accounts
    .command('create')
    .description('create an account; its token is shown this once')
    .argument('<name>');
  const example = 'further fields, e.g. currency=USD concurrent_calls_limit=50';
  takesFields(create, '[key=value...]', example, accountFields).action(
    async (name: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const made = await session.client.post('/admin/v1/accounts', {
        body: unchecked({ ...(await assigned(pairs, accountFields)), name }),
      });
      session.one(made, {
        auth_id: made['auth_id'],
        auth_token: made['auth_token'],
        name: made['name'],
        currency: made['currency'],
      });
    },
  );
  accounts
    .command('show')
    .description('show an account and its balances')
    .argument('<auth_id>')
    .action(async (authId: string, _: object, command: Command) => {
      const session = sessionOf(command);
      const account = await session.client.get('/admin/v1/accounts/{auth_id}', {
        path: { auth_id: authId },
      });
      const { balances: all, ...rest } = account;
      const money = all.map(
        ({ available_balance: available, currency }) => `${available} ${currency}`,
      );
      session.one(account, { ...rest, available: money });
    });
  const set = accounts
    .command('set')
    .alias('patch')
    .description('change fields of an account; null clears')
    .argument('<auth_id>');
  takesFields(set, '<key=value...>', 'cps_limit=10 barred_countries=CU,KP', patchFields).action(
    async (authId: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const account = await session.client.patch('/admin/v1/accounts/{auth_id}', {
        path: { auth_id: authId },
        body: unchecked(await assigned(pairs, patchFields)),
      });
      session.done(`account ${authId} changed`, account);
    },
  );
  addMoneyCommands(program, sessionOf);
}

function addMoneyCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command('credit')
    .description('credit an account, or debit it with a negative amount (write -- before it)')
    .argument('<auth_id>')
    .argument('<amount>', 'currency units, e.g. 25.00')
    .option('--currency <code>', "default: the account's own")
    .option('--description <text>', 'text of the entry', 'Manual adjustment')
    .option('--reference-type <type>', 'e.g. payment, refund')
    .option('--promotional', 'cannot be withdrawn')
    .option('--key <key>', 'the same key never books twice')
    .action(async (authId: string, amount: string, flags: CreditFlags, command: Command) => {
      const session = sessionOf(command);
      const units = unitsOf(amount);
      const path = { auth_id: authId };
      const { client } = session;
      const currency =
        flags.currency ?? (await client.get('/admin/v1/accounts/{auth_id}', { path })).currency;
      const booked = await client.post('/admin/v1/accounts/{auth_id}/credit', {
        path,
        body: {
          amount: units,
          currency,
          description: flags.description,
          ...(flags.referenceType && { reference_type: flags.referenceType }),
          ...(flags.promotional && { promotional: true }),
          ...(flags.key && { key: flags.key }),
        },
      });
      const { balance } = booked;
      session.done(
        `booked ${amount} ${currency}; balance ${balance.balance}, available ${balance.available_balance}`,
        booked,
      );
    });
  program
    .command('token')
    .description('tokens of accounts')
    .command('rotate')
    .description('make a new token; the old one stays valid for the overlap')
    .argument('<auth_id>')
    .option('--overlap <seconds>', 'life of the old token', '86400')
    .action(async (authId: string, flags: { overlap: string }, command: Command) => {
      const session = sessionOf(command);
      session.one(
        await session.client.post('/admin/v1/accounts/{auth_id}/token', {
          path: { auth_id: authId },
          body: { overlap_seconds: Number(flags.overlap) },
        }),
      );
    });
}

interface CreditFlags {
  readonly currency?: string;
  readonly description: string;
  readonly referenceType?: string;
  readonly promotional?: boolean;
  readonly key?: string;
}

function unitsOf(text: string): number {
  if (!/^-?\d+(\.\d{1,6})?$/.test(text)) {
    throw new Error(`${text} is no amount: write currency units with up to six decimals`);
  }
  return Number(text);
}
