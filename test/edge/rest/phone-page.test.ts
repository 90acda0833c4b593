import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../../spec/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('the browser phone', () => {
  it('is a page restricted to scripts and sockets of the service', async () => {
    const page = await service.get('/phone', { as: null });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self';.* connect-src 'self';/,
    );
    expect(page.text).not.toMatch(/https?:\/\/|\{\{/);
    expect(page.text).toMatch(/data-domain="[\w.:-]+"/);
  });

  it('is a module that pages of other origins can import', async () => {
    const module = await service.get('/phone.js', { as: null });
    expect(module.headers['content-type']).toContain('text/javascript');
    expect(module.headers['access-control-allow-origin']).toBe('*');
    expect(module.text).toMatch(/export\{\w+ as Phone,/);
    const types = await service.get('/phone.d.ts', { as: null });
    expect(types.text).toContain('export declare class Phone ');
    expect(types.text).not.toContain('import ');
    const page = await service.get('/phone-page.js', { as: null });
    // The page and the module share one SIP library.
    expect(page.text).toMatch(/from"\/phone\.js"/);
    expect(page.text.length).toBeLessThan(20_000);
    expect(page.headers['access-control-allow-origin']).toBeUndefined();
  });
});
