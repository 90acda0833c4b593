/** A multi-party call of real phones: one joins by its document, the other by REST. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from './customer.ts';
import { Handset } from './handset.ts';
import { makeUser } from './phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

let place: ServicePlace;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  place = await newPlace();
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

interface Participant {
  readonly role: string;
  readonly mute: boolean;
  readonly call_uuid: string;
}

describe('MultiPartyCall', () => {
  it('sends the customer its queue position, adds and mutes an agent, and ends for both together', async () => {
    let requested = 0;
    const wait = customer.page('/wait', (response) => {
      requested += 1;
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end('<Response><Wait length="1"/></Response>');
    });
    const status = customer.page('/status', (response) => response.end());
    const inQueue = customer.xml(
      '/customer',
      `<Response><MultiPartyCall role="customer" startMpcOnEnter="false" waitMusicUrl="${wait}" statusCallbackUrl="${status}">case-1</MultiPartyCall></Response>`,
    );
    const idle = customer.xml(
      '/agent',
      '<Response><Speak>hello</Speak><Wait length="60"/></Response>',
    );
    const [a, b] = [
      await makeUser(service, 'caller', { answer_url: inQueue }),
      await makeUser(service, 'agent', { answer_url: idle }),
    ];
    const caller = await Handset.call(service, a);
    await caller.answered;
    await eventually('a second place', () => (requested >= 2 ? true : undefined));
    const agent = await Handset.call(service, b);
    await agent.answered;
    const agentCall = await eventually(
      'the agent',
      () => customer.at('/agent')[0]?.form['CallUUID'],
    );
    const added = await service.api('POST', 'MultiPartyCall/name_case-1/Participant/', {
      role: 'agent',
      call_uuid: agentCall,
      enter_sound: 'none',
    });
    expect([added.status, added.body['message']]).toEqual([201, 'participant added']);
    const members = async (): Promise<readonly Participant[] | undefined> => {
      const list = await service.api('GET', 'MultiPartyCall/name_case-1/Participant/');
      const objects = (list.body['objects'] ?? []) as readonly Participant[];
      return objects.length === 2 ? objects : undefined;
    };
    expect((await eventually('two members', members)).map(({ role }) => role)).toEqual([
      'customer',
      'agent',
    ]);
    const [mpc] = (await service.api('GET', 'MultiPartyCall/')).body['objects'] as readonly {
      mpc_uuid: string;
      status: string;
    }[];
    expect(mpc?.status).toBe('Active');
    const one = `MultiPartyCall/uuid_${mpc?.mpc_uuid}/`;
    const muted = await service.api('POST', `${one}Participant/${agentCall}/`, { mute: true });
    expect(muted.status).toBe(202);
    expect((await members())?.[1]).toMatchObject({ role: 'agent', mute: true });
    const whole = await service.api('POST', `${one}Record/`, { file_format: 'wav' });
    const single = await service.api('POST', `${one}Participant/${agentCall}/Record/`, {});
    for (const part of [one, `${one}Participant/${agentCall}/`])
      expect((await service.api('POST', `${part}Record/Pause/`)).status).toBe(204);
    expect((await service.api('GET', one)).body).toMatchObject({ recording: 'paused' });
    expect((await service.api('DELETE', one)).status).toBe(204);
    await Promise.all([caller.ended, agent.ended]);
    for (const { body } of [whole, single]) {
      const id = String(body['recording_id']);
      // The recording was paused before the rest of the call, so the rest is missing.
      await eventually('the recording', async () => {
        const file = await service.api('GET', `Recording/${id}/`);
        if (file.status === 404) return true;
        return Number(file.body['recording_duration_ms'] ?? 1e9) < 1500 || undefined;
      });
    }
    expect((await service.api('GET', one)).body).toMatchObject({
      status: 'Ended',
      termination_cause: 'Hangup API Triggered',
      termination_cause_code: 3000,
    });
    const left = (await service.api('GET', `${one}Participant/`)).body['objects'];
    const gone = { exit_time: expect.any(String) };
    expect(left).toMatchObject([gone, { ...gone, exit_cause: 'Participant Call Hangup' }]);
    await eventually('the end', () =>
      customer.at('/status').find(({ form }) => form['EventName'] === 'MPCEnded'),
    );
    await Promise.all([caller.close(), agent.close()]);
  });

  it('selects a participant by call_uuid, or by from and to', async () => {
    for (const body of [
      { role: 'agent' },
      { role: 'agent', from: '1', call_uuid: 'x' },
      { role: 'boss', from: '1', to: '2' },
    ]) {
      const refused = await service.api('POST', 'MultiPartyCall/name_case-2/Participant/', body);
      expect(refused.status).toBe(400);
    }
  });
});
