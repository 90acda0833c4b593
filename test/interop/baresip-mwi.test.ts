/** baresip subscribes to message waiting after it has registered (RFC 3842, 6665). */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from '../e2e/service.ts';
import { Baresip } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

describe.skipIf(missing('baresip', 'sox'))('baresip with message waiting', () => {
  let place: ServicePlace;
  let service: Service;
  let phone: Baresip;
  const folder = workFolder();

  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
    const { username, password } = service.demo;
    phone = await Baresip.start(
      join(folder.path, 'phone'),
      `<sip:${username}@127.0.0.1:${service.sipPort}>;auth_pass=${password};regint=60;mwi=yes`,
      { settings: ['module_app mwi.so'] },
    );
  });
  afterAll(async () => {
    await phone?.stop();
    await service?.kill();
    removePlace(place);
    folder.remove();
  });

  it('subscribes with its password and answers the NOTIFY', async () => {
    const counted = async (labels: string): Promise<true | undefined> => {
      const { text } = await service.get('/metrics');
      return new RegExp(`voice_sip_messages_total\\{${labels}\\} [1-9]`).test(text) || undefined;
    };
    const udp = 'transport="udp"';
    await eventually('NOTIFY', () => counted(`direction="out",${udp},method="NOTIFY",code=""`));
    await eventually('its 200', () => counted(`direction="in",${udp},method="",code="200"`));
    expect(phone.output).toContain('mwi: subscribing to messages');
  });
});
