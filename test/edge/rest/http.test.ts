/** Unit tests of the small modules of the HTTP layer. */
import { describe, expect, it } from 'vitest';
import { csvLine } from '../../../src/base/csv.ts';
import { credentialsOf } from '../../../src/edge/rest/http/credentials.ts';
import { ERROR_BODY } from '../../../src/edge/rest/http/error-body.ts';
import { failure, INVALID_TOKEN, tooManyRequests } from '../../../src/edge/rest/http/failure.ts';
import { RequestRate } from '../../../src/edge/rest/http/request-rate.ts';
import { canonicalUrl, pathPattern, routerPath } from '../../../src/edge/rest/http/url.ts';
import { failureOf } from '../../../src/edge/rest/refusal.ts';

describe('URLs', () => {
  it.each([
    ['GET', '/v1/Account/MA_A/Endpoint/', '/api/v1/Account/MA_A/Endpoint'],
    ['GET', '/api/v1/Account/MA_A/Endpoint/?limit=1', '/api/v1/Account/MA_A/Endpoint?limit=1'],
    ['GET', '/v1/Account/MA_A//', '/api/v1/Account/MA_A'],
    ['POST', '/api/v1/Account/MA_A/Call', '/api/v1/Account/MA_A/Call'],
    ['POST', '/v1/Account/MA_A/Call/', '/api/v1/Account/MA_A/Call/'],
    ['GET', '/v1/Account/MA_A/Call?status=live', '/api/v1/Account/MA_A/Call/?status=live'],
    ['DELETE', '/v1/Account/MA_A/Call/uuid/', '/api/v1/Account/MA_A/Call/uuid'],
    ['GET', '/', '/'],
    ['GET', '//', '/'],
    ['GET', '/v2/Account', '/v2/Account'],
  ])('mounts %s %s as %s', (method, url, mounted) => {
    expect(canonicalUrl(method, url)).toBe(mounted);
  });

  it('converts a documented path to the router’s notation and a pattern', () => {
    const path = '/api/v1/Account/{auth_id}/Recording/{recording_id}.{format}';
    expect(routerPath('GET', path)).toBe(
      '/api/v1/Account/:auth_id/Recording/:recording_id(^[^.]+).:format',
    );
    expect(pathPattern('GET', path).test('/api/v1/Account/MA_A/Recording/1.mp3')).toBe(true);
    expect(pathPattern('GET', path).test('/api/v1/Account/MA_A/Recording/1xmp3')).toBe(false);
  });
});

describe('credentials', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each([
    [
      { 'x-auth-id': 'A', 'x-auth-token': 't' },
      { kind: 'account', authId: 'A', authToken: 't' },
    ],
    [
      { authorization: basic('A:t:with:colons') },
      { kind: 'account', authId: 'A', authToken: 't:with:colons' },
    ],
    [{ authorization: 'bearer abc' }, { kind: 'bearer', token: 'abc' }],
    [{ 'x-auth-id': 'A' }, undefined],
    [{ authorization: basic('no colon') }, undefined],
    [{ authorization: 'Negotiate abc' }, undefined],
    [{}, undefined],
  ])('%j', (headers, credentials) => {
    expect(credentialsOf(headers)).toEqual(credentials);
  });

  it('prefers X-Auth headers to Authorization', () => {
    const headers = { 'x-auth-id': 'A', 'x-auth-token': 't', authorization: basic('B:u') };
    expect(credentialsOf(headers)).toMatchObject({ authId: 'A' });
  });
});

describe('request rate', () => {
  it('allows a burst of one second, then one request per interval, and returns the wait', () => {
    const rate = new RequestRate(2);
    expect([rate.take('a', 0), rate.take('a', 0), rate.take('a', 0)]).toEqual([0, 0, 500]);
    expect(rate.take('b', 0)).toBe(0);
    expect(rate.take('a', 499)).toBeGreaterThan(0);
    expect(rate.take('a', 500)).toBe(0);
    expect(rate.take('a', 501)).toBeGreaterThan(0);
  });

  it('limits the burst to one second', () => {
    const rate = new RequestRate(2);
    const waits = [0, 0, 0].map(() => rate.take('a', 3_600_000));
    expect(waits).toEqual([0, 0, 500]);
  });
});

describe('error bodies (spec Errors: five shapes)', () => {
  const refused = failure(400, 'bad', { detail: 'because', details: { field: 'is wrong' } });

  it('uses one shape per family', () => {
    expect(ERROR_BODY.plain(failure(404, 'gone'), 'id')).toEqual({ error: 'gone' });
    expect(ERROR_BODY.ledger(INVALID_TOKEN, 'id')).toEqual({
      error: { code: 401, message: 'Invalid token' },
    });
    expect(ERROR_BODY.endpoint(refused, 'id')).toEqual({
      error: 'bad',
      details: { field: 'is wrong' },
    });
    expect(ERROR_BODY.export(failure(403, 'busy'), 'id')).toEqual({
      api_id: 'id',
      status: 'failure',
      message: 'busy',
    });
    expect(ERROR_BODY.resource(refused, 'id')).toEqual({
      api_id: 'id',
      error: 'bad',
      message: 'because',
      details: { field: 'is wrong' },
    });
  });

  it('rounds Retry-After to whole seconds, at least one', () => {
    expect(tooManyRequests('slow down', 1).headers).toEqual({ 'retry-after': '1' });
    expect(tooManyRequests('slow down', 1001).headers).toEqual({ 'retry-after': '2' });
  });
});

describe('refusals of the domain', () => {
  it('have one status each, which a route may override', () => {
    expect(failureOf({ kind: 'insufficientFunds' }).status).toBe(402);
    expect(failureOf({ kind: 'usernameTaken', username: 'alice' })).toMatchObject({
      status: 409,
      fields: { username: 'alice' },
    });
    const said = failureOf({ kind: 'unknownBalance' }, { unknownBalance: failure(418, 'x') });
    expect(said.status).toBe(418);
  });
});

describe('CSV (RFC 4180)', () => {
  it('quotes cells where needed and defuses formulas, but keeps signed numbers unchanged', () => {
    expect(csvLine(['a', 'b,c', 'd"e', 'f\ng', null, undefined, 1.5, true])).toBe(
      'a,"b,c","d""e","f\ng",,,1.5,true\r\n',
    );
    expect(csvLine(['=1+1', '@x', '+SUM(A1)', '-cmd', '+1415', '-0.5'])).toBe(
      "'=1+1,'@x,'+SUM(A1),'-cmd,+1415,-0.5\r\n",
    );
    // A caller chooses its name, which may begin like a number.
    expect(
      csvLine(["+1+cmd|' /C calc'!A0", '-1-HYPERLINK(A1)', '+1 (415) 555-0100', '\r=A1']),
    ).toBe("'+1+cmd|' /C calc'!A0,'-1-HYPERLINK(A1),+1 (415) 555-0100,\"'\r=A1\"\r\n");
  });
});
