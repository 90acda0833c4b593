import { describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid, asRequestUuid } from '../../../src/base/ids.ts';
import {
  type CallFacts,
  hangupParameters,
  machineDetectionParameters,
  partyParameter,
  ringParameters,
  startAppParameters,
} from '../../../src/domain/callback/callback.ts';
import { decodeQuery, formEncode, withQuery } from '../../../src/domain/callback/form.ts';
import { splitUrlOptions } from '../../../src/domain/callback/url-options.ts';

const outbound: CallFacts = {
  callUuid: asCallUuid('uuid-1'),
  requestUuid: asRequestUuid('uuid-1'),
  direction: 'outbound',
  from: '+14155550100',
  to: '14155550101',
  callerName: '',
  parentAuthId: asAccountId('MA_X'),
  routeType: 'pstn',
  sessionStartUs: Date.UTC(2026, 0, 2, 3, 4, 5) * 1000 + 678_901,
  stirVerification: 'Not Applicable',
  stirAttestation: '',
  forwardedFrom: '',
  sipHeaders: [],
  machine: undefined,
};
const inbound: CallFacts = {
  ...outbound,
  requestUuid: undefined,
  direction: 'inbound',
  from: 'sip:alice4821@reg.example:5060;transport=tcp',
  callerName: 'Alice',
  routeType: 'sip',
  forwardedFrom: '+14155550199',
  sipHeaders: [['X-PH-Tenant', '7']],
};
const names = (parameters: ReadonlyArray<readonly [string, string]>) =>
  parameters.map(([name]) => name).sort();

describe('Call callbacks (spec): fields', () => {
  it('ring_url: exactly the list of the spec, and the account', () => {
    expect(names(ringParameters(outbound))).toEqual(
      [
        'From',
        'To',
        'RequestUUID',
        'ALegRequestUUID',
        'CallUUID',
        'Direction',
        'Event',
        'CallStatus',
        'SessionStart',
        'STIRAttestation',
        'ParentAuthID',
      ].sort(),
    );
    expect(Object.fromEntries(ringParameters(outbound))).toMatchObject({
      From: '14155550100',
      To: '14155550101',
      Direction: 'outbound',
      Event: 'Ring',
      CallStatus: 'ringing',
      SessionStart: '2026-01-02 03:04:05.67890',
    });
  });

  it('answer_url of an outbound call: StartApp, in-progress, with the A leg', () => {
    expect(Object.fromEntries(startAppParameters(outbound))).toEqual({
      From: '14155550100',
      To: '14155550101',
      CallUUID: 'uuid-1',
      RequestUUID: 'uuid-1',
      ALegRequestUUID: 'uuid-1',
      ALegUUID: 'uuid-1',
      Direction: 'outbound',
      Event: 'StartApp',
      CallStatus: 'in-progress',
      SessionStart: '2026-01-02 03:04:05.67890',
      RouteType: 'pstn',
      STIRVerification: 'Not Applicable',
      STIRAttestation: '',
      ParentAuthID: 'MA_X',
    });
  });

  it('answer_url of an inbound call: ringing, without request and A-leg fields (dialect §5.2)', () => {
    expect(Object.fromEntries(startAppParameters(inbound))).toEqual({
      From: 'sip:alice4821@reg.example',
      To: '14155550101',
      CallerName: 'Alice',
      CallUUID: 'uuid-1',
      Direction: 'inbound',
      Event: 'StartApp',
      CallStatus: 'ringing',
      SessionStart: '2026-01-02 03:04:05.67890',
      RouteType: 'sip',
      STIRVerification: 'Not Applicable',
      STIRAttestation: '',
      ParentAuthID: 'MA_X',
      ForwardedFrom: '14155550199',
      'X-PH-Tenant': '7',
    });
  });

  it('hangup_url: the list of the spec plus vendor additions, without cost', () => {
    const startUs = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000;
    const parameters = Object.fromEntries(
      hangupParameters(outbound, {
        startUs,
        answerUs: startUs + 5_000_000,
        endUs: startUs + 49_200_000,
        billedMs: 60_000,
        hangupCause: 'NORMAL_CLEARING',
        hangupCauseCode: 4000,
        hangupCauseName: 'Normal Hangup',
        hangupSource: 'Callee',
        failureReason: 'not told: it was answered',
        callStatus: 'completed',
      }),
    );
    expect(parameters).toMatchObject({
      Event: 'Hangup',
      CallStatus: 'completed',
      stir_verification: 'Not Applicable',
      ALegUUID: 'uuid-1',
      Duration: '44',
      BillDuration: '60',
      HangupCauseCode: '4000',
      HangupSource: 'Callee',
    });
    expect(parameters['StartTime']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(Object.keys(parameters).filter((name) => /cost|rate|reason/i.test(name))).toEqual([]);
  });

  it('hangup_url of an unanswered call: an empty AnswerTime and a Duration of 0', () => {
    const end = {
      startUs: 0,
      answerUs: undefined,
      endUs: 9_000_000,
      billedMs: 0,
      hangupCause: 'NO_ANSWER',
      hangupCauseCode: 3000,
      hangupCauseName: 'No Answer',
      hangupSource: 'Callee',
      failureReason: 'SIP 480',
      callStatus: 'completed' as const,
    };
    expect(Object.fromEntries(hangupParameters(outbound, end))).toMatchObject({
      FailureReason: 'SIP 480',
      AnswerTime: '',
      Duration: '0',
    });
  });

  it('machine detection: the asynchronous result, and Machine in the answer request for synchronous detection', () => {
    expect(Object.fromEntries(machineDetectionParameters(outbound, true))).toMatchObject({
      Event: 'MachineDetection',
      CallStatus: 'in-progress',
      Machine: 'true',
    });
    expect(Object.fromEntries(startAppParameters({ ...outbound, machine: false }))['Machine']).toBe(
      'false',
    );
  });

  it.each([
    ['+14155550100', '14155550100'],
    ['14155550100', '14155550100'],
    ['sip:bob@host.example:5070;transport=tls', 'sip:bob@host.example'],
    ['SIP:bob@host.example?x=y', 'sip:bob@host.example'],
    ['tel:+1415;phone-context=x', '1415'],
    ['anonymous', 'anonymous'],
  ])('sends party %s as %s (dialect §5)', (party, sent) => {
    expect(partyParameter(party)).toBe(sent);
  });
});

describe('form encoding', () => {
  it('is decoded by the platform to the original text', () => {
    const parameters = [
      ['a b', 'c&d=e+f'],
      ['é', '😀%'],
      ['empty', ''],
    ] as const;
    expect([...new URLSearchParams(formEncode(parameters))]).toEqual(parameters);
    expect(decodeQuery(formEncode(parameters))).toEqual(parameters);
  });

  it('accepts a lone surrogate', () => {
    expect(formEncode([['a', '\uD800']])).toBe('a=%EF%BF%BD');
  });

  it('appends GET parameters to an existing query', () => {
    expect(withQuery('https://a.example/x', [['b', '1']])).toBe('https://a.example/x?b=1');
    expect(withQuery('https://a.example/x?a=1', [['b', '1']])).toBe('https://a.example/x?a=1&b=1');
    expect(withQuery('https://a.example/x?', [['b', '1']])).toBe('https://a.example/x?b=1');
    expect(withQuery('https://a.example/x', [])).toBe('https://a.example/x');
  });

  it('keeps a malformed escape unchanged', () => {
    expect(decodeQuery('a=%zz&b')).toEqual([
      ['a', '%zz'],
      ['b', ''],
    ]);
  });
});

describe('URL options in the fragment (dialect §6)', () => {
  const defaults = {
    connectTimeoutMs: 2000,
    readTimeoutMs: 10_000,
    stallTimeoutMs: 5000,
    totalMs: 60_000,
    retries: 3,
    backoffMs: [500],
    retryOn: new Set(['connect', 'read', '5xx'] as const),
  };
  const options = (fragment: string) =>
    splitUrlOptions(`https://a.example/x?y#${fragment}`, defaults);

  it('are removed from the URL and applied', () => {
    expect(options('ct=500&rt=40000&tt=55000&rc=1&rp=rt,5xx')).toEqual({
      url: 'https://a.example/x?y',
      policy: {
        connectTimeoutMs: 500,
        readTimeoutMs: 40_000,
        stallTimeoutMs: 40_000,
        totalMs: 55_000,
        retries: 1,
        backoffMs: [500],
        retryOn: new Set(['read', '5xx']),
      },
    });
  });

  it('accept `all` for every reason, and lists separated by |', () => {
    expect(options('rp=all').policy.retryOn).toEqual(new Set(['connect', 'read', '4xx', '5xx']));
    expect(options('rp=ct|4xx').policy.retryOn).toEqual(new Set(['connect', '4xx']));
  });

  it('are clamped to their ranges', () => {
    expect(options('ct=1&rt=999999&tt=999999&rc=9').policy).toMatchObject({
      connectTimeoutMs: 100,
      readTimeoutMs: 40_000,
      totalMs: 60_000,
      retries: 5,
    });
  });

  it('ignores unknown or malformed options and still removes the fragment', () => {
    expect(options('section-2&ct=fast&rp=never&=1')).toEqual({
      url: 'https://a.example/x?y',
      policy: defaults,
    });
  });
});
