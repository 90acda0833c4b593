import { describe, expect, test } from 'vitest';
import { createResponse, type SipRequest } from '../../../src/protocol/sip/message.ts';
import { serialize } from '../../../src/protocol/sip/serialize.ts';
import { DeadlineQueue } from '../../../src/protocol/sip/transaction/deadline-queue.ts';
import {
  TransactionLayer,
  type TransactionLayerOptions,
} from '../../../src/protocol/sip/transaction/layer.ts';
import { requestQuoted } from '../../../src/protocol/sip/transaction/quoted.ts';
import type { TransactionOutput } from '../../../src/protocol/sip/transaction/types.ts';
import {
  momentsOf,
  parsed,
  type RequestSketch,
  run,
  sketch,
  TCP,
  UDP,
  wire,
  words,
} from './support.ts';

describe('a request is identified by its beginning', () => {
  test.each([
    [
      'INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP h:5060;branch=z9hG4bKx;rport\r\n',
      'INVITE z9hG4bKx',
    ],
    ['BYE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nTo', 'BYE z9hG4bKx'],
    ['BYE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4', undefined],
    ['SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx;rport\r\n', undefined],
    ['INVITE s', undefined],
  ])('%j: %s', (start, expected) => {
    const found = requestQuoted(start);
    expect(found && `${found.method} ${found.branch}`).toBe(expected);
  });
});

function setUp(options: Partial<TransactionLayerOptions> = {}) {
  let tokens = 0;
  const layer = new TransactionLayer({
    newToken: () => {
      tokens += 1;
      return `token${tokens}`;
    },
    ...options,
  });
  const receive = (message: Parameters<typeof serialize>[0], nowMs = 0, flow = UDP) =>
    layer.receive(serialize(message), flow, nowMs);
  const arrive = (parts: RequestSketch, nowMs = 0) => receive(sketch(parts), nowMs);
  return { layer, receive, arrive };
}

const answer = (request: SipRequest, status: number) =>
  createResponse(request, status, { toTag: 'b1' });

/** Transaction of the request that `outputs` pass up. */
function transactionIn(outputs: readonly TransactionOutput[]): number {
  for (const output of outputs) {
    if (output.kind === 'request' || output.kind === 'cancel') return output.transaction;
  }
  throw new Error('no request was passed up');
}

function sentIn(outputs: readonly TransactionOutput[]) {
  const output = outputs.find(({ kind }) => kind === 'send');
  if (output?.kind !== 'send') throw new Error('nothing was sent');
  return { ...output, message: parsed(output.bytes) };
}

describe('matching of server transactions (RFC 3261 §17.2.3)', () => {
  test('a new INVITE gets 100 and is passed up once; its retransmission is absorbed', () => {
    const { arrive } = setUp();
    expect(words(arrive({}))).toEqual(['send:100', 'request:INVITE']);
    expect(words(arrive({}))).toEqual(['send:100']);
  });

  test('the same branch from another sent-by is another transaction', () => {
    const { arrive } = setUp();
    arrive({ callId: 'x' });
    const outputs = arrive({ callId: 'y', via: 'SIP/2.0/UDP 192.0.2.8:5060;branch=z9hG4bKone' });
    expect(words(outputs)).toContain('request:INVITE');
  });

  test('sent-by matches with and without the default port', () => {
    const { arrive } = setUp();
    arrive({});
    expect(words(arrive({ via: 'SIP/2.0/UDP 192.0.2.7;branch=z9hG4bKone' }))).toEqual(['send:100']);
  });

  test('an ACK to a failure matches its INVITE by branch and is absorbed', () => {
    const { layer, arrive } = setUp();
    layer.respond(transactionIn(arrive({})), answer(sketch(), 486), 0);
    expect(arrive({ method: 'ACK', toTag: 'b1' })).toEqual([]);
    expect(momentsOf(run(layer, 100_000), 'send:486')).toEqual([]);
  });

  test('§13.3.1.4: an ACK to a 2xx has a new branch and is passed up', () => {
    const { layer, arrive } = setUp();
    layer.respond(transactionIn(arrive({})), answer(sketch(), 200), 0);
    expect(words(arrive({ method: 'ACK', toTag: 'b1', branch: 'z9hG4bKtwo' }))).toEqual(['ack']);
  });

  test('§17.2.3: without the magic cookie the rules of RFC 2543 match retransmission, ACK and CANCEL', () => {
    const { layer, arrive } = setUp();
    const via = 'SIP/2.0/UDP 192.0.2.7;branch=old';
    const invite = transactionIn(arrive({ via }));
    expect(words(arrive({ via }))).toEqual(['send:100']);
    expect(arrive({ via, method: 'CANCEL' })[0]).toMatchObject({ kind: 'cancel', invite });
    layer.respond(invite, answer(sketch({ via }), 486), 0);
    expect(words(arrive({ via, method: 'ACK', toTag: 'foreign' }))).toEqual(['ack']);
    expect(arrive({ via, method: 'ACK', toTag: 'b1' })).toEqual([]);
  });

  test('RFC 4475 §3.2.1: a branch with only the cookie identifies no transaction', () => {
    const { arrive } = setUp();
    const via = 'SIP/2.0/UDP 192.0.2.7;branch=z9hG4bK';
    arrive({ via, method: 'OPTIONS', callId: 'x' });
    expect(words(arrive({ via, method: 'OPTIONS', callId: 'y' }))).toContain('request:OPTIONS');
  });
});

describe('received CANCEL (§9.2)', () => {
  test('has a separate transaction and names the INVITE that it cancels', () => {
    const { layer, arrive } = setUp();
    const invite = transactionIn(arrive({}));
    const outputs = arrive({ method: 'CANCEL' });
    expect(outputs[0]).toMatchObject({ kind: 'cancel', invite });
    const cancel = transactionIn(outputs);
    expect(cancel).not.toBe(invite);
    const ok = createResponse(sketch({ method: 'CANCEL' }), 200);
    expect(words(layer.respond(cancel, ok, 1))).toEqual(['send:200']);
    expect(words(arrive({ method: 'CANCEL' }, 2))).toEqual(['send:200']);
    expect(words(layer.respond(invite, answer(sketch(), 487), 3))).toEqual(['send:487']);
  });

  test('without an INVITE is answered 481, and no state is kept', () => {
    const { arrive, layer } = setUp();
    expect(words(arrive({ method: 'CANCEL' }))).toEqual(['send:481']);
    expect(layer.serverCount).toBe(0);
  });
});

describe('merged requests (§8.2.2.2)', () => {
  test('the same request by another path MUST get 482, and its ACK is absorbed', () => {
    const { arrive } = setUp();
    arrive({});
    const merged = arrive({ branch: 'z9hG4bKother' });
    expect(words(merged)).toEqual(['send:100', 'send:482']);
    expect(arrive({ method: 'ACK', branch: 'z9hG4bKother', toTag: 'any' })).toEqual([]);
  });

  test('merges again after a merged copy has ended', () => {
    const { layer, arrive } = setUp();
    arrive({});
    arrive({ branch: 'z9hG4bKother' });
    arrive({ method: 'ACK', branch: 'z9hG4bKother', toTag: 'any' }, 10);
    run(layer, 20_000);
    expect(layer.serverCount).toBe(1);
    expect(words(arrive({ branch: 'z9hG4bKthird' }, 20_000))).toContain('send:482');
  });

  test('accepts the same request again once its transaction has ended', () => {
    const { layer, arrive } = setUp();
    const request = sketch({ method: 'OPTIONS' });
    layer.respond(transactionIn(arrive({ method: 'OPTIONS' })), answer(request, 200), 0);
    expect(words(arrive({ method: 'OPTIONS', branch: 'z9hG4bKother' }, 10))).toContain('send:482');
    run(layer, 70_000);
    expect(layer.serverCount).toBe(0);
    expect(words(arrive({ method: 'OPTIONS', branch: 'z9hG4bKthird' }, 70_000))).toEqual([
      'request:OPTIONS',
    ]);
  });

  test('does not merge requests of different senders, CSeq or methods', () => {
    const { arrive } = setUp();
    arrive({ method: 'OPTIONS' });
    const others = [{ fromTag: 'a2' }, { cseq: 2 }, { callId: 'call-2' }, { method: 'MESSAGE' }];
    for (const [index, other] of others.entries()) {
      const sent = { method: 'OPTIONS', branch: `z9hG4bKother${index}`, ...other };
      expect(words(arrive(sent))).toEqual([`request:${sent.method}`]);
    }
  });

  test('does not merge a request inside a dialog', () => {
    const { arrive } = setUp();
    arrive({ toTag: 'b1' });
    expect(words(arrive({ toTag: 'b1', branch: 'z9hG4bKother' }))).toContain('request:INVITE');
  });

  test('accepts an INVITE again after its refusal, as a proxy that tries its next target sends it', () => {
    const { layer, arrive } = setUp();
    layer.respond(transactionIn(arrive({})), answer(sketch({}), 486), 0);
    expect(words(arrive({ branch: 'z9hG4bKnext' }))).toEqual(['send:100', 'request:INVITE']);
    expect(words(arrive({ branch: 'z9hG4bKother' }))).toEqual(['send:100', 'send:482']);
  });

  test.each([401, 407])(
    'accepts a request again after %d with the same CSeq, as some clients send it',
    (status) => {
      const { layer, arrive } = setUp();
      const first = transactionIn(arrive({ method: 'REGISTER' }));
      layer.respond(first, answer(sketch({ method: 'REGISTER' }), status), 0);
      const again = arrive({ method: 'REGISTER', branch: 'z9hG4bKother' });
      expect(words(again)).toEqual(['request:REGISTER']);
    },
  );
});

describe('client transactions', () => {
  test('§17.1.3: matches a response by branch and CSeq method, even if NAT changed sent-by', () => {
    const { layer, receive } = setUp();
    const { transaction, outputs } = layer.request(sketch(), UDP, 0);
    expect(words(outputs)).toEqual(['send:INVITE']);
    const response = answer(sketch({ via: 'SIP/2.0/UDP 10.9.9.9;branch=z9hG4bKone' }), 180);
    expect(receive(response)[0]).toMatchObject({ kind: 'response', transaction });
    const other = answer(sketch({ method: 'OPTIONS' }), 200);
    expect(words(receive(other))).toEqual(['strayResponse:200']);
    const twice = response.withAddedHeader('Via', 'SIP/2.0/UDP 192.0.2.7;branch=z9hG4bKtwo');
    expect(words(receive(twice))).toEqual(['discarded']);
  });

  test('§9.1: CANCEL waits for the first provisional response', () => {
    const { layer, receive } = setUp();
    const { transaction } = layer.request(sketch({ extra: [['Route', '<sip:p;lr>']] }), UDP, 0);
    const reason: [string, string] = ['Reason', 'SIP;cause=200;text="Call completed elsewhere"'];
    expect(layer.cancel(transaction, [reason], 10)).toEqual([]);
    const outputs = receive(answer(sketch(), 180), 20);
    expect(words(outputs)).toEqual(['response:180', 'send:CANCEL']);
    const cancel = sentIn(outputs).message;
    expect(cancel.via.branch).toBe('z9hG4bKone');
    expect(cancel.cseq).toEqual({ sequence: 1, method: 'CANCEL' });
    expect([cancel.header('reason'), cancel.header('route')]).toEqual([reason[1], '<sip:p;lr>']);
    expect(cancel.to.tag).toBeUndefined();
  });

  test('§9.1: sends no CANCEL after a final response', () => {
    const { layer, receive } = setUp();
    const { transaction } = layer.request(sketch(), UDP, 0);
    layer.cancel(transaction, [], 10);
    expect(words(receive(answer(sketch(), 200), 20))).toEqual(['response:200']);
    expect(layer.cancel(transaction, [], 30)).toEqual([]);
  });

  test('§9.1: retransmits CANCEL, and an unanswered INVITE ends in timeout', () => {
    const { layer, receive } = setUp();
    const { transaction } = layer.request(sketch(), UDP, 0);
    receive(answer(sketch(), 180), 100);
    expect(words(layer.cancel(transaction, [], 1_000))).toEqual(['send:CANCEL']);
    const log = run(layer, 100_000);
    expect(momentsOf(log, 'send:CANCEL')[0]).toBe(1_500);
    expect(momentsOf(log, 'timeout')).toEqual([33_000, 33_000]);
    expect(layer.clientCount).toBe(0);
  });

  test('a lost connection fails only the requests sent over it', () => {
    const { layer } = setUp();
    const { transaction } = layer.request(sketch({ branch: 'z9hG4bKtcp' }), TCP, 0);
    layer.request(sketch(), UDP, 0);
    expect(layer.connectionLost(9, 5)).toEqual([
      { kind: 'transportError', transaction },
      { kind: 'terminated', transaction },
    ]);
    expect(layer.clientCount).toBe(1);
  });

  test('reports a send failure to its transaction', () => {
    const { layer } = setUp();
    const { transaction } = layer.request(sketch(), UDP, 0);
    expect(words(layer.transportFailed(transaction, 1))).toEqual(['transportError', 'terminated']);
    expect(layer.transportFailed(transaction, 2)).toEqual([]);
  });
});

describe('faults are answered without a transaction', () => {
  const malformed = (extra: string) =>
    wire([
      'INVITE sip:bob@example.com SIP/2.0',
      'Via: SIP/2.0/UDP 10.0.0.1;rport;branch=z9hG4bKbad',
      'From: <sip:alice@example.com>;tag=a1',
      'To: <sip:bob@example.com>',
      'Call-ID: bad',
      extra,
    ]);

  test('sends 400 to the source, with received, rport and the same To tag for a retransmission', () => {
    const { layer } = setUp({ server: 'Carillon' });
    const first = sentIn(layer.receive(malformed('CSeq: x INVITE'), UDP, 0));
    const second = sentIn(layer.receive(malformed('CSeq: x INVITE'), UDP, 500));
    expect(first.message.kind === 'response' && first.message.status).toBe(400);
    expect(first.message.kind === 'response' && first.message.reason).toBe('Malformed CSeq');
    expect(first.message.via.params.get('received')).toBe('192.0.2.7');
    expect(first.message.via.params.get('rport')).toBe('5060');
    expect(first.message.header('server')).toBe('Carillon');
    expect(first.message.to.tag).toBeDefined();
    expect(second.message.to.tag).toBe(first.message.to.tag);
    expect(layer.serverCount).toBe(0);
  });

  test('drops a faulty ACK or response', () => {
    const { layer } = setUp();
    const ack = Buffer.from(malformed('CSeq: x ACK').toString().replace('INVITE sip', 'ACK sip'));
    expect(words(layer.receive(ack, UDP, 0))).toEqual(['discarded']);
    expect(words(layer.receive(wire(['SIP/2.0 999 No']), UDP, 0))).toEqual(['discarded']);
    const unsigned = wire(['SIP/2.0 200 OK', 'Via: SIP/2.0/UDP h;branch=z9hG4bKx']);
    expect(words(layer.receive(unsigned, UDP, 0))).toEqual(['discarded']);
  });

  test('drops random bytes', () => {
    expect(words(setUp().layer.receive(Buffer.from('hello?'), UDP, 0))).toEqual(['discarded']);
  });

  test.each(['', '\0', '\r\n', '\r\n\r\n', '\0\0\0\0'])(
    'RFC 5626: the keep-alive %j is not a fault',
    (text) => {
      expect(setUp().layer.receive(Buffer.from(text), UDP, 0)).toEqual([]);
    },
  );

  test('above the transaction limit new requests get 503 with Retry-After, active ones continue', () => {
    const { arrive, layer } = setUp({ maxServerTransactions: 1 });
    arrive({});
    const refused = sentIn(arrive({ branch: 'z9hG4bKtwo', callId: 'other' }));
    expect(refused.message.kind === 'response' && refused.message.status).toBe(503);
    expect(refused.message.header('retry-after')).toBe('5');
    expect(words(arrive({}))).toEqual(['send:100']);
    expect(layer.serverCount).toBe(1);
  });

  test('at the limit evicts a transaction answered T2 ago, but no INVITE and none answered later', () => {
    const { arrive, layer } = setUp({ maxServerTransactions: 2 });
    const one = (n: number): RequestSketch => ({
      method: 'REGISTER',
      branch: `z9hG4bK${n}`,
      callId: `${n}`,
    });
    const serve = (parts: RequestSketch, nowMs: number): string => {
      const outputs = arrive(parts, nowMs);
      if (!words(outputs).some((word) => word.startsWith('request:'))) return 'refused';
      layer.respond(transactionIn(outputs), answer(sketch(parts), 200), nowMs);
      return 'served';
    };
    expect(serve({}, 0)).toBe('served');
    expect(serve(one(1), 0)).toBe('served');
    expect(serve(one(2), 3999)).toBe('refused');
    expect(serve(one(3), 4000)).toBe('served');
    expect(layer.serverCount).toBe(2);
    expect(words(arrive(one(3), 4001))).toEqual(['send:200']);
    expect(serve(one(1), 7999)).toBe('refused');
    run(layer, 1_000_000);
    expect(layer.serverCount).toBe(0);
  });
});

describe('destination of responses', () => {
  const from = { ...UDP, remotePort: 31_000 };

  test('is the source port by default, or sent-by if the policy says so', () => {
    const natted = setUp().receive(sketch(), 0, from);
    expect(sentIn(natted).flow.remotePort).toBe(31_000);
    const strict = setUp({ replyToSource: false }).receive(sketch(), 0, from);
    expect(sentIn(strict).flow.remotePort).toBe(5060);
  });

  test('passes up the request with the stamped Via', () => {
    const outputs = setUp().receive(
      sketch({ via: 'SIP/2.0/UDP a.b;rport;branch=z9hG4bKq' }),
      0,
      from,
    );
    const request = outputs.find((output) => output.kind === 'request');
    expect(request?.kind === 'request' && request.request.via.params.get('rport')).toBe('31000');
  });
});

describe('no state is left', () => {
  test('transactions answered within a tenth of a second end together, none too early', () => {
    const { layer, arrive } = setUp();
    const answered = [1, 40, 99.5];
    for (const atMs of answered) {
      const method = 'OPTIONS';
      const parts = { method, branch: `z9hG4bK${atMs}`, callId: `${atMs}` };
      const transaction = transactionIn(arrive(parts, atMs));
      layer.respond(transaction, answer(sketch(parts), 200), atMs);
    }
    expect(layer.deadlineMs()).toBe(32_100);
    expect(words(layer.expire(32_099))).toEqual([]);
    expect(words(layer.expire(32_100))).toEqual(answered.map(() => 'terminated'));
    expect(layer.deadlineMs()).toBeUndefined();
  });

  test('no transaction remains after all timers have fired', () => {
    const { layer, arrive, receive } = setUp();
    layer.respond(transactionIn(arrive({})), answer(sketch(), 200), 0);
    arrive({ method: 'CANCEL' });
    arrive({ method: 'OPTIONS', branch: 'z9hG4bKb', callId: 'b' });
    layer.request(sketch({ branch: 'z9hG4bKc' }), UDP, 0);
    layer.request(sketch({ branch: 'z9hG4bKd' }), TCP, 0);
    receive(answer(sketch({ branch: 'z9hG4bKd' }), 404), 10, TCP);
    run(layer, 1_000_000);
    expect([layer.clientCount, layer.serverCount, layer.deadlineMs()]).toEqual([0, 0, undefined]);
  });
});

describe('deadline queue', () => {
  test('returns items in the order of their latest deadlines', () => {
    const queue = new DeadlineQueue<{
      dueMs: number | undefined;
      queuedMs: number | undefined;
      deadlineMs(): number | undefined;
    }>();
    const items = [50, 10, 40, 20, 30].map((dueMs) => ({
      dueMs: dueMs as number | undefined,
      queuedMs: undefined,
      deadlineMs() {
        return this.dueMs;
      },
    }));
    for (const item of items) queue.update(item);
    const [a, b, c] = items;
    if (a === undefined || b === undefined || c === undefined) throw new Error('unreachable');
    a.dueMs = 5;
    b.dueMs = undefined;
    queue.update(a);
    queue.update(b);
    queue.remove(c);
    const order: (number | undefined)[] = [];
    for (;;) {
      const item = queue.takeDue(45);
      if (item === undefined) break;
      order.push(item.dueMs);
    }
    expect(order).toEqual([5, 20, 30]);
    expect(queue.deadlineMs()).toBeUndefined();
  });
});
