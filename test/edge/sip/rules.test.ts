import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { HANGUP_CAUSES, type HangupCauseKey } from '../../../src/domain/call/types.ts';
import { hangupReason, hangupStatus } from '../../../src/edge/sip/hangup-status.ts';
import { inviteCommand } from '../../../src/edge/sip/invite-command.ts';
import { MessageCounter } from '../../../src/edge/sip/message-counter.ts';
import { carrierAt, inRanges } from '../../../src/edge/sip/source-match.ts';
import type { Flow } from '../../../src/protocol/sip/sip.ts';
import { carrier } from './rig.ts';

describe('hangup causes in words of SIP', () => {
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

  it('a leg that lost the race learns that another one answered (RFC 3326 §3.1)', () => {
    expect(hangupReason('lostRace')).toBe('SIP;cause=200;text="Call completed elsewhere"');
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
  ])('%s in %j: %s', (address, ranges, expected) => {
    expect(inRanges(address, ranges)).toBe(expected);
  });

  it('a disabled carrier matches nothing', () => {
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

  it('to a carrier without a port leave SRV the choice, within its transport', () => {
    const command = inviteCommand(
      { kind: 'carrier', carrier: 'north', number: '49301' },
      options,
      context,
    );
    expect(command?.target).toEqual({
      kind: 'uri',
      uri: 'sip:49301@127.0.0.1;transport=tcp',
      transport: 'tcp',
    });
  });

  it('carry the identity to carriers and trunks, escaped, and not to phones (RFC 3325)', () => {
    const uri = inviteCommand({ kind: 'uri', uri: 'sip:a@b' }, options, context);
    expect(uri?.headers).toEqual([['P-Asserted-Identity', '<sip:+1%20555@sip.test>']]);
    const phone = inviteCommand({ kind: 'endpoint', username: 'a' }, options, context);
    expect(phone?.headers).toEqual([]);
  });

  it('redirected by a carrier of TLS go over TLS or not at all', () => {
    const tls = { ...context, carriers: [carrier({ transport: 'tls' })] };
    const at = (uri: string) =>
      inviteCommand({ kind: 'uri', uri, redirectedBy: 'north' }, options, tls)?.target;
    expect(at('sip:a@b')).toMatchObject({ transport: 'tls', guard: { carrier: 'north' } });
    expect(at('sip:a@b;transport=TLS')).toMatchObject({ transport: 'tls' });
    expect(at('sip:a@b;transport=udp')).toBeUndefined();
  });

  it('have no place to go at a disabled or unknown carrier', () => {
    const target = { kind: 'carrier', carrier: 'north', number: '1' } as const;
    const off = { ...context, carriers: [carrier({ enabled: false })] };
    expect(inviteCommand(target, options, off)).toBeUndefined();
  });
});

describe('counts of messages', () => {
  const flow: Flow = {
    ...{ transport: 'udp', localAddress: '127.0.0.1', localPort: 5060 },
    ...{ remoteAddress: '192.0.2.1', remotePort: 5060, connectionId: undefined },
  };

  it('have unknown peers under one name', () => {
    const counter = new MessageCounter();
    for (const line of ['FOO a SIP/2.0', 'BAR a SIP/2.0', 'SIP/2.0 200 OK', '', 'INVITE']) {
      counter.note('in', flow, Buffer.from(line));
    }
    expect(counter.rows().map(({ method, code, count }) => [method, code, count])).toEqual([
      ['other', '', 4],
      ['', '200', 1],
    ]);
  });

  it('are kept apart for each carrier', () => {
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
