/** Fake phones that call the service, and calls that the service places. */
import { asCallUuid, type CallUuid } from '../../../src/base/ids.ts';
import { ok } from '../../../src/base/result.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import type { InboundLeg, LegEnd, LegEvents } from '../../../src/domain/call/needs.ts';
import type { PlaceCallsRequest } from '../../../src/domain/dispatch/types.ts';
import type { Invite } from '../../domain/dispatch/fakes.ts';
import { request } from '../../domain/dispatch/participants.ts';
import type { ListeningLeg } from '../../domain/interpreter/listening-scene.ts';
import { SDP } from '../../domain/interpreter/scene.ts';
import { settle } from '../../sim/clock.ts';
import { type CallService, DID, FAR, HOST } from './service.ts';
import { SITE } from './site.ts';

export interface Caller {
  readonly callUuid: CallUuid;
  /** Messages sent to the phone: `180`, `183`, `200`, `hangup <cause>`. */
  readonly sent: readonly string[];
  readonly media: ListeningLeg;
  readonly call: Call;
  press(keys: string): Promise<void>;
  hangsUp(): Promise<void>;
}

let count = 0;

/** Creates an inbound INVITE and records the messages sent to its caller. */
function inviteOf(over: Partial<InboundLeg>) {
  count += 1;
  const sent: string[] = [];
  let events: LegEvents | undefined;
  let end: LegEnd | undefined;
  const sipCallId = `in-${count}`;
  const leg = {
    id: sipCallId,
    sipCallId,
    userAgent: 'test',
    source: { transport: 'udp', address: '192.0.2.10', port: 5060 },
    headers: [],
    sdp: SDP,
    attach: (attached: LegEvents) => {
      events = attached;
      if (end !== undefined) attached.ended(end);
    },
    ring: (sdp?: string) => sent.push(sdp === undefined ? '180' : '183'),
    answer: async () => {
      sent.push('200');
      return ok(undefined);
    },
    hangup: (cause: string) => sent.push(`hangup ${cause}`),
    refuse: (status: number, why: string) => sent.push(`refuse ${status} ${why}`),
    ...over,
  } as unknown as InboundLeg;
  const ends = (how: 'bye' | 'cancel'): void => {
    end = { by: 'remote', how, status: undefined, reason: undefined };
    events?.ended(end);
  };
  return { leg, sent, ends };
}

/** Delivers an inbound call and waits for its immediate effects. */
async function arrives(service: CallService, over: Partial<InboundLeg>): Promise<Caller> {
  const { leg, sent, ends } = inviteOf(over);
  const known = new Set(service.live());
  const seen: Call[] = [];
  const watch = (): void => {
    for (const call of service.live()) {
      if (!known.has(call) && call.peer.sipCallId === leg.sipCallId && !seen.includes(call))
        seen.push(call);
    }
  };
  service.inbound.accept(leg);
  for (let turn = 0; turn < 200 && seen.length === 0; turn += 1) {
    await Promise.resolve();
    watch();
  }
  await settle();
  watch();
  const [call] = seen;
  if (call === undefined) throw new Error('the call was not created');
  return {
    callUuid: call.uuid,
    sent,
    call,
    get media() {
      return call.media as unknown as ListeningLeg;
    },
    press: async (keys) => {
      const media = call.media as unknown as ListeningLeg;
      for (const key of keys) media.events.dtmf(key);
      await settle();
    },
    hangsUp: async () => {
      ends(call.isAnswered ? 'bye' : 'cancel');
      await settle();
    },
  };
}

const party = (user: string, host: string, displayName = '') => ({
  uri: `sip:${user}@${host}`,
  user,
  host,
  displayName,
});

const throughCarrier = (from: string, to: string): Partial<InboundLeg> => ({
  from: party(from, '192.0.2.10'),
  to: party(to, HOST),
  dialled: to,
  requestUri: `sip:${to}@${HOST}`,
  endpointUsername: undefined,
  carrier: 'north',
});

/** Starts a PSTN call to a number of the account. */
export const calledFrom = (
  service: CallService,
  { from = FAR, to = DID }: { from?: string; to?: string } = {},
  over: Partial<InboundLeg> = {},
): Promise<Caller> => arrives(service, { ...throughCarrier(from, to), ...over });

/** Starts a PSTN call and returns the messages of a call that is refused before it exists. */
export async function refusedFrom(
  service: CallService,
  over: Partial<InboundLeg>,
): Promise<readonly string[]> {
  const { leg, sent } = inviteOf({ ...throughCarrier(FAR, DID), ...over });
  service.inbound.accept(leg);
  await settle();
  return sent;
}

/** Starts a PSTN call and cancels it after `turns` turns of the microtask queue, in any state. */
export async function calledBriefly(service: CallService, turns: number): Promise<void> {
  const { leg, sent, ends } = inviteOf(throughCarrier(FAR, DID));
  service.inbound.accept(leg);
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  ends(sent.includes('200') ? 'bye' : 'cancel');
  await settle();
}

/** Registers an endpoint of the account and returns its username. */
export async function registered(service: CallService, username = 'alice'): Promise<string> {
  const { accountId, appId, provisioning, signalling } = service;
  const wanted = { accountId, username, alias: username, password: 'password', appId };
  const created = await provisioning.endpoints.create(wanted);
  if (!created.ok) throw new Error(created.error.kind);
  signalling.registered.add(created.value.username);
  return created.value.username;
}

/** Starts a call by a registered endpoint. */
export const dialledBy = (
  service: CallService,
  username: string,
  to: string,
  over: Partial<InboundLeg> = {},
): Promise<Caller> =>
  arrives(service, {
    from: party(username, HOST, 'Alice'),
    to: party(to, HOST),
    dialled: to,
    requestUri: `sip:${to}@${HOST}`,
    endpointUsername: username,
    carrier: undefined,
    ...over,
  });

export interface Placed {
  readonly callUuid: CallUuid;
  readonly invite: Invite;
}

/** Places a call as POST …/Call/ does. Missing fields have the spec's defaults. */
export async function placed(
  service: CallService,
  over: Partial<PlaceCallsRequest> = {},
): Promise<string> {
  const accepted = await service.control.placeCalls({
    ...request({ authId: service.accountId }, [FAR]),
    fallback: { url: `${SITE}/fallback`, method: 'POST' },
    ...over,
  });
  if (!accepted.ok) throw new Error(`refused: ${accepted.error.kind}`);
  await settle();
  const [callUuid] = accepted.value.callUuids;
  if (callUuid === undefined) throw new Error('no call');
  return callUuid;
}

/** Places a call that the far end answers. */
export async function answered(
  service: CallService,
  over: Partial<PlaceCallsRequest> = {},
): Promise<Placed> {
  const callUuid = await placed(service, over);
  const invite = service.signalling.last;
  await invite.rings();
  await invite.answers();
  await settle();
  return { callUuid: asCallUuid(callUuid), invite };
}
