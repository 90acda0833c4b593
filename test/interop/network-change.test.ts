/** A browser changes its network during a call: the call continues over the new network in both directions. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { canHaveNetworks, OwnNetwork } from './own-network.ts';
import { missing, workFolder } from './tools.ts';

describe.skipIf(missing('chromium', 'sox', 'ip') || !canHaveNetworks())(
  'a browser call across a network change',
  () => {
    let place: ServicePlace;
    let service: Service;
    let folder: ReturnType<typeof workFolder>;
    let network: OwnNetwork;
    let customer: Customer;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      folder = workFolder();
      network = new OwnNetwork();
      place = await newPlace({
        CARILLON_HTTP_HOST: '0.0.0.0',
        CARILLON_RTP_HOST: network.host,
        CARILLON_STREAMS_ALLOW_INSECURE: 'yes',
        CARILLON_EGRESS_ALLOW: '127.0.0.0/8',
      });
      service = await Service.start(place);
      customer = await Customer.listen();
      const base = `http://${network.host}:${new URL(service.baseUrl).port}`;
      browser = await network.browser(folder.path, [
        '--no-sandbox',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        '--autoplay-policy=no-user-gesture-required',
        '--disable-features=WebRtcHideLocalIpsWithMdns',
        `--unsafely-treat-insecure-origin-as-secure=${base}`,
      ]);
      page = await (await browser.newContext({ permissions: ['microphone'] })).newPage();
      await page.goto(`${base}/phone`);
    });
    afterAll(async () => {
      await browser?.close();
      await customer?.close();
      await service?.kill();
      network.remove();
      removePlace(place);
      folder.remove();
    });

    const count = (name: string): Promise<number> =>
      page.evaluate(`told.filter((one) => one.name === '${name}').length`);
    const packets = (): Promise<number> =>
      page.evaluate("told.findLast(({ name }) => name === 'quality')?.packets ?? 0");

    /** Registers and calls the echo bot. The page's events are collected in `told`. */
    async function begin(): Promise<void> {
      const { username, password } = service.demo;
      await page.evaluate(`(async () => {
        const { Phone } = await import('/phone.js');
        window.told = [];
        window.phone = new Phone({ audio: document.getElementById('audio') });
        const names = 'registered answered ended disconnected connected recovering recovered quality';
        for (const name of names.split(' ')) phone.on(name, (detail) => told.push({ name, ...detail }));
        await phone.login({ username: '${username}', password: '${password}' });
        await phone.call('1000');
      })()`);
    }

    it('restores audio in both directions and registers over the other network', async () => {
      await begin();
      await eventually('sound', async () => (await packets()) > 100 || undefined, 15_000);
      const [live] = (await service.admin('GET', '/calls')).body['calls'] as Json[];
      const received = async (): Promise<number> => {
        const { body } = await service.api('GET', `Call/${live?.['call_uuid']}/quality`);
        return Number(body['packets_received']);
      };
      expect(await count('registered')).toBe(1);

      network.change();
      await eventually(
        'a connection over the other network',
        async () => (await count('registered')) > 1 || undefined,
        40_000,
      );
      const [sentBefore, receivedBefore] = [await packets(), await received()];
      await eventually(
        'audio over it, in both directions',
        async () =>
          ((await packets()) > sentBefore + 100 && (await received()) > receivedBefore + 100) ||
          undefined,
        15_000,
      );
      expect(await count('ended')).toBe(0);
      await page.evaluate('phone.hangup()');
      const cdr = await eventually('the record', async () => {
        const { body } = await service.api('GET', 'cdr?per_page=1');
        return (body['data'] as Json[])[0];
      });
      // The BYE arrived over the new connection.
      expect(cdr).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller' });
    });

    it('connects over TCP where UDP is blocked', async () => {
      network.blockUdp();
      await page.evaluate('phone.unregister()');
      await page.evaluate(`
        window.peers = [];
        const Own = RTCPeerConnection;
        window.RTCPeerConnection = class extends Own {
          constructor(...args) { super(...args); peers.push(this); }
        };
      `);
      await begin();
      await eventually('sound', async () => (await packets()) > 200 || undefined, 30_000);
      const pair = await page.evaluate(`(async () => {
        const all = [...(await peers.at(-1).getStats()).values()];
        const used = all.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded');
        const { protocol, tcpType, port } = all.find(({ id }) => id === used.remoteCandidateId);
        return { protocol, tcpType, port };
      })()`);
      expect(pair).toEqual({ protocol: 'tcp', tcpType: 'passive', port: service.rtpPortMin });
      await page.evaluate('phone.hangup()');
    });
  },
);
