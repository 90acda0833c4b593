/** Offers and early media of a peer before the call is answered (RFC 3311, RFC 3261 §13.2.2.4). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../src/base/result.ts';
import type { InboundLeg, LegEvents } from '../../../src/domain/call/needs.ts';
import { calledFrom } from '../../spec/calls/phone.ts';
import { type CallService, openCallService } from '../../spec/calls/service.ts';
import { document } from '../../spec/calls/site.ts';
import { SDP } from '../interpreter/scene.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

/** The caller's next description: it sends music and does not listen. */
const HELD = SDP.replace('- 1 1 IN', '- 1 2 IN').replace('a=sendrecv', 'a=sendonly');

describe('an UPDATE of a caller who hears early media', () => {
  it('stays in effect when the call is answered', async () => {
    service.site.on(
      '/answer',
      document('<PreAnswer><Wait length="2"/></PreAnswer><DTMF>1</DTMF><Wait length="9"/>'),
    );
    const attached: LegEvents[] = [];
    const answers: string[] = [];
    const over: Partial<InboundLeg> = {
      attach: (events) => void attached.push(events),
      answer: async (sdp) => {
        answers.push(sdp);
        return ok(undefined);
      },
    };
    const { call, sent } = await calledFrom(service, {}, over);
    expect(sent).toContain('183');
    const held = attached.at(-1)?.offered(HELD);
    expect(call.hold).toBe('sendonly');
    await service.clock.advance(3_000);
    expect(answers).toEqual([held]);
    expect(call.hold).toBe('sendonly');
    call.hangup('normal', 'API Request');
  });
});
