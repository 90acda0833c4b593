/** Uploads a contact list in bounded memory: reading pauses until the store has written the previous rows. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { err, ok, type Result } from '../../../base/result.ts';
import type {
  BadRow,
  CampaignControl,
  CampaignOwner,
  CampaignRefusal,
  Upload,
  UploadRow,
  UploadSummary,
} from '../../../domain/campaign/types.ts';
import { type Failure, failure } from '../http/failure.ts';
import { failureOf } from '../refusal.ts';
import { type IncomingList, ListTooLarge } from './body.ts';
import { ListFault, type ListReader } from './reader.ts';

type Campaigns = Pick<
  CampaignControl,
  'beginUpload' | 'addRows' | 'finishUpload' | 'abandonUpload' | 'badRows'
>;
type CampaignId = Upload['campaignId'];

export interface Uploaded {
  readonly summary: UploadSummary;
  readonly headers: readonly string[];
  /** First 100 rejected rows. */
  readonly bad: readonly BadRow[];
}

/** Bytes parsed in one step; other work runs between two steps. */
const PIECE_BYTES = 16 * 1024;
/** Rows per call of `addRows`. */
const BATCH_ROWS = 500;
const BAD_ROWS_SHOWN = 100;

export async function uploadContacts(
  campaigns: Campaigns,
  owner: CampaignOwner,
  id: CampaignId,
  incoming: () => Promise<IncomingList>,
): Promise<Result<Uploaded, Failure>> {
  const begun = await campaigns.beginUpload(owner, id);
  if (!begun.ok) return err(failureOf(begun.error));
  const upload = begun.value;
  try {
    const { bytes, reader } = await incoming();
    const refused = await addAll(campaigns, upload, bytes, reader);
    if (refused !== undefined) {
      await campaigns.abandonUpload(upload);
      return err(failureOf(refused));
    }
    const finished = await campaigns.finishUpload(upload);
    if (!finished.ok) return err(failureOf(finished.error));
    const bad = await campaigns.badRows(owner, id, 0, BAD_ROWS_SHOWN);
    const { headers } = reader;
    return ok({ summary: finished.value, headers, bad: bad.ok ? bad.value : [] });
  } catch (error) {
    await campaigns.abandonUpload(upload);
    const described = failureFor(error);
    if (described === undefined) throw error;
    return err(described);
  }
}

async function addAll(
  campaigns: Campaigns,
  upload: Upload,
  bytes: AsyncIterable<Uint8Array>,
  reader: ListReader,
): Promise<CampaignRefusal | undefined> {
  let waiting: UploadRow[] = [];
  const flush = async (atLeast: number): Promise<CampaignRefusal | undefined> => {
    while (waiting.length >= atLeast && waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_ROWS);
      waiting = waiting.slice(BATCH_ROWS);
      const added = await campaigns.addRows(upload, batch);
      if (!added.ok) return added.error;
    }
    return undefined;
  };
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      waiting.push(...reader.write(chunk.subarray(at, at + PIECE_BYTES)));
      const refused = await flush(BATCH_ROWS);
      if (refused !== undefined) return refused;
      await nextTurn();
    }
  }
  waiting.push(...reader.end());
  return flush(1);
}

/** Returns the failure for an error that the upload caused, otherwise undefined. */
function failureFor(error: unknown): Failure | undefined {
  if (error instanceof ListTooLarge) return failure(413, 'request body too large');
  if (error instanceof ListFault) {
    return failure(400, 'invalid contact list', {
      detail: `file ${error.message}`,
      details: { file: error.message },
    });
  }
  const { code } = error as { readonly code?: unknown };
  const cut = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
  return cut ? failure(400, 'the upload was cut off') : undefined;
}
