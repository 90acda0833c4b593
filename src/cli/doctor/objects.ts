/** Check of object storage: writes, measures and removes an object with the configured keys. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { type Finding, good, problem, reasonOf, skipped, within } from './finding.ts';

const CHECK = 'object storage';
/** Time limit, longer than that of other checks because the storage client retries transient errors. */
const LIMIT_MS = 20_000;

/** Checks the configured object storage. Reports only the error code of the storage, never a key. */
export async function checkObjects({ s3 }: Settings): Promise<Finding> {
  if (s3.endpoint === '')
    return skipped(CHECK, 'not configured: recordings stay in the data folder');
  const { createS3Store } = await import('../../edge/objects/s3.ts');
  const folder = await mkdtemp(join(tmpdir(), 'carillon-doctor-'));
  const key = `doctor-${randomUUID()}`;
  try {
    const store = createS3Store(s3);
    const file = join(folder, 'probe');
    await writeFile(file, 'carillon doctor');
    await within(store.put(key, file), LIMIT_MS);
    const bytes = await within(store.size(key), LIMIT_MS);
    await within(store.remove(key), LIMIT_MS);
    if (bytes === undefined) return problem(CHECK, 'an uploaded object is missing', adviceOn(''));
    return good(CHECK, `${new URL(s3.endpoint).host} stores and deletes objects`);
  } catch (error) {
    return problem(CHECK, reasonOf(error), adviceOn(reasonOf(error)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function adviceOn(reason: string): string {
  if (/SignatureDoesNotMatch|InvalidAccessKeyId|AuthorizationHeader/.test(reason))
    return 's3.accessKeyId, s3.secretAccessKey or s3.region is wrong.';
  if (/no such bucket/.test(reason))
    return 'Create the bucket, or correct s3.bucket and s3.endpoint.';
  if (/ 403/.test(reason))
    return 'The keys lack permissions: allow PutObject, GetObject and DeleteObject in the bucket.';
  return 'Check host and port in s3.endpoint, and that the firewall allows the connection.';
}
