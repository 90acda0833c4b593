import { describe, expect, test } from 'vitest';
import { createResponse } from '../../../src/protocol/sip/message.ts';
import { InviteServer } from '../../../src/protocol/sip/transaction/invite-server.ts';
import { NonInviteServer } from '../../../src/protocol/sip/transaction/non-invite-server.ts';
import {
  RFC3261_TIMERS,
  timerEReachesT2,
} from '../../../src/protocol/sip/transaction/timer-values.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import { momentsOf, run, sketch, TCP, UDP, words } from './support.ts';

const FOREVER = 1_000_000;
const invite = sketch();
const options = sketch({ method: 'OPTIONS' });
const ack = sketch({ method: 'ACK' });
const answer = (request: typeof invite, status: number) =>
  createResponse(request, status, { toTag: 'b1' });

function inviteServer(flow: Flow = UDP) {
  const server = new InviteServer({ id: 1, request: invite, flow, timers: RFC3261_TIMERS });
  return { server, sent: words(server.start(0)) };
}

function optionsServer(flow: Flow = UDP) {
  const server = new NonInviteServer({ id: 1, request: options, flow, timers: RFC3261_TIMERS });
  return { server, sent: words(server.start(0)) };
}

describe('INVITE server transaction over time (RFC 3261 §17.2.1, RFC 6026)', () => {
  test('§17.2.1: 100 MUST be sent within 200 ms; it is sent immediately', () => {
    expect(inviteServer().sent).toEqual(['send:100']);
  });

  test('§17.2.1: answers a retransmitted INVITE with the latest provisional response', () => {
    const { server } = inviteServer();
    expect(words(server.retransmitted(500))).toEqual(['send:100']);
    server.respond(answer(invite, 180), 600);
    expect(words(server.retransmitted(1_500))).toEqual(['send:180']);
  });

  test('§17.2.1: repeats 300–699 over UDP after T1, doubling up to T2; without ACK timeout at 64*T1', () => {
    const { server } = inviteServer();
    expect(words(server.respond(answer(invite, 486), 0))).toEqual(['send:486']);
    const log = run(server, FOREVER);
    expect(momentsOf(log, 'send:486')).toEqual([
      500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ]);
    expect(momentsOf(log, 'timeout')).toEqual([32_000]);
  });

  test('§17.2.1: over a reliable transport does not repeat it, but awaits the ACK', () => {
    const { server } = inviteServer(TCP);
    server.respond(answer(invite, 486), 0);
    expect(run(server, FOREVER)).toEqual([
      { atMs: 32_000, word: 'timeout' },
      { atMs: 32_000, word: 'terminated' },
    ]);
  });

  test('§17.2.1: the ACK stops it and is not passed up; further ACKs are absorbed for T4', () => {
    const { server } = inviteServer();
    server.respond(answer(invite, 486), 0);
    expect(words(server.acknowledged(ack, 700))).toEqual([]);
    expect(words(server.acknowledged(ack, 800))).toEqual([]);
    expect(run(server, FOREVER)).toEqual([{ atMs: 5_700, word: 'terminated' }]);
  });

  test('RFC 6026 §7.1: absorbs the INVITE for 64*T1 after a 2xx, which the user repeats', () => {
    const { server } = inviteServer();
    expect(words(server.respond(answer(invite, 200), 0))).toEqual(['send:200']);
    expect(words(server.retransmitted(100))).toEqual([]);
    expect(words(server.respond(answer(invite, 200), 500))).toEqual(['send:200']);
    expect(words(server.acknowledged(ack, 600))).toEqual(['ack']);
    expect(run(server, FOREVER)).toEqual([{ atMs: 32_000, word: 'terminated' }]);
  });

  test('RFC 6026 §7.1: only reports a transport error', () => {
    const { server } = inviteServer();
    expect(words(server.transportFailed(1))).toEqual(['transportError']);
    expect(server.state).toBe('proceeding');
  });

  test('§17.2.1: ignores a second final response', () => {
    const { server } = inviteServer();
    server.respond(answer(invite, 486), 0);
    expect(words(server.respond(answer(invite, 200), 1))).toEqual([]);
    expect(words(server.retransmitted(2))).toEqual(['send:486']);
  });
});

describe('non-INVITE server transaction over time (RFC 3261 §17.2.2, RFC 4320)', () => {
  test('RFC 4320 §4.1: 100 MUST be sent, but only after Timer E has reached T2', () => {
    expect(timerEReachesT2(RFC3261_TIMERS)).toBe(3_500);
    const { server, sent } = optionsServer();
    expect(sent).toEqual([]);
    expect(momentsOf(run(server, 10_000), 'send:100')).toEqual([3_500]);
    expect(words(server.retransmitted(11_000))).toEqual(['send:100']);
  });

  test('RFC 4320 §4.1: sends no 100 if answered in time', () => {
    const { server } = optionsServer();
    expect(words(server.respond(answer(options, 200), 100))).toEqual(['send:200']);
    expect(run(server, FOREVER)).toEqual([{ atMs: 32_100, word: 'terminated' }]);
  });

  test('RFC 4320 §4.1: provisional responses of the user MUST NOT be sent', () => {
    const { server } = optionsServer();
    expect(server.respond(answer(options, 180), 10)).toEqual([]);
    expect(server.state).toBe('trying');
  });

  test('RFC 4320 §4.2: 408 MUST NOT be sent', () => {
    const { server } = optionsServer();
    expect(words(server.respond(answer(options, 408), 10))).toEqual(['terminated']);
  });

  test('§17.2.2: absorbs retransmissions while trying, then answers with the final response', () => {
    const { server } = optionsServer();
    expect(words(server.retransmitted(500))).toEqual([]);
    server.respond(answer(options, 404), 600);
    expect(words(server.retransmitted(1_500))).toEqual(['send:404']);
  });

  test('§17.2.2: over a reliable transport ends with its response (Timer J is 0)', () => {
    const { server } = optionsServer(TCP);
    server.respond(answer(options, 200), 100);
    expect(run(server, 100)).toEqual([{ atMs: 100, word: 'terminated' }]);
  });

  test('removes an unanswered request when its client has timed out', () => {
    const { server } = optionsServer();
    expect(run(server, FOREVER).at(-1)).toEqual({ atMs: 32_000, word: 'terminated' });
  });
});
