/** Messages of scripted peers. */
import { asLegId } from '../../../src/base/ids.ts';
import {
  createResponse,
  type SipMessage,
  type SipRequest,
} from '../../../src/protocol/sip/message.ts';
import { serialize } from '../../../src/protocol/sip/serialize.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import type { InviteCommand } from '../../../src/protocol/sip/user-agent-types.ts';
import { OFFER, type Peer } from './world.ts';

export const SERVER = '192.0.2.1';
export const PEER = '192.0.2.9';

export interface RequestScript {
  readonly method: string;
  readonly uri?: string;
  readonly cseq?: number;
  readonly callId?: string;
  readonly branch?: string;
  readonly from?: string;
  readonly to?: string;
  readonly contact?: string | null;
  readonly maxForwards?: number;
  readonly headers?: readonly string[];
  readonly body?: string;
}

let branches = 0;

function lines(script: RequestScript): string[] {
  branches += 1;
  const {
    method,
    uri = `sip:100@${SERVER}`,
    cseq = 1,
    callId = 'script-1',
    branch = `z9hG4bKscript${branches}`,
    from = `<sip:alice@${SERVER}>;tag=peer`,
    to = `<${uri}>`,
    contact = `<sip:alice@${PEER}>`,
    maxForwards = 70,
    headers = [],
    body,
  } = script;
  const hasSdp = body?.startsWith('v=0') === true;
  const named = headers.some((line) => /^content-type:/i.test(line));
  return [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP ${PEER};branch=${branch}`,
    `Max-Forwards: ${maxForwards}`,
    `From: ${from}`,
    `To: ${to}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq} ${method}`,
    ...(contact === null ? [] : [`Contact: ${contact}`]),
    ...headers,
    ...(hasSdp && !named ? ['Content-Type: application/sdp'] : []),
  ];
}

export const say = (peer: Peer, script: RequestScript): void =>
  peer.send(SERVER, lines(script), script.body ?? '');

export const invite = (peer: Peer, script: Partial<RequestScript> = {}): void =>
  say(peer, { method: 'INVITE', body: OFFER, ...script });

/** Command to place a call to a peer. */
export const inviteCommand = (more: Partial<InviteCommand> = {}): InviteCommand => ({
  kind: 'invite',
  leg: asLegId(2),
  target: { kind: 'uri', uri: `sip:bob@${PEER}` },
  from: { user: '1555', host: SERVER, displayName: '' },
  callId: 'out-1',
  sdp: OFFER,
  headers: [],
  account: undefined,
  ...more,
});

export interface ReplyScript {
  readonly tag?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly contact?: string;
}

/** Bytes of a response of a scripted peer. */
export function reply(request: SipRequest, status: number, script: ReplyScript = {}): Uint8Array {
  const { tag = 'callee', headers = [], body, contact = `<sip:callee@${PEER}>` } = script;
  return serialize(
    createResponse(request, status, {
      toTag: tag,
      headers: [
        ['Contact', contact],
        ...headers,
        ...(body === undefined ? [] : ([['Content-Type', 'application/sdp']] as const)),
      ],
      ...(body === undefined ? {} : { body }),
    }),
  );
}

/** A peer that answers each request by a rule; undefined sends no response. */
export function answering(
  peer: Peer,
  rule: (request: SipRequest) => readonly Uint8Array[] | Uint8Array | undefined,
): void {
  peer.onMessage = (message: SipMessage, flow: Flow) => {
    if (message.kind !== 'request') return;
    const answers = rule(message);
    if (answers === undefined) return;
    for (const bytes of Array.isArray(answers) ? answers : [answers]) {
      peer.sendText(
        `${flow.remoteAddress}:${flow.remotePort}`,
        bytes as Uint8Array,
        flow.transport,
      );
    }
  };
}

/** A re-INVITE of the peer inside the dialog of our request. */
export const inviteFrom = (ours: SipRequest, script: { readonly cseq: number }): RequestScript => ({
  method: 'INVITE',
  uri: `sip:${SERVER}:5060`,
  callId: ours.callId,
  from: ours.header('to') ?? '',
  to: ours.header('from') ?? '',
  body: OFFER,
  ...script,
});
