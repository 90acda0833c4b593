/** Members of multi-party calls: add, move, mute, hold, coach and remove. */
import { err, ok, type Result } from '../../../../base/result.ts';
import { inlineDocument } from '../../../../domain/callback/callback.ts';
import { parseAnswerXml } from '../../../../protocol/answer-xml/answer-xml.ts';
import { type Failure, failure, invalidField } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { apiId, callUuidOf, flag, type Static, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { callbackTarget, parseDestinations } from '../../wire/make-call.ts';
import {
  AddBody,
  anyMpc,
  common,
  elementOf,
  findMpc,
  member,
  membersOf,
  NOT_FOUND,
  PARTICIPANTS,
  ParticipantSchema,
  params,
  participantParams,
  showParticipant,
} from '../../wire/multi-party.ts';

/** Returns whether the body moves a running call or places new ones. */
function chosenCalls(body: Static<typeof AddBody>): Result<'move' | 'call', Failure> {
  if (body.call_uuid !== undefined) {
    return body.from === undefined && body.to === undefined
      ? ok('move')
      : err(invalidField('call_uuid', 'is allowed only without from and to'));
  }
  if (body.from === undefined) return err(invalidField('from', 'is required without call_uuid'));
  if (body.to === undefined) return err(invalidField('to', 'is required without call_uuid'));
  return ok('call');
}

/** Returns the document of the member. An invalid one is refused here: it would end the call that runs it. */
function documentOf(name: string, body: Static<typeof AddBody>): Result<string, Failure> {
  const xml = `<Response>${elementOf(name, body)}</Response>`;
  const read = parseAnswerXml(xml, { allowInsecureStreams: true });
  return read.ok ? ok(xml) : err(failure(400, `invalid participant: ${read.error.message}`));
}

export const multiPartyMemberRoutes: readonly Route[] = [
  accountRoute({
    ...common,
    method: 'POST',
    path: PARTICIPANTS,
    summary: 'Add a participant to a multi-party call, by a new call or by moving a live call',
    status: 201,
    params,
    body: AddBody,
    reply: Type.Object({
      api_id: apiId(),
      message: Type.String(),
      request_uuid: Type.Optional(Type.String()),
      calls: Type.Array(
        Type.Object({ to: Type.String(), from: Type.String(), call_uuid: Type.String() }),
      ),
    }),
    async run({ control }, input) {
      const { accountId, params: path, body, apiId: id } = input;
      const chosen = chosenCalls(body);
      if (!chosen.ok) return chosen;
      const running = findMpc(await control.multiPartyCalls(accountId), path.mpc_id);
      const name = running?.name ?? /^name_(.{1,128})$/s.exec(path.mpc_id)?.[1];
      if (name === undefined) return refused(NOT_FOUND);
      const document = documentOf(name, body);
      if (!document.ok) return document;
      const answer = inlineDocument(document.value);
      const message = 'participant added';
      if (body.call_uuid !== undefined) {
        const moved = await control.transfer(accountId, callUuidOf(body.call_uuid), {
          legs: 'aleg',
          aleg: answer,
          bleg: undefined,
        });
        return answered(moved, () => ({ api_id: id, message, calls: [] }));
      }
      const from = body.from ?? '';
      const destinations = parseDestinations(body.to ?? '');
      if (!destinations.ok) return destinations;
      const known = destinations.value;
      if (known.length > 20) return err(invalidField('to', 'must have at most 20 destinations'));
      const placed = await control.placeCalls({
        accountId,
        subAccount: undefined,
        from: from.replace(/^\+/, ''),
        destinations: known,
        answer,
        ring: undefined,
        hangup: callbackTarget(body.call_status_callback_url, body.call_status_callback_method),
        fallback: undefined,
        machineDetection: undefined,
        callerName: body.caller_name,
        sendDigits: undefined,
        sendOnPreanswer: false,
        timeLimitMs: 86_400_000,
        hangupOnRingMs: undefined,
        ringTimeoutMs: ringTimeoutMs(body.ring_timeout),
        sipHeaders: [],
        idempotencyKey: undefined,
      });
      return answered(placed, ({ requestUuid }) => ({
        api_id: id,
        message,
        request_uuid: requestUuid,
        calls: (body.to ?? '')
          .split('<')
          .map((to) => ({ to: to.trim(), from, call_uuid: known.length === 1 ? requestUuid : '' })),
      }));
    },
  }),
  accountRoute({
    ...common,
    method: 'GET',
    path: PARTICIPANTS,
    summary: 'List the members of a multi-party call: current members first, then those who left',
    params,
    query: Type.Object({ call_uuid: Type.Optional(Type.String()) }),
    reply: Type.Object({ api_id: apiId(), objects: Type.Array(ParticipantSchema) }),
    async run({ control }, { accountId, params: path, query, apiId: id }) {
      const mpc = await anyMpc(control, accountId, path.mpc_id);
      if (mpc === undefined) return refused(NOT_FOUND);
      const wanted = query.call_uuid?.toLowerCase();
      const objects = membersOf(mpc)
        .filter(({ callUuid }) => wanted === undefined || callUuid === wanted)
        .map((one) => showParticipant(mpc, one, accountId));
      return ok({ api_id: id, objects });
    },
  }),
  accountRoute({
    ...common,
    method: 'GET',
    path: `${PARTICIPANTS}{participant_id}/`,
    summary: 'Get a member of a multi-party call',
    params: participantParams,
    reply: Type.Object({ api_id: apiId(), ...ParticipantSchema.properties }),
    async run({ control }, { accountId, params: path, apiId: id }) {
      const mpc = await anyMpc(control, accountId, path.mpc_id);
      const found = member(mpc, path.participant_id);
      if (mpc === undefined || found === undefined) {
        return refused({ kind: 'notFound', what: 'member' });
      }
      return ok({ api_id: id, ...showParticipant(mpc, found, accountId) });
    },
  }),
  accountRoute({
    ...common,
    method: 'POST',
    path: `${PARTICIPANTS}{participant_id}/`,
    summary: 'Mute, hold or coach a member',
    status: 202,
    params: participantParams,
    body: Type.Object({
      mute: Type.Optional(flag()),
      hold: Type.Optional(flag()),
      coach_mode: Type.Optional(flag()),
    }),
    reply: Type.Object({
      api_id: apiId(),
      mute: Type.Optional(Type.String()),
      hold: Type.Optional(Type.String()),
      coach_mode: Type.Optional(Type.String()),
    }),
    async run({ control }, { accountId, params: path, body, apiId: id }) {
      const { mute, hold, coach_mode: coachMode } = body;
      const done = await control.changeMultiPartyCall(accountId, path.mpc_id, {
        kind: 'member',
        member: path.participant_id,
        change: { mute, hold, coachMode },
      });
      const said = (name: string, value: boolean | undefined) =>
        value === undefined ? {} : { [name]: `MPC: ${name}${value ? '' : ' off'} initiated` };
      return answered(done, () => ({
        api_id: id,
        ...said('mute', mute),
        ...said('hold', hold),
        ...said('coach_mode', coachMode),
      }));
    },
  }),
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${PARTICIPANTS}{participant_id}/`,
    summary: 'Remove a member. Its document continues',
    status: 204,
    params: participantParams,
    run: async ({ control }, { accountId, params: path }) =>
      answered(
        await control.changeMultiPartyCall(accountId, path.mpc_id, {
          kind: 'kick',
          member: path.participant_id,
        }),
        () => undefined,
      ),
  }),
];

/** Returns the ring timeout in milliseconds: the first of a list in seconds. */
function ringTimeoutMs(value: number | string | undefined): number | undefined {
  const seconds = Number(String(value ?? '').split('<')[0]);
  return Number.isInteger(seconds) && seconds > 0 && seconds <= 600 ? seconds * 1000 : undefined;
}
