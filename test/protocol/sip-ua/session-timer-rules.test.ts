/** The rules of RFC 4028 without a call: roles, intervals and times. */
import { describe, expect, it } from 'vitest';
import { SessionTimer } from '../../../src/protocol/sip/dialog/session-timer.ts';
import {
  createRequest,
  createResponse,
  type HeaderInit,
  type SipRequest,
  type SipResponse,
} from '../../../src/protocol/sip/message.ts';

const MINUTE_MS = 60_000;
const SUPPORTED = ['Supported', 'timer'] as const;

const request = (headers: HeaderInit): SipRequest =>
  createRequest({
    method: 'INVITE',
    requestUri: 'sip:a@192.0.2.1',
    headers: [
      ['Via', 'SIP/2.0/UDP 192.0.2.2;branch=z9hG4bK1'],
      ['From', '<sip:b@192.0.2.2>;tag=1'],
      ['To', '<sip:a@192.0.2.1>'],
      ['Call-ID', 'c'],
      ['CSeq', '1 INVITE'],
      ...headers,
    ],
  });
const response = (status: number, headers: HeaderInit = []): SipResponse =>
  createResponse(request([]), status, { headers });
const timer = (interval = 1800, minimum = 90) => new SessionTimer({ interval, minimum });
const fields = (headers: HeaderInit): Record<string, string> => Object.fromEntries(headers);

/** Accepts a request of the peer at time 0. */
function accepted(to: SessionTimer, headers: HeaderInit): Record<string, string> {
  const offer = to.offered(request(headers), () => 0);
  if (offer.kind !== 'ok') throw new Error('too brief');
  offer.apply();
  return fields(offer.headers);
}

describe('the callee', () => {
  it.each([
    ['60', true, 'tooBrief'],
    ['89', true, 'tooBrief'],
    ['90', true, 'ok'],
    // Without support the peer cannot raise it (RFC 4028 §9).
    ['60', false, 'ok'],
  ])('treats an interval of %s s, supported: %s, as %s', (interval, isSupported, kind) => {
    const headers = [['Session-Expires', interval] as const, ...(isSupported ? [SUPPORTED] : [])];
    expect(timer().offered(request(headers), () => 0).kind).toBe(kind);
  });

  it('leaves the refresh to the caller unless it asks for ours', () => {
    expect(accepted(timer(), [SUPPORTED])).toEqual({
      Require: 'timer',
      'Session-Expires': '1800;refresher=uac',
    });
    expect(accepted(timer(), [SUPPORTED, ['Session-Expires', '600;refresher=uas']])).toEqual({
      'Session-Expires': '600;refresher=uas',
    });
  });

  it('stops its timer when a refresh comes without support', () => {
    const session = timer();
    accepted(session, [SUPPORTED, ['Session-Expires', '600']]);
    expect(session.deadlineMs()).toBeDefined();
    accepted(session, []);
    expect(session.deadlineMs()).toBeUndefined();
  });

  it('raises the interval to the larger Min-SE of both', () => {
    const [long, short] = [['Min-SE', '3600'] as const, ['Min-SE', '30'] as const];
    const interval = (own: SessionTimer, minimum: readonly [string, string]) =>
      accepted(own, [SUPPORTED, ['Session-Expires', '200'], minimum])['Session-Expires'];
    expect(interval(timer(), long)).toBe('3600;refresher=uac');
    expect(interval(timer(1800, 120), short)).toBe('200;refresher=uac');
    expect(interval(timer(100, 95), short)).toBe('100;refresher=uac');
  });
});

describe('the caller', () => {
  const headers = (of: SessionTimer) => fields(of.requestHeaders());

  it('requests an interval without a role, and keeps the role of the first exchange', () => {
    const session = timer();
    expect(headers(session)).toEqual({ 'Session-Expires': '1800', 'Min-SE': '90' });
    session.accepted(response(200, [['Session-Expires', '600;refresher=uas']]), 0);
    expect(headers(session)['Session-Expires']).toBe('600;refresher=uas');
    session.accepted(response(200, [['Session-Expires', '600;refresher=uac']]), 0);
    expect(headers(session)['Session-Expires']).toBe('600;refresher=uac');
  });

  it('refreshes itself unless the callee does', () => {
    const session = timer();
    session.accepted(response(200, [['Session-Expires', '600']]), 0);
    expect(session.deadlineMs()).toBe(5 * MINUTE_MS);
    session.accepted(response(200, [['Session-Expires', '600;refresher=uas']]), 0);
    expect(session.deadlineMs()).toBe(600_000 - 32_000);
  });

  it('has no timer after a 2xx without one', () => {
    const session = timer();
    session.accepted(response(200, [['Session-Expires', '600']]), 0);
    session.accepted(response(200), 0);
    expect(session.deadlineMs()).toBeUndefined();
  });

  it('reads an interval below 90 s as 90 s', () => {
    const session = timer();
    session.accepted(response(200, [['Session-Expires', '10;refresher=uas']]), 0);
    expect(session.deadlineMs()).toBe(60_000);
  });

  it('raises interval and minimum by a 422, once', () => {
    const session = timer(200, 90);
    expect(session.raise(response(422, [['Min-SE', '300']]))).toBe(true);
    expect(headers(session)).toEqual({ 'Session-Expires': '300', 'Min-SE': '300' });
    expect(session.raise(response(422, [['Min-SE', '300']]))).toBe(false);
    expect(session.raise(response(422))).toBe(false);
  });

  it('raises its minimum by a 422 below its interval', () => {
    const session = timer(1800, 90);
    expect(session.raise(response(422, [['Min-SE', '300']]))).toBe(true);
    expect(headers(session)).toEqual({ 'Session-Expires': '1800', 'Min-SE': '300' });
  });
});

describe('the times', () => {
  const started = (interval: number, refresher: 'uac' | 'uas'): SessionTimer => {
    const session = timer();
    session.accepted(response(200, [['Session-Expires', `${interval};refresher=${refresher}`]]), 0);
    return session;
  };

  it('are half of the interval for a refresh, and its end less a third or 32 s for the BYE', () => {
    const long = started(600, 'uac');
    expect(long.takeDue(299_999)).toBeUndefined();
    expect(long.takeDue(300_000)).toEqual({ what: 'refresh', dueMs: 300_000 });
    expect(long.takeDue(300_000)).toBeUndefined();
    expect(long.takeDue(568_000)).toEqual({ what: 'expire', dueMs: 568_000 });
    expect(long.deadlineMs()).toBeUndefined();
    expect(started(90, 'uas').deadlineMs()).toBe(60_000);
  });

  it('of a refresh after a temporary failure is later, but before the end and only if it is ours', () => {
    const ours = started(600, 'uac');
    ours.takeDue(300_000);
    ours.retryRefresh(310_000);
    expect(ours.deadlineMs()).toBe(310_000);
    ours.takeDue(310_000);
    ours.retryRefresh(568_000);
    expect(ours.deadlineMs()).toBe(568_000);
    expect(ours.takeDue(568_000)?.what).toBe('expire');
    const theirs = started(600, 'uas');
    theirs.retryRefresh(310_000);
    expect(theirs.deadlineMs()).toBe(568_000);
  });
});
