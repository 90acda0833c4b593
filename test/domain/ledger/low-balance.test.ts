import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Mail } from '../../../src/base/mailer.ts';
import { micros } from '../../../src/base/money.ts';
import type { NotificationDraft } from '../../../src/domain/callback/types.ts';
import { Ledger, LowBalanceAlerts } from '../../../src/domain/ledger/ledger.ts';
import type { LowBalanceAlert, NewEntry } from '../../../src/domain/ledger/types.ts';
import { createProvisioning } from '../../../src/domain/provisioning/provisioning.ts';
import type { Store } from '../../../src/edge/store/store.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { aCdr, anAccount, anOpenCall } from '../../edge/store/records.ts';
import { settle } from '../../sim/clock.ts';

const ACCOUNT = anAccount().authId;
const CALL = aCdr().callUuid;

describe('low-balance alerts of the ledger', () => {
  let opened: OpenedStore;
  let store: Store;
  let ledger: Ledger;
  let reported: NotificationDraft[];
  let mails: Mail[];
  let unreadable: AccountId | undefined;
  let alerts: LowBalanceAlerts;

  beforeEach(async () => {
    opened = await openInMemory();
    store = opened.store;
    const lowBalanceUrl = 'https://a.example/low';
    const lowBalanceEmail = 'a@a.example, b@a.example';
    await store.accounts.create(anAccount({ lowBalanceUrl, lowBalanceEmail }), 't');
    ledger = new Ledger({ store: store.ledger, rates: store.rates, log: silentLogger });
    reported = [];
    mails = [];
    unreadable = undefined;
    alerts = new LowBalanceAlerts({
      store: store.ledger,
      recipients: async (accountId) => {
        if (accountId === unreadable) throw new Error('unreadable');
        return store.accounts.get(accountId);
      },
      notify: (draft) => reported.push(draft),
      mail: async (mail) => void mails.push(mail),
      logger: silentLogger,
    });
    store.onLowBalance(() => void alerts.notify());
    await adjust(100_000);
    await threshold(50_000);
  });
  afterEach(() => store.close());

  const adjust = (amount: number, currency = 'USD') =>
    ledger.adjust({
      accountId: ACCOUNT,
      currency,
      amount: micros(amount),
      description: 'by hand',
    });
  const threshold = (amount: number, currency = 'USD') =>
    ledger.patchBalance(ACCOUNT, currency, { lowBalanceThreshold: micros(amount) });
  const reportOf = async (): Promise<readonly (string | undefined)[]> => {
    await settle();
    return reported.map(({ parameters }) => new Map(parameters).get('AvailableBalance'));
  };
  const open = (reserved: number) =>
    store.calls.open(anOpenCall({ reserved: micros(reserved) }), undefined);
  const charge = (amount: number): NewEntry => ({
    accountId: ACCOUNT,
    currency: 'USD',
    type: 'debit',
    amount: micros(amount),
    description: 'call',
    reference: `cdr:${CALL}`,
    referenceType: 'cdr',
  });
  const settleCall = (amount: number) =>
    store.calls.settle({ cdr: aCdr(), entries: [charge(amount)], notification: undefined });

  it('no alert before the first credit, for any threshold', async () => {
    await store.ledger.openBalance(ACCOUNT, 'EUR');
    await threshold(50_000, 'EUR');
    await store.ledger.patchBalance(ACCOUNT, 'EUR', { creditLimitType: 'soft' });
    await adjust(-10, 'EUR');
    expect(await reportOf()).toEqual([]);
    await adjust(60_000, 'EUR');
    await adjust(-20_000, 'EUR');
    expect(await reportOf()).toEqual(['0.03999']);
  });

  it("an operator's debit alerts once per fall, and again after a rise", async () => {
    await adjust(-60_000);
    expect(await reportOf()).toEqual(['0.04']);
    expect(reported[0]).toMatchObject({
      event: 'LowBalance',
      target: { url: 'https://a.example/low', method: 'POST' },
    });
    expect(mails).toMatchObject([{ to: 'a@a.example, b@a.example' }]);
    await adjust(-1000);
    expect(await reportOf()).toHaveLength(1);
    await adjust(100_000);
    await adjust(-100_000);
    expect(await reportOf()).toEqual(['0.04', '0.039']);
  });

  it('an account that cannot be read does not delay the alerts of others, and is alerted later', async () => {
    const other = anAccount({
      authId: asAccountId('MA_OTHER'),
      lowBalanceUrl: 'https://b.example',
    });
    await store.accounts.create(other, 't');
    const credit = { accountId: other.authId, currency: 'USD', description: 'by hand' };
    await ledger.adjust({ ...credit, amount: micros(90_000) });
    await ledger.patchBalance(other.authId, 'USD', { lowBalanceThreshold: micros(50_000) });
    unreadable = ACCOUNT;
    await adjust(-60_000);
    expect(await reportOf()).toEqual([]);
    await ledger.adjust({ ...credit, amount: micros(-60_000) });
    expect(await reportOf()).toEqual(['0.03']);
    unreadable = undefined;
    await alerts.notify();
    expect(await reportOf()).toEqual(['0.03', '0.04']);
  });

  it('a reservation, its increase and its charge alert once', async () => {
    await open(60_000);
    expect(await reportOf()).toEqual(['0.04']);
    await store.calls.extendReservation(CALL, micros(70_000));
    // Release and charge are one transaction, so the balance never rose in between.
    await settleCall(70_000);
    expect(await reportOf()).toEqual(['0.04']);
  });

  it('an increased reservation alerts', async () => {
    await open(10_000);
    expect(await reportOf()).toEqual([]);
    await store.calls.extendReservation(CALL, micros(70_000));
    expect(await reportOf()).toEqual(['0.03']);
  });

  it('a released reservation re-arms the alert', async () => {
    await open(60_000);
    await settleCall(1000);
    await adjust(-60_000);
    expect(await reportOf()).toEqual(['0.04', '0.039']);
  });

  it('a changed threshold alerts, and a lowered one re-arms', async () => {
    await threshold(200_000);
    expect(await reportOf()).toEqual(['0.1']);
    await threshold(50_000);
    await threshold(200_000);
    expect(await reportOf()).toEqual(['0.1', '0.1']);
  });

  it('a purchase and the rent of a number alert', async () => {
    const e164 = '14155550100';
    const { numbers } = createProvisioning(store, opened, {
      realm: 'r',
      usernameSuffix: 'always',
    });
    await numbers.add({ e164, country: 'US', currency: 'USD', setupFeeMicros: 60_000 });
    const bought = await numbers.purchase(e164, ACCOUNT, 'USD');
    if (!bought.ok) throw new Error(bought.error.kind);
    expect(await reportOf()).toEqual(['0.04']);
    await adjust(20_000);
    const fee = { ...charge(60_000), reference: 'did_rental:2', referenceType: 'did_rental' };
    await store.numbers.rent(bought.value, fee, 0);
    expect(await reportOf()).toEqual(['0.04', '0']);
  });

  it('each currency has a separate threshold and alert', async () => {
    await ledger.openBalance(ACCOUNT, 'EUR');
    await adjust(100_000, 'EUR');
    await threshold(90_000, 'EUR');
    await adjust(-20_000, 'EUR');
    expect(await reportOf()).toEqual(['0.08']);
    expect(new Map(reported[0]?.parameters).get('Currency')).toBe('EUR');
    await adjust(-60_000);
    expect(await reportOf()).toEqual(['0.08', '0.04']);
  });

  it('a refused transaction sends no alert', async () => {
    await ledger.charge(charge(1_000_000));
    expect(await reportOf()).toEqual([]);
  });

  it('the next process sends alerts that a crash left unsent', async () => {
    await store.ledger.lowBalanceAlerts(-1, 10);
    const silent = new LowBalanceAlerts({
      store: { ...store.ledger, lowBalanceTold: () => Promise.reject(new Error('killed')) },
      recipients: () => Promise.reject(new Error('killed')),
      notify: () => undefined,
      mail: () => Promise.resolve(),
      logger: silentLogger,
    });
    store.onLowBalance(() => void silent.notify());
    alerts.notify = () => Promise.resolve();
    await adjust(-60_000);
    expect(await reportOf()).toEqual([]);
    await LowBalanceAlerts.prototype.notify.call(alerts);
    expect(await reportOf()).toEqual(['0.04']);
  });
});

describe('low-balance alerts of many accounts', () => {
  const stored = (id: number): LowBalanceAlert => ({
    id,
    balanceId: `b${id}`,
    accountId: asAccountId(`MA_${id}`),
    currency: 'USD',
    available: micros(1),
    threshold: micros(2),
    fallenUs: 0,
  });

  /** Stored alerts, and what becomes of them. `reads` counts the queries. */
  function stage(count: number, { unreadable = 0, lowBalanceEmail = '' } = {}) {
    const left = Array.from({ length: count }, (_, id) => stored(id));
    const sent: string[] = [];
    const operator: string[] = [];
    const errors: string[] = [];
    const done = { left, sent, operator, errors, reads: 0 };
    const alerts = new LowBalanceAlerts({
      store: {
        lowBalanceAlerts: async (after, limit) => {
          done.reads += 1;
          if (done.reads > 20) throw new Error('endless');
          return left.filter(({ id }) => id > after).slice(0, limit);
        },
        lowBalanceTold: async (id) => {
          const at = left.findIndex((alert) => alert.id === id);
          if (at >= 0) left.splice(at, 1);
        },
      },
      recipients: async (accountId) => {
        if (Number(accountId.slice('MA_'.length)) < unreadable) throw new Error('unreadable');
        return {
          lowBalanceUrl: 'https://a.example',
          lowBalanceEmail: lowBalanceEmail || undefined,
        };
      },
      notify: ({ accountId }) => sent.push(accountId),
      mail: () => Promise.reject(new Error('no mail server')),
      operator: ({ accountId }) => operator.push(accountId),
      logger: { ...silentLogger, error: (_facts, text) => errors.push(text) },
    });
    return { alerts, done };
  }

  it('sends each once, in batches, also if it is called again during that', async () => {
    const { alerts, done } = stage(250);
    const first = alerts.notify();
    await alerts.notify();
    await first;
    expect(done.left).toEqual([]);
    expect(done.sent).toHaveLength(250);
    expect(new Set(done.sent).size).toBe(250);
  });

  it('sends those that follow a batch of accounts that cannot be read, and keeps the others', async () => {
    const { alerts, done } = stage(201, { unreadable: 200 });
    await alerts.notify();
    expect(done.sent).toEqual(['MA_200']);
    expect(done.left).toHaveLength(200);
    expect(done.reads).toBe(3);
  });

  it('tells the operator too, and logs a mail that was not sent', async () => {
    const { alerts, done } = stage(1, { lowBalanceEmail: 'a@a.example' });
    await alerts.notify();
    await settle();
    expect(done.operator).toEqual(['MA_0']);
    expect(done.errors).toEqual(['low-balance mail not sent']);
    expect(done.left).toEqual([]);
  });
});
