/** Routes for the personal data of one telephone number in all accounts. */
import { Readable } from 'node:stream';
import { err, ok, type Result } from '../../../base/result.ts';
import {
  type PersonalDataItem,
  type PersonNumber,
  readPersonNumber,
} from '../../../domain/privacy/privacy.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { hinted, type Static, Type } from '../http/schema.ts';
import { createSignedLinks, type SignedLinks } from '../links.ts';
import { answered } from '../refusal.ts';
import { showLogEntry } from '../wire/call.ts';
import { showContact } from '../wire/campaign-contact.ts';
import { showCdr } from '../wire/cdr.ts';
import { mapped, rowLines } from '../wire/rows.ts';

const ROOT = '/admin/v1/personal-data';
const common = { tag: 'Operator: personal data', errors: 'admin', longRunning: true } as const;
// The audit log keeps paths without queries, so that it does not contain the number.
const query = Type.Object({
  number: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'with + or 00, digits only, or a sip: or tel: URI; separators are ignored',
  }),
  country: Type.Optional(
    hinted(
      Type.String({
        pattern: '^[A-Za-z]{2}$',
        description: 'country of a number without country code',
      }),
      'must be a two-letter country code',
    ),
  ),
});

function numberOf({ number, country }: Static<typeof query>): Result<PersonNumber, Failure> {
  const read = readPersonNumber(number, country?.toUpperCase());
  return read.ok ? read : err(invalidField(read.error.field, read.error.what));
}

const counts = {
  calls: Type.Integer(),
  recordings: Type.Integer(),
  contacts: Type.Integer({ description: 'contacts of campaigns' }),
  mentions: Type.Integer({
    description:
      'requests to customers, audit entries, timelines of other calls and other records with the number in a text',
  }),
};

const find = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'Count the records that contain a telephone number, in all accounts',
  query,
  reply: Type.Object({
    number: Type.String({ description: 'number in E.164 form' }),
    ...counts,
    transcriptions: Type.Integer(),
    running_calls: Type.Integer(),
    do_not_call_lists: Type.Integer({ description: 'lists with this number; erasure keeps them' }),
  }),
  async run({ personalData }, { query }) {
    const number = numberOf(query);
    if (!number.ok) return number;
    const found = await personalData.find(number.value);
    const { runningCalls, doNotCallLists, ...rest } = found;
    return ok({
      number: `+${number.value.digits}`,
      ...rest,
      running_calls: runningCalls,
      do_not_call_lists: doNotCallLists,
    });
  },
});

const exportAll = adminRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/export`,
  summary:
    'Export the records of a telephone number, one JSON object per line, with links to recordings',
  query,
  produces: 'application/x-ndjson',
  async run({ personalData, settings, clock }, { query }) {
    const number = numberOf(query);
    if (!number.ok) return number;
    const links = createSignedLinks(settings, clock);
    const rows = mapped(personalData.export(number.value), (item) => shown(item, links));
    return ok({
      contentType: 'application/x-ndjson; charset=utf-8',
      body: Readable.from(rowLines({ columns: [], rows }, 'ndjson')),
    });
  },
});

const erase = adminRoute({
  ...common,
  method: 'DELETE',
  path: ROOT,
  alsoRefuses: [409],
  summary:
    'Erase a telephone number from all records: recordings, transcriptions, timelines and contacts. Times and amounts of calls remain',
  query,
  reply: Type.Object(counts),
  async run({ personalData }: Pick<RouteNeeds, 'personalData'>, { query }) {
    const number = numberOf(query);
    if (!number.ok) return number;
    return answered(await personalData.erase(number.value), (erased) => erased);
  },
});

function shown(item: PersonalDataItem, links: SignedLinks): Readonly<Record<string, unknown>> {
  switch (item.kind) {
    case 'call': {
      const timeline = item.timeline?.lines.map(showLogEntry) ?? [];
      return { type: 'call', ...showCdr(item.record), timeline };
    }
    case 'recording': {
      const { recordingId, accountId, callUuid, fromNumber, toNumber, format } = item.recording;
      return {
        type: 'recording',
        recording_id: recordingId,
        account_id: accountId,
        call_uuid: callUuid ?? null,
        from_number: fromNumber,
        to_number: toNumber,
        format,
        url: links.toRecording(item.recording),
        transcriptions: item.transcriptions.map(({ text }) => text),
      };
    }
    case 'contact': {
      const { accountId, campaignId, contact } = item.contact;
      return {
        type: 'contact',
        account_id: accountId,
        campaign_id: campaignId,
        ...showContact(contact),
      };
    }
    case 'mention':
      return { type: item.mention.place, ...item.mention.texts };
  }
}

export const personalDataRoutes: readonly Route[] = [find, exportAll, erase];
