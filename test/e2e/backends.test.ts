/** Runs the same call tests over the built-in SIP sockets and over a server that speaks the drachtio control protocol. */
import { describe, expect, it } from 'vitest';
import { DrachtioServer, drachtioSettings } from '../drachtio/drachtio-server.ts';
import { callStories } from './call-scenarios.ts';
import { eventually, newPlace, removePlace, Service } from './service.ts';

describe('built-in sockets', () => {
  callStories(async () => ({ settings: {}, close: () => undefined }));
});

describe('drachtio', () => {
  callStories(async () => {
    const server = await DrachtioServer.open();
    return { settings: drachtioSettings(server), close: () => server.close() };
  });

  it('starts while the drachtio server is unavailable, reports why it is not ready, and becomes ready', async () => {
    const server = await DrachtioServer.open();
    const { controlPort } = server;
    const place = await newPlace(drachtioSettings(server));
    server.closeControl();
    const service = await Service.start(place);
    const ready = (): Promise<{ status: number; text: string }> => service.get('/readyz');
    const before = await ready();
    expect(before.status).toBe(503);
    expect(before.text).toContain('0 of 1 drachtio servers connected');
    await server.openControl(controlPort);
    await eventually('readiness', async () => (await ready()).status === 200 || undefined);
    await service.kill();
    server.close();
    removePlace(place);
  });
});
