import type { Command } from 'commander';
import { assigned, type Fields, numberOf, takesFields } from '../fields.ts';
import { type Column, type Json, table, unchecked } from '../output.ts';
import { withPages } from '../pages.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

const carrierFields: Fields = async () =>
  (await import('../../edge/rest/admin/carrier-fields.ts')).CarrierBody;
const numberFields: Fields = async () =>
  (await import('../../edge/rest/admin/numbers.ts')).NumberBody;
const trunkFields: Fields = async () =>
  (await import('../../edge/rest/admin/trunks.ts')).TrunkPolicyBody;

/** Commands for numbers, carriers, trunks and rates. */
export function addInventoryCommands(program: Command, sessionOf: SessionOf): void {
  addNumberCommands(program, sessionOf);
  addCarrierCommands(program, sessionOf);
  addRouteCommands(program, sessionOf);
  addTrunkCommands(program, sessionOf);
  addRateCommands(program, sessionOf);
}

function addNumberCommands(program: Command, sessionOf: SessionOf): void {
  const numbers = program.command('numbers').description('Manage phone numbers');
  withPages(numbers.command('list'))
    .description('List numbers')
    .option('--account <auth_id>', 'only numbers of this account')
    .option('--status <status>', 'available, active …')
    .option('--search <digits>', 'digits contained in the number')
    .action(async (flags: Record<string, string | undefined>, command: Command) => {
      const session = sessionOf(command);
      const { account, ...query } = flags;
      const reply = await session.client.get('/admin/v1/numbers', {
        query: unchecked({ ...query, account_id: account }),
      });
      session.list(reply, 'numbers', [
        { title: 'NUMBER', value: (row) => row['e164'] },
        { title: 'COUNTRY', value: (row) => row['country'] },
        { title: 'STATUS', value: (row) => row['status'] },
        { title: 'ACCOUNT', value: (row) => row['account_id'] },
        { title: 'APPLICATION', value: (row) => row['application_id'] },
        { title: 'TRUNK', value: (row) => row['trunk_group_id'] },
        { title: 'MONTHLY', value: (row) => row['monthly_fee'], align: 'right' },
        { title: 'CURRENCY', value: (row) => row['currency'] },
      ]);
    });
  const add = numbers
    .command('add')
    .description('Add a number to the inventory or to an account')
    .argument('<e164>');
  const example = 'country=US currency=USD monthly_fee=1 account_id=MA_…';
  takesFields(add, '<key=value...>', example, numberFields).action(
    async (e164: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const added = await session.client.post('/admin/v1/numbers', {
        body: unchecked({ ...(await assigned(pairs, numberFields)), e164 }),
      });
      session.done(`number ${e164} added`, added);
    },
  );
  numbers
    .command('remove')
    .description('Remove an unassigned number from the inventory')
    .argument('<e164>')
    .action(async (e164: string, _: object, command: Command) => {
      const session = sessionOf(command);
      await session.client.delete('/admin/v1/numbers/{e164}', { path: { e164 } });
      session.done(`number ${e164} removed`);
    });
}

const CARRIER_COLUMNS: readonly Column<Json>[] = [
  { title: 'NAME', value: (row) => row['name'] },
  { title: 'HOST', value: (row) => row['host'] },
  { title: 'PORT', value: (row) => row['port'], align: 'right' },
  { title: 'TRANSPORT', value: (row) => row['transport'] },
  { title: 'PREFIXES', value: (row) => row['prefixes'] },
  { title: 'PRIORITY', value: (row) => row['priority'], align: 'right' },
  { title: 'ENABLED', value: (row) => row['enabled'] },
];

function addCarrierCommands(program: Command, sessionOf: SessionOf): void {
  const carriers = program.command('carriers').description('Manage SIP gateways');
  carriers
    .command('list')
    .description('List SIP gateways')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      const reply = await session.client.get('/admin/v1/carriers');
      session.list(reply, 'carriers', CARRIER_COLUMNS);
    });
  const add = carriers.command('add').description('Add a SIP gateway').argument('<name>');
  const example = 'host=sip.example port=5060 transport=udp prefixes=1,44';
  takesFields(add, '<key=value...>', example, carrierFields).action(
    async (name: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const added = await session.client.post('/admin/v1/carriers', {
        body: unchecked({ ...(await assigned(pairs, carrierFields)), name }),
      });
      session.done(`carrier ${name} added`, added);
    },
  );
  const set = carriers.command('set').description('Update a SIP gateway').argument('<name>');
  takesFields(set, '<key=value...>', 'priority=2 enabled=false', carrierFields).action(
    async (name: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const input = { path: { name }, body: unchecked(await assigned(pairs, carrierFields)) };
      const changed = await session.client.patch('/admin/v1/carriers/{name}', input);
      session.done(`carrier ${name} changed`, changed);
    },
  );
  carriers
    .command('remove')
    .description('Remove a SIP gateway')
    .argument('<name>')
    .action(async (name: string, _: object, command: Command) => {
      const session = sessionOf(command);
      await session.client.delete('/admin/v1/carriers/{name}', { path: { name } });
      session.done(`carrier ${name} removed`);
    });
}

const ROUTE_COLUMNS: readonly Column<Json>[] = [
  { title: 'TRIED', value: (row) => row['rank'] ?? '-', align: 'right' },
  { title: 'CARRIER', value: (row) => row['carrier'] },
  { title: 'NUMBER', value: (row) => row['number'] },
  { title: 'PREFIX', value: (row) => row['prefix'] },
  { title: 'PRIORITY', value: (row) => row['priority'], align: 'right' },
  { title: 'COST', value: (row) => row['cost'], align: 'right' },
  { title: 'WEIGHT', value: (row) => row['weight'], align: 'right' },
  { title: 'WHY', value: (row) => row['why'] },
];

function addRouteCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command('route')
    .description('Test the routing of calls')
    .command('test')
    .description('Explain how a call would be routed, without placing it')
    .argument('<from>', 'caller ID')
    .argument('<to>', 'number')
    .option('--account <auth_id>', 'calling account; default: the account that owns FROM')
    .action(async (from: string, to: string, flags: { account?: string }, command: Command) => {
      const session = sessionOf(command);
      const account_id = flags.account ?? (await ownerOf(session, from));
      const reply = await session.client.get('/admin/v1/routes', {
        query: { account_id, from, to },
      });
      const price = `${reply.per_minute} ${reply.currency} a minute`;
      const called = `${reply.to} (${reply.country})`;
      const verdict =
        reply.refusal === null
          ? `${reply.caller_id} calls ${called} for ${price}`
          : `no call: ${reply.refusal}`;
      session.report(reply, [verdict, ...table<Json>(reply.carriers, ROUTE_COLUMNS)]);
    });
}

/** Numbers per request: the maximum. */
const PAGE = 100;

/** Returns the ID of the account that owns a number of the inventory. */
async function ownerOf(session: Session, number: string): Promise<string> {
  const digits = number.replace(/\D/g, '');
  for (let offset = 0; ; offset += PAGE) {
    // The search also finds longer numbers that contain the digits.
    const query = { search: digits, limit: PAGE, offset };
    const { numbers } = await session.client.get('/admin/v1/numbers', { query });
    const owner = numbers.find(({ e164 }) => e164.replace(/\D/g, '') === digits)?.account_id;
    if (typeof owner === 'string') return owner;
    if (numbers.length < PAGE) {
      throw new Error(`no account has the number ${number}: set --account`);
    }
  }
}

const TRUNK = '/admin/v1/accounts/{auth_id}/trunks/{trunk_id}';

function addTrunkCommands(program: Command, sessionOf: SessionOf): void {
  const trunks = program.command('trunks').description('Manage SIP trunks of accounts');
  const set = trunks
    .command('set')
    .description('Set the caller identity and header rules of a trunk')
    .argument('<auth_id>')
    .argument('<trunk_id>');
  const example = 'identity=trusted identity_header=pai pass_headers=X-*';
  takesFields(set, '<key=value...>', example, trunkFields).action(
    async (authId: string, trunkId: string, pairs: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const path = { auth_id: authId, trunk_id: trunkId };
      const changed = await session.client.patch(TRUNK, {
        path,
        body: unchecked(await assigned(pairs, trunkFields)),
      });
      session.done(`trunk ${trunkId} changed`, changed);
    },
  );
  trunks
    .command('allow')
    .description(
      'Replace the private destinations that a trunk may route to. Without destinations, allow public addresses only.',
    )
    .argument('<auth_id>')
    .argument('<trunk_id>')
    .argument('[destination...]', 'addresses, CIDR ranges, host names or *.suffix')
    .action(async (authId: string, trunkId: string, to: string[], _: object, command: Command) => {
      const session = sessionOf(command);
      const path = { auth_id: authId, trunk_id: trunkId };
      const changed = await session.client.patch(TRUNK, { path, body: { egress_allow: to } });
      session.done(`trunk ${trunkId} may route to: ${to.join(' ') || 'public addresses'}`, changed);
    });
}

function addRateCommands(program: Command, sessionOf: SessionOf): void {
  const rates = program.command('rates').description('prices');
  rates
    .command('list')
    .description('List current rates')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      session.list(await session.client.get('/admin/v1/rates'), 'rates', [
        { title: 'DIRECTION', value: (row) => row['direction'] },
        { title: 'PREFIX', value: (row) => row['prefix'] },
        { title: 'PER MINUTE', value: (row) => row['per_minute'], align: 'right' },
        { title: 'PULSE S', value: (row) => row['pulse_seconds'], align: 'right' },
        { title: 'CURRENCY', value: (row) => row['currency'] },
        { title: 'ACCOUNT', value: (row) => row['account_id'] },
      ]);
    });
  rates
    .command('set')
    .description('Set a rate')
    .argument('<direction>', 'outbound, inbound, sip, stream, recording or number')
    .argument('<per_minute>', 'currency units per minute')
    .option('--prefix <digits>', 'numbers with this prefix', '')
    .option('--currency <code>', 'currency', 'USD')
    .option('--pulse <seconds>', 'billing pulse in seconds', '60')
    .option('--account <auth_id>', 'apply to this account only')
    .action(
      async (
        direction: string,
        perMinute: string,
        flags: { prefix: string; currency: string; pulse: string; account?: string },
        command: Command,
      ) => {
        const session = sessionOf(command);
        const rate = await session.client.post('/admin/v1/rates', {
          body: unchecked({
            direction,
            per_minute: numberOf('the price', perMinute),
            prefix: flags.prefix,
            currency: flags.currency,
            pulse_seconds: numberOf('--pulse', flags.pulse),
            account_id: flags.account,
          }),
        });
        session.done(`rate set: ${direction} ${flags.prefix || '(any)'} ${perMinute}`, rate);
      },
    );
}
