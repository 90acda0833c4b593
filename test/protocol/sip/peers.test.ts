/** Facts about peers: keys of their flows, whether they are known, and the bytes that they may receive. */
import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/protocol/sip/header/retry-after.ts';
import { createResponse } from '../../../src/protocol/sip/message.ts';
import { AnswerBudget } from '../../../src/protocol/sip/transport/answer-budget.ts';
import { type Flow, flowKey } from '../../../src/protocol/sip/transport/flow.ts';
import { KnownPeers } from '../../../src/protocol/sip/transport/known-peers.ts';
import { sketch, UDP } from './support.ts';

describe('the key of a flow', () => {
  const keys = (...flows: readonly Flow[]) => new Set(flows.map(flowKey)).size;

  it('differs by connection, or by address and port over UDP', () => {
    expect(keys(UDP, { ...UDP, remotePort: 5099 }, { ...UDP, remoteAddress: '192.0.2.99' })).toBe(
      3,
    );
    const tcp = { ...UDP, transport: 'tcp', connectionId: 1 } as const;
    expect(keys(tcp, { ...tcp, connectionId: 2 }, { ...tcp, remotePort: 9 })).toBe(2);
  });

  it('differs by peer behind one connection of an edge proxy', () => {
    const edge = { ...UDP, transport: 'tcp', connectionId: 1 } as const;
    const behind = { transport: 'wss', address: '198.51.100.1', port: 1000 } as const;
    expect(keys({ ...edge, behind }, { ...edge, behind: { ...behind, port: 1001 } }, edge)).toBe(3);
    expect(keys({ ...edge, behind }, { ...edge, connectionId: 2, behind })).toBe(1);
  });
});

it('knows a peer for a little longer than its longest registration', () => {
  const peers = new KnownPeers();
  peers.met(UDP, 1000);
  expect(peers.knows(UDP, 1000 + 7_200_000)).toBe(true);
  expect(peers.knows(UDP, 1000 + 7_500_000)).toBe(false);
  expect(peers.knows({ ...UDP, remotePort: 1 }, 1000)).toBe(false);
});

describe('the bytes for an unknown peer', () => {
  it('are one and a half times those that it sent', () => {
    expect(new AnswerBudget().allowance('a', 300)).toBe(450);
  });

  it('grow with unanswered requests up to a limit, until an answer is sent', () => {
    const budget = new AnswerBudget();
    budget.unanswered('a', 300);
    expect([budget.allowance('a', 300), budget.allowance('b', 300)]).toEqual([900, 450]);
    for (let n = 0; n < 100; n += 1) budget.unanswered('a', 300);
    expect(budget.allowance('a', 0)).toBe(3000);
    budget.answered('a');
    expect(budget.allowance('a', 300)).toBe(450);
  });
});

it('reads Retry-After of a 503 only', () => {
  const wait = (status: number) =>
    retryAfterMs(createResponse(sketch(), status, { headers: [['Retry-After', '7 (busy)']] }));
  expect([wait(503), wait(486), wait(480)]).toEqual([7000, undefined, undefined]);
});
