/** A phone menu: early media, prompts that a key interrupts, and keys that stay out of the logs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from './customer.ts';
import { makeUser } from './phone.ts';
import {
  eventually,
  newPlace,
  Program,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

/** Long enough to be unlikely to appear in a log by chance. */
const PIN = '86429753';

let place: ServicePlace;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  place = await newPlace({ CARILLON_LOG_LEVEL: 'debug' });
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

describe('GetDigits in a real call', () => {
  it("reads the phone's keys during an endless prompt, and writes them to no log", async () => {
    const action = customer.xml('/pin', '<Response><Hangup/></Response>');
    const answer_url = customer.xml(
      '/menu',
      `<Response>
        <PreAnswer><Wait length="1"/></PreAnswer>
        <GetDigits action="${action}" numDigits="8" log="false"><Speak loop="0">Your number</Speak><Wait length="600"/></GetDigits>
        <Speak>never</Speak>
      </Response>`,
    );
    const { username, password } = await makeUser(service, 'menu', { answer_url });
    const phone = new Program(
      'src/phone/main.ts',
      [
        '--user',
        username,
        '--password',
        password,
        '--dtmf',
        PIN,
        '--seconds',
        '15',
        '--to',
        '1000',
      ],
      place.environment,
    );
    const { form } = await eventually('the keys', () => customer.at('/pin')[0]);
    await phone.exited;
    expect(form).toMatchObject({ Event: 'GetDigits', Digits: PIN, CallStatus: 'in-progress' });
    expect(phone.output).toContain('183');
    expect(phone.output.indexOf('183')).toBeLessThan(phone.output.indexOf('answered'));
    expect(phone.output).toContain('the other side');
    const log = await service.api('GET', `Call/${form['CallUUID']}/log/`);
    expect(log.text).toContain('input, not logged');
    expect(log.text).not.toContain(PIN);
    expect(service.program.output).not.toContain(PIN);
  });
});
