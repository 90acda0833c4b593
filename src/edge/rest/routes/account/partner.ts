import { isoMicros } from '../../../../base/time-format.ts';
import type { CapacityOperation, CapacityTransfer } from '../../../../domain/account/types.ts';
import { callerRoute, type Route } from '../../http/route.ts';
import { accountIdText, hinted, oneOf, type Static, Type, timestamp } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';

/** Maximum number of slots in a transfer (spec Limits: partner transfer, reclaim and history). */
const SLOTS_MAX = 10_000;
const DESCRIPTION_MAX = 500;
const HISTORY_DEFAULT = 50;
const HISTORY_MAX = 200;
const OFFSET_MAX = 1_000_000_000;

const ROOT = '/api/v1/partner/accounts/{customer_auth_id}/concurrency';
const common = { tag: 'Partner', errors: 'plain' } as const;
const params = Type.Object({ customer_auth_id: accountIdText() });

const TransferBody = Type.Object({
  resource: Type.Optional(
    hinted(
      oneOf(['concurrent_calls', 'cps'], { default: 'concurrent_calls' }),
      'must be concurrent_calls or cps',
    ),
  ),
  slots: hinted(
    Type.Integer({ minimum: 1, maximum: SLOTS_MAX }),
    `must be a whole number from 1 to ${SLOTS_MAX}`,
  ),
  description: Type.Optional(
    hinted(
      Type.String({ maxLength: DESCRIPTION_MAX }),
      `must have at most ${DESCRIPTION_MAX} characters`,
    ),
  ),
});

const TransferReply = Type.Object({
  success: Type.Boolean(),
  slots: Type.Integer(),
  resource: Type.String(),
  from_account: accountIdText(),
  to_account: accountIdText(),
  transfer_reference: Type.String(),
  partner_remaining: Type.Integer(),
  customer_effective: Type.Integer(),
  message: Type.String(),
});

/** Returns source and target: a transfer goes from partner to customer, a reclaim back. */
const parties = (transfer: CapacityTransfer) =>
  transfer.operation === 'transfer'
    ? { from_account: transfer.partnerAuthId, to_account: transfer.customerAuthId }
    : { from_account: transfer.customerAuthId, to_account: transfer.partnerAuthId };

const DONE = { transfer: 'transferred', reclaim: 'reclaimed' } as const;

const showTransfer = (transfer: CapacityTransfer): Static<typeof TransferReply> => ({
  success: true,
  slots: transfer.slots,
  resource: transfer.resource,
  ...parties(transfer),
  transfer_reference: transfer.reference,
  partner_remaining: transfer.partnerRemaining,
  customer_effective: transfer.customerEffective,
  message: `${transfer.slots} ${transfer.resource} ${DONE[transfer.operation]}`,
});

const move = (operation: CapacityOperation, summary: string): Route =>
  callerRoute({
    ...common,
    method: 'POST',
    path: `${ROOT}/${operation}`,
    summary,
    params,
    body: TransferBody,
    reply: TransferReply,
    run: async ({ accounts }, { principal, params: path, body }) =>
      answered(
        await accounts.moveCapacity({
          operation,
          resource: body.resource ?? 'concurrent_calls',
          slots: body.slots,
          partnerAuthId: principal.account.authId,
          customerAuthId: path.customer_auth_id,
          description: body.description ?? '',
        }),
        showTransfer,
      ),
  });

const view = callerRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'Get the allocation to a customer and the limits of both accounts',
  params,
  reply: Type.Object({
    partner_auth_id: accountIdText(),
    customer_auth_id: accountIdText(),
    partner_concurrent_calls_limit: Type.Integer(),
    customer_concurrent_calls_limit: Type.Integer(),
    net_concurrent_calls_allocated: Type.Integer(),
    partner_cps_limit: Type.Integer(),
    customer_cps_limit: Type.Integer(),
    net_cps_allocated: Type.Integer(),
  }),
  run: async ({ accounts }, { principal, params: path }) =>
    answered(
      await accounts.allocation(principal.account.authId, path.customer_auth_id),
      ({ partner, customer, net }) => ({
        partner_auth_id: partner.authId,
        customer_auth_id: customer.authId,
        partner_concurrent_calls_limit: partner.concurrentCallsLimit,
        customer_concurrent_calls_limit: customer.concurrentCallsLimit,
        net_concurrent_calls_allocated: net.concurrentCalls,
        partner_cps_limit: partner.cpsLimit,
        customer_cps_limit: customer.cpsLimit,
        net_cps_allocated: net.cps,
      }),
    ),
});

const history = callerRoute({
  ...common,
  method: 'GET',
  path: '/api/v1/partner/concurrency/transfers',
  summary: 'List transfers and reclaims, newest first',
  query: Type.Object({
    limit: Type.Optional(
      hinted(
        Type.Integer({ minimum: 1, maximum: HISTORY_MAX, default: HISTORY_DEFAULT }),
        `must be a whole number from 1 to ${HISTORY_MAX}`,
      ),
    ),
    offset: Type.Optional(
      hinted(
        Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0 }),
        `must be a whole number from 0 to ${OFFSET_MAX}`,
      ),
    ),
  }),
  reply: Type.Object({
    transfers: Type.Array(
      Type.Object({
        transfer_reference: Type.String(),
        operation: Type.String(),
        resource: Type.String(),
        slots: Type.Integer(),
        from_account: accountIdText(),
        to_account: accountIdText(),
        description: Type.String(),
        partner_remaining: Type.Integer(),
        customer_effective: Type.Integer(),
        created_at: timestamp(),
      }),
    ),
    total: Type.Integer(),
    limit: Type.Integer(),
    offset: Type.Integer(),
  }),
  async run({ accounts }, { principal, query }) {
    const slice = { limit: query.limit ?? HISTORY_DEFAULT, offset: query.offset ?? 0 };
    const page = await accounts.transferHistory(principal.account.authId, slice);
    return answered(page, ({ items, total }) => ({
      transfers: items.map((transfer) => ({
        transfer_reference: transfer.reference,
        operation: transfer.operation,
        resource: transfer.resource,
        slots: transfer.slots,
        ...parties(transfer),
        description: transfer.description,
        partner_remaining: transfer.partnerRemaining,
        customer_effective: transfer.customerEffective,
        created_at: isoMicros(transfer.createdUs),
      })),
      total,
      ...slice,
    }));
  },
});

export const partnerRoutes: readonly Route[] = [
  move('transfer', 'Transfer capacity from the partner to a customer'),
  move('reclaim', 'Reclaim capacity from a customer'),
  view,
  history,
];
