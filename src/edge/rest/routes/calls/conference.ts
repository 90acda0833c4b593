import { ok, type Result } from '../../../../base/result.ts';
import type { Conference, MemberAction } from '../../../../domain/dispatch/types.ts';
import type { Failure } from '../../http/failure.ts';
import { accountRoute, type Method, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  httpUrl,
  type Static,
  type TSchema,
  Type,
} from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { RecordBody, RecordReply, recordRequest, SpeakFields } from './actions.ts';

const ROOT = '/api/v1/Account/{auth_id}/Conference/';
const ONE = `${ROOT}{name}/`;
const MEMBER = `${ONE}Member/{member_id}/`;
/** A room may contain calls of several sub-accounts, so only the main account moderates it. */
const common = { tag: 'Conferences', errors: 'resource', mainAccountOnly: true } as const;
const accountParams = Type.Object({ auth_id: accountIdText() });
const params = Type.Object({ auth_id: accountIdText(), name: Type.String() });
const memberParams = Type.Object({
  auth_id: accountIdText(),
  name: Type.String(),
  member_id: Type.String({ description: 'an ID, several separated by commas, or all' }),
});

const ConferenceSchema = Type.Object({
  api_id: apiId(),
  conference_name: Type.String(),
  conference_uuid: Type.String(),
  conference_run_time: Type.String({ description: 'seconds' }),
  conference_member_count: Type.String(),
  members: Type.Array(
    Type.Object({
      muted: Type.Boolean(),
      member_id: Type.String(),
      deaf: Type.Boolean(),
      from: Type.String(),
      to: Type.String(),
      caller_name: Type.String(),
      direction: Type.String(),
      call_uuid: Type.String(),
      join_time: Type.String({ description: 'seconds in the room' }),
    }),
  ),
});

const secondsOf = (ms: number): string => String(Math.round(ms / 1000));

const showConference = (conference: Conference, id: string): Static<typeof ConferenceSchema> => ({
  api_id: id,
  conference_name: conference.name,
  conference_uuid: conference.uuid,
  conference_run_time: secondsOf(conference.runningMs),
  conference_member_count: String(conference.members.length),
  members: conference.members.map((member) => ({
    muted: member.muted,
    member_id: member.memberId,
    deaf: member.deaf,
    from: member.from,
    to: member.to,
    caller_name: member.callerName,
    direction: member.direction,
    call_uuid: member.callUuid,
    join_time: secondsOf(member.inRoomMs),
  })),
});

const conferences: readonly Route[] = [
  accountRoute({
    ...common,
    method: 'GET',
    path: ROOT,
    summary: 'List the names of running conferences',
    params: accountParams,
    query: Type.Object({}),
    reply: Type.Object({ api_id: apiId(), conferences: Type.Array(Type.String()) }),
    run: async ({ control }, { accountId, apiId: id }) =>
      ok({
        api_id: id,
        conferences: (await control.conferences(accountId)).map(({ name }) => name),
      }),
  }),
  accountRoute({
    ...common,
    method: 'DELETE',
    path: ROOT,
    summary: 'End all conferences',
    status: 204,
    params: accountParams,
    run: async ({ control }, { accountId }) =>
      answered(await control.endConference(accountId, undefined), () => undefined),
  }),
  accountRoute({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'Get a conference and its members',
    params,
    reply: ConferenceSchema,
    async run({ control }, { accountId, params: path, apiId: id }) {
      const conference = await control.conference(accountId, path.name);
      if (conference === undefined) return refused({ kind: 'notFound', what: 'conference' });
      return ok(showConference(conference, id));
    },
  }),
  accountRoute({
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'End a conference',
    status: 204,
    params,
    run: async ({ control }, { accountId, params: path }) =>
      answered(await control.endConference(accountId, path.name), () => undefined),
  }),
  accountRoute({
    ...common,
    method: 'POST',
    path: `${ONE}Record/`,
    summary: 'Record a conference',
    status: 202,
    params,
    body: RecordBody,
    reply: RecordReply,
    run: async ({ control }, { accountId, params: path, body, apiId: id }) =>
      answered(
        await control.recordConference(accountId, path.name, recordRequest(body)),
        ({ recordingId, url }) => ({
          api_id: id,
          message: 'conference recording started',
          recording_id: recordingId,
          url,
        }),
      ),
  }),
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${ONE}Record/`,
    summary: 'Stop recording a conference',
    status: 204,
    params,
    run: async ({ control }, { accountId, params: path }) =>
      answered(await control.stopRecordingConference(accountId, path.name), () => undefined),
  }),
];

interface MemberOperation<B extends TSchema> {
  readonly method: Method;
  /** Path segment after the member: `Mute/`, or empty. */
  readonly word: string;
  readonly summary: string;
  /** Word in the reply for the completed action. */
  readonly done: string;
  readonly body: B;
  readonly action: (body: Static<B>) => MemberAction;
}

/** One ID is answered as text, several or `all` as a list (dialect §3.5). */
function memberRoute<B extends TSchema>(operation: MemberOperation<B>): Route {
  return accountRoute({
    ...common,
    method: operation.method,
    path: `${MEMBER}${operation.word}`,
    summary: operation.summary,
    status: 202,
    params: memberParams,
    body: operation.body as TSchema,
    reply: Type.Object({
      api_id: apiId(),
      message: Type.String(),
      member_id: Type.Unsafe<string | string[]>({
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      }),
    }),
    async run({ control }, { accountId, params: path, body, apiId: id }) {
      const chosen = path.member_id === 'all' ? 'all' : path.member_id.split(',');
      const done = await control.conferenceMembers(
        accountId,
        path.name,
        chosen,
        operation.action(body as Static<B>),
      );
      const single = chosen !== 'all' && chosen.length === 1;
      return answered(done, (members) => ({
        api_id: id,
        message: operation.done,
        member_id: single ? (members[0] ?? path.member_id) : [...members],
      })) satisfies Result<unknown, Failure>;
    },
  });
}

const NoBody = Type.Object({});

const simple = (
  method: Method,
  word: string,
  summary: string,
  done: string,
  kind: 'mute' | 'unmute' | 'deaf' | 'undeaf' | 'kick' | 'hangup' | 'stopPlay' | 'stopSpeak',
): Route => memberRoute({ method, word, summary, done, body: NoBody, action: () => ({ kind }) });

const members: readonly Route[] = [
  simple('POST', 'Mute/', 'Mute members', 'muted', 'mute'),
  simple('DELETE', 'Mute/', 'Unmute members', 'unmuted', 'unmute'),
  simple('POST', 'Deaf/', 'Deafen members, so that they hear nothing', 'deaf', 'deaf'),
  simple('DELETE', 'Deaf/', 'Undeafen members', 'undeaf', 'undeaf'),
  simple('POST', 'Kick/', 'Remove members from the room. Their calls continue', 'kicked', 'kick'),
  simple('DELETE', '', 'Hang up members', 'hangup', 'hangup'),
  simple('DELETE', 'Play/', 'Stop playing to members', 'play stopped', 'stopPlay'),
  simple('DELETE', 'Speak/', 'Stop speaking to members', 'speak stopped', 'stopSpeak'),
  memberRoute({
    method: 'POST',
    word: 'Play/',
    summary: 'Play audio to members',
    done: 'play queued into conference',
    body: Type.Object({ url: httpUrl() }),
    action: ({ url }) => ({ kind: 'play', url }),
  }),
  memberRoute({
    method: 'POST',
    word: 'Speak/',
    summary: 'Speak a text to members',
    done: 'speak queued into conference',
    body: Type.Object(SpeakFields),
    action: (body) => ({
      kind: 'speak',
      text: body.text,
      voice: body.voice ?? 'WOMAN',
      language: body.language ?? 'en-US',
    }),
  }),
];

export const conferenceRoutes: readonly Route[] = [...conferences, ...members];
