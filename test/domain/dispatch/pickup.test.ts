/**
 * INVITE with Replaces (RFC 3891): a phone picks up a call ringing at another phone of its account, or takes over a
 * call.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Caller, calledFrom, dialledBy, registered } from '../../spec/calls/phone.ts';
import { type CallService, DID, NOTHING_LEFT, openCallService } from '../../spec/calls/service.ts';
import { document } from '../../spec/calls/site.ts';

let service: CallService;
let alice: string;
let caller: Caller;
/** Bob's phone, which is called. */
let bob: CallService['signalling']['last'];

beforeEach(async () => {
  service = await openCallService();
  alice = await registered(service, 'alice');
  const name = await registered(service, 'bob');
  service.site.on(
    '/answer',
    document(`<Dial callerId="${DID}"><User>sip:${name}@sip.test</User></Dial>`),
  );
  caller = await calledFrom(service);
  bob = service.signalling.last;
});
afterEach(() => service.close());

async function nothingIsLeft(): Promise<void> {
  for (const call of service.live()) call.hangup('normal', 'API Request');
  await service.clock.advance(10_000);
  expect(await service.leftovers()).toEqual(NOTHING_LEFT);
}

describe('a call with Replaces', () => {
  it('picks up a ringing call: the ringing leg ends as answered elsewhere, both parties are connected', async () => {
    await bob.rings();
    const picker = await dialledBy(service, alice, 'pickup', { replaces: bob.id });
    expect(picker.sent).toEqual(['200']);
    expect(bob.hungUpWith).toBe('lostRace');
    expect(caller.call.isAnswered).toBe(true);
    expect(caller.call.bridgeUuid).toBe(picker.callUuid);
    await picker.hangsUp();
    expect(caller.sent).toContain('200');
    expect(await service.cdr(picker.callUuid)).toMatchObject({ context: 'sip-endpoint' });
    await nothingIsLeft();
  });

  it('takes over from the called party', async () => {
    await bob.answers();
    const next = await dialledBy(service, alice, 'takeover', { replaces: bob.id });
    expect(bob.hungUpWith).toBe('normal');
    expect(caller.call.isEnded).toBe(false);
    expect(caller.call.bridgeUuid).toBe(next.callUuid);
    await nothingIsLeft();
  });

  it('takes over from the caller, whose leg ends', async () => {
    await bob.answers();
    const next = await dialledBy(service, alice, 'takeover', { replaces: caller.call.legId });
    expect(caller.sent).toContain('hangup normal');
    expect(bob.hungUpWith).toBeUndefined();
    expect(next.call.isEnded).toBe(false);
    await next.hangsUp();
    expect(bob.hungUpWith).toBe('normal');
    await nothingIsLeft();
  });

  it('is declined without side effects for a leg that has ended or is in no Dial', async () => {
    await bob.rings();
    const other = await dialledBy(service, alice, 'x', { replaces: 'nobody' });
    expect(other.sent).toEqual(['hangup rejected']);
    expect(bob.hungUpWith).toBeUndefined();
    expect(caller.call.isEnded).toBe(false);
    await nothingIsLeft();
  });

  it('from a carrier is refused', async () => {
    await bob.rings();
    const sent: string[] = [];
    const refused = calledFrom(
      service,
      {},
      { replaces: bob.id, hangup: (cause: string) => sent.push(cause) },
    );
    await expect(refused).rejects.toThrow();
    expect(sent).toEqual(['forbidden']);
    expect(bob.hungUpWith).toBeUndefined();
    await nothingIsLeft();
  });
});
