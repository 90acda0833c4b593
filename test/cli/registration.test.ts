/** Agents take endpoints and give them back, also if they are killed or take the same endpoint. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../packages/client/src/client.ts';
import { register } from '../../src/cli/agent/registration.ts';
import { type Service, startService } from '../spec/service.ts';

let service: Service;
let client: Client;
/** Application of the endpoint before an agent takes it. */
let original: number;
let endpoints: readonly { readonly id: string; readonly username: string }[];
beforeAll(async () => {
  service = await startService();
  const { url } = await service.server.start();
  client = new Client({ url, ...service.account });
});
afterAll(() => service.stop());
beforeEach(async () => {
  const urls = { answer_url: 'http://bots.example/answer' };
  const made = await service.post(`${service.root}/Application/`, { app_name: 'own', ...urls });
  original = Number(made.body.app_id);
  endpoints = await Promise.all(
    ['alice', 'bob'].map(async (username) => {
      const body = { username: `${username}${original}`, password: 'Secret12345', alias: 'a' };
      const reply = await service.post(`${service.root}/Endpoint/`, { ...body, app_id: original });
      return { id: String(reply.body.endpoint_id), username: String(reply.body.username) };
    }),
  );
});

const agent = (name: string, { port = 8090, endpoint = 0 } = {}) =>
  register(client, {
    name,
    answerUrl: `http://agent:Pass1234567890@127.0.0.1:${port}/answer`,
    hangupUrl: `http://agent:Pass1234567890@127.0.0.1:${port}/hangup`,
    endpoint: endpoints[endpoint]?.username,
    numbers: [],
  });

const applicationOf = async (endpoint = 0): Promise<unknown> =>
  (await service.get(`${service.root}/Endpoint/${endpoints[endpoint]?.id}/`)).body.app_id;

describe('an agent', () => {
  it('takes an endpoint, and restores its application', async () => {
    const { appId, undo } = await agent('one');
    expect(await applicationOf()).toBe(appId);
    await undo();
    expect(await applicationOf()).toBe(original);
  });

  it('restores an endpoint without an application', async () => {
    const path = `${service.root}/Endpoint/${endpoints[0]?.id}/`;
    await service.post(path, { app_id: null });
    const { undo } = await agent('none');
    await undo();
    expect(await applicationOf()).toBeNull();
  });

  it('restores what a killed process of it took', async () => {
    await agent('killed');
    const { undo } = await agent('killed', { port: 8091 });
    await undo();
    expect(await applicationOf()).toBe(original);
  });

  it('gives back the endpoint of a killed process before it takes another', async () => {
    await agent('moved');
    const { appId, undo } = await agent('moved', { endpoint: 1 });
    expect([await applicationOf(0), await applicationOf(1)]).toEqual([original, appId]);
    await undo();
    expect([await applicationOf(0), await applicationOf(1)]).toEqual([original, original]);
  });

  it('leaves the endpoint to a process that has taken over its application', async () => {
    const first = await agent('again');
    const second = await agent('again', { port: 8091 });
    await first.undo();
    expect(await applicationOf()).toBe(second.appId);
    await second.undo();
    expect(await applicationOf()).toBe(original);
  });

  it.each(['first', 'second'])(
    'leaves the endpoint to another agent; the %s stops first',
    async (which) => {
      const first = await agent(`${which}-a`);
      const second = await agent(`${which}-b`, { port: 8091 });
      const [early, late] = which === 'first' ? [first, second] : [second, first];
      await early.undo();
      expect(await applicationOf()).toBe(late.appId);
      await late.undo();
      expect(await applicationOf()).toBe(original);
    },
  );

  it('leaves an endpoint that the operator has assigned during its run', async () => {
    const { undo } = await agent('reassigned');
    const path = `${service.root}/Endpoint/${endpoints[0]?.id}/`;
    await service.post(path, { app_id: null });
    await undo();
    expect(await applicationOf()).toBeNull();
  });

  it('changes nothing if the endpoint is unknown', async () => {
    const options = { name: 'lost', answerUrl: 'http://a/', hangupUrl: 'http://a/', numbers: [] };
    const refused = register(client, { ...options, endpoint: 'nobody' });
    await expect(refused).rejects.toThrow('the account has no endpoint nobody');
    const { body } = await service.get(`${service.root}/Application/?limit=20`);
    expect(JSON.stringify(body)).not.toContain('agent-lost');
  });
});
