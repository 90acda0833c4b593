/** Deliveries to the URLs of an account: list, details, replay and test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { ok } from '../../src/base/result.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { Deliveries } from '../../src/domain/callback/callback.ts';
import type { HttpRequest } from '../../src/domain/callback/needs.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { type OpenedStore, openInMemory } from '../edge/store/open.ts';
import { type Service, startService } from './service.ts';

const HOOK = 'https://bot.example/hook';

describe('webhook deliveries', () => {
  let service: Service;
  let opened: OpenedStore;
  const sent: HttpRequest[] = [];
  let status = 500;

  beforeEach(async () => {
    sent.length = 0;
    status = 500;
    opened = await openInMemory();
    const deliveries = new Deliveries({
      http: {
        send: async (request) => {
          sent.push(request);
          return ok({ status, contentType: 'text/xml', body: '<Response/>', durationMs: 12.34 });
        },
      },
      tokens: { tokensOf: async () => ({ own: 'secret', parent: undefined }) },
      random: systemRandom,
      settings: { userAgent: 'Carillon', signatureHeaders: ['X-Plivo'] } as never,
      clock: systemClock,
      notifications: { listPending: async () => [] },
      store: opened.store.deliveries,
      logger: silentLogger,
    });
    service = await startService({ deps: { deliveries } });
  });
  afterEach(async () => {
    await service.stop();
    await opened.store.close();
  });

  const root = (): string => `${service.root}/webhooks`;
  const test = async () => (await service.post(`${root()}/test`, { url: HOOK })).body;

  it('sends a signed test, lists it and shows its bodies', async () => {
    const made = await test();
    expect(made).toMatchObject({
      event: 'Test',
      method: 'POST',
      status: 500,
      response_body: '<Response/>',
      duration_ms: 12.3,
    });
    expect(made.request_body).toContain('CallStatus=ringing');
    expect(made.signed_string).toContain(HOOK);
    const capitals = made.call_uuid?.toUpperCase();
    const ofCall = await service.get(`${root()}?call_uuid=${capitals}`);
    expect(ofCall.body.total, ofCall.text).toBe(1);
    const list = await service.get(`${root()}?outcome=failed`);
    expect(list.body).toMatchObject({
      total: 1,
      summary: { deliveries: 1, failed: 1, median_ms: 12 },
    });
    expect(list.body.objects[0]).not.toHaveProperty('request_body');
    expect((await service.get(`${root()}?outcome=delivered`)).body.total).toBe(0);
    expect((await service.get(`${root()}?search=BOT.example`)).body.total).toBe(1);
    expect((await service.get(`${root()}/${made.id}`)).body).toEqual(made);
  });

  it('replays a delivery with the same body and a new signature', async () => {
    const made = await test();
    status = 200;
    const again = await service.post(`${root()}/${made.id}/replay`, {});
    expect(again.body).toMatchObject({ status: 200, replay_of: made.id, event: 'Test' });
    const [first, second] = sent;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers).not.toEqual(first?.headers);
    expect((await service.post(`${root()}/unknown/replay`, {})).status).toBe(404);
  });

  it('rejects a URL that is not HTTP, and shows nothing to other accounts', async () => {
    expect((await service.post(`${root()}/test`, { url: 'ftp://a' })).status).toBe(400);
    expect(sent).toEqual([]);
    const made = await test();
    const as = await service.addAccount({ name: 'Other' });
    const path = `/api/v1/Account/${as.authId}/webhooks`;
    expect((await service.get(path, { as })).body.total).toBe(0);
    expect((await service.get(`${path}/${made.id}`, { as })).status).toBe(404);
  });
});
