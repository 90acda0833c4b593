/** One conference with members on three nodes: they hear each other, and every node answers requests about it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import { eventually, type Json, type Service } from '../e2e/service.ts';
import { tone, toneMs } from '../e2e/tones.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Fleet } from './fleet.ts';

/** One frequency per phone. No frequency is a harmonic of another. */
const PITCHES_HZ = [440, 1000, 1700];
const SPEECH_MS = 60_000;
const RECEIVED_MS = 400;

describe.skipIf(!HAS_REDIS || postgresMissing !== undefined)(
  'a conference over three nodes (needs PostgreSQL and redis-server)',
  () => {
    let fleet: Fleet;
    let customer: Customer;
    const users: SipUser[] = [];
    let phones: Handset[] = [];
    let root: { readonly authId: string; readonly authToken: string };

    beforeAll(async () => {
      fleet = await Fleet.start(3);
      root = fleet.node(0).demo;
      customer = await Customer.listen();
      const room = (attributes: string) =>
        `<Response><Conference callbackUrl="http://${customer.authority}/events" enterSound="none" exitSound="none" ${attributes}>weekly</Conference><Wait length="60"/></Response>`;
      for (const [at, name] of ['ann', 'bob', 'cid'].entries()) {
        const own = at === 0 ? 'digitsMatch="12"' : '';
        const answer_url = customer.xml(`/${name}`, room(own));
        const hangup_url = `http://${customer.authority}/events`;
        users.push(await makeUser(fleet.node(0), name, { answer_url, hangup_url }, root));
      }
    });
    afterEach(async () => {
      await Promise.all(phones.map((phone) => phone.hangUp()));
      phones = [];
    });
    afterAll(async () => {
      await fleet?.stop();
      await customer?.close();
    });

    const api = (by: Service, method: string, path: string, body?: Json) =>
      by.api(method, path, body, root);
    const members = async (by: Service): Promise<readonly Json[]> =>
      ((await api(by, 'GET', 'Conference/weekly/')).body['members'] ?? []) as readonly Json[];
    const memberOf = async (by: Service, at: number): Promise<Json> => {
      const found = (await members(by)).find(({ from }) =>
        String(from).includes(`${users[at]?.username}@`),
      );
      if (found === undefined) throw new Error(`phone ${at} is not a member`);
      return found;
    };

    /** Starts one phone per node. Each plays a different tone. */
    async function meet(): Promise<void> {
      for (const at of [0, 1, 2]) {
        const voice = tone([PITCHES_HZ[at] ?? 0], SPEECH_MS);
        const phone = await Handset.call(fleet.node(at), users[at] as SipUser, { voice });
        phones.push(phone);
        await phone.answered;
        await eventually(`member ${at}`, async () =>
          (await members(fleet.node(at))).length === at + 1 ? true : undefined,
        );
      }
    }

    /** Waits until the phone receives exactly these tones. */
    async function hears(at: number, others: readonly number[]): Promise<true> {
      const phone = phones[at] as Handset;
      const from = phone.received.length;
      return eventually(`${others} at phone ${at}`, () => {
        const since = phone.received.subarray(from);
        const all = others.every((one) => toneMs(since, PITCHES_HZ[one] ?? 0, 0.2) > RECEIVED_MS);
        return all || undefined;
      });
    }

    /** Waits until the last 0.5 s of received audio lacks this tone. */
    const isDeafTo = (at: number, other: number): Promise<true> =>
      eventually(`phone ${at} without ${other}`, () => {
        const received = phones[at]?.received ?? new Int16Array();
        const latest = received.subarray(Math.max(0, received.length - 4000));
        return (
          (latest.length >= 4000 && toneMs(latest, PITCHES_HZ[other] ?? 0, 0.2) === 0) || undefined
        );
      });

    const events = (name: string): readonly Readonly<Record<string, string>>[] =>
      customer.at('/events').flatMap(({ form }) => (form['Event'] === name ? [form] : []));

    it('all members hear each other, every API action works from every node, and callbacks are ordered and name the right call', async () => {
      await meet();
      for (const at of [0, 1, 2])
        await hears(
          at,
          [0, 1, 2].filter((other) => other !== at),
        );
      // Every node lists the same conference.
      for (const at of [0, 1, 2]) {
        const list = (await api(fleet.node(at), 'GET', 'Conference/')).body['conferences'];
        expect(list).toEqual(['weekly']);
        expect(await members(fleet.node(at))).toHaveLength(3);
      }
      const entered = await eventually('who entered', () =>
        events('ConferenceEnter').length === 3 ? events('ConferenceEnter') : undefined,
      );
      for (const at of [0, 1, 2]) {
        const { member_id: id, call_uuid: uuid } = await memberOf(fleet.node(2), at);
        expect(entered).toContainEqual(
          expect.objectContaining({
            ConferenceMemberID: id,
            CallUUID: uuid,
            ConferenceName: 'weekly',
          }),
        );
      }
      const bob = String((await memberOf(fleet.node(0), 1))['member_id']);
      const one = `Conference/weekly/Member/${bob}/`;
      // Mutes a member through a node that hosts no part of the call.
      expect((await api(fleet.node(2), 'POST', `${one}Mute/`)).status).toBe(202);
      await isDeafTo(0, 1);
      expect(await memberOf(fleet.node(1), 1)).toMatchObject({ muted: true });
      expect((await api(fleet.node(0), 'DELETE', `${one}Mute/`)).status).toBe(202);
      await hears(0, [1, 2]);
      expect((await api(fleet.node(2), 'POST', `${one}Deaf/`)).status).toBe(202);
      await isDeafTo(1, 0);
      expect((await api(fleet.node(2), 'DELETE', `${one}Deaf/`)).status).toBe(202);
      await hears(1, [0, 2]);
      // The conference's node matches DTMF of a caller on another node.
      phones[0]?.press('12');
      const matched = await eventually('the digits', () => events('ConferenceDigitsMatch')[0]);
      expect(matched).toMatchObject({
        ConferenceDigitsMatch: '12',
        CallUUID: (await memberOf(fleet.node(0), 0))['call_uuid'],
      });
      const recorded = await api(fleet.node(1), 'POST', 'Conference/weekly/Record/', {
        file_format: 'wav',
      });
      expect(recorded.status).toBe(202);
      expect((await api(fleet.node(2), 'DELETE', 'Conference/weekly/Record/')).status).toBe(204);
      // Kicks a member through another node. The member's document continues, so the call stays up.
      const cid = await memberOf(fleet.node(0), 2);
      const kick = `Conference/weekly/Member/${String(cid['member_id'])}/Kick/`;
      expect((await api(fleet.node(0), 'POST', kick)).status).toBe(202);
      await eventually('two members', async () =>
        (await members(fleet.node(2))).length === 2 ? true : undefined,
      );
      const url = `Call/${String(cid['call_uuid'])}/?status=live`;
      expect((await api(fleet.node(1), 'GET', url)).status).toBe(200);
      // Hangs up a member through a node that hosts no part of the call.
      const gone = await memberOf(fleet.node(0), 1);
      const member = `Conference/weekly/Member/${String(gone['member_id'])}/`;
      expect((await api(fleet.node(2), 'DELETE', member)).status).toBe(202);
      await phones[1]?.ended;
      const bobs = await eventually('the hangup', () => {
        const reported = customer.at('/events').map(({ form }) => form);
        const own = reported.filter(({ CallUUID }) => CallUUID === gone['call_uuid']);
        return own.some(({ Event }) => Event === 'Hangup') ? own : undefined;
      });
      expect(bobs.map(({ Event }) => Event)).toEqual([
        'ConferenceEnter',
        'ConferenceExit',
        'Hangup',
      ]);
      expect(bobs.at(-1)).toMatchObject({ HangupSource: 'API Request' });
    });

    it("a drain of the conference's node moves all members to another node, where they hear each other", async () => {
      await meet();
      const before = events('ConferenceExit').length;
      const { child, exited } = fleet.node(0).program;
      child.kill('SIGTERM');
      await eventually('all members at another node', async () =>
        (await members(fleet.node(1))).length === 3 && events('ConferenceExit').length >= before + 3
          ? true
          : undefined,
      );
      for (const at of [0, 1, 2])
        await hears(
          at,
          [0, 1, 2].filter((other) => other !== at),
        );
      // The draining node waits for its last call.
      await phones.shift()?.hangUp();
      expect(await exited).toBe(0);
      await fleet.restart(0);
    });

    it('a multi-party call over two nodes: a third node controls hold and coaching', async () => {
      const mpc = (role: string) =>
        `<Response><MultiPartyCall role="${role}" statusCallbackUrl="http://${customer.authority}/mpc">case</MultiPartyCall></Response>`;
      for (const [at, role] of ['customer', 'agent'].entries()) {
        const answer_url = customer.xml(`/mpc-${role}`, mpc(role));
        const user = await makeUser(fleet.node(0), role, { answer_url }, root);
        const voice = tone([PITCHES_HZ[at] ?? 0], SPEECH_MS);
        const phone = await Handset.call(fleet.node(at), user, { voice });
        phones.push(phone);
        await phone.answered;
        await eventually(`participant ${at}`, async () => {
          const { body } = await api(fleet.node(2), 'GET', 'MultiPartyCall/name_case/Participant/');
          return ((body['objects'] ?? []) as Json[]).length === at + 1 || undefined;
        });
      }
      await Promise.all([hears(0, [1]), hears(1, [0])]);
      const { body } = await api(fleet.node(2), 'GET', 'MultiPartyCall/name_case/Participant/');
      const agent = (body['objects'] as Json[]).find(({ role }) => role === 'agent');
      const one = `MultiPartyCall/name_case/Participant/${String(agent?.['call_uuid'])}/`;
      expect((await api(fleet.node(2), 'POST', one, { hold: true })).status).toBe(202);
      await Promise.all([isDeafTo(0, 1), isDeafTo(1, 0)]);
      const reported = await eventually('the hold', () =>
        customer.at('/mpc').find(({ form }) => form['EventName'] === 'ParticipantHold'),
      );
      expect(reported.form).toMatchObject({ ParticipantCallUUID: agent?.['call_uuid'] });
      expect((await api(fleet.node(2), 'POST', one, { hold: false })).status).toBe(202);
      await Promise.all([hears(0, [1]), hears(1, [0])]);
      expect((await api(fleet.node(2), 'DELETE', 'MultiPartyCall/name_case/')).status).toBe(204);
      await Promise.all(phones.map((phone) => phone.ended));
    });

    it.each(['killed', 'drained'])(
      'when the host node is %s after the first member has left, the others continue to hear each other',
      async (how) => {
        const waits = 'startConferenceOnEnter="false" endConferenceOnExit="false"';
        const begins = 'startConferenceOnEnter="true" endConferenceOnExit="false"';
        const events = `callbackUrl="http://${customer.authority}/events"`;
        const room = (rules: string) =>
          `<Response><Conference ${events} enterSound="none" exitSound="none" ${rules}>${how}</Conference></Response>`;
        const inside = async (by: Service): Promise<number> => {
          const { body } = await api(by, 'GET', `Conference/${how}/`);
          return ((body['members'] ?? []) as Json[]).length;
        };
        // The first member's node hosts the conference. The member that starts it joins last, from another node.
        for (const [at, node] of [0, 1, 2, 1].entries()) {
          const answer_url = customer.xml(`/${how}-${at}`, room(at === 3 ? begins : waits));
          const user = await makeUser(fleet.node(1), `${how}${at}`, { answer_url }, root);
          const voice = tone([PITCHES_HZ[at] ?? 2200], SPEECH_MS);
          const phone = await Handset.call(fleet.node(node), user, { voice });
          phones.push(phone);
          await phone.answered;
          await eventually(`member ${at}`, async () =>
            (await inside(fleet.node(1))) === at + 1 ? true : undefined,
          );
          if (at === 2) await isDeafTo(1, 2);
        }
        await Promise.all([hears(0, [1, 2]), hears(1, [0, 2]), hears(2, [0, 1])]);
        await phones.pop()?.hangUp();
        await eventually('three', async () =>
          (await inside(fleet.node(2))) === 3 ? true : undefined,
        );
        const { program } = fleet.node(0);
        if (how === 'drained') {
          const uuid = async (): Promise<unknown> =>
            (await api(fleet.node(1), 'GET', `Conference/${how}/`)).body['conference_uuid'];
          const before = await uuid();
          program.child.kill('SIGTERM');
          await eventually('three members at another node', async () =>
            (await inside(fleet.node(1))) === 3 && (await uuid()) !== before ? true : undefined,
          );
          await Promise.all([hears(0, [1, 2]), hears(1, [0, 2]), hears(2, [0, 1])]);
          await phones.shift()?.hangUp();
          expect(await program.exited).toBe(0);
        } else {
          await fleet.node(0).kill();
          const meetAgain = async () => ((await inside(fleet.node(1))) === 2 ? true : undefined);
          await eventually('two', meetAgain, 20_000);
          await isDeafTo(1, 0);
          await Promise.all([hears(1, [2]), hears(2, [1])]);
          await phones.shift()?.close();
        }
        await fleet.restart(0);
      },
    );

    it('when the host node is killed, members on other nodes meet again and hear each other', async () => {
      await meet();
      await hears(2, [0, 1]);
      const old = (await members(fleet.node(1))).map(
        (member) => `${String(member['call_uuid'])} ${String(member['member_id'])}`,
      );
      await fleet.node(0).kill();
      const killedMs = performance.now();
      await eventually(
        'the others',
        async () => {
          const { body } = await api(fleet.node(1), 'GET', 'Conference/weekly/');
          return ((body['members'] ?? []) as Json[]).length === 2 || undefined;
        },
        20_000,
      );
      process.stdout.write(
        `the conference continued on another node ${Math.round(performance.now() - killedMs)} ms after its node was killed\n`,
      );
      await Promise.all([hears(1, [2]), hears(2, [1])]);
      const exits = (): readonly string[] =>
        events('ConferenceExit').map((form) => `${form['CallUUID']} ${form['ConferenceMemberID']}`);
      // Every old member ID has left, including that of the call that the crashed node ran.
      await eventually(
        'the exits',
        () => old.every((one) => exits().filter((exit) => exit === one).length === 1) || undefined,
        20_000,
      );
      await phones[0]?.close();
      phones = phones.slice(1);
      await fleet.restart(0);
    });
  },
);
