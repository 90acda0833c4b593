/** Calls of a campaign as requests of its account, and what prevents them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid, asCampaignId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { err, ok } from '../../../src/base/result.ts';
import type { Account } from '../../../src/domain/account/types.ts';
import { createCallPlacing } from '../../../src/domain/campaign/placing.ts';
import type { Agent, Contact } from '../../../src/domain/campaign/types.ts';
import type { PacedCall } from '../../../src/domain/dispatch/paced-calls.ts';
import type { Balance } from '../../../src/domain/ledger/types.ts';
import { anAccount } from '../../edge/store/records.ts';
import { anAgent, OWNER } from './records.ts';

const MAIN = OWNER.accountId;
const SUB = asAccountId('SA_SSSSSSSSSSSSSSSSS');
const NUMBER = '12125550100';

let accounts: Account[];
let available: number;
let isAffordable: boolean;
let placed: PacedCall[];
beforeEach(() => {
  accounts = [anAccount(), anAccount({ authId: SUB, parentAuthId: MAIN })];
  available = 10;
  isAffordable = true;
  placed = [];
});

const placing = createCallPlacing({
  paced: {
    place: async (call) => {
      placed.push(call);
      return err({ kind: 'stale' });
    },
    mayPresent: async () => true,
    canAfford: async () => isAffordable,
  },
  accounts: { get: async (id) => accounts.find(({ authId }) => authId === id) },
  ledger: {
    balance: async () =>
      ok({
        balance: micros(available),
        reservedFunds: micros(0),
        creditLimit: micros(0),
      } as Balance),
  },
  cdrs: { get: async () => undefined },
  onFree: () => undefined,
});

const change = (authId: string, over: Partial<Account>): void => {
  accounts = accounts.map((one) => (one.authId === authId ? { ...one, ...over } : one));
};

describe('what prevents the calls of a campaign', () => {
  const obstacle = (subAccount: typeof SUB | undefined, number?: string) =>
    placing.obstacle({ accountId: MAIN, subAccount }, number);

  it.each<[string, string, Partial<Account>]>([
    ['its suspended account', MAIN, { status: 'suspended' }],
    ['its suspended sub-account', SUB, { status: 'suspended' }],
    ['its sub-account without the permission for calls', SUB, { permissions: { calls: false } }],
  ])('is %s', async (_, authId, over) => {
    expect(await obstacle(SUB)).toBeUndefined();
    change(authId, over);
    expect(await obstacle(SUB)).toBe('accountInactive');
    expect(await obstacle(undefined)).toBe(authId === MAIN ? 'accountInactive' : undefined);
  });

  it('is a balance that covers no call, or not the next one', async () => {
    isAffordable = false;
    expect(await obstacle(undefined)).toBeUndefined();
    expect(await obstacle(undefined, NUMBER)).toBe('insufficientFunds');
    isAffordable = true;
    expect(await obstacle(undefined, NUMBER)).toBeUndefined();
    available = 0;
    expect(await obstacle(undefined)).toBe('insufficientFunds');
  });
});

describe('the call to a contact', () => {
  const agent = {
    ...anAgent({
      hangup: { url: 'https://a.example/hangup', method: 'GET' },
      sipHeaders: [
        ['Kind', 'agent'],
        ['Team', '7'],
      ],
    }),
  } as unknown as Agent;
  const requested = async (over: Partial<Contact>) => {
    const contact = { to: NUMBER, headers: [], ...over } as unknown as Contact;
    const ids = { callUuid: asCallUuid('u1'), campaignId: asCampaignId('c1') };
    await placing.place(
      { ...ids, owner: OWNER, agent, contact, from: '12025550100' },
      async () => true,
    );
    return placed[0]?.request;
  };

  it('uses the URLs and headers of the agent', async () => {
    expect(await requested({})).toMatchObject({
      destinations: [{ kind: 'number', number: NUMBER }],
      answer: { url: 'http://127.0.0.1/answer', method: 'POST' },
      hangup: { url: 'https://a.example/hangup', method: 'GET' },
      sipHeaders: agent.sipHeaders,
    });
  });

  it('uses those of the contact instead, if it has them', async () => {
    const own = {
      answerUrl: 'https://b.example/answer',
      hangupUrl: 'https://b.example/hangup',
      headers: [['kind', 'contact']] as const,
    };
    expect(await requested(own)).toMatchObject({
      answer: { url: 'https://b.example/answer', method: 'POST' },
      hangup: { url: 'https://b.example/hangup', method: 'GET' },
      sipHeaders: [
        ['Team', '7'],
        ['kind', 'contact'],
      ],
    });
  });
});
