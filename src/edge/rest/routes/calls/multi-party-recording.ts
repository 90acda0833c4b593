/** Recordings of a multi-party call or of one member, and sounds for one member. */

import type { AccountId } from '../../../../base/ids.ts';
import type { Result } from '../../../../base/result.ts';
import type {
  CallControl,
  ControlRefusal,
  PartyAction,
} from '../../../../domain/dispatch/types.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { apiId, httpMethod, oneOf, optionalHttpUrl, type Static, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import {
  common,
  MPC_ONE,
  PARTICIPANTS,
  params,
  participantParams,
} from '../../wire/multi-party.ts';

const LONGEST_MS = 86_400_000;
const PARTICIPANT = `${PARTICIPANTS}{participant_id}/`;
const MEMBER = `${MPC_ONE}Member/{participant_id}/`;

const recordFields = {
  file_format: Type.Optional(oneOf(['mp3', 'wav'], { default: 'mp3' })),
  recording_callback_url: Type.Optional(optionalHttpUrl()),
  recording_callback_method: Type.Optional(httpMethod()),
};
const RecordBody = Type.Object(recordFields);
const MemberRecordBody = Type.Object({
  ...recordFields,
  record_track_type: Type.Optional(
    oneOf(['participant', 'all'], {
      default: 'all',
      description: 'participant: audio from the member; all: audio from and to the member',
    }),
  ),
});
const RecordReply = Type.Object({
  api_id: apiId(),
  message: Type.String(),
  recording_id: Type.String(),
  recording_url: Type.String(),
  url: Type.String({ description: 'same as recording_url' }),
});

async function record(
  control: CallControl,
  { accountId, mpcId, id }: { accountId: AccountId; mpcId: string; id: string },
  body: Static<typeof RecordBody>,
  member?: { readonly id: string; readonly track: 'voice' | 'all' },
) {
  const request = {
    maxMs: LONGEST_MS,
    format: body.file_format ?? ('mp3' as const),
    channels: 'mono' as const,
    callback: callbackTarget(body.recording_callback_url, body.recording_callback_method),
  };
  const started = await control.recordMultiPartyCall(accountId, mpcId, request, member);
  return answered(started, ({ recordingId, url }) => ({
    api_id: id,
    message: 'MPC: record started',
    recording_id: recordingId,
    recording_url: url,
    url,
  }));
}

const nothing = (done: Result<void, ControlRefusal>) => answered(done, () => undefined);

const ofWhole = (
  route: { readonly method: 'POST' | 'DELETE'; readonly path: string; readonly summary: string },
  kind: 'stopRecording' | 'pauseRecording' | 'resumeRecording',
): Route =>
  accountRoute({
    ...common,
    ...route,
    status: 204,
    params,
    run: async ({ control }, { accountId, params: path }) =>
      nothing(await control.changeMultiPartyCall(accountId, path.mpc_id, { kind })),
  });

const ofMember = (
  route: { readonly method: 'POST' | 'DELETE'; readonly path: string; readonly summary: string },
  kind: Exclude<PartyAction['kind'], 'begin' | 'end' | 'play' | 'member'>,
): Route =>
  accountRoute({
    ...common,
    ...route,
    status: 204,
    params: participantParams,
    run: async ({ control }, { accountId, params: path }) =>
      nothing(
        await control.changeMultiPartyCall(accountId, path.mpc_id, {
          kind,
          member: path.participant_id,
        }),
      ),
  });

/** Routes that pause and resume a recording. */
const pausing = (of: typeof ofWhole, path: string, whose: string, note = ''): readonly Route[] => [
  of(
    {
      method: 'POST',
      path: `${path}Record/Pause/`,
      summary: `Pause the recording of ${whose}${note}`,
    },
    'pauseRecording',
  ),
  of(
    { method: 'POST', path: `${path}Record/Resume/`, summary: `Resume the recording of ${whose}` },
    'resumeRecording',
  ),
];

export const multiPartyRecordingRoutes: readonly Route[] = [
  accountRoute({
    ...common,
    method: 'POST',
    path: `${MPC_ONE}Record/`,
    summary: 'Record a multi-party call',
    status: 202,
    params,
    body: RecordBody,
    reply: RecordReply,
    run: ({ control }, { accountId, params: { mpc_id: mpcId }, body, apiId: id }) =>
      record(control, { accountId, mpcId, id }, body),
  }),
  ofWhole(
    { method: 'DELETE', path: `${MPC_ONE}Record/`, summary: 'Stop recording a multi-party call' },
    'stopRecording',
  ),
  ...pausing(ofWhole, MPC_ONE, 'a multi-party call', '. The pause is not recorded and not charged'),
  accountRoute({
    ...common,
    method: 'POST',
    path: `${PARTICIPANT}Record/`,
    summary: 'Record a member of a multi-party call',
    status: 202,
    params: participantParams,
    body: MemberRecordBody,
    reply: RecordReply,
    run: ({ control }, { accountId, params: path, body, apiId: id }) => {
      const track = body.record_track_type === 'participant' ? 'voice' : 'all';
      const member = { id: path.participant_id, track } as const;
      return record(control, { accountId, mpcId: path.mpc_id, id }, body, member);
    },
  }),
  ofMember(
    { method: 'DELETE', path: `${PARTICIPANT}Record/`, summary: 'Stop the recording of a member' },
    'stopRecording',
  ),
  ...pausing(ofMember, PARTICIPANT, 'a member'),
  accountRoute({
    ...common,
    method: 'POST',
    path: `${MEMBER}Play/`,
    summary: "Play a file to one member, mixed with the room's audio",
    status: 202,
    params: participantParams,
    body: Type.Object({ url: optionalHttpUrl() }),
    reply: Type.Object({
      api_id: apiId(),
      message: Type.String(),
      mpcMemberId: Type.Array(Type.String()),
      mpcName: Type.String(),
    }),
    async run({ control }, { accountId, params: path, body, apiId: id }) {
      const { mpc_id: mpcId, participant_id: member } = path;
      const action = { kind: 'play', member, url: body.url } as const;
      const done = await control.changeMultiPartyCall(accountId, mpcId, action);
      return answered(done, () => ({
        api_id: id,
        message: 'play queued into MPC',
        mpcMemberId: [member],
        mpcName: mpcId.replace(/^(uuid|name)_/, ''),
      }));
    },
  }),
  ofMember(
    { method: 'DELETE', path: `${MEMBER}Play/`, summary: 'Stop playing to a member' },
    'silence',
  ),
];
