import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type { InviteOptions, OutboundTarget } from '../../../src/domain/call/needs.ts';
import { HANGUP_CAUSES, type HangupCauseKey } from '../../../src/domain/call/types.ts';
import {
  hangupReason,
  hangupStatus,
  hangupWarning,
  refusalStatus,
} from '../../../src/edge/sip/hangup-status.ts';
import { inviteCommand } from '../../../src/edge/sip/invite-command.ts';
import { MessageCounter } from '../../../src/edge/sip/message-counter.ts';
import { carrierAt, inRanges } from '../../../src/edge/sip/source-match.ts';
import type { Flow } from '../../../src/protocol/sip/sip.ts';
import { carrier } from './rig.ts';

describe('hangup causes as SIP statuses', () => {
  const keys = Object.keys(HANGUP_CAUSES) as HangupCauseKey[];

  it.each(keys)('%s has a final failure status and a well-formed Reason', (key) => {
    expect(hangupStatus(key)).toBeGreaterThanOrEqual(400);
    expect(hangupStatus(key)).toBeLessThan(700);
    expect(hangupReason(key)).toMatch(/^(Q\.850|SIP);cause=\d+;text="[^"]+"$/);
  });

  it.each([
    ['busy', 486],
    ['rejected', 603],
    ['endpointNotRegistered', 480],
    ['unallocated', 404],
    ['outOfCredits', 402],
    ['concurrencyBreached', 503],
    ['loopDetected', 482],
  ] as const)('%s is %i (dialect §3.12, Hangup)', (key, status) => {
    expect(hangupStatus(key)).toBe(status);
  });

  it.each([
    ['SIP 433 Anonymity Disallowed', 433],
    ['SIP 402', 402],
    ['SIP 415', 480],
    ['SIP 302', 480],
    ['SIP 4330', 603],
    [undefined, 603],
  ])('forwards the refusal %s, which has no hangup cause, as %i', (detail, status) => {
    expect(refusalStatus('rejected', detail)).toBe(status);
    expect(refusalStatus('busy', detail)).toBe(486);
  });

  it('names the reached limit in a Warning and reveals nothing about other refusals', () => {
    const text = "the account's limit of 50 calls per second is reached";
    expect(hangupWarning('concurrencyBreached', text)).toEqual({ code: 399, text });
    expect(hangupWarning('concurrencyBreached', undefined)).toBeUndefined();
    expect(hangupWarning('outOfCredits', 'the balance is too low')).toBeUndefined();
  });

  it('tells a parallel leg that another one answered (RFC 3326 §3.1)', () => {
    const elsewhere = 'SIP;cause=200;text="Call completed elsewhere"';
    expect(hangupReason('lostRace')).toBe(elsewhere);
    expect(hangupReason('canceled', 'SIP ;cause=200 ;text="taken"')).toBe(elsewhere);
    expect(hangupReason('canceled', 'Q.850;cause=16')).toMatch(/^Q\.850;cause=16;/);
    expect(hangupReason('busy', 'SIP;cause=200')).toMatch(/^Q\.850;cause=17;/);
  });
});

describe('source addresses of carriers', () => {
  it.each([
    ['192.0.2.7', ['192.0.2.7'], true],
    ['192.0.2.7', ['192.0.2.0/24'], true],
    ['192.0.3.7', ['192.0.2.0/24', '192.0.2.7'], false],
    ['2001:db8::7', ['2001:db8::/32'], true],
    ['2001:db8::7', ['192.0.2.0/24'], false],
    ['192.0.2.7', ['rubbish', '1.2.3.4/99'], false],
    ['rubbish', ['0.0.0.0/0'], false],
    ['192.0.2.7', ['::ffff:192.0.2.7'], true],
    ['::ffff:192.0.2.7', ['192.0.2.0/24'], true],
    ['192.0.2.7', ['::ffff:192.0.2.0/120'], true],
    ['192.0.3.7', ['::ffff:192.0.2.0/120'], false],
    ['192.0.2.7', ['::/0'], false],
    ['2001:db8::7', ['2001:DB8:0::7'], true],
    ['fe80::7%eth0', ['fe80::/10'], true],
  ])('%s in %j: %s', (address, ranges, expected) => {
    expect(inRanges(address, ranges)).toBe(expected);
  });

  it('does not match a disabled carrier', () => {
    expect(carrierAt('127.0.0.1', [carrier({ enabled: false })])).toBeUndefined();
    expect(carrierAt('127.0.0.1', [carrier({ enabled: false }), carrier({ name: 'b' })])).toBe('b');
  });
});

describe('outbound INVITEs', () => {
  const context = {
    leg: asLegId(2),
    callId: 'c',
    publicHost: 'sip.test',
    firstResponseMs: 4000,
    carriers: [carrier({ port: undefined, transport: 'tcp' })],
  };
  const options = { from: { user: '+1 555', displayName: '' }, sdp: '', headers: [] };

  it('to a carrier without a port let SRV choose within its transport', () => {
    const command = inviteCommand(
      { kind: 'carrier', carrier: 'north', number: '49301' },
      options,
      context,
    );
    expect(command?.target).toEqual({
      kind: 'uri',
      uri: 'sip:49301@127.0.0.1;transport=tcp',
      transport: 'tcp',
      largeOverTcp: true,
    });
  });

  it('contain the escaped identity for carriers and trunks, but not for phones (RFC 3325)', () => {
    const uri = inviteCommand({ kind: 'uri', uri: 'sip:a@b' }, options, context);
    expect(uri?.headers).toEqual([['P-Asserted-Identity', '<sip:+1%20555@sip.test>']]);
    const phone = inviteCommand({ kind: 'endpoint', username: 'a' }, options, context);
    expect(phone?.headers).toEqual([]);
  });

  describe('of an anonymous caller (RFC 3323, 3325)', () => {
    const hiding = {
      ...options,
      from: { user: '14155550100', displayName: 'Ada', hidden: true },
    };
    const sent = (target: Partial<OutboundTarget>, more: Partial<InviteOptions['from']> = {}) => {
      const from = { ...hiding.from, ...more };
      const whole = { kind: 'carrier', carrier: 'north', number: '1', ...target } as OutboundTarget;
      const command = inviteCommand(whole, { ...hiding, from }, context);
      return { from: command?.from, headers: command?.headers };
    };
    const ANONYMOUS = { user: 'anonymous', host: 'anonymous.invalid', displayName: 'Anonymous' };
    const PAI = ['P-Asserted-Identity', '<sip:14155550100@sip.test>'];

    it('reveal the caller to a carrier and request privacy', () => {
      expect(sent({})).toEqual({ from: ANONYMOUS, headers: [PAI, ['Privacy', 'id']] });
    });

    it('contain the asserted identity, not the displayed one', () => {
      const { headers } = sent({}, { user: 'anonymous', asserted: '14155550100' });
      expect(headers).toEqual([PAI, ['Privacy', 'id']]);
    });

    it('contain no identity for an anonymous caller without an asserted one', () => {
      const { headers } = sent({}, { user: 'anonymous' });
      expect(headers).toEqual([['Privacy', 'id']]);
    });

    it.each([
      ['a carrier that is not trusted', { policy: { identity: 'untrusted' } }],
      ['an address of a customer', { kind: 'uri', uri: 'sip:a@b' }],
      ['a phone', { kind: 'endpoint', username: 'a' }],
    ] as const)('hide the caller from %s', (_, target) => {
      expect(sent(target)).toEqual({ from: ANONYMOUS, headers: [['Privacy', 'id']] });
    });

    it('use the older header field if the peer reads that one', () => {
      const rpid = (privacy: string, name = '') => [
        'Remote-Party-ID',
        `${name}<sip:14155550100@sip.test>;party=calling;screen=yes;privacy=${privacy}`,
      ];
      const reads = (identityHeader: 'rpid' | 'both') => ({ policy: { identityHeader } });
      expect(sent(reads('rpid')).headers).toEqual([rpid('full'), ['Privacy', 'id']]);
      const shown = sent(reads('both'), { hidden: false }).headers;
      expect(shown).toEqual([PAI, rpid('off', '"Ada" ')]);
    });
  });

  it('redirected by a TLS carrier use TLS or fail', () => {
    const tls = { ...context, carriers: [carrier({ transport: 'tls' })] };
    const at = (uri: string) =>
      inviteCommand({ kind: 'uri', uri, redirectedBy: 'north' }, options, tls)?.target;
    expect(at('sip:a@b')).toMatchObject({ transport: 'tls', guard: { carrier: 'north' } });
    expect(at('sip:a@b;transport=TLS')).toMatchObject({ transport: 'tls' });
    expect(at('sip:a@b;transport=udp')).toBeUndefined();
  });

  it('have no target at a disabled or unknown carrier', () => {
    const target = { kind: 'carrier', carrier: 'north', number: '1' } as const;
    const off = { ...context, carriers: [carrier({ enabled: false })] };
    expect(inviteCommand(target, options, off)).toBeUndefined();
  });
});

describe('message counters', () => {
  const flow: Flow = {
    transport: 'udp',
    localAddress: '127.0.0.1',
    localPort: 5060,
    remoteAddress: '192.0.2.1',
    remotePort: 5060,
    connectionId: undefined,
  };

  it('count unknown peers under one name', () => {
    const counter = new MessageCounter();
    for (const line of ['FOO a SIP/2.0', 'BAR a SIP/2.0', 'SIP/2.0 200 OK', '', 'INVITE']) {
      counter.note('in', flow, Buffer.from(line));
    }
    expect(counter.rows().map(({ method, code, count }) => [method, code, count])).toEqual([
      ['other', '', 4],
      ['', '200', 1],
    ]);
  });

  it('are separate for each carrier', () => {
    const counter = new MessageCounter(({ remoteAddress }) =>
      remoteAddress === '192.0.2.1' ? 'north' : undefined,
    );
    const other = { ...flow, remoteAddress: '192.0.2.9' };
    for (const line of ['SIP/2.0 200 OK', 'BYE sip:a SIP/2.0', 'BYE sip:a SIP/2.0']) {
      counter.note('in', flow, Buffer.from(line));
      counter.note('out', other, Buffer.from(line));
    }
    expect(counter.carrierRows()).toEqual([
      { carrier: 'north', direction: 'in', method: '', code: '200', count: 1 },
      { carrier: 'north', direction: 'in', method: 'BYE', code: '', count: 2 },
    ]);
  });
});
