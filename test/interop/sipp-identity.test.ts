/** SIPp at both ends of a trunk call: caller identity is accepted, shown and hidden as the trunk is configured. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWN_NUMBER, SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLING = '127.0.0.2';
const CALLED = '127.0.0.3';
const ASSERTED = '14155550177';
const PAI = `P-Asserted-Identity: <sip:+1-415-555-0177@far.example>`;
const ANY = '<sip:+14155550100@far.example>';
const HIDDEN = '&quot;Anonymous&quot; <sip:anonymous@anonymous.invalid>'.replaceAll('&quot;', '"');

describe.skipIf(missing('sipp', 'sox'))('caller identity over a trunk', () => {
  let stage: SippStage;
  let trunkId: string;

  beforeAll(async () => {
    stage = await SippStage.open(7600);
    const { service, port } = stage;
    await stage.carrier({ name: 'calling', host: CALLING, prefixes: ['999'] });
    const uri = await service.api('POST', 'origination-uris', {
      name: 'pbx',
      sip_uri: `sip:${CALLED}:${port}`,
    });
    expect(uri.status, uri.text).toBe(201);
    const trunk = await service.api('POST', 'trunks', {
      name: 'office',
      trunk_direction: 'inbound',
      primary_uri_uuid: uri.body['id'],
    });
    expect(trunk.status, trunk.text).toBe(201);
    trunkId = String(trunk.body['trunk_id']);
    const assigned = await service.api('POST', `numbers/${OWN_NUMBER}/assign`, {
      trunk_group_id: trunkId,
    });
    expect(assigned.status, assigned.text).toBeLessThan(300);
  });
  afterAll(() => stage.close());

  const set = async (policy: Record<string, unknown>): Promise<void> => {
    const { service } = stage;
    const path = `/accounts/${service.demo.authId}/trunks/${trunkId}`;
    const answer = await service.admin('PATCH', path, policy);
    expect(answer.status, answer.text).toBe(200);
  };
  const DEFAULT = { identity: null, pass_headers: null, add_headers: null, identity_header: null };

  it.each([
    {
      name: 'uses an asserted number as the caller and forwards the call history',
      identity: [PAI, 'Diversion: <sip:+14155550166@far.example>;reason=no-answer'],
      expects: `From: <sip:${ASSERTED}@.*Diversion: <sip:[+]14155550166@`,
      lacks: 'Privacy|14155550100',
    },
    {
      name: 'reads the number of a tel URI with separators',
      uri: `tel:+1-415-555-${OWN_NUMBER.slice(-4)}`,
      identity: [PAI],
      expects: `INVITE sip:%?2?B?[+]?${OWN_NUMBER}@`,
      lacks: 'tel:',
    },
    {
      name: 'hides a private caller from an untrusted trunk',
      from: HIDDEN,
      identity: [PAI, 'Privacy: id'],
      expects: 'From: .Anonymous. <sip:anonymous@anonymous[.]invalid>.*Privacy: id',
      lacks: `${ASSERTED}|P-Asserted|Remote-Party`,
    },
    {
      name: 'shows a private caller to a trusted trunk, which keeps it private',
      policy: { identity: 'trusted' },
      from: HIDDEN,
      identity: [PAI, 'Privacy: id'],
      expects: `From: .Anonymous. <sip:anonymous@.*P-Asserted-Identity: <sip:${ASSERTED}@.*Privacy: id`,
      lacks: 'Remote-Party',
    },
    {
      name: 'sends no identity to a trusted trunk for a caller without an asserted one',
      policy: { identity: 'trusted' },
      from: HIDDEN,
      identity: ['Privacy: id'],
      expects: 'From: .Anonymous. <sip:anonymous@.*Privacy: id',
      lacks: 'P-Asserted|Remote-Party',
    },
    {
      name: "forwards header fields by name and adds the service's own",
      policy: { pass_headers: ['X-Acme-*'], add_headers: { 'X-Site': 'berlin' } },
      identity: [PAI, 'X-Acme-Id: 7', 'X-Other: 8', 'Diversion: <sip:1@far.example>'],
      expects: 'X-Acme-Id: 7.*X-Site: berlin',
      lacks: 'X-Other|Diversion',
    },
    {
      name: 'uses the older header field if configured',
      policy: { identity_header: 'rpid' },
      identity: [`Remote-Party-ID: <sip:+${ASSERTED}@far.example>;party=calling;privacy=off`],
      expects: `Remote-Party-ID: <sip:${ASSERTED}@[^;]*;party=calling;screen=yes;privacy=off`,
      lacks: 'P-Asserted',
    },
  ])('$name', async ({ policy = {}, from = ANY, identity, expects, lacks, uri }) => {
    await set({ ...DEFAULT, ...policy });
    const { service } = stage;
    const xml = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const called = stage.called(CALLED, 'called-identity', {
      limitS: 8,
      put: { expects: xml(expects), lacks },
    });
    const requested = uri ?? 'sip:[service]@[remote_ip]:[remote_port]';
    const caller = stage.peer('caller-identity', {
      localAddress: CALLING,
      target: service.sipPort,
      service: `+${OWN_NUMBER}`,
      limitS: 8,
      put: { identity: identity.join('\n      '), from, uri: requested },
    });
    for (const run of [called, caller]) {
      const { status, report } = await run.done;
      expect(status, report).toBe(0);
    }
  });
});

describe.skipIf(missing('sipp', 'sox'))(
  'a private caller, from carrier to carrier through Dial',
  () => {
    const NEXT = '127.0.0.4';
    let stage: SippStage;

    beforeAll(async () => {
      stage = await SippStage.open(7700, { CARILLON_CALLER_ID_POLICY: 'any' });
      await stage.carrier({ name: 'calling', host: CALLING, prefixes: ['999'] });
      await stage.carrier({ name: 'next', host: NEXT, prefixes: ['1'] });
      await stage.answersOwnNumber(
        '<Response><Dial><Number>14155550122</Number></Dial></Response>',
      );
    });
    afterAll(() => stage.close());

    it.each([
      {
        identity: 'trusted',
        expects: `From: .Anonymous. <sip:anonymous@anonymous[.]invalid>.*P-Asserted-Identity: <sip:${ASSERTED}@.*Privacy: id`,
        lacks: 'Remote-Party',
      },
      {
        identity: 'untrusted',
        expects: 'From: .Anonymous. <sip:anonymous@anonymous[.]invalid>.*Privacy: id',
        lacks: `${ASSERTED}|P-Asserted`,
      },
    ])('$identity', async ({ identity, expects, lacks }) => {
      const set = await stage.service.admin('PATCH', '/carriers/next', { identity });
      expect(set.status, set.text).toBe(200);
      const xml = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      const put = { expects: xml(expects), lacks };
      const called = stage.called(NEXT, 'called-identity', { limitS: 12, put });
      const caller = stage.peer('caller-identity', {
        localAddress: CALLING,
        target: stage.service.sipPort,
        service: `+${OWN_NUMBER}`,
        limitS: 12,
        put: {
          identity: [PAI, 'Privacy: id'].join('\n      '),
          from: HIDDEN,
          uri: 'sip:[service]@[remote_ip]:[remote_port]',
        },
      });
      for (const run of [called, caller]) {
        const { status, report } = await run.done;
        expect(status, report).toBe(0);
      }
    });
  },
);
