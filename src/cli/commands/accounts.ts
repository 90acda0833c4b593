import type { Command } from 'commander';
import { assigned, type Fields, numberOf, takesFields } from '../fields.ts';
import { unchecked } from '../output.ts';
import { type PageFlags, withPages } from '../pages.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

const accountFields: Fields = async () =>
  (await import('../../edge/rest/wire/account.ts')).AccountCreateBody;
const patchFields: Fields = async () =>
  (await import('../../edge/rest/wire/account.ts')).AccountPatchBody;

export function addAccountCommands(program: Command, sessionOf: SessionOf): void {
  const accounts = program.command('accounts').description('Manage accounts and sub-accounts');
  withPages(accounts.command('list'))
    .description('List main accounts, or the sub-accounts of one account')
    .option('--parent <auth_id>', 'list the sub-accounts of this account')
    .action(async (flags: PageFlags & { parent?: string }, command: Command) => {
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
  addCreate(accounts, sessionOf);
  accounts
    .command('show')
    .description('Show an account and its balances')
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
  addSet(accounts, sessionOf);
  addMoneyCommands(program, sessionOf);
}

function addCreate(accounts: Command, sessionOf: SessionOf): void {
  const create = accounts
    .command('create')
    .description('Create an account and print its auth token. The token is not shown again.')
    .argument('<name>');
  const example = 'more fields, e.g. currency=USD concurrent_calls_limit=50';
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
}

function addSet(accounts: Command, sessionOf: SessionOf): void {
  const set = accounts
    .command('set')
    .alias('patch')
    .description('Update an account. `null` removes a value.')
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
}

function addMoneyCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command('credit')
    .description('Credit an account. A negative amount debits it; write -- before it.')
    .argument('<auth_id>')
    .argument('<amount>', 'currency units, e.g. 25.00')
    .option('--currency <code>', 'default: the currency of the account')
    .option('--description <text>', 'description of the ledger entry', 'Manual adjustment')
    .option('--reference-type <type>', 'e.g. payment, refund')
    .option('--promotional', 'add promotional credit, which cannot be withdrawn')
    .option(
      '--key <key>',
      'idempotency key: repeated requests with the same key book the amount once',
    )
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
    .description('Manage auth tokens of accounts')
    .command('rotate')
    .description('Create a new auth token. The old token stays valid during the overlap.')
    .argument('<auth_id>')
    .option('--overlap <seconds>', 'how long the old token stays valid', '86400')
    .action(async (authId: string, flags: { overlap: string }, command: Command) => {
      const session = sessionOf(command);
      session.one(
        await session.client.post('/admin/v1/accounts/{auth_id}/token', {
          path: { auth_id: authId },
          body: { overlap_seconds: numberOf('--overlap', flags.overlap) },
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
    throw new Error(`${text} is not an amount: use currency units with up to six decimals`);
  }
  return Number(text);
}
