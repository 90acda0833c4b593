/** Calls refused before an account is known (decisions: refused calls). */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InboundLeg } from '../../src/domain/call/needs.ts';
import { refusedFrom } from './calls/phone.ts';
import { type CallService, openCallService } from './calls/service.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

const cases: ReadonlyArray<readonly [string, Partial<InboundLeg>, string]> = [
  ['a number without an account', { dialled: '14155559999' }, 'hangup unallocated'],
  ['an unknown endpoint', { endpointUsername: 'gone', carrier: undefined }, 'hangup forbidden'],
];

it.each(cases)('creates no record and no callback: %s', async (_, leg, sent) => {
  expect(await refusedFrom(service, leg)).toEqual([sent]);
  expect(await service.cdrs()).toEqual([]);
  expect([...service.site.reported('/answer'), ...service.site.reported('/hangup')]).toEqual([]);
});
