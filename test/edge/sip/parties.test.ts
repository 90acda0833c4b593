import { describe, expect, it } from 'vitest';
import { claimsOf, partyOf, userOf } from '../../../src/edge/sip/parties.ts';
import { createRequest } from '../../../src/protocol/sip/message.ts';
import { parseNameAddr, parseUri } from '../../../src/protocol/sip/sip.ts';

const claims = (headers: readonly (readonly [string, string])[]) =>
  claimsOf(createRequest({ method: 'INVITE', requestUri: 'sip:a@b', headers }));

describe('the dialled number', () => {
  it.each([
    ['tel:+1-415-555-0123', '+1-415-555-0123'],
    ['tel:+14155550123;phone-context=+1', '+14155550123'],
    ['sip:+1(415)555-0123;ext=5@b;user=phone', '+1(415)555-0123'],
    ['sip:%2B14155550123@b', '+14155550123'],
    ['sip:alice;day=tuesday@b', 'alice;day=tuesday'],
  ])('%s is %s', (text, user) => {
    const uri = parseUri(text);
    expect(uri && userOf(uri)).toBe(user);
  });
});

describe('caller identity in an INVITE', () => {
  const user = (text: string) => {
    const address = parseNameAddr(text);
    return address && partyOf(address);
  };

  it('reads two asserted identities, a preferred identity and privacy', () => {
    const found = claims([
      ['P-Asserted-Identity', '"Ada, L." <sip:+1415@far.test>, <tel:+1415>'],
      ['P-Asserted-Identity', '<sip:third@far.test>'],
      ['P-Preferred-Identity', '<sip:me@far.test>'],
      ['Privacy', 'ID;critical'],
    ]);
    expect(found).toEqual({
      asserted: [user('"Ada, L." <sip:+1415@far.test>'), user('<tel:+1415>')],
      preferred: user('<sip:me@far.test>'),
      remoteParty: undefined,
      privacy: ['id', 'critical'],
    });
  });

  it.each([
    ['"A" <sip:1@x>;party=calling;screen=yes;privacy=full', true],
    ['<sip:1@x>;privacy="off"', false],
    ['<sip:2@x>;party=called, <sip:1@x>;party=calling;privacy=uri', true],
  ])('Remote-Party-ID %s', (text, hides) => {
    const found = claims([['Remote-Party-ID', text]])?.remoteParty;
    expect(found).toMatchObject({ party: { user: '1' }, hides });
  });

  it('returns undefined for missing and malformed headers', () => {
    expect(claims([])).toBeUndefined();
    expect(claims([['P-Asserted-Identity', 'nonsense<']])).toBeUndefined();
  });
});
