/** Caller identity: trust in carriers, caller IDs of phones, and privacy. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IdentityClaims, InboundLeg, Party } from '../../../src/domain/call/needs.ts';
import type { PeerPolicy } from '../../../src/domain/provisioning/types.ts';
import { calledFrom, dialledBy, registered } from '../../spec/calls/phone.ts';
import { type CallService, DID, HOST, openCallService } from '../../spec/calls/service.ts';
import { document, SITE } from '../../spec/calls/site.ts';

const OTHER = '14155550122';
const ASSERTED = '14155550177';

const party = (user: string, host = 'far.test', displayName = ''): Party => ({
  uri: `sip:${user}@${host}`,
  user,
  host,
  displayName,
});
const NOTHING: IdentityClaims = {
  asserted: [],
  preferred: undefined,
  remoteParty: undefined,
  privacy: [],
};
const says = (claims: Partial<IdentityClaims>, from?: Party): Partial<InboundLeg> => ({
  claims: { ...NOTHING, ...claims },
  ...(from === undefined ? {} : { from }),
});

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

const reported = () => service.site.reported('/answer')[0] ?? {};
const carriers = async (policy: PeerPolicy): Promise<void> => {
  const { provisioning } = service;
  const patched = await provisioning.carriers.patch('north', { policy });
  if (!patched.ok) throw new Error(patched.error.kind);
};

describe('a carrier', () => {
  it.each([
    ['P-Asserted-Identity', { asserted: [party('+14155550177', 'far.test', 'Ada')] }],
    ['its tel URI', { asserted: [party('ada'), { ...party('+1-415-555-0177'), host: '' }] }],
    ['Remote-Party-ID', { remoteParty: { party: party('14155550177'), hides: false } }],
  ])('is trusted in %s, regardless of From', async (_, claims) => {
    await calledFrom(service, {}, says(claims, party('anything')));
    expect(reported()).toMatchObject({ From: ASSERTED });
  });

  it('that asserts only a host identifies no caller: From counts', async () => {
    await calledFrom(service, {}, says({ asserted: [party('')] }));
    expect(reported()).toMatchObject({ From: '14155550199' });
  });

  it('that is untrusted has its asserted identity ignored', async () => {
    await carriers({ identity: 'untrusted' });
    await calledFrom(service, {}, says({ asserted: [party(ASSERTED)] }));
    expect(reported()).toMatchObject({ From: '14155550199' });
  });

  it.each([
    ['Privacy: id', says({ privacy: ['id'], asserted: [party(ASSERTED)] })],
    ['privacy=full', says({ remoteParty: { party: party(ASSERTED), hides: true } })],
    ['an anonymous From', says({ asserted: [party(ASSERTED)] }, party('x', 'anonymous.invalid'))],
  ])('hides its caller with %s from all later parties', async (_, leg) => {
    service.site.on('/answer', document('<Wait length="5"/>'));
    const { callUuid } = await calledFrom(service, {}, leg);
    expect(reported()).toMatchObject({ From: 'anonymous', CallerName: 'Anonymous' });
    expect(service.live().find(({ uuid }) => uuid === callUuid)?.facts.from).toBe('anonymous');
  });
});

describe('a hidden caller of a carrier, dialled on to another carrier', () => {
  const NOBODY = party('anonymous', 'anonymous.invalid', 'Anonymous');
  const dialledOn = async (over: Partial<InboundLeg>, attributes = '') => {
    service = await openCallService({ CARILLON_CALLER_ID_POLICY: 'any' });
    const xml = `<Dial${attributes}><Number>${OTHER}</Number></Dial>`;
    service.site.on('/answer', document(xml));
    await calledFrom(service, {}, over);
    return service.signalling.last.options;
  };

  it.each([
    ['P-Asserted-Identity', says({ asserted: [party('+14155550177')] }, NOBODY), ''],
    ['its From', says({ privacy: ['id'] }, party(ASSERTED)), ''],
    ['Remote-Party-ID', says({ remoteParty: { party: party(ASSERTED), hides: true } }), ''],
    [
      'P-Asserted-Identity, where the document repeats From',
      says({ privacy: ['id'], asserted: [party(ASSERTED)] }, NOBODY),
      ' callerId="anonymous"',
    ],
  ])('is asserted with %s, and stays anonymous in the record', async (_, over, attributes) => {
    const { from } = await dialledOn(over, attributes);
    expect(from).toMatchObject({ user: 'anonymous', hidden: true, asserted: ASSERTED });
    const b = service.live().find(({ identity }) => identity.context === 'dial');
    expect(b?.facts.from).toBe('anonymous');
  });

  it.each([
    ['an anonymous From alone', says({}, NOBODY)],
    ['an asserted identity that is anonymous', says({ asserted: [NOBODY] }, NOBODY)],
  ])('has no identity with %s', async (_, over) => {
    const { from } = await dialledOn(over);
    expect(from).toMatchObject({ user: 'anonymous', hidden: true });
    expect(from.asserted).toBeUndefined();
  });

  it('does not pass on a signature that reveals its number', async () => {
    const headers = [['Identity', 'token;info=<https://x>']] as const;
    const { headers: sent } = await dialledOn({ ...says({ privacy: ['id'] }, NOBODY), headers });
    expect(sent.map(([name]) => name)).not.toContain('Identity');
  });
});

describe('a phone', () => {
  const dials = async (
    over: Partial<InboundLeg>,
    xml = `<Dial><Number>${OTHER}</Number></Dial>`,
  ) => {
    service.site.on('/answer', document(xml));
    const alice = await registered(service);
    await dialledBy(service, alice, OTHER, over);
    return service.signalling.last;
  };

  it.each([
    ['From', says({}, party(`+${DID}`, HOST))],
    ['P-Preferred-Identity', says({ preferred: party(DID, HOST) })],
  ])('presents the number of its account that it requests in %s', async (_, over) => {
    const invite = await dials(over);
    expect(invite.options.from).toMatchObject({ user: DID });
    expect(invite.options.from.hidden).toBeUndefined();
    expect(reported()).toMatchObject({ From: expect.stringMatching(`^sip:alice.*@${HOST}$`) });
  });

  it('has no caller ID if it requests a foreign number', async () => {
    service.site.on('/answer', document(`<Dial><Number>${OTHER}</Number></Dial>`));
    await dialledBy(service, await registered(service), OTHER, says({}, party(ASSERTED, HOST)));
    expect(service.signalling.invites).toEqual([]);
  });

  it('can hide: the called party sees an anonymous caller, the record has the identity', async () => {
    const over = says(
      { privacy: ['id'], preferred: party(DID, HOST) },
      party('anonymous', 'anonymous.invalid'),
    );
    const invite = await dials(over);
    expect(invite.options.from).toMatchObject({ user: DID, hidden: true });
    const a = service.live().find(({ identity }) => identity.context === 'sip-endpoint');
    expect(a?.facts.from).toMatch(/^sip:alice/);
    expect(a?.identity.endpointId).toBeDefined();
  });

  it("presents the document's caller ID if there is one", async () => {
    const xml = `<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`;
    const invite = await dials(says({ privacy: ['id'] }), xml);
    expect(invite.options.from).toMatchObject({ user: DID });
    expect(invite.options.from.hidden).toBeUndefined();
  });
});

describe('call permissions of a phone', () => {
  const flagged = async (flags: object, to: string, over: Partial<InboundLeg> = {}) => {
    service.site.on('/answer', document('<Wait length="5"/>'));
    const alice = await registered(service);
    const { accountId, provisioning } = service;
    const found = await provisioning.endpoints.byUsername(alice);
    if (found === undefined) throw new Error('no endpoint');
    await provisioning.endpoints.patch(accountId, found.endpointId, flags);
    return dialledBy(service, alice, to, over);
  };
  const VIDEO = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\nm=video 4000 RTP/AVP 96\r\n';

  it.each([
    ['telephone numbers', { allowPhones: false }, OTHER, {}, 'allow_phones'],
    ['addresses of this service', { allowSameDomain: false }, 'bob', {}, 'allow_same_domain'],
    ['other domains', {}, 'bob', { requestUri: 'sip:bob@far.test' }, 'allow_other_domains'],
    ['all calls', { allowVoice: false }, 'bob', {}, 'allow_voice'],
    ['video only', {}, 'bob', { sdp: VIDEO }, 'allow_video'],
  ])('%s: forbidden, and the reason names the flag', async (_, flags, to, over, flag) => {
    const phone = await flagged(flags, to, over);
    expect(phone.sent).toEqual(['hangup forbidden']);
    const { detail } = await phone.call.ended;
    expect(detail).toMatch(/^notPermitted: /);
    expect(detail).toContain(`(${flag})`);
  });

  it.each(['sip:bob@198.51.100.7:5060', 'sip:bob@nat.test'])(
    'treats another name or address as this service: %s',
    async (requestUri) => {
      const from = { ...party('alice', 'nat.test') };
      expect((await flagged({}, 'bob', { requestUri, from })).sent).toEqual([]);
    },
  );

  it('run the application if permitted', async () => {
    const phone = await flagged({ allowOtherDomains: true }, 'bob', {
      requestUri: 'sip:bob@far.test',
    });
    expect(phone.sent).toEqual([]);
  });

  it('allow an application by its sip_uri with allow_apps', async () => {
    const made = await service.provisioning.applications.create({
      accountId: service.accountId,
      name: 'menu',
      answerUrl: `${SITE}/menu`,
      hangupUrl: `${SITE}/menu`,
    });
    service.site.on('/menu', document('<Wait length="5"/>'));
    const id = String(made.appId);
    const refused = await flagged({ allowApps: false }, id);
    expect(refused.sent).toEqual(['hangup forbidden']);
    expect((await refused.call.ended).detail).toContain('(allow_apps)');
    expect(service.site.reported('/menu').map(({ Event }) => Event)).toEqual(['Hangup']);
  });

  it('apply to destinations in its document too', async () => {
    service.site.on(
      '/answer',
      document(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`),
    );
    const alice = await registered(service);
    const { accountId, provisioning, signalling } = service;
    const found = await provisioning.endpoints.byUsername(alice);
    if (found === undefined) throw new Error('no endpoint');
    await provisioning.endpoints.patch(accountId, found.endpointId, { allowPhones: false });
    await dialledBy(service, alice, '1000');
    expect(signalling.invites).toEqual([]);
  });
});
