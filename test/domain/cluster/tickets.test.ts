/** Calls between nodes: a ticket is valid for one call within 5 s. */
import { expect, it } from 'vitest';
import { systemRandom } from '../../../src/base/system-random.ts';
import { NodeTickets } from '../../../src/domain/cluster/cluster.ts';
import { SimClock } from '../../sim/clock.ts';

const HOST = '192.0.2.7';

function issued() {
  const clock = new SimClock();
  const tickets = new NodeTickets(clock, systemRandom);
  const seen: unknown[] = [];
  const ticket = tickets.issue<string>(HOST, {
    take: (leg) => seen.push(leg),
    lapsed: () => seen.push('lapsed'),
  });
  return { clock, tickets, ticket, seen };
}

it('accepts a ticket once and expects its address while it is open', async () => {
  const { tickets, ticket, seen, clock } = issued();
  expect(tickets.expects(HOST)).toBe(true);
  expect(tickets.expects('192.0.2.8')).toBe(false);
  expect(tickets.passwordOf(ticket.username)).toBe(ticket.password);
  expect(tickets.redeem(undefined, 'nobody')).toBe(false);
  expect(tickets.redeem('node.other', 'stranger')).toBe(false);
  expect(tickets.redeem(ticket.username, 'leg')).toBe(true);
  expect(tickets.redeem(ticket.username, 'again')).toBe(false);
  expect(tickets.passwordOf(ticket.username)).toBeUndefined();
  expect(tickets.expects(HOST)).toBe(false);
  await clock.advance(10_000);
  expect(seen).toEqual(['leg']);
});

it('expires an unused ticket', async () => {
  const { tickets, ticket, seen, clock } = issued();
  await clock.advance(5000);
  expect(seen).toEqual(['lapsed']);
  expect(tickets.redeem(ticket.username, 'late')).toBe(false);
  expect(tickets.expects(HOST)).toBe(false);
});
