import { describe, expect, test } from 'vitest';
import { createResponse } from '../../../src/protocol/sip/message.ts';
import { InviteClient } from '../../../src/protocol/sip/transaction/invite-client.ts';
import { NonInviteClient } from '../../../src/protocol/sip/transaction/non-invite-client.ts';
import { RFC3261_TIMERS } from '../../../src/protocol/sip/transaction/timer-values.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import { momentsOf, run, sketch, TCP, UDP, words } from './support.ts';

const FOREVER = 1_000_000;
const invite = sketch({
  via: 'SIP/2.0/UDP 192.0.2.7:5060;branch=z9hG4bKone, SIP/2.0/UDP 192.0.2.99',
  extra: [
    ['Route', '<sip:p1;lr>'],
    ['Route', '<sip:p2;lr>'],
    ['Authorization', 'Digest username="alice"'],
  ],
});
const options = sketch({ method: 'OPTIONS' });
const answer = (request: typeof invite, status: number) =>
  createResponse(request, status, { toTag: 'b1' });

function inviteClient(flow: Flow = UDP) {
  const client = new InviteClient({ id: 1, request: invite, flow, timers: RFC3261_TIMERS });
  return { client, sent: words(client.start(0)) };
}

function optionsClient(flow: Flow = UDP) {
  const client = new NonInviteClient({ id: 1, request: options, flow, timers: RFC3261_TIMERS });
  return { client, sent: words(client.start(0)) };
}

describe('INVITE client transaction over time (RFC 3261 §17.1.1, RFC 6026)', () => {
  test('§17.1.1.2: over UDP the request MUST be retransmitted after T1, doubling; timeout at 64*T1', () => {
    const { client, sent } = inviteClient();
    expect(sent).toEqual(['send:INVITE']);
    const log = run(client, FOREVER);
    expect(momentsOf(log, 'send:INVITE')).toEqual([500, 1_500, 3_500, 7_500, 15_500, 31_500]);
    expect(momentsOf(log, 'timeout')).toEqual([32_000]);
    expect(log.at(-1)).toEqual({ atMs: 32_000, word: 'terminated' });
  });

  test('§17.1.1.2: over a reliable transport it MUST NOT be retransmitted', () => {
    const log = run(inviteClient(TCP).client, FOREVER);
    expect(log.map(({ word }) => word)).toEqual(['timeout', 'terminated']);
  });

  test('§17.1.1.2: a provisional response stops retransmissions and the timeout, and is passed up', () => {
    const { client } = inviteClient();
    expect(words(client.receive(answer(invite, 180), 700))).toEqual(['response:180']);
    expect(run(client, FOREVER)).toEqual([]);
  });

  test('§17.1.1.2: 300–699 MUST be acknowledged each time, is passed up once and ends after 32 s', () => {
    const { client } = inviteClient();
    expect(words(client.receive(answer(invite, 486), 100))).toEqual(['send:ACK', 'response:486']);
    expect(words(client.receive(answer(invite, 486), 600))).toEqual(['send:ACK']);
    expect(run(client, FOREVER)).toEqual([{ atMs: 32_100, word: 'terminated' }]);
  });

  test('keeps the request after the final response only if its ACK needs it', () => {
    const [failed, accepted] = [inviteClient().client, inviteClient().client];
    failed.receive(answer(invite, 486), 100);
    accepted.receive(answer(invite, 200), 100);
    const { client: other } = optionsClient();
    other.receive(answer(options, 486), 100);
    expect(failed.request?.callId).toBe(invite.callId);
    expect([accepted.request, other.request]).toEqual([undefined, undefined]);
  });

  test('§17.1.1.3: the ACK has the Request-URI, top Via, From, Call-ID, CSeq number and Route of the INVITE and the To of the response', () => {
    const { client } = inviteClient();
    const [output] = client.receive(answer(invite, 486), 100);
    if (output?.kind !== 'send' || output.message.kind !== 'request') throw new Error('no ACK');
    const ack = output.message;
    expect(ack.requestUri).toBe(invite.requestUri);
    expect(ack.list('via')).toEqual(['SIP/2.0/UDP 192.0.2.7:5060;branch=z9hG4bKone']);
    expect([ack.header('from'), ack.callId]).toEqual([invite.header('from'), invite.callId]);
    expect(ack.to.tag).toBe('b1');
    expect(ack.cseq).toEqual({ sequence: 1, method: 'ACK' });
    expect(ack.headers('route')).toEqual(invite.headers('route'));
    expect(output.flow).toBe(UDP);
  });

  test('RFC 6026 §8.4: passes up every 2xx for 64*T1 (retransmissions and forks) without acknowledging it', () => {
    const { client } = inviteClient();
    expect(words(client.receive(answer(invite, 200), 100))).toEqual(['response:200']);
    expect(words(client.receive(answer(invite, 200), 20_000))).toEqual(['response:200']);
    expect(words(client.receive(answer(invite, 180), 20_001))).toEqual([]);
    expect(run(client, FOREVER)).toEqual([{ atMs: 32_100, word: 'terminated' }]);
  });

  test('§17.1.1.2: over a reliable transport a failed INVITE ends immediately (Timer D is 0)', () => {
    const { client } = inviteClient(TCP);
    client.receive(answer(invite, 404), 100);
    expect(run(client, 100)).toEqual([{ atMs: 100, word: 'terminated' }]);
  });

  test('§9.1: ends a cancelled INVITE 64*T1 later without final response', () => {
    const { client } = inviteClient();
    client.receive(answer(invite, 180), 1_000);
    client.cancelled(2_000);
    expect(momentsOf(run(client, FOREVER), 'timeout')).toEqual([34_000]);
  });

  test('§17.1.4: a transport error is reported and ends the transaction', () => {
    const { client } = inviteClient();
    expect(words(client.transportFailed(1))).toEqual(['transportError', 'terminated']);
    expect(client.deadlineMs()).toBeUndefined();
  });
});

describe('non-INVITE client transaction over time (RFC 3261 §17.1.2)', () => {
  test('§17.1.2.2: retransmitted after T1, doubling up to T2; timeout at 64*T1', () => {
    const log = run(optionsClient().client, FOREVER);
    expect(momentsOf(log, 'send:OPTIONS')).toEqual([
      500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ]);
    expect(momentsOf(log, 'timeout')).toEqual([32_000]);
  });

  test('§17.1.2.2: retransmits every T2 after a provisional response, with a timeout at 64*T1', () => {
    const { client } = optionsClient();
    expect(words(client.receive(answer(options, 100), 100))).toEqual(['response:100']);
    const log = run(client, FOREVER);
    expect(momentsOf(log, 'send:OPTIONS').slice(0, 3)).toEqual([500, 4_500, 8_500]);
    expect(momentsOf(log, 'timeout')).toEqual([32_000]);
  });

  test('§17.1.2.2: passes up the final response once and absorbs repetitions for T4', () => {
    const { client } = optionsClient();
    expect(words(client.receive(answer(options, 200), 100))).toEqual(['response:200']);
    expect(words(client.receive(answer(options, 200), 200))).toEqual([]);
    expect(run(client, FOREVER)).toEqual([{ atMs: 5_100, word: 'terminated' }]);
  });

  test('§17.1.2.2: over a reliable transport neither retransmits nor waits at the end (Timer K is 0)', () => {
    const { client } = optionsClient(TCP);
    expect(run(client, 31_999)).toEqual([]);
    client.receive(answer(options, 404), 31_999);
    expect(run(client, 31_999)).toEqual([{ atMs: 31_999, word: 'terminated' }]);
  });

  test('cancels only an INVITE', () => {
    expect(optionsClient().client.cancelled()).toEqual([]);
  });
});
