/** Application, callers and recipients of callbacks in tests. */
import type { EndpointId } from '../../../src/base/ids.ts';
import { ok } from '../../../src/base/result.ts';
import type { Account } from '../../../src/domain/account/types.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import type { CallbackClient } from '../../../src/domain/callback/callback.ts';
import type {
  CallbackParameters,
  JsonEvent,
  NotificationDraft,
} from '../../../src/domain/callback/types.ts';
import type { CallFactory } from '../../../src/domain/dispatch/dispatch.ts';
import type { PlaceCallsRequest } from '../../../src/domain/dispatch/types.ts';

export const OWN_NUMBER = '14155550100';
export const ANSWER_URL = 'https://app.test/answer';

/** Customer's application: received callbacks and its documents. */
export class Customer {
  readonly documents = new Map<string, string>();
  readonly requested: Array<{ url: string; parameters: Record<string, string> }> = [];
  readonly reported: Array<{ url: string; parameters: Record<string, string> }> = [];

  /** Events sent to trunk webhooks. */
  readonly posted: JsonEvent[] = [];

  readonly client = {
    post: (event: JsonEvent) => this.posted.push(event),
    fetchDocument: async (target: { url: string }, parameters: CallbackParameters) => {
      this.requested.push({ url: target.url, parameters: Object.fromEntries(parameters) });
      const body = this.documents.get(target.url) ?? '<Response><Wait length="3600"/></Response>';
      return ok({ body, contentType: 'text/xml', url: target.url, usedFallback: false });
    },
    notify: ({ target, parameters }: NotificationDraft) => {
      this.reported.push({ url: target.url, parameters: Object.fromEntries(parameters) });
    },
    notifyStored: ({ target, parameters }: NotificationDraft) => {
      this.reported.push({ url: target.url, parameters: Object.fromEntries(parameters) });
    },
  } as unknown as CallbackClient;

  events(): string[] {
    return this.reported.map(({ parameters }) => parameters['Event'] ?? '');
  }
}

/** Inbound call to a number of the account, before its INVITE is adopted. */
export function inboundCall(
  stage: { factory: CallFactory; account: Account },
  to: string,
  over: { readonly endpointId?: EndpointId } = {},
): Call {
  const { factory, account } = stage;
  const callUuid = factory.newCallUuid();
  return factory.create(
    {
      callUuid,
      accountId: account.authId,
      subAccount: undefined,
      country: account.country,
      context: 'did',
      parentCallUuid: undefined,
      endpointId: undefined,
      trunkId: undefined,
      terminatedTo: 'inbound_carrier',
      facts: {
        callUuid,
        requestUuid: undefined,
        direction: 'inbound',
        from: '442079460000',
        to,
        callerName: 'Bob',
        parentAuthId: account.authId,
        routeType: 'pstn',
        sessionStartUs: factory.nowUs(),
        stirVerification: 'Not Applicable',
        stirAttestation: '',
        forwardedFrom: '',
        sipHeaders: [],
        machine: undefined,
      },
      ...over,
    },
    factory.price(account, 'inbound', to) ?? factory.free('USD'),
  );
}

export const request = (
  account: Pick<Account, 'authId'>,
  to: readonly string[],
): PlaceCallsRequest => ({
  accountId: account.authId,
  subAccount: undefined,
  from: OWN_NUMBER,
  destinations: to.map((one) =>
    one.startsWith('sip:') ? { kind: 'sip', uri: one } : { kind: 'number', number: one },
  ),
  answer: { url: ANSWER_URL, method: 'POST' },
  ring: { url: 'https://app.test/ring', method: 'POST' },
  hangup: { url: 'https://app.test/hangup', method: 'POST' },
  fallback: undefined,
  machineDetection: undefined,
  callerName: undefined,
  sendDigits: undefined,
  sendOnPreanswer: false,
  timeLimitMs: 14_400_000,
  hangupOnRingMs: undefined,
  ringTimeoutMs: undefined,
  sipHeaders: [],
  idempotencyKey: undefined,
});
