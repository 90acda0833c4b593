import { err } from '../../../../base/result.ts';
import { INVALID_TOKEN, notFound } from '../../http/failure.ts';
import { fileReply } from '../../http/file.ts';
import { accountRoute, linkRoute, type Route } from '../../http/route.ts';
import { apiId, hinted, Type } from '../../http/schema.ts';
import { createSignedLinks } from '../../links.ts';
import { answered } from '../../refusal.ts';

const ROOT = '/api/v1/Account/{auth_id}/export/recording/';
const common = { tag: 'Recordings', errors: 'export' } as const;
const RECIPIENTS_MAX = 50;

const text = (description: string) => Type.Optional(Type.String({ description }));
const DATE_TIME = 'YYYY-MM-DD HH:MM:SS, UTC';

const requestExport = accountRoute({
  ...common,
  mainAccountOnly: true,
  filtersInBody: true,
  method: 'POST',
  path: ROOT,
  summary: 'Queue a bulk export of recordings; the link is mailed to every recipient',
  status: 202,
  params: Type.Object({ auth_id: Type.String() }),
  body: Type.Object({
    recipient: hinted(
      Type.Object({
        customer_account: hinted(
          Type.Array(Type.String(), { minItems: 1, maxItems: RECIPIENTS_MAX }),
          `must be a list of 1 to ${RECIPIENTS_MAX} email addresses`,
        ),
      }),
      'must hold customer_account',
    ),
    from: text(`${DATE_TIME}; default 7 days ago`),
    to: text(`${DATE_TIME}; default now`),
    recording_storage_duration: text('exactly N days old'),
    recording_storage_duration__gte: text('N days old or older'),
    recording_storage_duration__gt: text('older than N days'),
    recording_storage_duration__lte: text('N days old or newer'),
    recording_storage_duration__lt: text('newer than N days'),
    from_number: text('applies to ranges of 30 days or less, as all further filters'),
    to_number: text('destination number'),
    call_uuid: text('also a conference or multi-party-call uuid'),
    conference_name: text('also a multi-party-call name'),
    recording_format: text('mp3 or wav'),
    recording_id: text('one recording'),
  }),
  reply: Type.Object({ api_id: apiId(), status: Type.String() }),
  async run({ recordings, onExportQueued }, { accountId, body, apiId: id }) {
    const queued = await recordings.requestExport({
      accountId,
      recipients: body.recipient.customer_account,
      from: body.from,
      to: body.to,
      storageDuration: {
        exact: body.recording_storage_duration,
        gte: body.recording_storage_duration__gte,
        gt: body.recording_storage_duration__gt,
        lte: body.recording_storage_duration__lte,
        lt: body.recording_storage_duration__lt,
      },
      fromNumber: body.from_number,
      toNumber: body.to_number,
      callUuid: body.call_uuid,
      conferenceName: body.conference_name,
      format: body.recording_format,
      recordingId: body.recording_id,
    });
    if (queued.ok) onExportQueued();
    return answered(queued, () => ({ api_id: id, status: 'success' }));
  },
});

const downloadExport = linkRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}{export_id}.zip`,
  summary: 'The archive of an export, by credentials or by the mailed link',
  params: Type.Object({ auth_id: Type.String(), export_id: Type.String() }),
  query: Type.Object({ exp: Type.Optional(Type.String()), sig: Type.Optional(Type.String()) }),
  produces: 'application/zip',
  async run({ recordings, settings, clock }, { access, params, query, url, headers }) {
    const links = createSignedLinks(settings, clock);
    if (access === undefined && !links.opens(url, query)) return err(INVALID_TOKEN);
    const accountId = access?.owner.authId ?? params.auth_id;
    const job = await recordings.getExport(params.export_id);
    if (job?.accountId !== accountId || job.file === undefined) return err(notFound('export'));
    return fileReply({
      folder: settings.exportsFolder,
      file: job.file,
      range: typeof headers['range'] === 'string' ? headers['range'] : undefined,
      downloadName: 'recordings.zip',
    });
  },
});

export const exportRoutes: readonly Route[] = [requestExport, downloadExport];
