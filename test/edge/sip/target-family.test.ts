/** The address family of an outbound target, for the address in our offer. */
import { describe, expect, it } from 'vitest';
import type { OutboundTarget } from '../../../src/domain/call/needs.ts';
import { familyOfTarget } from '../../../src/edge/sip/target-family.ts';
import type { TargetQuery } from '../../../src/protocol/sip/sip.ts';
import { carrier } from './rig.ts';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'six.example': ['2001:db8::9'],
  'both.example': ['192.0.2.9', '2001:db8::9'],
  'four.example': ['192.0.2.9'],
};

async function familyOf(target: Partial<OutboundTarget>, host = '', isDual = true) {
  const queries: TargetQuery[] = [];
  const family = await familyOfTarget(target as OutboundTarget, {
    contacts: (username) =>
      (ADDRESSES[`${username}.example`] ?? []).map((address) => ({
        flow: { transport: 'udp', address, port: 5060, connectionId: undefined },
      })),
    carriers: () => [carrier({ name: 'north', host, port: undefined, transport: 'tls' })],
    resolve: !isDual
      ? undefined
      : async (query) => {
          queries.push(query);
          const found = ADDRESSES[query.host] ?? [];
          return found.map((address) => ({ transport: 'udp', address, port: 5060 }) as const);
        },
  });
  return { family, queries };
}

describe('the family of a target', () => {
  it.each([
    ['six', 'IP6'],
    ['both', 'IP4'],
    ['four', 'IP4'],
    ['nobody', 'IP4'],
  ])('is IPv6 only if all contacts have it: %s', async (username, family) => {
    expect((await familyOf({ kind: 'endpoint', username })).family).toBe(family);
  });

  it.each([
    ['six.example', 'IP6'],
    ['both.example', 'IP4'],
    ['four.example', 'IP4'],
    ['unknown.example', undefined],
    ['2001:db8::9', 'IP6'],
    ['192.0.2.9', 'IP4'],
    ['::ffff:192.0.2.9', 'IP4'],
  ])('is that of all addresses of a carrier: %s', async (host, family) => {
    const target = { kind: 'carrier', carrier: 'north', number: '1' } as const;
    expect((await familyOf(target, host)).family).toBe(family);
  });

  it('is that of a URI, queried as the INVITE queries it', async () => {
    const uri = 'sips:bob@six.example';
    const { family, queries } = await familyOf({ kind: 'uri', uri });
    expect(family).toBe('IP6');
    expect(queries).toEqual([
      { host: 'six.example', port: undefined, transport: 'tls', secure: true },
    ]);
    expect((await familyOf({ kind: 'uri', uri: 'sip:bob@[2001:DB8::9]' })).family).toBe('IP6');
  });

  it('of a host name is not queried if all peers use one family', async () => {
    const target = { kind: 'uri', uri: 'sip:bob@six.example' } as const;
    expect((await familyOf(target, '', false)).family).toBeUndefined();
  });
});
